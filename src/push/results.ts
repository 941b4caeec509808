// What a push reports: one result for each row, progress, and the counts.

import type { AnyAccountingError } from '../errors/guards.ts';
import type { PushAction, PushReport } from '../errors/push-report.ts';
import { notify } from '../internal/notify.ts';

/** The result of one row, or of a product that no row has. */
export interface PushResult {
  /** The natural key; undefined if the row has none. */
  readonly key: string | undefined;
  /** The position of the row in `rows`, from 0; undefined for a product that no row has. */
  readonly row: number | undefined;
  readonly action: PushAction;
  /** The id of the product, if it is known. */
  readonly id: string | undefined;
  /** For `conflict`: every product that has the key. */
  readonly ids: readonly string[];
  /** The names of the fields that were sent in an update. */
  readonly fields: readonly string[];
  /** Why the row failed, with the `violations` of a ValidationFailedError. Undefined for every other action. */
  readonly error: AnyAccountingError | undefined;
}

/** How far a push is. */
export interface PushProgress {
  /** It reads the rows, reads the existing products, or writes. */
  readonly phase: 'rows' | 'read' | 'write';
  /** Rows, products or writes so far, in this phase. */
  readonly done: number;
  /** Writes in all, known from the phase `write` on. */
  readonly total: number | undefined;
  /** Whether the push waits, for the rate limit of its key or to try again. */
  readonly waiting: boolean;
  /** When the wait ends, if that is known. */
  readonly waitingUntil: Date | undefined;
}

type Outcome = Pick<PushResult, 'key' | 'row' | 'action'> & Partial<PushResult>;

interface Callbacks {
  readonly tenant: string;
  readonly onResult: ((result: PushResult) => void) | undefined;
  readonly onProgress: ((progress: PushProgress) => void) | undefined;
}

/** Reports to the logger of the client that a callback threw. */
type CallbackFailed = ((name: string, thrown: unknown) => void) | undefined;

/** Counts results and calls the callbacks of the caller. */
export class Results {
  /** Rows read so far. */
  rows = 0;
  /** Whether nothing is written. */
  isDryRun = false;
  readonly #counts: Record<PushAction, number> = {
    created: 0,
    updated: 0,
    unchanged: 0,
    failed: 0,
    conflict: 0,
    duplicate: 0,
    deleted: 0,
  };
  readonly #startedAt = new Date();
  readonly #callbacks: Callbacks;
  readonly #callbackFailed: CallbackFailed;
  #phase: PushProgress['phase'] = 'rows';
  #done = 0;
  #total: number | undefined;

  constructor(callbacks: Callbacks, callbackFailed: CallbackFailed) {
    this.#callbacks = callbacks;
    this.#callbackFailed = callbackFailed;
  }

  add(outcome: Outcome): void {
    this.#counts[outcome.action] += 1;
    if (this.#phase === 'write') this.advance(1);
    const result = { id: undefined, ids: [], fields: [], error: undefined, ...outcome };
    notify(this.#callbacks.onResult, result, (thrown) => this.#callbackFailed?.('onResult', thrown));
  }

  begin(phase: PushProgress['phase'], total?: number): void {
    this.#phase = phase;
    this.#done = 0;
    this.#total = total;
    this.#report();
  }

  /** Adds to the progress of the phase. */
  advance(count: number): void {
    this.#done += count;
    this.#report();
  }

  /** A request is about to wait. */
  readonly wait = (waitMs: number | undefined): void => {
    const waitingUntil = waitMs === undefined ? undefined : new Date(Date.now() + waitMs);
    this.#report({ waiting: true, waitingUntil });
  };

  report(): PushReport {
    const { tenant } = this.#callbacks;
    return {
      tenant,
      startedAt: this.#startedAt,
      endedAt: new Date(),
      dryRun: this.isDryRun,
      rows: this.rows,
      counts: { ...this.#counts },
    };
  }

  #report(
    wait: Pick<PushProgress, 'waiting' | 'waitingUntil'> = { waiting: false, waitingUntil: undefined },
  ) {
    const progress = { phase: this.#phase, done: this.#done, total: this.#total, ...wait };
    notify(this.#callbacks.onProgress, progress, (thrown) => this.#callbackFailed?.('onProgress', thrown));
  }
}
