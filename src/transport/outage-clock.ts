// The outage clock of a run: one for all its calls. A call that has used its attempts steps aside, so that other work of
// the run shows whether the service is down. If it is, one call at a time is sent again, until `maxOutageMs` is over.

import { monotonicMs } from '../internal/monotonic-clock.ts';
import { withTimeout } from '../internal/with-timeout.ts';

/** A clock cannot tell what happens in the same millisecond, so events are in order by their number: `at` in all of this. */
export interface OutageState {
  /**
   * The first failure since a request has shown that the service works, and whether a request that was sent after it has
   * failed too; undefined while it works.
   */
  readonly since: { readonly at: number; readonly ms: number; readonly isRepeated: boolean } | undefined;
  /** When the last request was sent whose response showed that the service works. */
  readonly upAt: number;
}

/** Nothing has failed yet. */
export const UP: OutageState = { since: undefined, upAt: 0 };

/** The state after an attempt that was sent at `sentAt` and failed as in an outage. `ms` is the time of the failure. */
export function afterFailed(
  { since, upAt }: OutageState,
  { at, ms, sentAt }: { readonly at: number; readonly ms: number; readonly sentAt: number },
): OutageState {
  if (since === undefined) return { since: { at, ms, isRepeated: false }, upAt };
  return { since: { ...since, isRepeated: since.isRepeated || sentAt > since.at }, upAt };
}

/** The state after a response below 500 to a request that was sent at `sentAt`. */
export function afterResponse(state: OutageState, sentAt: number): OutageState {
  const { since } = state;
  // A request that was on its way when the outage began does not show that it is over.
  const wasOnItsWay = since !== undefined && sentAt < since.at;
  return { since: wasOnItsWay ? since : undefined, upAt: Math.max(state.upAt, sentAt) };
}

/** A call whose attempts have failed. */
export interface FailedCall {
  /** The first of its failures in a row, and the last. */
  readonly since: number;
  readonly failedAt: number;
  /** When the service lets it be sent again at the earliest, in ms; Infinity if that is later than the call may wait. */
  readonly notBeforeMs: number;
  /** Whether it was sent again after the service was seen to work, and has failed again. */
  readonly wasRepeated: boolean;
  /** Whether another call of its part of the run has got a response. */
  readonly hasWorked: boolean;
}

/** What the rest of the run is doing: it can show whether the service works, has failed too, or is over. */
export type Others = 'can_go' | 'failing' | 'none';

/**
 * - `repeat`: the service works, so the call is sent once more.
 * - `alone`: the service works, and this call fails.
 * - `others_first`: other work of the run shows whether it works.
 * - `wait`: it is down.
 * - `over`: it has been down for too long.
 */
export type OutageVerdict = 'repeat' | 'alone' | 'others_first' | 'wait' | 'over';

/** What follows for a call whose attempts have failed. */
export function verdictOn(
  { since, upAt }: OutageState,
  call: FailedCall,
  { others, maxOutageMs }: { readonly others: Others; readonly maxOutageMs: number },
  nowMs: number,
): OutageVerdict {
  const endsAt = (since?.ms ?? nowMs) + maxOutageMs;
  // What is left of a run has nothing else that could show it: what was seen since its first failure decides, and before
  // it if this part of the run has never worked.
  const seenSince = call.hasWorked ? call.since : 0;
  const works = upAt > (others === 'none' ? seenSince : call.failedAt);
  const canWait = Number.isFinite(call.notBeforeMs) && call.notBeforeMs <= endsAt;
  if (works) return call.wasRepeated || !canWait ? 'alone' : 'repeat';
  if (others === 'can_go') return 'others_first';
  return nowMs >= endsAt || !canWait ? 'over' : 'wait';
}

const BASE_DELAY_MS = 1_000;
const MAX_DELAY_MS = 10_000;

/** The wait after so many failures. At least half of the exponential delay: the service has just failed several attempts. */
export function outageDelayMs(failures: number): number {
  return Math.round((0.5 + Math.random() / 2) * Math.min(MAX_DELAY_MS, BASE_DELAY_MS * 2 ** (failures - 1)));
}

/** How a part of a run, such as a collection, gives way while a call of it waits. */
export interface GivesWay {
  others(): Others;
  /** A call of it steps aside. */
  leave(): void;
  /** The call goes on when there is a place for it. Rejects with the reason of the run's signal. */
  enter(): Promise<void>;
}

