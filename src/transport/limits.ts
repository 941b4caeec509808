import { outcomeAdvice } from '../errors/outcome-advice.ts';
import { TimeoutError } from '../errors/timeout-error.ts';
import { monotonicMs } from '../internal/monotonic-clock.ts';
import { MAX_TIMER_MS } from '../internal/sleep.ts';
import { Aborted, Failure } from './failure.ts';

/** Which option ran out: `timeoutMs` or `deadlineMs`. */
export type Limit = 'attempt' | 'deadline';

type FaultAtTimeout = 'unsent' | 'lost' | 'cut' | 'wrong_content';

/** What may end a piece of work early. */
export interface Limits {
  readonly signal: AbortSignal | undefined;
  /** For one attempt, in ms. */
  readonly timeoutMs: number;
  /** For the whole call, in ms of the monotonic clock. */
  readonly deadlineAt: number;
  /** What it means when time runs out: asked at that moment. A Failure if more than the lack of time is known. */
  readonly onTimeout: (limit: Limit) => FaultAtTimeout | Failure;
}

/**
 * Runs `work` until it ends, the signal fires or time is up, whichever comes first, even if the work ignores the
 * signal it is given. Leaves neither timer nor listener behind.
 */
export async function withinLimits<T>(work: (signal: AbortSignal) => Promise<T>, limits: Limits): Promise<T> {
  const { signal, timeoutMs, deadlineAt } = limits;
  if (signal?.aborted) throw new Aborted(signal.reason);

  const leftMs = deadlineAt - monotonicMs();
  const ms = Math.min(timeoutMs, leftMs);
  if (ms <= 0) throw timeUp('deadline', 'unsent');

  const controller = new AbortController();
  let onAbort: (() => void) | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const ended = new Promise<never>((_, reject) => {
    const end = (error: Error) => {
      reject(error);
      controller.abort();
    };
    onAbort = () => end(new Aborted(signal?.reason));
    signal?.addEventListener('abort', onAbort, { once: true });
    if (ms <= MAX_TIMER_MS) {
      const limit = timeoutMs <= leftMs ? 'attempt' : 'deadline';
      timer = setTimeout(() => {
        const known = limits.onTimeout(limit);
        end(known instanceof Failure ? known : timeUp(limit, known));
      }, ms);
    }
  });
  try {
    return await Promise.race([work(controller.signal), ended]);
  } finally {
    clearTimeout(timer);
    if (onAbort !== undefined) signal?.removeEventListener('abort', onAbort);
  }
}

/** The caller's option that ran out. */
export function optionOf(limit: Limit): string {
  return limit === 'attempt' ? 'timeoutMs' : 'deadlineMs';
}

function timeUp(limit: Limit, fault: FaultAtTimeout): Failure {
  return new Failure(fault, (facts) => {
    const option = optionOf(limit);
    const advice = outcomeAdvice(facts) ?? `Try again, or raise ${option}.`;
    const message = `${facts.method} ${facts.path} got no complete response within ${option}. ${advice}`;
    return new TimeoutError(message, { ...facts, retryable: facts.retryable ?? true }, { limit });
  });
}
