import { mkdirSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { errorsIn } from '../../support/compiler.ts';
import { root } from '../docs/code-blocks.ts';

const NO_ID = 'the schema output needs id: string';

/** Lines of a user's code, by a name for each. */
const LINES = {
  'without-id': 'createClient({ schemas: { accounts: withoutId } });',
  'numeric-id': 'createClient({ schemas: { accounts: numericId } });',
  'from-a-variable': 'createClient({ schemas });',
  'for-products': 'createClient({ schemas: { products: withoutId } });',
  'unknown-collection': 'createClient({ schemas: { acounts: withId } });',
  'own-collection': "createClient().collection('invoices', { schema: withoutId });",
  good: 'createClient({ schemas: { accounts: withId } });',
};

/** What the compiler says about all of them. */
const complaints = (() => {
  const folder = `${root}test/package/docs/.generated/schemas`;
  mkdirSync(folder, { recursive: true });
  const files = Object.entries(LINES).map(([name, line]) => {
    const file = `${folder}/${name}.ts`;
    writeFileSync(
      file,
      `import { createClient } from 'accounting-data-sdk';
import * as z from 'zod';
const withId = z.looseObject({ id: z.string() });
const withoutId = z.looseObject({ name: z.string() });
const numericId = z.looseObject({ id: z.number() });
export const schemas = { accounts: withoutId };
export const made = [withId, withoutId, numericId];
${line}
`,
    );
    return file;
  });
  return errorsIn(files);
})();

test.for([
  ['without-id', NO_ID],
  ['numeric-id', NO_ID],
  ['from-a-variable', NO_ID],
  ['for-products', NO_ID],
  ['unknown-collection', 'there is no collection of this name'],
])('the compiler explains an unsuitable schema: %s', ([name, explanation]) => {
  const said = complaints.filter((text) => text.startsWith(`${name}.ts: `));
  expect(said).toEqual([expect.stringContaining(`'"${explanation}"'`)]);
  expect(said.join()).not.toContain("'never'");
});

test('the compiler names the id that the schema of an own collection lacks', () => {
  const said = complaints.filter((text) => text.startsWith('own-collection.ts: '));
  expect(said).toEqual([expect.stringContaining("Property 'id' is missing")]);
});

test('the compiler accepts a schema that fits', () => {
  expect(complaints.filter((text) => text.startsWith('good.ts: '))).toEqual([]);
});
