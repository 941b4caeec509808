import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import { errorsIn, programOf } from '../../support/compiler.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const source = (path: string) => readFileSync(`${root}${path}`, 'utf8');

const memos = `import type { FieldTable, RecordWith } from '../schemas/record.ts';
import { accounts } from './accounts.ts';
import { readOnly } from './define.ts';

const fields = {
  /** Number. */ number: 'string',
  /** Total. */ total: 'money',
  /** When it is due. */ dueAt: 'timestamp',
} as const satisfies FieldTable;

/** A memo. */
export interface Memo extends RecordWith<typeof fields> {}

export const memos = readOnly<Memo>('memos', { parent: accounts, fields });
`;

const user = `import { createClient, type ProductDraft, type RecordOf, sync } from 'accounting-data-sdk';
import { productSchema } from 'accounting-data-sdk/schemas';
import { createSandbox } from 'accounting-data-sdk/testing';

const sandbox = createSandbox({ records: { memos: 3 } });
const client = createClient(sandbox.clientOptions);
export const draft: ProductDraft = { colourCode: 4 };
const { colourCode } = await client.products.create(draft);
export const colour: number | null | undefined = colourCode;
export const stored: number | null | undefined = productSchema.parse({}).colourCode;

export const memo: RecordOf<'memos'> = sandbox.store.memos.insert({});
export const total: string | null | undefined = memo.total;
export const further: unknown = memo.further;
await sync(client, { store: new Map(), tenant: 'a', collections: ['memos'], onBatch: () => undefined });
export const listed: AsyncIterable<{ id: string }> = client.memos.list();
`;

/** Sources with a field and a collection more, and the program of a user. */
const texts = {
  'src/schemas/product-fields.ts': source('src/schemas/product-fields.ts').replace(
    'export const productFields = {\n',
    "$&  /** Colour code. */ colourCode: 'integer',\n",
  ),
  'src/collections/memos.ts': memos,
  'src/collections/index.ts': `import { memos } from './memos.ts';\n${source(
    'src/collections/index.ts',
  ).replace('export const collections = {\n', '$&  /** Memos. */ memos,\n')}`,
  'src/user.ts': user,
};
const changed = new Map(Object.entries(texts).map(([path, text]) => [`${root}${path}`, text]));
const program = programOf([...changed.keys()], changed);
const checker = program.getTypeChecker();

/** The properties of an exported interface, with what an editor shows about them. */
function propertiesOf(name: string): Map<string, string> {
  const file = program.getSourceFile(`${root}src/collections/products.ts`);
  const module = file === undefined ? undefined : checker.getSymbolAtLocation(file);
  const symbol = module === undefined ? undefined : checker.tryGetMemberInModuleExports(name, module);
  if (symbol === undefined) throw new Error(`products.ts does not export ${name}.`);
  const properties = checker.getPropertiesOfType(checker.getDeclaredTypeOfSymbol(symbol));
  return new Map(
    properties.map((property) => [
      property.name,
      ts.displayPartsToString(property.getDocumentationComment(checker)),
    ]),
  );
}

describe('the table of product fields', () => {
  test('takes a new field in one line: types, drafts and schemas follow', () => {
    expect(errorsIn(program, [...changed.keys()])).toEqual([]);
    expect(propertiesOf('Product').get('colourCode')).toBe('Colour code.');
  });

  test.each(['Product', 'ProductDraft', 'ProductPatch', 'ProductFields'])(
    'describes each field of %s in the editor',
    (name) => {
      const properties = propertiesOf(name);
      expect(properties.size).toBeGreaterThan(58);
      const inputs = [...properties].filter(([field]) => name === 'Product' || field !== 'id');
      expect(inputs.filter(([, comment]) => !comment.endsWith('.'))).toEqual([]);
    },
  );
});

test('the table of a read-only collection and the type of its records name the same fields', () => {
  const path = `${root}src/collections/memos.ts`;
  const errorsAfter = (from: string, to: string) => {
    const texts = new Map(changed).set(path, memos.replace(from, to));
    return errorsIn(programOf([path], texts), [path]);
  };
  expect(errorsAfter(', fields }', ' }')).toEqual([expect.stringContaining("'fields' is missing")]);
  expect(errorsAfter('RecordWith<typeof fields>', 'RecordWith<Record<never, never>>')).toHaveLength(1);
  expect(errorsAfter("dueAt: 'timestamp'", "dueAt: 'instant'")).not.toEqual([]);
});
