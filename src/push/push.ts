// The run: reads the rows, then the existing products, plans, and writes.

import { ConcurrentRunError } from '../errors/concurrent-run-error.ts';
import { isAccountingError } from '../errors/guards.ts';
import { PushError } from '../errors/push-error.ts';
import type { PushReport } from '../errors/push-report.ts';
import { untilAborted } from '../internal/callback.ts';
import { monotonicMs } from '../internal/monotonic-clock.ts';
import type { ResponseTime } from '../pagination/page.ts';
import type { RecordIn } from '../sync/source.ts';
import { internalsOf } from '../transport/collection-internals.ts';
import { Calls } from './calls.ts';
import { existingProducts, type Reading } from './existing.ts';
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
import { Planner, plannedCounts, reportPlan } from './plan.ts';
import { Results } from './results.ts';
import { readRows } from './rows.ts';
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
 * const report = await push(client.products, { tenant: 'acme', rows, key: (row) => row.productNumber });
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
export function push<Collection extends PushTarget<{ id: string }, never, never>>(
  products: Collection,
  options: PushOptions<RecordIn<Collection>, DraftIn<Collection>, PatchIn<Collection>>,
): Promise<PushReport> {
  return runPush(products, options, async () => true);
}

/** Asks whether to write what was planned. */
type Confirm = (planned: PushReport['counts']) => Promise<boolean>;

/** A push that asks before it writes. */
export async function runPush<Collection extends PushTarget<{ id: string }, never, never>>(
  products: Collection,
  options: PushOptions<RecordIn<Collection>, DraftIn<Collection>, PatchIn<Collection>>,
  confirm: Confirm,
): Promise<PushReport> {
  const target = products as unknown as AnyTarget;
  const given = options as unknown as PushOptions<AnyProduct, object, object>;
  const resolved = resolvePushOptions(target, given);
  const begun = beginRun(`${target.baseUrl} ${resolved.storeKey}`);
  const results = new Results(resolved, (name, thrown) => internalsOf(target).callbackFailed?.(name, thrown));
  try {
    resolved.signal?.throwIfAborted();
    await run(target, { options: resolved, results, confirm, followsClosely: begun.followsClosely });
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
  readonly confirm: Confirm;
  readonly followsClosely: boolean;
}

async function run(products: AnyTarget, { options, results, confirm, followsClosely }: Run): Promise<void> {
  const { dryRun, settings, signal, store, storeKey, tenant } = options;
  // Rows and products come from the caller, who may never send the next one.
  const rows = await untilAborted(readRows(options, results), signal);
  const memory = store && new PushMemory({ store, storeKey, tenant, baseUrl: products.baseUrl, signal });
  await memory?.load(rows);
  const calls = new Calls(products, options, results);
  const reading: Reading = {
    products,
    options,
    outage: calls.outage,
    results,
  };
  // An earlier run may have left a create that the service is still carrying out.
  const isUnknown = (key: string) => memory?.pending(key) !== undefined;
  if (!dryRun && !settings.retry.creates && [...rows.byKey.keys()].some(isUnknown))
    await waitForAttempts(reading);

  results.begin('read');
  const planner = new Planner(options, rows);
  let first: ResponseTime | undefined;
  const readExisting = async () => {
    for await (const page of existingProducts(reading)) {
      first ??= page.first;
      planner.add(page);
      results.advance(page.records.length);
    }
  };
  await untilAborted(readExisting(), signal);
  const plan = planner.plan(results, memory);
  const { creates, updates, missing } = plan;
  if (dryRun || !(await confirm(plannedCounts(plan, results)))) {
    reportPlan(plan, results);
    return;
  }

  results.begin('write', creates.length + updates.length + missing.length);
  const writer = new Writer({ options, calls, results, memory, rows, first, followsClosely });
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

/** When the last push of each tenant in this process ended; undefined while it runs. */
const runs = new Map<string, number | undefined>();

/** Products of two pushes within this time can have the same second in `createdAt`. */
const CLOSE_MS = 2_000;

/** Takes the place of the one push of a tenant in this process. In other processes the store notices a second one. */
function beginRun(name: string): { readonly followsClosely: boolean; end(): void } {
  const endedAt = runs.get(name);
  if (runs.has(name) && endedAt === undefined) {
    throw new ConcurrentRunError(
      'Another push of this tenant is running in this process. Wait for it to end.',
      {
        retryable: true,
      },
    );
  }
  runs.set(name, undefined);
  return {
    followsClosely: endedAt !== undefined && monotonicMs() - endedAt < CLOSE_MS,
    end: () => void runs.set(name, monotonicMs()),
  };
}
