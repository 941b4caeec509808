// The run: reads the rows, then the existing products, plans, and writes.

import { isAccountingError } from '../errors/guards.ts';
import { PushError } from '../errors/push-error.ts';
import type { PushReport } from '../errors/push-report.ts';
import { forEach } from '../internal/for-each.ts';
import { monotonicMs } from '../internal/monotonic-clock.ts';
import type { ResponseTime } from '../pagination/page.ts';
import { type RecordIn, runSource } from '../reading/source.ts';
import { Calls } from './calls.ts';
import { changesSince, existingProducts, type Reading } from './existing.ts';
import { settleLost, waitForAttempts } from './lost-creates.ts';
import { PushMemory } from './memory.ts';
import {
  type AnyProduct,
  type AnyTarget,
  type PushOptions,
  type PushTarget,
  type ResolvedPushOptions,
  resolvePushOptions,
} from './options.ts';
import { Planner, plannedResults, settledResults } from './plan.ts';
import { Results } from './results.ts';
import { type Rows, readRows } from './rows.ts';
import { beginRun, type PushRun } from './runs.ts';
import { Writer } from './writer.ts';

/** The draft that a collection creates. */
export type DraftIn<Collection> = Collection extends { create(draft: infer Draft, ...args: never[]): unknown }
  ? Draft
  : never;

/** The patch with which a collection updates. */
export type PatchIn<Collection> = Collection extends {
  update(id: string, patch: infer Patch, ...args: never[]): unknown;
}
  ? Patch
  : never;

/**
 * Creates or updates products, so that each row has one product with its values.
 *
 * ```ts
 * const report = await push(client.products, { tenant: 'acme', rows, key: 'productNumber' });
 * ```
 * All rows are read first, then the existing products are compared with them, then only the differences are written.
 * Amounts are compared as decimals; `null` equals a missing field; a field that a row leaves out keeps its value. An
 * invalid row fails and the others continue; `onResult` is called for each. A create is repeated under the same
 * idempotency key, in this run and in the next, so that no product is created twice: see the guide to pushing.
 *
 * @throws PushError if the push stopped: the key was rejected or may not write (401, 403), the service was down for
 * `maxOutageMs`, or rows, store or list could not be read. ReconcileAbortedError if too many products are missing.
 * ConcurrentRunError if another push of the tenant is running. InvalidInputError for invalid options. The signal's own
 * reason if it stopped the push.
 */
export async function push<Collection extends PushTarget<{ id: string }, never, never>>(
  products: Collection,
  options: PushOptions<RecordIn<Collection>, DraftIn<Collection>, PatchIn<Collection>>,
): Promise<PushReport> {
  const target = products as unknown as AnyTarget;
  const given = options as unknown as PushOptions<AnyProduct, object, object>;
  const resolved = resolvePushOptions(target, given);
  const event = { name: 'push', tenant: resolved.tenant, collections: ['products'] } as const;
  return await runSource(target).inRun(event, () => pushOnce(target, resolved));
}

async function pushOnce(target: AnyTarget, resolved: ResolvedPushOptions): Promise<PushReport> {
  const begun = beginRun(`${target.baseUrl} ${resolved.tenant}`);
  const { callbackFailed, writes } = runSource(target);
  const results = new Results(resolved, callbackFailed);
  try {
    resolved.signal?.throwIfAborted();
    await run(writes?.outlasting(resolved.maxOutageMs) as AnyTarget, { options: resolved, results, begun });
    return results.report();
  } catch (error) {
    if (resolved.signal?.aborted && error === resolved.signal.reason) throw error;
    if (isAccountingError(error, 'concurrent_run') || isAccountingError(error, 'reconcile_aborted'))
      throw error;
    throw new PushError(results.report(), error);
  } finally {
    begun.end();
  }
}

interface Run {
  readonly options: ResolvedPushOptions;
  readonly results: Results;
  readonly begun: PushRun;
}

/** After a longer question, others may have written what was planned. */
const LONG_QUESTION_MS = 5_000;

async function run(products: AnyTarget, { options, results, begun }: Run): Promise<void> {
  const { confirm, dryRun, keyName, settings, signal, store, storeKey, tenant } = options;
  const rows = await readRows(options, results);
  const memory =
    store && new PushMemory({ store, storeKey, keyName, tenant, baseUrl: products.baseUrl, signal });
  await memory?.load(rows);
  const calls = new Calls(products, options, results);
  const reading: Reading = { products, options, results };
  // An earlier run may have left a create that the service is still carrying out.
  const isUnknown = (key: string) => memory?.pending(key) !== undefined;
  if (!dryRun && !settings.retry.creates && [...rows.byKey.keys()].some(isUnknown))
    await waitForAttempts(reading);

  results.begin('read');
  const planner = new Planner(options, rows);
  let first: ResponseTime | undefined;
  for await (const page of existingProducts(reading)) {
    first ??= page.first;
    planner.add(page);
    results.advance(page.records.length);
  }
  await readUnseen({ ...reading, planner, rows, calls });
  let plan = planner.plan();
  const askedAt = monotonicMs();
  const counts = { ...results.report().counts };
  for (const [, { action }] of plannedResults(plan)) counts[action] += 1;
  if (dryRun || !(await confirm(counts))) {
    results.isDryRun = true;
    for (const [subject, outcome] of plannedResults(plan)) results.add(subject, outcome);
    return;
  }
  signal?.throwIfAborted();
  if (monotonicMs() - askedAt > LONG_QUESTION_MS) {
    const rowById = new Map([...rows.byKey.values()].map((row) => [row.id ?? '', row]));
    for await (const page of changesSince(reading, first)) planner.addChanges(page, rowById);
    plan = planner.plan();
  }
  for (const [subject, outcome] of settledResults(plan)) results.add(subject, outcome);
  for (const { id, key } of rows.byKey.values()) if (id !== undefined) memory?.settled(key);
  for (const { id, key, storedId } of plan.unchanged) memory?.found(key, id as string, storedId);

  const { creates, updates, missing } = plan;
  results.begin('write', creates.length + updates.length + missing.length);
  const writer = new Writer({ options, calls, results, memory, rows, begun });
  try {
    if (creates.length + updates.length + missing.length > 0) await memory?.begin();
    await writer.write(plan);
    await settleLost(writer, reading, first);
  } catch (error) {
    writer.failLost();
    // What is known is worth keeping, but the reason why the push stopped is the error to report.
    await memory?.finish().catch(() => undefined);
    throw error;
  }
  await memory?.finish();
}

interface Unseen extends Reading {
  readonly planner: Planner;
  readonly rows: Rows;
  readonly calls: Calls;
}

/** The store may know a product that the list did not show: without it, a second one would be created. */
async function readUnseen({ planner, rows, calls, options, results }: Unseen): Promise<void> {
  await forEach(planner.unseen(), options.concurrency, async (row) => {
    try {
      const product = await calls.find(row.storedId as string);
      if (product !== undefined) planner.add({ records: [product], invalid: [], restarted: false });
    } catch (error) {
      if (!isAccountingError(error) || (await calls.stopsRun(error))) throw error;
      rows.byKey.delete(row.key);
      rows.failedKeys.add(row.key);
      results.add(row, { action: 'failed', id: row.storedId, error });
    }
  });
}
