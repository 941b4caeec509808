// The run: reads the rows and what earlier runs left, then goes through the rounds.

import { isAccountingError } from '../errors/guards.ts';
import { PushError } from '../errors/push-error.ts';
import { admitKey } from '../reading/company.ts';
import type { RecordIn, SyncSource } from '../reading/source.ts';
import type { PushReport } from '../reports/push-report.ts';
import type { BodyOf } from '../schemas/record.ts';
import { Calls } from './calls.ts';
import { PushMemory } from './memory.ts';
import {
  type AnyProduct,
  type PushOptions,
  type PushTarget,
  type ResolvedPushOptions,
  resolvePushOptions,
} from './options.ts';
import { Results } from './results.ts';
import { Rounds } from './rounds.ts';
import { readRows } from './rows.ts';
import { beginRun, holdStore } from './runs.ts';

/** The draft that a collection creates. */
export type DraftIn<Collection> = Collection extends {
  create(draft: BodyOf<infer Draft, PropertyKey>, ...args: never[]): unknown;
}
  ? Draft
  : never;

/** The patch with which a collection updates. */
export type PatchIn<Collection> = Collection extends {
  update(id: string, patch: BodyOf<infer Patch, PropertyKey>, ...args: never[]): unknown;
}
  ? Patch
  : never;

/**
 * Creates or updates products, so that each row has one product with its values.
 *
 * ```ts
 * const store = fileStore('.push');
 * const report = await push(client.products, { tenant: 'acme', rows, key: 'productNumber', store });
 * ```
 * All rows are read first, then the existing products are compared with them, then only the differences are written.
 * Amounts are compared as decimals; `null` equals a missing field; a field that a row leaves out keeps its value. An
 * invalid row fails and the others continue; `onResult` is called for each. A create with an unknown outcome is looked
 * for before it is sent again, in this run and in the next, so that no product is created twice: see the guide to pushing.
 *
 * @throws PushError if the push stopped: the key was rejected (401) or lacks a scope, the service was down for
 * `maxOutageMs`, or rows, store or list could not be read. DeletionsAbortedError if too many products are missing.
 * ConcurrentRunError if another push of the tenant is running. InvalidInputError for invalid options, and for the API key
 * of another company than the one that the store was written for. The signal's own
 * reason if it stopped the push.
 */
export async function push<Collection extends PushTarget<{ id: string }, never, never>>(
  products: Collection,
  options: PushOptions<RecordIn<Collection>, DraftIn<Collection>, PatchIn<Collection>>,
): Promise<PushReport> {
  const resolved = resolvePushOptions(
    products as unknown as SyncSource<AnyProduct>,
    options as unknown as PushOptions<AnyProduct, object, object>,
  );
  const event = { name: 'push', tenant: resolved.tenant, collections: ['products'] } as const;
  return await resolved.source.inRun(event, () => pushOnce(resolved));
}

async function pushOnce(options: ResolvedPushOptions): Promise<PushReport> {
  const { source, tenant, signal } = options;
  const end = beginRun(source.baseUrl, tenant);
  const results = new Results(options, source.callbackFailed);
  try {
    signal?.throwIfAborted();
    await run(options, results);
    return results.report();
  } catch (error) {
    if (signal?.aborted && error === signal.reason) throw error;
    if (isAccountingError(error, 'concurrent_run') || isAccountingError(error, 'deletions_aborted'))
      throw error;
    if (isAccountingError(error, 'invalid_input') && error.argument === 'tenant') throw error;
    throw new PushError(results.report(), error);
  } finally {
    end();
  }
}

async function run(options: ResolvedPushOptions, results: Results): Promise<void> {
  const rows = await readRows(options, results);
  const memory = new PushMemory(options);
  await memory.loadCompany();
  const calls = new Calls(options, results);
  const admitted = await admitKey(memory.company, {
    ...options,
    digestOf: (salt) => options.source.keyDigest(salt),
    known: () => memory.knownProducts((id) => calls.lookUpAlone(id)),
  });
  const hold = options.dryRun ? undefined : await holdStore({ ...options, onWait: results.wait });
  try {
    await memory.load(rows, hold);
    memory.company = admitted ?? memory.company;
    await new Rounds({ options, results, rows, memory, calls }).run();
  } finally {
    // A store that fails has been reported, or fails the next push.
    await hold?.end().catch(() => undefined);
  }
}