/** `isFirst`: its calls are sent again before all others. */
type Part = GivesWay & { hasWorked(): boolean; readonly isFirst: boolean };

/** A run of one part has no other part to give way to. */
const ALONE: GivesWay = { others: () => 'none', leave: () => {}, enter: async () => {} };

/** A call that is sent again while the service is down. */
export interface OutlastingCall {
  readonly signal: AbortSignal | undefined;
  /** What its failure says; undefined if it is no sign of an outage. */
  outage(error: unknown): Omit<FailedCall, 'wasRepeated' | 'hasWorked'> | undefined;
  /** Its attempts begin again. */
  restart(): void;
  /** It waits; for how long, if that is known. */
  waits(waitMs: number | undefined): void;
}

/** The clock as the calls of one part of the run see it. */
export interface OutageView {
  /** How long the service may still be down, in ms. */
  readonly leftMs: number;
  /** Whether a call has used its attempts since the service was last seen to work. */
  readonly isDeclared: boolean;
  /** Whether the service was down for too long. */
  readonly isOver: boolean;
  /** Whether a request has failed since one has shown that the service works. */
  readonly hasFailed: boolean;
  /** The last failure of these calls; undefined if one has got a response since. */
  readonly failure: Error | undefined;
  /** The number of an event that happens now. */
  tick(): number;
  /** An attempt that was sent at `sentAt` has failed as in an outage. */
  failed(error: Error, at: number, sentAt: number): void;
  /** A response below 500 has arrived to a request that was sent at `sentAt`. */
  responded(sentAt: number): void;
  /** Sends the attempts of a call, and again for as long as the outage lasts. */
  outlast<V>(call: OutlastingCall, send: () => Promise<V>): Promise<V>;
  /** The same clock for calls that do not wait: their caller does. */
  readonly noting: OutageView;
  /** The same clock for calls that the other parts of the run wait for: they give way to none. */
  readonly first: OutageView;
}

/** What becomes of a call that stepped aside: it is sent again, once to see whether the service is back, or it fails. */
type Next = 'repeat' | 'probe' | 'alone' | 'over';

/** The clock of one run. */
export class OutageClock {
  readonly #maxOutageMs: number;
  #state = UP;
  #events = 0;
  /** How often a call was sent again since the service was last seen to work. */
  #repeats = 0;
  /** When the next call is sent again. */
  #repeatAt: number | undefined;
  /** Calls that wait, in the order in which they are sent again: those that the others wait for, and then the others. */
  readonly #ahead = new Set<OutlastingCall>();
  readonly #aside = new Set<OutlastingCall>();
  /** Those that are sent to see whether the service is back. */
  readonly #probing = new Set<OutlastingCall>();
  #change = Promise.withResolvers<void>();
  #isOver = false;

  constructor(maxOutageMs: number) {
    this.#maxOutageMs = maxOutageMs;
  }

  /** Whether a request has failed since one has shown that the service works. */
  get hasFailed(): boolean {
    return this.#state.since !== undefined;
  }

  /** Whether requests have failed one after the other, and none has shown since that the service works. */
  get isRunning(): boolean {
    return this.#state.since?.isRepeated === true;
  }

  /** Whether the service was down for too long. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Something else has changed that calls wait for, such as the end of other work. */
  changed(): void {
    this.#change.resolve();
    this.#change = Promise.withResolvers();
  }

  /** The clock for the calls of a part of the run. */
  view(way: GivesWay = ALONE): OutageView {
    const clock = this;
    let failure: Error | undefined;
    let hasWorked = false;
    const outlastWith =
      (giving: GivesWay, isFirst: boolean): OutageView['outlast'] =>
      (call, send) =>
        // While the others wait for it, what they have seen before shows nothing.
        clock.#outlast(call, send, { ...giving, hasWorked: () => hasWorked || isFirst, isFirst });
    const responded = (sentAt: number) => {
      failure = undefined;
      clock.#responded(sentAt);
    };
    const view: OutageView = {
      get leftMs() {
        return clock.#leftMs(monotonicMs());
      },
      get isDeclared() {
        return clock.#ahead.size + clock.#aside.size + clock.#probing.size > 0;
      },
      get isOver() {
        return clock.#isOver;
      },
      get hasFailed() {
        return clock.hasFailed;
      },
      get failure() {
        return failure;
      },
      tick: () => ++clock.#events,
      failed(error, at, sentAt) {
        failure = error;
        clock.#state = afterFailed(clock.#state, { at, ms: monotonicMs(), sentAt });
      },
      responded(sentAt) {
        hasWorked = true;
        responded(sentAt);
      },
      outlast: outlastWith(way, false),
      get noting() {
        return Object.create(this, {
          outlast: { value: (_: OutlastingCall, send: () => unknown) => send() },
        });
      },
      get first() {
        // They request records of any collection, so their responses do not show that those of this part work.
        return Object.create(view, {
          outlast: { value: outlastWith(ALONE, true) },
          responded: { value: responded },
        });
      },
    };
    return view;
  }

