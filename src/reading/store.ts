import { CheckpointError } from '../errors/checkpoint-error.ts';
import { isAccountingError } from '../errors/guards.ts';
import { causeText, sentence } from '../internal/text.ts';
import { CallStopped } from '../transport/call-options.ts';
import type { CallerCode } from './caller-code.ts';

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
   * Keeps others out: held until the returned function is called or the process ends. A lock that expires by itself does not,
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

/** The same store, whose methods are called through `code`. `kind`: see `run` of CallerCode. */
export function guardedStore(store: Store, code: CallerCode, kind?: 'last'): Store {
  const call = <V>(method: string, work: () => V | PromiseLike<V>) => code.run(`store.${method}`, work, kind);
  return {
    get: (key) => call('get', () => store.get(key)),
    set: store.set && ((key, value) => call('set', () => store.set?.(key, value))),
    delete: store.delete && ((key) => call('delete', () => store.delete?.(key))),
    lock:
      store.lock &&
      ((key) => {
        const locking = (async () => await store.lock?.(key))();
        return call('lock', () => locking).catch((error: unknown) => {
          // No other code unlocks what is locked after the run has given up on it.
          locking.then((unlock) => (unlock === false ? undefined : unlock?.())).catch(() => undefined);
          throw error;
        });
      }),
  };
}

/** Reads from a store. What it throws becomes the cause of a CheckpointError. Nothing here ends a wait: see {@link guardedStore}. */
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

/** Locks a key of a store: see `lock`. The function unlocks, whatever else may still run. */
export async function lockStore(
  store: Store,
  key: string,
  signal: AbortSignal | undefined,
  code: CallerCode,
): Promise<(() => unknown) | undefined | false> {
  if (store.lock === undefined) return false;
  const unlock = await storeCall(async () => await store.lock?.(key), { key, done: 'locked', signal });
  if (!unlock) return unlock;
  const work = () => code.run('unlock', unlock, 'last');
  return () => storeCall(work, { key, done: 'unlocked', signal });
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
    return await work();
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
