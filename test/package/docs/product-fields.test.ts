import { readFileSync } from 'node:fs';
import { productSchema } from 'accounting-data-sdk/schemas';
import { expect, test } from 'vitest';
import { root } from './code-blocks.ts';

const KINDS: Readonly<Record<string, string>> = {
  string: 'string',
  boolean: 'boolean',
  integer: 'integer',
  number: 'number',
  money: 'money: a decimal string',
  array: 'array',
  strings: 'array of strings',
};

/** The fields in the source: each is one line with its documentation. */
function fields() {
  const source = readFileSync(`${root}src/schemas/product-fields.ts`, 'utf8');
  const [, table = ''] = /productFields = \{\n(.*?)^\}/ms.exec(source) ?? [];
  return [...table.matchAll(/\/\*\* (.*?) \*\/\s+(\w+): '(\w+)',/gs)].map(
    ([, text = '', name = '', kind = '']) => ({ name, kind, text: text.replace(/\s*\n\s*\*?\s*/g, ' ') }),
  );
}

test('the guide lists every field of a product; vitest -u writes it', async () => {
  const rows = fields().map(({ name, kind, text }) => `| \`${name}\` | ${KINDS[kind]} | ${text} |`);
  const guide = `---
title: Product fields
---

# Product fields

After this page you know each field of a product that you can read and write. The service adds \`id\`, \`createdAt\` and \`updatedAt\`, which cannot be written. Every other field may be \`null\` or missing in a response. The API documentation shows no lengths, required fields or allowed values; fields that it does not show are kept.

| field | type | meaning |
|---|---|---|
${rows.join('\n')}
`;
  await expect(guide).toMatchFileSnapshot('../../../src/guides/product-fields.md');
});

test('no field is missing in the guide, and each has a type', () => {
  const listed = fields();
  const known = Object.keys(productSchema.shape).filter(
    (name) => !['id', 'createdAt', 'updatedAt'].includes(name),
  );
  expect(listed.map(({ name }) => name).toSorted()).toEqual(known.toSorted());
  for (const { name, kind } of listed) expect(KINDS[kind], name).toBeDefined();
});
