// Finds out the outcome of creates that may have been carried out: looks for their products, and sends those again that
// have none, under the same key.

import { monotonicMs } from '../internal/monotonic-clock.ts';
import { sleep } from '../internal/sleep.ts';
import type { ResponseTime } from '../pagination/page.ts';
import type { SourceQuery } from '../reading/source.ts';
import { sinceOf } from '../reading/watermark.ts';
import { signOfError } from '../transport/outage.ts';
import { listed, type Reading } from './existing.ts';
import { folded, spellings } from './natural-key.ts';
import type { AnyProduct } from './options.ts';
import type { PushRow } from './rows.ts';
import type { Writer } from './writer.ts';

/** Three idempotency keys of a row, each in progress twice, and then a fourth: the service marks every key. */
const MAX_ATTEMPTS_IN_PROGRESS = 7;

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
    const { markers } = writer;
    // The product of an earlier run can be older than this one.
    const isOlder = lost.some(([, error]) => markers.isOfEarlierRun(error));
    const found = await look(new Set(lost.map(([row]) => row.key)), reading, {
      first: isOlder ? undefined : first,
      proof: writer.writtenId,
    });
    const again: PushRow[] = [];
    const isInTime = monotonicMs() - startedAt < maxOutageMs;
    for (const [row, error] of lost) {
      const products = found.products.get(row.key) ?? [];
      const [product] = products;
      const similar = found.similar.get(folded(row.key));
      const { creates, maxAttempts } = settings.retry;
      // A create that may be repeated at once has been repeated already.
      const mayRepeat =
        attempt < (creates ? 2 : maxAttempts) ||
        (!creates && isInTime && signOfError(error) !== undefined) ||
        (attempt < MAX_ATTEMPTS_IN_PROGRESS && markers.isOfEarlierRun(error));
      if (products.length > 1) {
        const ids = products.map(({ id }) => id);
        writer.lostInConflict(row, ids, `products ${ids.join(', ')} have this key`);
      } else if (product === undefined && similar !== undefined) {
        const reason = `product ${similar.id} may be the one: ${spellings(row.key, similar.key)}`;
        writer.lostInConflict(row, [similar.id], reason);
      } else if (product !== undefined) await writer.foundLost(row, product);
      else if (mayRepeat && !found.mayLack) again.push(row);
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
  /** A product that may have the key in another spelling, by the form of the key that services store. */
  readonly similar: ReadonlyMap<string, { readonly id: string; readonly key: string }>;
  /** Whether a product could not be read, or was missed: it may be the one that is looked for. */
  readonly mayLack: boolean;
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
  const forms = new Set([...keys].map(folded));
  const similar = new Map<string, { id: string; key: string }>();
  const { key: keyOf, incompleteList } = reading.options;
  let lacking = 0;
  let hasInvalid = false;
  let isProven = false;
  for await (const page of listed(reading, query)) {
    if (page.invalid.length > 0) hasInvalid = true;
    lacking = page.repeatedAgain ?? lacking;
    for (const product of page.records) {
      if (product.id === proof) isProven = true;
      const key = keyOf(product);
      if (typeof key !== 'string') continue;
      if (keys.has(key)) byId.set(product.id, { key, product });
      else if (forms.has(folded(key))) similar.set(folded(key), { id: product.id, key });
    }
  }
  const products = new Map<string, AnyProduct[]>();
  for (const { key, product } of byId.values()) products.set(key, [...(products.get(key) ?? []), product]);
  const mayLack = hasInvalid || (lacking > 0 && incompleteList === 'fail');
  return { products, similar, mayLack, isProven };
}
