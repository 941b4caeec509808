// One push of a tenant at a time: a list of this process, a lock of the store if it has one, and always a mark in the store.
//
// The mark is two entries. `run` names the run that may write; a run writes it once, at its start, and none deletes it.
// `alive:<run>` is a run's own: it counts up each second, and says at the end that the run has ended. No run writes that of
// another, so no late write can undo anything. A run that finds another one's mark watches it: if it counts up, that one is
// running; if not, it was killed or is stopped, and this one takes over.

import { ConcurrentRunError } from '../errors/concurrent-run-error.ts';
import { monotonicMs } from '../internal/monotonic-clock.ts';
import { isPlainMap } from '../internal/realm.ts';
import { sleep } from '../internal/sleep.ts';
import type { CallerCode } from '../reading/caller-code.ts';
import { parseStored } from '../reading/state.ts';
import {
  deleteStored,
  guardedStore,
  lockStore,
  readStore,
  type Store,
  writeStore,
} from '../reading/store.ts';
import { newIdempotencyKey } from '../transport/idempotency-key.ts';
import type { ResolvedPushOptions } from './options.ts';

/** Where every copy of the package in the process looks. */
const SLOT = Symbol.for('accounting-data-sdk.pushes');

/** How often a run says that it is alive. */
const RENEWED_AFTER_MS = 1_000;
/** For how long a run may write after it has begun to read that the mark is its own. */
const CONFIRMED_FOR_MS = 2_000;
/** A run that began at the same moment has written its mark by then, or fails. */
const SETTLES_AFTER_MS = 2_000;
/** How often a run looks at the mark of another one. So many looks, so that a slow store waits for longer. */
const ASKED_AFTER_MS = 200;
const LOOKS_UNTIL_GONE = 25;
/** A store that takes longer than `CONFIRMED_FOR_MS` for so many reads in a row confirms nothing. */
const MAX_SLOW_READS = 10;

const ENDED = 'ended';

type HoldOptions = Pick<ResolvedPushOptions, 'store' | 'storeKey' | 'tenant' | 'signal'> & {
  readonly callerCode: CallerCode;
  /** Called before a wait. */
  readonly onWait: (waitMs: number) => void;
};

/** What a push holds while it may write. */
export interface Hold {
  /** Whether the run before did not end: what it sent may still be on its way, and its last write may be lost. */
  readonly tookOver: boolean;
  /** Resolves if no other run has taken over in the last seconds. Rejects with a ConcurrentRunError otherwise. */
  mayWrite(): Promise<void>;
  /** The same, by what the store says now. */
  ask(): Promise<void>;
  end(): Promise<void>;
}

/** Takes the place of the one push of a tenant in this process, and returns a function that leaves it. */
export function beginRun(baseUrl: string, tenant: string): () => void {
  const holder = globalThis as { [SLOT]?: Set<string> };
  holder[SLOT] ??= new Set();
  const runs = holder[SLOT];
  const name = `${baseUrl} ${tenant}`;
  if (runs.has(name)) throw anotherRun(tenant, RUNNING);
  runs.add(name);
  return () => void runs.delete(name);
}

/** Keeps pushes of other processes out. */
export async function holdStore(options: HoldOptions): Promise<Hold> {
  const { store, storeKey, tenant, signal, callerCode } = options;
  // No other process sees the entries of a Map.
  const guarded = guardedStore(store, callerCode);
  const unlock = isPlainMap(store) ? () => undefined : await lockStore(guarded, storeKey, signal, callerCode);
  if (unlock === undefined) throw anotherRun(tenant, RUNNING);
  const mark = new Mark(options, unlock || undefined);
  try {
    await mark.take();
  } catch (error) {
    await mark.end().catch(() => undefined);
    throw error;
  }
  return mark;
}

class Mark implements Hold {
  tookOver = false;
  readonly #options: HoldOptions;
  readonly #unlock: (() => unknown) | undefined;
  readonly #store: Store;
  readonly #by = newIdempotencyKey();
  readonly #ended = new AbortController();
  #isLost = false;
  /** When the last read began that showed this run. */
  #confirmedAt: Moment | undefined;
  #asking: Promise<void> | undefined;
  #renewing: Promise<void> | undefined;

  constructor(options: HoldOptions, unlock: (() => unknown) | undefined) {
    const { store, callerCode } = options;
    this.#options = options;
    this.#unlock = unlock;
    this.#store = guardedStore(store, callerCode);
  }

