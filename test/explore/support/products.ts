import { type CollectionName, createClient } from 'accounting-data-sdk';
import type { CollectionDetails, ProbeReport } from 'accounting-data-sdk/explore';
import { createSandbox, type Sandbox, type SandboxOptions } from 'accounting-data-sdk/testing';

/** Everything that API Platform does and the specification does not say, as far as one service can have it. */
export const API_PLATFORM: SandboxOptions = {
  order: 'updated-desc',
  hiddenRecords: 0.05,
  idColumn: 'int4',
  timeZone: 'America/New_York',
  dateFilter: 'local',
  nullFields: 'omitted',
  formats: 'jsonld',
  relations: 'iri',
  problemType: 'api-platform',
  notFoundBody: 'Not Found',
  contentTypes: { create: ['application/ld+json'], update: ['application/merge-patch+json'] },
  idempotency: { replay: 'ignored' },
};

const HOUR_MS = 3_600_000;
const FROM_MS = Date.UTC(2024, 0, 1);

/**
 * Products whose ids, times of making and times of change are in three different orders: generated ones are made in
 * the order of their ids, so that the two orders would look the same.
 */
export function fillProducts({ store }: Sandbox, count: number): void {
  for (let index = 0; index < count; index += 1) {
    const createdMs = FROM_MS + ((index * 37 + 11) % count) * HOUR_MS;
    const updatedMs = FROM_MS + (count + ((index * 61 + 29) % count)) * HOUR_MS;
    store.products.insert({
      name: `Product ${index}`,
      salePrice: `${index}.5000`,
      createdAt: new Date(createdMs).toISOString(),
      updatedAt: new Date(updatedMs).toISOString(),
    });
  }
}

/** A sandbox with products in three orders, and a client for it. */
export function productSandbox(options: SandboxOptions = {}, count = 211) {
  const sandbox = createSandbox({ records: { accounts: 90 }, ...options });
  fillProducts(sandbox, count);
  return { sandbox, client: createClient(sandbox.clientOptions) };
}

/** A service that treats some query parameters in its own way: its address, and what it makes of a URL. */
export function clientBehind(sandbox: Sandbox, rewrite: (url: URL) => URL | Response) {
  const { baseUrl, apiKey } = sandbox.clientOptions;
  const inner = sandbox.fetch;
  const fetch: typeof inner = async (input, init) => {
    const made = rewrite(new URL(String(input)));
    return made instanceof Response ? made : inner(made.href, init);
  };
  return createClient({ baseUrl, apiKey, fetch });
}

/** What a probe found out about a collection that it could read. */
export function detailsOf(collections: ProbeReport['collections'], name: CollectionName): CollectionDetails {
  const { details } = collections.find(({ collection }) => collection === name) ?? {};
  if (details === undefined) throw new Error(`${name} was not read`);
  return details;
}
