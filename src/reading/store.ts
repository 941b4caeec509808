import { CheckpointError } from '../errors/checkpoint-error.ts';
import { isAccountingError } from '../errors/guards.ts';
import { untilAborted } from '../internal/callback.ts';
import { causeText, sentence } from '../internal/text.ts';
import { CallStopped } from '../transport/call-options.ts';

type MaybePromise<V> = V | Promise<V>;

/**
 * Where a sync keeps its state: one string under 1 kB for each tenant and collection. A `Map`, Keyv, unstorage,
 * ioredis and node-redis fit as they are.
 *
 * `get` must return what was last `set`: with an eventually consistent store, a sync would report concurrent runs that
 * do not exist. A store without `set` is for a consumer that writes `batch.checkpoint` under `batch.key` itself, in the
 * transaction of its rows.
 */
export interface Store {
  /** What was last written: the string, or the object that it is the JSON of. Nothing: `undefined` or `null`. */
  get(key: string): MaybePromise<string | object | null | undefined>;
  /** Writes. Rejecting and resolving to `false` both mean that it failed. */
  set?: ((key: string, value: string) => unknown) | undefined;
  /** A push deletes the mark of the run before it. Only the caller decides to delete a state. */
  delete?: ((key: string) => unknown) | undefined;
  /**
   * Keeps others out: held until the returned function is called or the process ends. A lock that expires by itself is none,
   * because a run may take longer, or be suspended. Returns `undefined` while another run holds the lock, `false` if the
   * runtime has no locks. A `push` calls it, and marks its run in the store anyway.
   */
  lock?: ((key: string) => MaybePromise<(() => unknown) | undefined | false>) | undefined;
}

/** A store of this package, with all its methods. */
export type CompleteStore = { readonly [Method in keyof Required<Store>]: NonNullable<Store[Method]> };

/** A store in memory, for tests and for copies that live as long as the process. */
export function memoryStore(): CompleteStore {
  const states = new Map<string, string>();
  const locks = new Set<string>();
  return {
    get: (key) => states.get(key),
    set: (key, value) => {
      states.set(key, value);
    },
    delete: (key) => states.delete(key),
    lock(key) {
      if (locks.has(key)) return undefined;
      locks.add(key);
      return () => locks.delete(key);
    },
  };
}

/** Reads from a store. What it throws becomes the cause of a CheckpointError. */
export async function readStore(
  store: Store,
  key: string,
  signal: AbortSignal | undefined,
): Promise<unknown> {
  return storeCall(async () => await store.get(key), { key, done: 'read', signal });
}

/** Writes to a store. A store that fails is a CheckpointError. */
export async function writeStore(
  store: Store,
  { key, text }: { readonly key: string; readonly text: string },
  signal: AbortSignal | undefined,
): Promise<void> {
  const result = await storeCall(async () => await store.set?.(key, text), { key, done: 'written', signal });
  // Keyv catches the error of its adapter and returns false.
  if (result !== false) return;
  throw new CheckpointError(`The state under ${key} could not be written: the store returned false.`, {
    hint: CHECK_STORE,
  });
}

/** Locks a key of a store: see `lock`. */
export async function lockStore(
  store: Store,
  key: string,
  signal: AbortSignal | undefined,
): Promise<(() => unknown) | undefined | false> {
  if (store.lock === undefined) return false;
  const unlock = await storeCall(async () => await store.lock?.(key), { key, done: 'locked', signal });
  if (!unlock) return unlock;
  return () => storeCall(async () => await unlock(), { key, done: 'unlocked', signal });
}

/** Deletes a key, if the store can. */
export async function deleteStored(
  store: Store,
  key: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  await storeCall(async () => await store.delete?.(key), { key, done: 'deleted', signal });
}

const CHECK_STORE = 'Check the store, then run this again.';

async function storeCall<V>(
  work: () => Promise<V>,
  {
    key,
    done,
    signal,
  }: {
    key: string;
    done: 'read' | 'written' | 'locked' | 'unlocked' | 'deleted';
    signal: AbortSignal | undefined;
  },
): Promise<V> {
  try {
    return await untilAborted(work(), signal);
  } catch (error) {
    if (error instanceof CallStopped || (signal?.aborted && error === signal.reason)) throw error;
    const reason = causeText(error) || 'something other than an error';
    throw new CheckpointError(
      sentence(`The state under ${key} could not be ${done}: the store threw ${reason}`),
      { retryable: isAccountingError(error) ? error.retryable : true, hint: CHECK_STORE },
      { cause: error },
    );
  }
}
