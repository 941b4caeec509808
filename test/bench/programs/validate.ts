/** Parses a page again and again and checks its records in one way; prints µs for each record. */
import { collections } from '../../../src/collections/index.ts';
import type { FieldKind } from '../../../src/schemas/record.ts';
import { RecordReader } from '../../../src/schemas/record-reader.ts';
import { schemaOf } from '../../../src/schemas/record-schema.ts';
import { recordJson } from '../support/records.ts';

export type Way = 'JSON.parse alone' | 'ours' | 'zod looseObject' | 'zod/mini looseObject';

export interface ValidateOptions {
  readonly way: Way;
  readonly pages: number;
}

const PAGE_SIZE = 100;
const { fields } = collections.products;
const { way, pages } = JSON.parse(process.argv[2] ?? '') as ValidateOptions;
const text = `[${Array.from({ length: PAGE_SIZE }, (_, index) => recordJson(index)).join(',')}]`;

async function withZod(): Promise<(rows: unknown[]) => unknown> {
  const z = await import('zod');
  const kinds: Record<FieldKind, import('zod').ZodType> = {
    string: z.string(),
    money: z.string().regex(/^-?\d{1,18}(?:\.\d{1,8})?$/),
    boolean: z.boolean(),
    integer: z.int(),
    number: z.number(),
    array: z.array(z.unknown()),
  };
  const shape = Object.entries(fields).map(([name, kind]) => [name, kinds[kind].nullish()] as const);
  const schema = z.looseObject({ ...Object.fromEntries(shape), id: z.string().min(1) });
  return (rows) => rows.map((row) => schema.parse(row));
}

async function checkOf(): Promise<(rows: unknown[]) => unknown> {
  if (way === 'JSON.parse alone') return (rows) => rows;
  if (way === 'zod looseObject') return withZod();
  if (way === 'zod/mini looseObject') {
    const schema = schemaOf(fields);
    return (rows) => rows.map((row) => schema['~standard'].validate(row));
  }
  const reader = new RecordReader({ fields, schema: undefined, validation: 'throw', keepFields: true });
  return (rows) => reader.list(rows);
}

const check = await checkOf();
const run = (count: number) => {
  for (let page = 0; page < count; page += 1) check(JSON.parse(text) as unknown[]);
};
run(Math.ceil(pages / 4));
const before = process.cpuUsage();
run(pages);
const { user, system } = process.cpuUsage(before);
console.log(JSON.stringify((user + system) / (pages * PAGE_SIZE)));
