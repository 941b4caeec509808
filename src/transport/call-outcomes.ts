import type { CallFacts, CallOutcome } from '../errors/accounting-error.ts';

const WEIGHT: Readonly<Record<CallOutcome, number>> = { not_sent: 0, rejected: 1, unknown: 2, applied: 3 };

/** The outcome of a call is that of its most consequential attempt: never `rejected` after an unknown one. */
export function worseOf(a: CallOutcome, b: CallOutcome): CallOutcome {
  return WEIGHT[a] >= WEIGHT[b] ? a : b;
}

/** What the calls of a run have sent, all together: for the error that the run ends with. */
export class CallOutcomes {
  #attempts = 0;
  #outcome: CallOutcome = 'not_sent';

  /** A call has ended. */
  add({ attempts, outcome }: { readonly attempts: number; readonly outcome: CallOutcome }): void {
    this.#attempts += attempts;
    this.#outcome = worseOf(this.#outcome, outcome);
  }

  get facts(): Required<Pick<CallFacts, 'attempts' | 'outcome'>> {
    return { attempts: this.#attempts, outcome: this.#outcome };
  }
}