  async take(): Promise<void> {
    const { signal } = this.#options;
    const before = await this.#holder();
    this.tookOver = before !== undefined && (await this.#isGone(before));
    const startedAt = now();
    if ((await this.#holder()) !== before) throw this.#lost(RUNNING);
    // A process that was stopped meanwhile would end the run that has taken the mark since.
    if (elapsedSince(startedAt) > SETTLES_AFTER_MS) throw this.#tooSlow();
    await this.#write('run', { by: this.#by });
    this.#renewing = this.#renew();
    if (elapsedSince(startedAt) > SETTLES_AFTER_MS) throw this.#tooSlow();
    // Under a lock no other run begins, and one that ended writes nothing more.
    if (this.#unlock === undefined || this.tookOver) await this.#wait(SETTLES_AFTER_MS, signal);
    await this.ask();
    // So that entries do not grow. A store that cannot delete keeps one for each push.
    if (before !== undefined)
      await deleteStored(this.#store, this.#key(`alive:${before}`), signal).catch(() => undefined);
  }

  async mayWrite(): Promise<void> {
    for (let reads = 0; ; reads++) {
      if (this.#isLost) throw this.#lost(TAKEN);
      if (this.#confirmedAt !== undefined && elapsedSince(this.#confirmedAt) <= CONFIRMED_FOR_MS) return;
      if (reads === MAX_SLOW_READS) throw this.#tooSlow();
      // One read for all that wait.
      this.#asking ??= this.ask().finally(() => {
        this.#asking = undefined;
      });
      await this.#asking;
    }
  }

  async ask(): Promise<void> {
    const startedAt = now();
    if ((await this.#holder()) !== this.#by) this.#isLost = true;
    if (this.#isLost) throw this.#lost(TAKEN);
    this.#confirmedAt = startedAt;
  }

  async end(): Promise<void> {
    this.#ended.abort();
    try {
      // A count that arrives after the end would look like a run that was killed.
      await this.#renewing;
      const { store, callerCode } = this.#options;
      const last = guardedStore(store, callerCode, 'last');
      if (this.#renewing !== undefined) await this.#write(`alive:${this.#by}`, { alive: ENDED }, last);
    } finally {
      await this.#unlock?.();
    }
  }

  /** Watches a run that has not said that it ended. Returns false if it says so now; throws if it is running. */
  async #isGone(run: string): Promise<boolean> {
    const { signal } = this.#options;
    let last = await this.#aliveOf(run);
    for (let looks = 0; last !== ENDED && looks < LOOKS_UNTIL_GONE; looks++) {
      await this.#wait(ASKED_AFTER_MS, signal);
      if ((await this.#holder()) !== run) throw this.#lost(RUNNING);
      const alive = await this.#aliveOf(run);
      if (alive !== last && alive !== ENDED) throw this.#lost(RUNNING);
      last = alive;
    }
    return last !== ENDED;
  }

  /** A store that fails meanwhile is reported when the push writes. */
  async #renew(): Promise<void> {
    const { signal } = this.#ended;
    for (let count = 1; !signal.aborted && !this.#isLost; count++) {
      await this.#write(`alive:${this.#by}`, { alive: count }).catch(() => undefined);
      await this.ask().catch(() => undefined);
      await sleep(RENEWED_AFTER_MS, signal).catch(() => undefined);
    }
  }

  async #holder(): Promise<string | undefined> {
    const by = (await this.#read('run'))?.by;
    return typeof by === 'string' ? by : undefined;
  }

  async #aliveOf(run: string): Promise<unknown> {
    return (await this.#read(`alive:${run}`))?.alive;
  }

  async #read(name: string): Promise<Record<string, unknown> | undefined> {
    const { signal } = this.#options;
    const key = this.#key(name);
    return parseStored(await readStore(this.#store, key, signal), key);
  }

  async #write(name: string, content: object, store = this.#store): Promise<void> {
    const { signal } = this.#options;
    await writeStore(store, { key: this.#key(name), text: JSON.stringify({ v: 2, ...content }) }, signal);
  }

  #key(name: string): string {
    return `${this.#options.storeKey}:${name}`;
  }

  async #wait(waitMs: number, signal: AbortSignal | undefined): Promise<void> {
    this.#options.onWait(waitMs);
    await sleep(waitMs, signal);
  }

  #lost(what: string): ConcurrentRunError {
    return anotherRun(this.#options.tenant, what);
  }

  #tooSlow(): ConcurrentRunError {
    const { storeKey, tenant } = this.#options;
    return new ConcurrentRunError(
      `The push of ${tenant} stopped: the store needs longer than ${CONFIRMED_FOR_MS / 1_000} s to say under ${storeKey}:run that no other one is running.`,
      'slow_store',
    );
  }
}

const RUNNING = 'is running, so this one sent nothing';
const TAKEN = 'has taken over, so this one stopped; its completed writes are kept';

/** By two clocks: one may stop while the machine is suspended, the other may be set. */
interface Moment {
  readonly monotonicMs: number;
  readonly wallMs: number;
}

function now(): Moment {
  return { monotonicMs: monotonicMs(), wallMs: Date.now() };
}

function elapsedSince({ monotonicMs: monotonic, wallMs }: Moment): number {
  return Math.max(monotonicMs() - monotonic, Date.now() - wallMs);
}

function anotherRun(tenant: string, what: string): ConcurrentRunError {
  return new ConcurrentRunError(`Another push of ${tenant} ${what}.`, 'running');
}
