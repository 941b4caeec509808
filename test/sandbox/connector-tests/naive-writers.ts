// Connectors that write products as people write them, each with the mistakes of its kind.

import type { ProductRow, WritingRun } from 'accounting-data-sdk/testing';

/** A connector that writes, and its state. */
export interface NaiveWriter {
  readonly run: (run: WritingRun) => Promise<void>;
  readonly reset: () => void;
}

type Product = ProductRow & { readonly id: string };

const urlOf = ({ baseUrl }: WritingRun, path = '') => `${baseUrl}/api/public/v1/products${path}`;

async function send<T>(
  { apiKey }: WritingRun,
  method: string,
  url: string,
  body?: object,
  key?: string,
): Promise<T> {
  const response = await fetch(url, {
    method,
    headers: {
      'X-AUTH-TOKEN': apiKey,
      'Content-Type': 'application/json',
      ...(key !== undefined && { 'Idempotency-Key': key }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  return (await response.json()) as T;
}

async function listAll(service: WritingRun): Promise<Product[]> {
  const all: Product[] = [];
  for (let page = 1; ; page += 1) {
    const records = await send<Product[]>(service, 'GET', `${urlOf(service)}?_page=${page}`);
    if (records.length === 0) return all;
    all.push(...records);
  }
}

/** Sends a create again without its key, remembers ids at the end of a run, and calculates with numbers. */
export function postWithRetry(): NaiveWriter {
  let ids = new Map<string, string>();
  return {
    reset: () => {
      ids = new Map();
    },
    async run(service) {
      const made = new Map<string, string>();
      for (const { productNumber, name, salePrice } of service.products) {
        const body = { productNumber, name, salePrice: Number(salePrice).toFixed(4) };
        const id = ids.get(productNumber);
        if (id !== undefined) {
          await send(service, 'PATCH', urlOf(service, `/${id}`), body);
          continue;
        }
        const create = () => send<Product>(service, 'POST', urlOf(service), body, crypto.randomUUID());
        made.set(productNumber, (await create().catch(create)).id);
      }
      ids = new Map([...ids, ...made]);
    },
  };
}

/** Creates each product under a key made of its number, and updates it if that key was used. */
export function keyOfTheRow(): NaiveWriter {
  return {
    reset: () => {},
    async run(service) {
      for (const row of service.products) {
        const { id, ...product } = await send<Product>(
          service,
          'POST',
          urlOf(service),
          row,
          `sku-${row.productNumber}`,
        );
        if (product.name !== row.name) await send(service, 'PATCH', urlOf(service, `/${id}`), row);
      }
    },
  };
}

/** Lists the products first, and creates what is not there. It takes a lost response for a success. */
export function lookFirst(): NaiveWriter {
  const done = new Set<string>();
  return {
    reset: () => done.clear(),
    async run(service) {
      const existing = new Map((await listAll(service)).map((product) => [product.productNumber, product]));
      for (const row of service.products) {
        const { productNumber, name, salePrice } = row;
        const product = existing.get(productNumber);
        if (product === undefined) {
          if (done.has(productNumber)) continue;
          await send(service, 'POST', urlOf(service), row, crypto.randomUUID()).catch((error: unknown) => {
            if (!(error instanceof TypeError)) throw error;
          });
          done.add(productNumber);
        } else if (product.name !== name || product.salePrice !== salePrice) {
          await send(service, 'PATCH', urlOf(service, `/${product.id}`), row);
        }
      }
    },
  };
}

/** Lists the products first, and creates what is not there. It remembers nothing. */
export function lookOnly(): NaiveWriter {
  return {
    reset: () => {},
    async run(service) {
      const existing = new Map((await listAll(service)).map((product) => [product.productNumber, product]));
      const failed: unknown[] = [];
      for (const row of new Map(service.products.map((each) => [each.productNumber, each])).values()) {
        const product = existing.get(row.productNumber);
        const write =
          product === undefined
            ? send(service, 'POST', urlOf(service), row, crypto.randomUUID())
            : send(service, 'PATCH', urlOf(service, `/${product.id}`), row);
        await write.catch((error: unknown) => failed.push(error));
      }
      if (failed.length > 0) throw new Error(`${failed.length} rows failed`, { cause: failed[0] });
    },
  };
}
