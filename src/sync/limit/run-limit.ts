import { monotonicMs } from '../../internal/monotonic-clock.ts';
import type { StopAfter } from './stop-after.ts';

/**
 * The limit of one sync, shared by its collections. It applies from the first batch on: a sync that is paused before it
 * would make no progress, however often it runs.
 */
export class RunLimit {
  /** How many requests are left. */
  left: number;
  hasBatch = false;
  /** No collection can be read before the limit: not even a first batch is waited for. */
  isGivenUp = false;
  readonly #first = Promise.withResolvers<void>();
  readonly firstBatch = this.#first.promise;
  readonly #endsAt: number;

  constructor({ ms = Number.POSITIVE_INFINITY, requests = Number.POSITIVE_INFINITY }: StopAfter) {
    this.#endsAt = monotonicMs() + ms;
    this.left = requests;
  }

  /** Whether no further request may be sent. */
  get isReached(): boolean {
    return this.isGivenUp || (this.hasBatch && this.isOver);
  }

  /** Whether a further request passes the limit. */
  get isOver(): boolean {
    return this.left <= 0 || this.leftMs <= 0;
  }

  /** How many requests to plan for. What is retried before the first batch is not paused, so half is kept for that. */
  get forPart(): number {
    return this.hasBatch ? this.left : Math.ceil(this.left / 2);
  }

  get leftMs(): number {
    return this.#endsAt - monotonicMs();
  }

  batch(): void {
    this.hasBatch = true;
    this.#first.resolve();
  }
}
