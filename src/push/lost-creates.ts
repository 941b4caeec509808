// For services that ignore Idempotency-Key (`retry.creates: false`): looks for the product before a create is sent again.

import { monotonicMs } from '../internal/monotonic-clock.ts';
import { sleep } from '../internal/sleep.ts';
import type { ResponseTime } from '../pagination/page.ts';
import type { SourceQuery } from '../sync/source.ts';
import { sinceOf } from '../sync/watermark.ts';
import { isDown } from './calls.ts';
import { listed, type Reading } from './existing.ts';
import type { AnyProduct } from './options.ts';
import type { Row } from './rows.ts';
import type { Writer } from './writer.ts';

/** Finds out the outcome of lost creates, and sends those again that created no product. */
export async function settleLost(
  writer: Writer,
  reading: Reading,
  first: ResponseTime | undefined,
): Promise<void> {
  const { maxOutageMs, settings } = reading.options;
  const startedAt = monotonicMs();
  for (let attempt = 1; writer.lost.size > 0; attempt++) {
    await waitForAttempts(reading);
    const lost = [...writer.lost];
    const found = await look(new Set(lost.map(([row]) => row.key)), reading, {
      first,
      proof: writer.writtenId,
    });
    const again: Row[] = [];
    const isInTime = monotonicMs() - startedAt < maxOutageMs;
    for (const [row, error] of lost) {
      const products = found.products.get(row.key) ?? [];
      const [product] = products;
      const mayRepeat = attempt < settings.retry.maxAttempts || (isInTime && isDown(error));
      if (products.length > 1) {
        writer.lostInConflict(
          row,
          products.map(({ id }) => id),
        );
      } else if (product !== undefined) await writer.foundLost(row, product);
      else if (mayRepeat && !found.hasInvalid) again.push(row);
      else writer.failLost([row]);
    }
    await writer.create(again);
  }
}

/** Waits until the service must have ended what it was doing for an attempt that got no response. */
export async function waitForAttempts({ options: { settings, signal }, results }: Reading): Promise<void> {
  const waitMs = Number.isFinite(settings.timeoutMs) ? settings.timeoutMs : 30_000;
  results.wait(waitMs);
  await sleep(waitMs, signal);
}

interface Found {
  /** By natural key. */
  readonly products: ReadonlyMap<string, readonly AnyProduct[]>;
  /** Whether some product could not be read: it may be the one that is looked for. */
  readonly hasInvalid: boolean;
}

/**
 * The products of some keys. Those that changed since the start of the run are enough if the service applies that
 * filter: one that ignores it returns everything, but another may return nothing. A product that this run wrote must be
 * among them.
 */
async function look(
  keys: ReadonlySet<string>,
  reading: Reading,
  { first, proof }: { first: ResponseTime | undefined; proof: string | undefined },
): Promise<Found> {
  if (first?.serverTime !== undefined && proof !== undefined) {
    const updatedSince = sinceOf(first.serverTime.toISOString(), reading.options.lookbackMs);
    const { isProven, ...found } = await read(keys, reading, { query: { updatedSince }, proof });
    if (isProven) return found;
  }
  return read(keys, reading, { query: {}, proof });
}

async function read(
  keys: ReadonlySet<string>,
  reading: Reading,
  { query, proof }: { query: SourceQuery; proof: string | undefined },
): Promise<Found & { readonly isProven: boolean }> {
  const byId = new Map<string, { key: string; product: AnyProduct }>();
  let hasInvalid = false;
  let isProven = false;
  for await (const page of listed(reading, query)) {
    if (page.invalid.length > 0) hasInvalid = true;
    for (const product of page.records) {
      if (product.id === proof) isProven = true;
      const key = reading.options.key(product);
      if (typeof key === 'string' && keys.has(key)) byId.set(product.id, { key, product });
    }
  }
  const products = new Map<string, AnyProduct[]>();
  for (const { key, product } of byId.values()) products.set(key, [...(products.get(key) ?? []), product]);
  return { products, hasInvalid, isProven };
}
