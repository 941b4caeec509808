// One push of a tenant at a time: a list of this process notices a second one in it, the store one in another process.

import { ConcurrentRunError } from '../errors/concurrent-run-error.ts';
import { monotonicMs } from '../internal/monotonic-clock.ts';
import { sleep } from '../internal/sleep.ts';
import { parseStored } from '../reading/state.ts';
import { lockStore, readStore, writeStore } from '../reading/store.ts';
import { newIdempotencyKey } from '../transport/idempotency-key.ts';
import type { ResolvedPushOptions } from './options.ts';

/** Where every copy of the package in the process looks. */
const SLOT = Symbol.for('accounting-data-sdk.pushes');

/** How often a run renews its mark, and after how long without that another may take over. */
const RENEWED_AFTER_MS = 1_000;
const GONE_AFTER_MS = 3_000;
const ASKED_AFTER_MS = 200;

type HoldOptions = Pick<ResolvedPushOptions, 'store' | 'storeKey' | 'tenant' | 'signal'> & {
  /** Called before a wait. */
  readonly onWait: (waitMs: number) => void;
};

/** What a push holds while it runs. */
export interface Hold {
  /** Asks the store whether this is still the run that may write. */
  check(): Promise<void>;
  /** Throws if another run is known to have taken over. */
  throwIfLost(): void;
  end(): Promise<void>;
}

/** Takes the place of the one push of a tenant in this process, and returns a function that leaves it. */
export function beginRun(baseUrl: string, tenant: string): () => void {
  const holder = globalThis as { [SLOT]?: Set<string> };
  holder[SLOT] ??= new Set();
  const runs = holder[SLOT];
  const name = `${baseUrl} ${tenant}`;
  if (runs.has(name)) throw anotherRun(tenant, 'is running');
  runs.add(name);
  return () => void runs.delete(name);
}

/**
 * Keeps pushes of other processes out: by a lock of the store, which goes with its process, or else by a mark in the store
 * that this run renews.
 */
export async function holdStore(options: HoldOptions): Promise<Hold> {
  const { store, storeKey, tenant, signal } = options;
  const unlock = await lockStore(store, storeKey, signal);
  if (unlock === false) return await markRun(options);
  if (unlock === undefined) throw anotherRun(tenant, 'is running');
  return { check: async () => {}, throwIfLost: () => {}, end: async () => void (await unlock()) };
}

/**
 * Marks the run in a store that cannot lock. A mark that is not renewed is that of a killed process. Of two runs that find
 * none at the same moment, the one whose mark was written last goes on.
 */
async function markRun({ store, storeKey, tenant, signal, onWait }: HoldOptions): Promise<Hold> {
  const key = `${storeKey}:run`;
  const by = newIdempotencyKey();
  const ended = new AbortController();
  let renewed = 0;
  let isLost = false;
  const read = async (until = signal) => {
    const mark = parseStored(await readStore(store, key, until), key);
    return { by: mark?.by, renewed: mark?.renewed };
  };
  const write = (mark: object, until = signal) =>
    writeStore(store, { key, text: JSON.stringify({ v: 1, ...mark }) }, until);
  const throwIfLost = () => {
    if (isLost) throw anotherRun(tenant, 'has taken over, so this one has stopped');
  };
  const check = async () => {
    isLost ||= (await read()).by !== by;
    throwIfLost();
  };
  const renew = async () => {
    const { signal: until } = ended;
    while (!isLost) {
      await sleep(RENEWED_AFTER_MS, until);
      // A store that fails is reported when the push writes what it did.
      const now = await read(until).catch(() => undefined);
      if (now !== undefined && now.by !== by) isLost = true;
      else if (now !== undefined) await write({ by, renewed: ++renewed }, until).catch(() => undefined);
    }
  };
  let renewing: Promise<void> | undefined;
  const end = async () => {
    ended.abort();
    await renewing?.catch(() => undefined);
    if (isLost || (await read()).by !== by) return;
    if (store.delete === undefined) await write({});
    else await store.delete(key);
  };

  let startedAt = monotonicMs();
  const found = await read();
  for (let waitedMs = 0; found.by !== undefined && waitedMs < GONE_AFTER_MS; waitedMs += ASKED_AFTER_MS) {
    onWait(GONE_AFTER_MS - waitedMs);
    await sleep(ASKED_AFTER_MS, signal);
    startedAt = monotonicMs();
    const now = await read();
    if (now.by !== found.by || now.renewed !== found.renewed) throw anotherRun(tenant, 'is running');
  }
  try {
    await write({ by, renewed });
    // A run that began at the same moment has written its mark by then, because its store is as fast.
    const settlesAfterMs = 2 * (monotonicMs() - startedAt);
    if (settlesAfterMs >= 1) await sleep(settlesAfterMs, signal);
    await check();
  } catch (error) {
    await end().catch(() => undefined);
    throw error;
  }
  renewing = renew();
  return { check, throwIfLost, end };
}

function anotherRun(tenant: string, what: string): ConcurrentRunError {
  return new ConcurrentRunError(
    `Another push of ${tenant} ${what}; what was written stays written.`,
    'running',
  );
}
