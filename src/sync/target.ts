import { checkMethods } from '../errors/check-input.ts';
import { CheckpointError } from '../errors/checkpoint-error.ts';
import { isAccountingError } from '../errors/guards.ts';
import { InvalidInputError } from '../errors/invalid-input-error.ts';
import { untilAborted } from '../internal/callback.ts';
import { causeText, sentence } from '../internal/text.ts';
import type { Store } from '../reading/store.ts';
import type { Batch } from './batch.ts';

/** A copy that a sync writes to, such as a database: the state, the records and their ids in one place. */
export interface SyncTarget {
  /** Opens the copy of one tenant. Called once for each sync, when its options have been checked. */
  open(tenant: string): OpenTarget | Promise<OpenTarget>;
}

/** The copy of one tenant, during one sync. No two of its methods run at once, except the last `close` after an abort. */
export interface OpenTarget {
  /** Where the state is. Leave out its `set` if `onBatch` writes `batch.checkpoint` in the transaction of the records. */
  readonly store: Store;
  /** Takes a batch: see the same option of {@link sync}. `batch.rows` holds the records as the service sent them. */
  onBatch(batch: Batch<{ id: string }>): unknown;
  /** The ids of the copy of a collection. Called only in mode `full`. */
  localIds(collection: string): Iterable<string> | AsyncIterable<string>;
  /** Takes ids whose records do not exist any more. Called only in mode `full`. */
  onDelete(ids: readonly string[], collection: string): unknown;
  /** Called once at the end of the sync, even if it fails or is stopped. */
  close?(): void | Promise<void>;
}

const REPLACED_BY_TARGET = ['store', 'onBatch', 'localIds', 'onDelete'] as const;

/** The target of these options. It must not stand beside one of the options that it replaces. */
export function checkTarget(
  options: {
    readonly [Name in (typeof REPLACED_BY_TARGET)[number] | 'target']?: unknown;
  },
): SyncTarget {
  const target = checkMethods(options.target, 'target', ['open']) as SyncTarget;
  const both = REPLACED_BY_TARGET.find((name) => options[name] !== undefined);
  if (both !== undefined) {
    throw new InvalidInputError(both, 'cannot be combined with target, which has one of its own');
  }
  return target;
}

/** Runs `work` with the opened target, and closes it however that ends. */
export async function withTarget<V>(
  target: SyncTarget,
  { tenant, signal }: { readonly tenant: string; readonly signal: AbortSignal | undefined },
  work: (opened: OpenTarget) => Promise<V>,
): Promise<V> {
  signal?.throwIfAborted();
  const opening = (async () => await target.open(tenant))();
  const opened = await untilAborted(opening, signal).catch((error: unknown) => {
    // No other code closes one that opens after the sync has given up on it.
    opening.then((late) => late?.close?.()).catch(() => undefined);
    throw failureOf('opened', error, signal);
  });
  let result: V;
  try {
    checkMethods(opened, 'target', ['onBatch', 'localIds', 'onDelete']);
    checkMethods(opened.store, 'target.store', ['get']);
    result = await work(opened);
  } catch (error) {
    // What went wrong first is the reason to report.
    await close(opened).catch(() => undefined);
    throw error;
  }
  await close(opened).catch((error: unknown) => {
    throw failureOf('closed', error, signal);
  });
  return result;
}

async function close(opened: OpenTarget | undefined): Promise<void> {
  await opened?.close?.();
}

function failureOf(done: 'opened' | 'closed', error: unknown, signal: AbortSignal | undefined): unknown {
  if (isAccountingError(error) || (signal?.aborted === true && error === signal.reason)) return error;
  const reason = causeText(error) || 'something other than an error';
  return new CheckpointError(
    sentence(`The target could not be ${done}: it threw ${reason}`),
    { retryable: true, hint: 'Check the target, then run this again.' },
    { cause: error },
  );
}