  #responded(sentAt: number): void {
    const before = this.#state;
    this.#state = afterResponse(before, sentAt);
    if (before.since === undefined || this.#state.since !== undefined) return;
    this.#repeats = 0;
    this.#repeatAt = undefined;
    this.changed();
  }

  async #outlast<V>(call: OutlastingCall, send: () => Promise<V>, part: Part): Promise<V> {
    let isAside = false;
    const enter = async () => {
      if (isAside) await part.enter();
      isAside = false;
    };
    for (let wasRepeated = false; ; ) {
      let next: Next;
      try {
        const value = await send();
        await enter();
        return value;
      } catch (error) {
        const found = call.outage(error);
        this.#probing.delete(call);
        if (found === undefined) {
          await enter();
          throw error;
        }
        if (!isAside) part.leave();
        isAside = true;
        next = await this.#stepAside(call, { ...found, wasRepeated, hasWorked: part.hasWorked() }, part);
        if (next === 'alone') await enter();
        if (next === 'alone' || next === 'over') throw error;
      } finally {
        if (this.#probing.delete(call)) this.changed();
      }
      // A probe does not wait for its turn: every part of the run is waiting for its result.
      if (next === 'probe') this.#probing.add(call);
      else await enter();
      wasRepeated = next === 'repeat';
      call.restart();
    }
  }

  async #stepAside(call: OutlastingCall, failed: FailedCall, part: Part): Promise<Next> {
    const waiting = part.isFirst ? this.#ahead : this.#aside;
    waiting.add(call);
    this.changed();
    try {
      return await this.#nextFor(call, failed, part);
    } finally {
      waiting.delete(call);
      this.changed();
    }
  }

  /** Waits until the call is sent again, or fails. */
  async #nextFor(call: OutlastingCall, failed: FailedCall, part: Part): Promise<Next> {
    for (let reported: number | undefined | 'nothing' = 'nothing'; ; ) {
      const now = monotonicMs();
      const [first] = this.#ahead.size > 0 ? this.#ahead : this.#aside;
      const isFirst = first === call;
      const others = this.#probing.size > 0 ? 'can_go' : part.others();
      const rules = { others, maxOutageMs: this.#maxOutageMs } as const;
      const verdict = verdictOn(this.#state, failed, rules, now);
      if (verdict === 'alone') return verdict;
      if (verdict === 'repeat' && now >= failed.notBeforeMs) return 'repeat';
      let until = verdict === 'repeat' ? failed.notBeforeMs : undefined;
      if (isFirst && others !== 'can_go' && verdict !== 'repeat') {
        // The last time when the outage has lasted for too long.
        if (this.#repeatAt !== undefined && now >= this.#repeatAt) {
          this.#repeatAt = undefined;
          return 'probe';
        }
        if (verdict === 'wait') {
          const delayMs = Math.min(outageDelayMs(this.#repeats + 1), this.#leftMs(now));
          if (this.#repeatAt === undefined) this.#repeats += 1;
          this.#repeatAt = Math.max(this.#repeatAt ?? now + delayMs, failed.notBeforeMs);
          until = this.#repeatAt;
        }
      }
      if (verdict === 'over') {
        this.#isOver = true;
        return verdict;
      }
      if (until !== reported) call.waits(until === undefined ? undefined : until - now);
      reported = until;
      await this.#until(until ?? Number.POSITIVE_INFINITY, call.signal);
    }
  }

  #leftMs(now: number): number {
    return (this.#state.since?.ms ?? now) + this.#maxOutageMs - now;
  }

  /** Until then, or until something changes. */
  async #until(at: number, signal: AbortSignal | undefined): Promise<void> {
    const change = this.#change.promise;
    const ms = Math.max(1, at - monotonicMs());
    const isOver = new Error('the wait is over');
    await withTimeout(() => change, { signal, ms, onTimeout: () => isOver }).catch((error: unknown) => {
      if (error !== isOver) throw error;
    });
  }
}
