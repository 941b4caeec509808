import type { ProductDraft } from 'accounting-data-sdk';
import { expect, test } from 'vitest';
import { numbered, setUpPush } from '../../support/push.ts';
import { jsonResponse, networkError, newOrigin, scriptedFetch } from '../../support/scripted-fetch.ts';
import { useVirtualClock } from '../../support/virtual-clock.ts';

useVirtualClock();

type Stored = Record<string, unknown> & { id: string };

/** How a version of json-server behaves. It takes a parameter that it does not know for a field to compare with. */
interface ServiceTraits {
  /** A page is an object, and only a list without `_page` is an array. */
  readonly pagesAreObjects: boolean;
  readonly pagination: 'none' | undefined;
}

/** Loses the response to a create, after it was applied or before. */
type Loss = 'before' | 'after' | undefined;

/** A server that stores arrays, and loses the responses to creates in this order. */
function plainServer({ pagesAreObjects }: ServiceTraits, losses: Loss[]) {
  const products: Stored[] = [];
  const fetch = scriptedFetch(({ url, init: { method, body } }) => {
    const [, id] = /\/products\/([^/]+)$/.exec(url.pathname) ?? [];
    if (method === 'POST') {
      const loss = losses.shift();
      if (loss === 'before') throw networkError('ECONNRESET');
      const number = products.length + 1;
      products.push({ ...JSON.parse(String(body)), id: `x${(number * 7919).toString(36)}` });
      if (loss === 'after') throw networkError('ECONNRESET');
      return jsonResponse(products.at(-1), 201);
    }
    const product = products.find((each) => each.id === id);
    if (id !== undefined && product === undefined) return jsonResponse({}, 404);
    if (method === 'PATCH') return jsonResponse(Object.assign(product as Stored, JSON.parse(String(body))));
    if (product !== undefined) return jsonResponse(product);

    const given = url.searchParams.get('_page');
    const page = Number(given ?? 1);
    const others = [...url.searchParams].filter(([name]) => name !== '_page');
    const found = products.filter((each) => others.every(([name, value]) => String(each[name]) === value));
    // Without `_page`, it lists everything.
    if (given === null) return jsonResponse(found);
    const slice = found.slice((page - 1) * 10, page * 10);
    return jsonResponse(pagesAreObjects ? { data: slice } : slice);
  });
  return { products, fetch };
}

// As the json-servers of these versions were seen to behave, with ids that are strings.
test.each<[string, ServiceTraits]>([
  ['json-server 0.17', { pagesAreObjects: false, pagination: undefined }],
  ['json-server 1.0', { pagesAreObjects: true, pagination: 'none' }],
])('repeated pushes lead to one product for each row at %s', async (_, service) => {
  const { products, fetch } = plainServer(service, ['after', undefined, 'before', undefined]);
  const retry = { creates: false, baseDelayMs: 1 };
  const { pagination } = service;
  const client = { baseUrl: newOrigin(), fetch, retry, bareNotFound: 'missing', pagination } as const;
  const { run } = setUpPush([], { client });
  const countsOf = async (rows: ProductDraft[]) => (await run(rows)).report.counts;
  const rows = numbered(25, { name: 'Desk', salePrice: '5.5' });
  expect(await countsOf(rows)).toMatchObject({ created: 25, failed: 0 });
  expect(await countsOf(rows)).toMatchObject({ created: 0, updated: 0, unchanged: 25 });
  const changed = rows.with(3, { ...rows[3], name: 'Table' });
  expect(await countsOf(changed)).toMatchObject({ updated: 1, unchanged: 24 });
  const stored = changed.map((row) => ({ ...row, salePrice: '5.5000', id: expect.any(String) }));
  expect(products).toHaveLength(25);
  expect(products).toEqual(expect.arrayContaining(stored));
});
