import { existsSync, readFileSync } from 'node:fs';
import { type CollectionName, collectionNames, fieldKinds, productServerFields } from 'accounting-data-sdk';
import { expect, test } from 'vitest';
import { collections } from '../../../src/collections/index.ts';
import { root } from './code-blocks.ts';

const typeOf = (kind: keyof typeof fieldKinds) => {
  const { json } = fieldKinds[kind];
  if (kind === 'money') return 'money: a decimal string';
  return kind === json ? kind : `${kind}: a ${json}`;
};

/** The fields of a collection that the guide lists: each is one line in the source, with its documentation. */
function rowsOf(name: CollectionName): readonly string[] {
  const { fields, segment } = collections[name];
  const sources = ['src/schemas/product-fields.ts', `src/collections/${segment}.ts`];
  const text = sources
    .filter((path) => existsSync(root + path))
    .map((path) => readFileSync(root + path, 'utf8'));
  return Object.entries(fields)
    .filter(([field]) => !(name === 'products' && Object.hasOwn(productServerFields, field)))
    .map(([field, kind]) => {
      const line = new RegExp(`/\\*\\* ([^\\n]*?) \\*/\\s+${field}: '${kind}',`);
      const [, comment] = line.exec(text.join('\n')) ?? [];
      if (comment === undefined) throw new Error(`${field} of ${name} has no comment beside it.`);
      return `| \`${field}\` | ${typeOf(kind)} | ${comment} |\n`;
    });
}

const HEAD = '| field | type | meaning |\n|---|---|---|\n';

test('the guide lists every documented field; vitest -u writes it', async () => {
  const others = collectionNames
    .filter((name) => name !== 'products' && Object.keys(collections[name].fields).length > 0)
    .map((name) => `\n## Fields of ${name}\n\n${HEAD}${rowsOf(name).join('')}`);
  const guide = `---
title: Product fields
---

# Product fields

These are the fields of a product that you can read and write. The service adds \`id\`, \`createdAt\` and \`updatedAt\`, which cannot be written. Every other field may be \`null\` or missing in a response. The API documentation shows no lengths, required fields or allowed values; fields that it does not show are kept.

${HEAD}${rowsOf('products').join('')}${others.join('')}`;
  await expect(guide).toMatchFileSnapshot('../../../src/guides/product-fields.md');
});
