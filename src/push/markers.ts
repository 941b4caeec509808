// Idempotency keys of which the service says that an earlier request is still running. A crash of the service can leave
// such a marker behind for good.

import { type AnyAccountingError, isAccountingError } from '../errors/guards.ts';

/** Calls under one key, with a wait of `timeoutMs` between them: what ran when the first was made has ended. */
const CALLS_OF_ABANDONED = 2;

export class Markers {
  /**
   * By idempotency key, the calls of this run that got nothing but 409s "in progress"; -Infinity if one of them got
   * anything else, because then it can be the request that is still running.
   */
  readonly #calls = new Map<string, number>();

  /** The outcome of a create is not known. */
  add(error: AnyAccountingError): void {
    const key = error.idempotencyKey ?? '';
    const isInProgress = isAccountingError(error, 'unknown_problem') && error.inProgress;
    this.#calls.set(key, isInProgress ? this.#callsOf(key) + 1 : Number.NEGATIVE_INFINITY);
  }

  /** Whether an earlier run sent the request that is said to be running. */
  isOfEarlierRun({ idempotencyKey = '' }: { idempotencyKey?: string | undefined }): boolean {
    return this.#callsOf(idempotencyKey) > 0;
  }

  /** Whether that request has ended without a response. If it created no product, another key may be used. */
  isAbandoned(idempotencyKey: string): boolean {
    return this.#callsOf(idempotencyKey) >= CALLS_OF_ABANDONED;
  }

  #callsOf(key: string): number {
    return this.#calls.get(key) ?? 0;
  }
}
