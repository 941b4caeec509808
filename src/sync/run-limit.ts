import { checkMs, checkObject, checkWhole } from '../errors/check-input.ts';
import { InvalidInputError } from '../errors/invalid-input-error.ts';
import { monotonicMs } from '../internal/monotonic-clock.ts';
import type { OptionNames } from '../internal/option-names.ts';

/** When a sync pauses: at the limit that is reached first. */
export interface StopAfter {
  /** After this time no request is sent, and those in flight are aborted. Default: no limit. */
  ms?: number | undefined;
  /** The most requests, with retries and the lookups of deletions. Default: no limit. */
  requests?: number | undefined;
}

export const STOP_AFTER: OptionNames<StopAfter> = { ms: true, requests: true };

export function checkStopAfter(stopAfter: StopAfter): void {
  checkObject(stopAfter, 'stopAfter');
  const { ms, requests } = stopAfter;
  if (ms === undefined && requests === undefined) {
    throw new InvalidInputError('stopAfter', 'must have ms or requests');
  }
  if (ms !== undefined) checkMs(ms, 'stopAfter.ms', 1);
  if (requests !== undefined) checkWhole(requests, 'stopAfter.requests', 1);
}

/**
 * The limit of one sync, shared by its collections. It applies from the first batch on: a sync that is paused before it
 * would make no progress, however often it runs.
 */
export class RunLimit {
  /** Resolves with the first batch. */
  readonly firstBatch: Promise<void>;
  readonly ms: number;
  readonly #requests: number;
  readonly #startedAt = monotonicMs();
  #sent = 0;
  hasBatch = false;
  #isGivenUp = false;
  #resolve: () => void = () => undefined;

  constructor({ ms = Number.POSITIVE_INFINITY, requests = Number.POSITIVE_INFINITY }: StopAfter) {
    this.ms = ms;
    this.#requests = requests;
    this.firstBatch = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  /** Whether no further request may be sent. */
  get isReached(): boolean {
    return this.#isGivenUp || (this.hasBatch && this.isOver);
  }

  /** Whether a further request passes the limit. */
  get isOver(): boolean {
    return this.#sent >= this.#requests || this.endsWithin(0);
  }

  /** Whether the time is over in so many ms. */
  endsWithin(ms: number): boolean {
    return monotonicMs() + ms - this.#startedAt >= this.ms;
  }

  sent(): void {
    this.#sent++;
  }

  batch(): void {
    this.hasBatch = true;
    this.#resolve();
  }

  /** Waiting for the service would take longer than the limit: not even a first batch is waited for. */
  giveUp(): void {
    this.#isGivenUp = true;
  }
}
