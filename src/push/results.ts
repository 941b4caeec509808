// What a push reports: one result for each row, progress, and the counts.

import type { CallOutcome } from '../errors/accounting-error.ts';
import type { AnyAccountingError } from '../errors/guards.ts';
import { notify } from '../internal/notify.ts';
import type { RunSource } from '../reading/source.ts';
import { waitingUntil } from '../reading/waiting.ts';
import { NO_EVIDENCE, verdictOf } from '../reports/evidence.ts';
import type {
  PushAction,
  PushChange,
  PushDifference,
  PushNotStored,
  PushReport,
} from '../reports/push-report.ts';

/** The members of every {@link PushResult}. */
export interface PushResultMembers<Row> {
  /** The natural key as the row has it; undefined if it has none. */
  readonly key: string | undefined;
  /** The position of the row in `rows`, from 0. */
  readonly index: number;
  /** The row itself. */
  readonly row: Row;
  /** The id of the product, if it is known. */
  readonly id: string | undefined;
  /** For `conflict`: the products that the row could mean. */
  readonly ids: readonly string[];
  /** For `duplicate`: the position of the row with the key that is pushed. */
  readonly firstIndex: number | undefined;
  /** The names of the fields that were sent in an update. */
  readonly fields: readonly string[];
  /** With `dryRun`: what would be sent. Of a create each field, of an update each field that differs. */
  readonly changes: readonly PushChange[];
  /** Fields that the service did not store as they were sent. */
  readonly notStored: readonly PushDifference[];
  /** Why the row is in conflict, a duplicate, was not sent, or is left for the next push. */
  readonly reason: string | undefined;
  /** Why the row failed, with the `violations` of a ValidationFailedError. */
  readonly error: AnyAccountingError | undefined;
}

/** The members that are never undefined in the result of an action. */
interface KnownMembers {
  created: 'key';
  updated: 'key' | 'id';
  unchanged: 'key' | 'id';
  failed: 'error';
  conflict: 'key' | 'reason';
  duplicate: 'key' | 'firstIndex' | 'reason';
}

/** The result of one row: see {@link PushAction}. */
export type PushResult<Row = object> = {
  readonly [Action in PushAction]: { readonly action: Action } & PushResultMembers<Row> & {
      readonly [Name in KnownMembers[Action]]: NonNullable<PushResultMembers<Row>[Name]>;
    };
}[PushAction];

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

/** A row, as far as its result has it. `row` is undefined without `onResult`. */
export interface Subject {
  readonly key: string | undefined;
  readonly index: number;
  readonly row: object | undefined;
}

/** What was done, with the details that its result needs. */
export type Outcome = Pick<PushResult, 'action'> & Partial<Omit<PushResultMembers<object>, keyof Subject>>;

const NO_DETAILS = {
  id: undefined,
  ids: [],
  firstIndex: undefined,
  fields: [],
  changes: [],
  notStored: [],
  reason: undefined,
  error: undefined,
} as const;

interface Callbacks {
  readonly tenant: string;
  readonly onResult: ((result: PushResult) => void) | undefined;
  readonly onProgress: ((progress: PushProgress) => void) | undefined;
}

/** From what asks for the least attention to what asks for the most: an unknown write has to be looked for. */
const OUTCOMES: readonly CallOutcome[] = ['not_sent', 'rejected', 'applied', 'unknown'];

/** Counts results and calls the callbacks of the caller. */
export class Results {
  /** Rows read so far. */
  rows = 0;
  /** Requests sent so far. */
  attempts = 0;
  #outcome: CallOutcome = 'not_sent';
  /** The last error of the calls of each row that has no result yet. */
  readonly errors = new Map<Subject, AnyAccountingError>();
  /** Whether nothing is written. */
  isDryRun = false;
  /** What the reads of the products have met. */
  evidence = NO_EVIDENCE;
  readonly #counts: Record<PushAction, number> = {
    created: 0,
    updated: 0,
    unchanged: 0,
    failed: 0,
    conflict: 0,
    duplicate: 0,
  };
  /** By field. */
  readonly #notStored = new Map<string, PushNotStored>();
  readonly #startedAt = new Date();
  readonly #callbacks: Callbacks;
  readonly #callbackFailed: RunSource<never>['callbackFailed'];
  #phase: PushProgress['phase'] = 'rows';
  #done = 0;
  #total: number | undefined;

  constructor(callbacks: Callbacks, callbackFailed: RunSource<never>['callbackFailed']) {
    this.#callbacks = callbacks;
    this.#callbackFailed = callbackFailed;
  }

  add(subject: Subject, outcome: Outcome): void {
    const { key, index, row } = subject;
    this.errors.delete(subject);
    this.#counts[outcome.action] += 1;
    if (this.#phase === 'write') this.advance(1);
    // The outcome has the details of its action.
    const result = { key, index, row, ...NO_DETAILS, ...outcome } as PushResult;
    for (const difference of result.notStored) {
      const first = this.#notStored.get(difference.field) ?? { ...difference, rows: 0, key, index };
      this.#notStored.set(difference.field, { ...first, rows: first.rows + 1 });
    }
    notify(this.#callbacks.onResult, result, (thrown) => this.#callbackFailed('onResult', thrown));
  }

  /** A request is about to be sent. */
  readonly sent = (): void => {
    this.attempts += 1;
  };

  /** A write has ended. */
  wrote(outcome: CallOutcome): void {
    if (OUTCOMES.indexOf(outcome) > OUTCOMES.indexOf(this.#outcome)) this.#outcome = outcome;
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
    this.#report({ waiting: true, waitingUntil: waitingUntil(waitMs) });
  };

  report(): PushReport {
    const { tenant } = this.#callbacks;
    return {
      tenant,
      startedAt: this.#startedAt,
      endedAt: new Date(),
      dryRun: this.isDryRun,
      ...verdictOf(this.evidence),
      rows: this.rows,
      attempts: this.attempts,
      outcome: this.#outcome,
      counts: { ...this.#counts },
      notStored: [...this.#notStored.values()],
    };
  }

  #report(
    wait: Pick<PushProgress, 'waiting' | 'waitingUntil'> = { waiting: false, waitingUntil: undefined },
  ) {
    const progress = { phase: this.#phase, done: this.#done, total: this.#total, ...wait };
    notify(this.#callbacks.onProgress, progress, (thrown) => this.#callbackFailed('onProgress', thrown));
  }
}
