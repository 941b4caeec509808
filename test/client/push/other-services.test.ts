import type { Product, ProductDraft, ProductPatch, PushOptions } from 'accounting-data-sdk';
import { expect, test } from 'vitest';
import { setUpPush } from '../../support/push.ts';
import { jsonResponse, networkError, newOrigin, scriptedFetch } from '../../support/scripted-fetch.ts';
import { useVirtualClock } from '../../support/virtual-clock.ts';

useVirtualClock();

type Stored = Record<string, unknown> & { id: string };

/** How a server that stores arrays and nothing else behaves. */
interface ServiceTraits {
  readonly newId: (count: number) => string;
  /** Json-server takes a parameter that it does not know for a field to compare with; others ignore it. */
  readonly unknownParameter: 'compare' | 'ignore';
  /** A page is an object, and only a list without `_page` is an array. */
  readonly pagesAreObjects: boolean;
  readonly pagination: PushOptions<Product, ProductDraft, ProductPatch>['pagination'];
}

const randomId = (count: number) => `x${(count * 7919).toString(36)}`;

/** As the json-servers of these versions were seen to behave, with ids that are strings. */
const SERVICES: Readonly<Record<string, ServiceTraits>> = {
  'json-server 0.17': {
    newId: randomId,
    unknownParameter: 'compare',
    pagesAreObjects: false,
    pagination: undefined,
  },
  'json-server 1.0': {
    newId: randomId,
    unknownParameter: 'compare',
    pagesAreObjects: true,
    pagination: { first: {}, next: () => undefined },
  },
  'a server of plain arrays': {
    newId: (count) => String(count),
    unknownParameter: 'ignore',
    pagesAreObjects: false,
    pagination: 'page',
  },
};

/** Loses the response to a create, after it was carried out or before. */
type Loss = 'before' | 'after' | undefined;

/** A server that stores arrays, and loses the responses to creates in this order. */
function plainServer({ newId, unknownParameter, pagesAreObjects }: ServiceTraits, losses: Loss[]) {
  const products: Stored[] = [];
  const fetch = scriptedFetch(({ url, init: { method, body } }) => {
    const [, id] = /\/products\/([^/]+)$/.exec(url.pathname) ?? [];
    if (method === 'POST') {
      const loss = losses.shift();
      if (loss === 'before') throw networkError('ECONNRESET');
      products.push({ ...JSON.parse(String(body)), id: newId(products.length + 1) });
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
    const found = products.filter((each) =>
      unknownParameter === 'ignore' ? true : others.every(([name, value]) => String(each[name]) === value),
    );
    // Without `_page`, json-server lists everything.
    if (given === null && unknownParameter === 'compare') return jsonResponse(found);
    const slice = found.slice((page - 1) * 10, page * 10);
    return jsonResponse(pagesAreObjects ? { data: slice } : slice);
  });
  return { products, fetch };
}

const rows: ProductDraft[] = Array.from({ length: 25 }, (_, n) => ({
  productNumber: `P-${n}`,
  name: `Product ${n}`,
  salePrice: `${n}.5`,
}));

test.each(Object.entries(SERVICES))(
  'repeated pushes lead to one product for each row at %s',
  async (_, service) => {
    const { products, fetch } = plainServer(service, ['after', undefined, 'before', undefined]);
    const retry = { creates: false, baseDelayMs: 1 };
    const client = { baseUrl: newOrigin(), fetch, retry, bareNotFound: 'missing' } as const;
    const { run } = setUpPush([], { client });
    const { pagination } = service;
    const countsOf = async (changed: readonly ProductDraft[]) =>
      (await run(changed, { pagination })).report.counts;
    expect(await countsOf(rows)).toMatchObject({ created: 25, failed: 0 });
    expect(await countsOf(rows)).toMatchObject({ created: 0, updated: 0, unchanged: 25 });
    const changed = rows.map((row, n) => (n === 3 ? { ...row, name: 'Table' } : row));
    expect(await countsOf(changed)).toMatchObject({ updated: 1, unchanged: 24 });
    const stored = products.map(
      ({ productNumber: key, name: title, salePrice }) => `${key} ${title} ${salePrice}`,
    );
    expect(stored.toSorted()).toEqual(
      changed.map((row) => `${row.productNumber} ${row.name} ${row.salePrice}000`).toSorted(),
    );
  },
);
