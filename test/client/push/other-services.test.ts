import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  createClient,
  type Product,
  type ProductDraft,
  type ProductPatch,
  type PushOptions,
  push,
} from 'accounting-data-sdk';
import { expect, onTestFinished, test } from 'vitest';
import { productNumber } from '../../support/push.ts';
import { useFastClock } from '../../support/virtual-clock.ts';

useFastClock();

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

async function plainServer({ newId, unknownParameter, pagesAreObjects }: ServiceTraits, losses: Loss[]) {
  const products: Stored[] = [];
  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '', 'http://localhost');
    const [, id] = /\/products\/([^/]+)$/.exec(url.pathname) ?? [];
    let text = '';
    for await (const chunk of request) text += chunk;
    const send = (status: number, body: unknown) => {
      response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' });
      response.end(JSON.stringify(body));
    };
    if (request.method === 'POST') {
      const loss = losses.shift();
      if (loss === 'before') return request.socket.destroy();
      products.push({ ...JSON.parse(text), id: newId(products.length + 1) });
      return loss === 'after' ? request.socket.destroy() : send(201, products.at(-1));
    }
    const product = products.find((each) => each.id === id);
    if (id !== undefined && product === undefined) return send(404, {});
    if (request.method === 'PATCH') return send(200, Object.assign(product as Stored, JSON.parse(text)));
    if (product !== undefined) return send(200, product);

    const given = url.searchParams.get('_page');
    const page = Number(given ?? 1);
    const others = [...url.searchParams].filter(([name]) => name !== '_page');
    const found = products.filter((each) =>
      unknownParameter === 'ignore' ? true : others.every(([name, value]) => String(each[name]) === value),
    );
    const slice = found.slice((page - 1) * 10, page * 10);
    // Without `_page`, json-server lists everything.
    if (given === null && unknownParameter === 'compare') send(200, found);
    else send(200, pagesAreObjects ? { data: slice } : slice);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return { products, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

const rows: ProductDraft[] = Array.from({ length: 25 }, (_, n) => ({
  productNumber: `P-${n}`,
  name: `Product ${n}`,
  salePrice: `${n}.5`,
}));

test.each(Object.keys(SERVICES))('repeated pushes lead to one product for each row at %s', async (name) => {
  const service = SERVICES[name] as ServiceTraits;
  const { pagination } = service;
  const { products, url } = await plainServer(service, ['after', undefined, 'before', undefined]);
  const client = createClient({
    baseUrl: url,
    apiKey: 'key',
    retry: { creates: false, baseDelayMs: 1 },
    bareNotFound: 'missing',
  });
  const run = (changed: readonly ProductDraft[]) =>
    push(client.products, { tenant: 'shop', rows: changed, key: productNumber, pagination });
  expect((await run(rows)).counts).toMatchObject({ created: 25, failed: 0 });
  expect((await run(rows)).counts).toMatchObject({ created: 0, updated: 0, unchanged: 25 });
  const changed = rows.map((row, n) => (n === 3 ? { ...row, name: 'Table' } : row));
  expect((await run(changed)).counts).toMatchObject({ updated: 1, unchanged: 24 });
  const stored = products.map(
    ({ productNumber: key, name: title, salePrice }) => `${key} ${title} ${salePrice}`,
  );
  expect(stored.toSorted()).toEqual(
    changed.map((row) => `${row.productNumber} ${row.name} ${row.salePrice}000`).toSorted(),
  );
});
