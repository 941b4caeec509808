import { createClient } from 'accounting-data-sdk';
import { createSandbox } from 'accounting-data-sdk/testing';
import { expect, test } from 'vitest';
import { namesIn, tableRows } from './code-blocks.ts';

const FIELDS = { name: 'Desk', salePrice: '129.0000' };

/** The header in a cell of the table, or `body`. */
function nameOf(cell: string): string {
  if (cell.startsWith('the fields')) return 'body';
  const [name = ''] = namesIn(cell);
  return name === 'headers' ? 'x-shop' : name.toLowerCase();
}

test('the table of what is sent names each header and the body, with the requests that have them', async () => {
  const sandbox = createSandbox({ records: { products: 2 } });
  const sent: Request[] = [];
  const { products } = createClient({
    ...sandbox.clientOptions,
    fetch(input, init) {
      sent.push(new Request(input, init));
      return sandbox.fetch(input, init);
    },
  });
  const requests = {
    reads: () => products.get('1', { headers: { 'X-Shop': '17' } }),
    lists: () => products.list({ updatedSince: '2024-01-01' }).toArray({ limit: 1 }),
    creates: () => products.create(FIELDS),
    updates: () => products.update('1', FIELDS),
    deletes: () => products.delete('1'),
  };

  const seen: string[] = [];
  for (const [when, request] of Object.entries(requests)) {
    await request();
    for (const each of sent.splice(0)) {
      const body = await each.text();
      const names = [...each.headers.keys(), ...(body === '' ? [] : ['body'])];
      seen.push(...names.map((name) => `${name}: ${when}`));
      expect(new URL(each.url).origin).toBe(sandbox.baseUrl);
      expect(['', JSON.stringify(FIELDS)]).toContain(body);
    }
  }
  const stated = tableRows('src/guides/security.md', 'sent').flatMap(([cell = '', when = '']) => {
    if (when === 'the calls that you pass them to') return `${nameOf(cell)}: reads`;
    const kinds = when.startsWith('each request') ? Object.keys(requests) : when.split(', ');
    return kinds.map((kind) => `${nameOf(cell)}: ${kind}`);
  });
  expect(seen.toSorted()).toEqual(stated.toSorted());
});
