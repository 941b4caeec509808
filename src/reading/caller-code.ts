import { CheckpointError } from '../errors/checkpoint-error.ts';
import { GRACE_MS, untilAborted } from '../internal/callback.ts';
import { CallStopped } from '../transport/call-options.ts';
import { each } from './each.ts';

/** After this time `onProgress` says that a run waits for code of the caller, and after that a warning says for what. */
const REPORTED_AFTER_MS = 3_000;
const WARNED_AFTER_MS = 10_000;

/** What the last calls have if something else may still run: two of them may not make an abort long. */
const LAST_GRACE_MS = 500;

/** The limit of time of a run. */
export interface TimeLimit {
  /** Fires when the time is over, with a CallStopped. */
  readonly signal: AbortSignal;
  /** How long code that is called after the limit may take: for the first batch, and for what cannot be paused. */
  readonly graceMs: number;
}

interface CallerCodeOptions {
  /** The caller's. */
  readonly signal: AbortSignal | undefined;
  readonly limit?: TimeLimit | undefined;
  /** Called once a call takes long. */
  readonly waits?: (() => void) | undefined;
  readonly warn: (text: string) => void;
}

/**
 * The one place where a run calls code of the caller: methods of a store and of a target, and callbacks that it waits for.
 * They do not know the signal, and some never settle. After an abort, or when the limit of time is reached, they have a
 * second left, so that what was finished is committed.
 */
export class CallerCode {
  readonly #options: CallerCodeOptions;
  readonly #signal: AbortSignal | undefined;
  #isWarned = false;
  /** Whether the code that runs says itself what it waits for. */
  #isReported = false;
  /** What was not waited for any longer. It may still run, and no two methods of a target may. */
  #abandoned: string | undefined;

  constructor(options: CallerCodeOptions) {
    const { signal, limit } = options;
    this.#options = options;
    const signals = [signal, limit?.signal].filter((one) => one !== undefined);
    this.#signal = signals.length > 1 ? AbortSignal.any(signals) : signals[0];
  }

  /**
   * Calls it. `name`: as messages name it, such as `store.get`. `last`: even while something else may still run.
   * `question`: a person may take any time, and is looking at the question.
   */
  async run<V>(name: string, work: () => V | PromiseLike<V>, kind?: 'last' | 'question'): Promise<V> {
    const { limit } = this.#options;
    const wasAbandoned = this.#abandoned !== undefined;
    if (this.#abandoned !== undefined && kind !== 'last')
      throw this.#stopped(this.#abandoned, this.#signal?.reason);
    const isLate = limit?.signal.aborted === true && !wasAbandoned;
    this.#isReported = false;
    const report = () => {
      if (!this.#isReported) this.#options.waits?.();
    };
    const warn = () => {
      if (!this.#isReported) this.#warn(`Waiting for ${name}, which has not ended for 10 s.`);
    };
    const timers =
      kind === 'question' ? [] : [setTimeout(report, REPORTED_AFTER_MS), setTimeout(warn, WARNED_AFTER_MS)];
    const graceMs = wasAbandoned ? LAST_GRACE_MS : GRACE_MS;
    try {
      return await untilAborted((async () => await work())(), this.#signal, isLate ? limit.graceMs : graceMs);
    } catch (error) {
      throw this.#stopped(name, error);
    } finally {
      for (const timer of timers) clearTimeout(timer);
    }
  }

  /** The same for what it returns one by one. */
  async *each<V>(
    name: string,
    values: () => Iterable<V> | AsyncIterable<V>,
  ): AsyncGenerator<V, void, undefined> {
    try {
      yield* each(values(), name, this.#signal);
    } catch (error) {
      throw this.#stopped(name, error);
    }
  }

  /** The code that runs has said itself that it waits, and for what. */
  reported(): void {
    this.#isReported = true;
  }

  /** What a call fails with that was not waited for any longer; any other error as it is. */
  #stopped(name: string, error: unknown): unknown {
    const { signal, limit } = this.#options;
    const isStopped = this.#signal?.aborted === true && error === this.#signal.reason;
    if (!isStopped) return error;
    this.#abandoned ??= name;
    this.#warn(`${name} has not ended, and is not waited for any longer.`);
    if (signal?.aborted === true || limit === undefined) return error;
    const cause = new CheckpointError(
      `${name} had not ended a second after the limit of stopAfter was reached, and was not waited for.`,
      { retryable: true, hint: 'Find out what it waits for, or raise stopAfter.ms.' },
    );
    return new CallStopped('stopAfter', { cause });
  }

  #warn(text: string): void {
    if (!this.#isWarned) this.#options.warn(text);
    this.#isWarned = true;
  }
}
