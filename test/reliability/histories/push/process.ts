// Processes on the virtual clock: each can be stopped and killed at any moment, and then nothing in it goes on: no timer, no
// response, no answer of its store. What it has sent is carried out.

import { AsyncLocalStorage } from 'node:async_hooks';
import type { Store } from 'accounting-data-sdk';
import type { SeededRandom } from '../../../support/seeded-random.ts';

const current = new AsyncLocalStorage<Process>();

type Later = (callback: () => void, ms: number) => unknown;

/** The timer of the virtual clock, for what happens outside of any process. */
export let later: Later = setTimeout;

/** Makes the timers of the virtual clock those of the process that starts them. Ends with the virtual clock. */
export function useProcessTimers(): void {
  const timer = globalThis.setTimeout;
  later = timer;
  const ofProcess = (callback: (...args: unknown[]) => void, ms?: number, ...args: unknown[]) => {
    const process = current.getStore();
    return timer(() => {
      if (process === undefined) callback(...args);
      else process.deliver(() => callback(...args));
    }, ms);
  };
  globalThis.setTimeout = ofProcess as typeof setTimeout;
}

/** Resolves after a time of the virtual clock, in no process. */
export const after = (ms: number) =>
  new Promise<void>((resolve) => {
    later(resolve, ms);
  });

/** One process. */
export class Process {
  readonly name: string;
  /** The longest time for which it was stopped. */
  stoppedForMs = 0;
  #isKilled = false;
  #stoppedUntil = 0;
  #onKill: (() => void)[] = [];

  constructor(name: string) {
    this.name = name;
  }

  get isKilled(): boolean {
    return this.#isKilled;
  }

  /** Runs a program in the process. Resolves to undefined if it is killed before the end. */
  async run<V>(program: () => Promise<V>): Promise<V | undefined> {
    const killed = new Promise<undefined>((resolve) => {
      this.#onKill.push(() => resolve(undefined));
    });
    return await Promise.race([current.run(this, program), killed]);
  }

  /** Calls something outside. The process sees the result unless it is killed, and not while it is stopped. */
  call<V>(work: () => Promise<V>): Promise<V> {
    return new Promise((resolve, reject) => {
      work().then(
        (value) => this.deliver(() => resolve(value)),
        (error) => this.deliver(() => reject(error)),
      );
    });
  }

  /** Something reaches the process. */
  deliver(receive: () => void): void {
    if (this.#isKilled) return;
    const leftMs = this.#stoppedUntil - Date.now();
    if (leftMs > 0) later(() => this.deliver(receive), leftMs);
    else receive();
  }

  /** As SIGSTOP and SIGCONT do. */
  stop(ms: number): void {
    this.#stoppedUntil = Math.max(this.#stoppedUntil, Date.now() + ms);
    this.stoppedForMs = Math.max(this.stoppedForMs, ms);
  }

  /** As SIGKILL does. */
  kill(): void {
    this.#isKilled = true;
    for (const then of this.#onKill) then();
  }

  onKill(then: () => void): void {
    this.#onKill.push(then);
  }
}

/** How a store behaves that several processes share. */
export interface StoreTraits {
  /** How long a call takes, on average. */
  readonly latencyMs: number;
  /** A file lock goes with its process. An expiring one is free after so many ms, as one of `SET NX PX`. */
  readonly lock: 'none' | 'file' | number;
  /** How often a write takes effect up to so many ms later than it is confirmed, or fails and takes effect anyway. */
  readonly lateWrites: number;
  readonly lateMs: number;
  readonly failures: number;
}

/** The entries that processes share, and the store as each of them sees it. */
export class SharedEntries {
  readonly entries = new Map<string, string>();
  readonly #traits: StoreTraits;
  readonly #random: SeededRandom;
  readonly #locks = new Map<string, { readonly by: Process; readonly until: number }>();
  /** Whether the store still misbehaves. */
  isHarsh = true;

  constructor(traits: StoreTraits, random: SeededRandom) {
    this.#traits = traits;
    this.#random = random;
  }

  storeFor(process: Process): Store {
    const { lock } = this.#traits;
    const store: Store = {
      get: (key) => process.call(() => this.#call(() => this.entries.get(key))),
      set: (key, value) => process.call(() => this.#write(() => void this.entries.set(key, value))),
      delete: (key) => process.call(() => this.#write(() => void this.entries.delete(key))),
    };
    if (lock === 'none') return store;
    return { ...store, lock: (key) => process.call(async () => this.#lock(key, process)) };
  }

  #lock(key: string, by: Process): (() => void) | undefined {
    const { lock } = this.#traits;
    const held = this.#locks.get(key);
    if (held !== undefined && Date.now() < held.until) return undefined;
    const own = { by, until: lock === 'file' ? Number.POSITIVE_INFINITY : Date.now() + Number(lock) };
    this.#locks.set(key, own);
    const unlock = () => {
      if (this.#locks.get(key) === own) this.#locks.delete(key);
    };
    if (lock === 'file') by.onKill(unlock);
    return unlock;
  }

  async #call<V>(work: () => V): Promise<V> {
    const { latencyMs, failures } = this.#traits;
    const ms = latencyMs * (0.5 + this.#random.next());
    await after(ms / 2);
    if (this.isHarsh && this.#random.chance(failures)) throw new Error('the store is away');
    const value = work();
    await after(ms / 2);
    return value;
  }

  async #write(work: () => void): Promise<void> {
    const { lateWrites, lateMs } = this.#traits;
    if (!this.isHarsh || !this.#random.chance(lateWrites)) return await this.#call(work);
    const isFailed = this.#random.chance(0.5);
    const lateBy = this.#random.next() * lateMs;
    if (isFailed) later(work, lateBy);
    else {
      // A call that hangs.
      await after(lateBy);
      work();
    }
    await this.#call(() => undefined);
    if (isFailed) throw new Error('the store timed out');
  }
}

/** Another process does not know the pushes of this one. */
export function forgetPushesOfProcess(): void {
  const pushes = Reflect.get(globalThis, Symbol.for('accounting-data-sdk.pushes')) as Set<string> | undefined;
  pushes?.clear();
}
