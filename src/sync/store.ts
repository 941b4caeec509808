type MaybePromise<V> = V | Promise<V>;

/**
 * Where a sync keeps its state: one string under 1 kB for each tenant and collection. A `Map`, Keyv, unstorage,
 * ioredis and node-redis fit as they are.
 *
 * A store must answer `get` with what was last `set`: one that is eventually consistent makes a sync see other runs
 * where there are none. One without `set` is for a consumer that writes `batch.checkpoint` under `batch.key` itself,
 * in the transaction of its rows.
 */
export interface Store {
  /** What was last written: the string, or the object that it is the JSON of. Nothing: `undefined` or `null`. */
  get(key: string): MaybePromise<string | object | null | undefined>;
  /** Writes. Rejecting and resolving to `false` both mean that it failed. */
  set?: ((key: string, value: string) => unknown) | undefined;
  /** Not called by a sync: to forget a state is the caller's to decide. */
  delete?: ((key: string) => unknown) | undefined;
}

/** A store of this package: everything that one can have. */
export type CompleteStore = { readonly [Method in keyof Required<Store>]: NonNullable<Store[Method]> };

/** A store in memory, for tests and for copies that live as long as the process. */
export function memoryStore(): CompleteStore {
  const states = new Map<string, string>();
  return {
    get: (key) => states.get(key),
    set: (key, value) => {
      states.set(key, value);
    },
    delete: (key) => states.delete(key),
  };
}
