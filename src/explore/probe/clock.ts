import { known, unknown } from './finding.ts';
import type { ClockOffset, Finding } from './report.ts';

/** When a request was sent and its response received, by the clock of this machine; ms since the epoch. */
export interface Moment {
  readonly sentAt: number;
  readonly receivedAt: number;
}

/** `Date` has no fraction of a second. */
const SECOND_MS = 1000;

/** Reads the service's clock from `Date`. Each response limits the offset to about a second; together they narrow it. */
export class ClockReading {
  #least = Number.NEGATIVE_INFINITY;
  #most = Number.POSITIVE_INFINITY;
  #responses = 0;
  #dated = 0;

  seen(date: string | undefined, age: string | undefined, { sentAt, receivedAt }: Moment): void {
    this.#responses += 1;
    const at = Date.parse(date ?? '');
    // A cache, which adds an `Age`, sends the `Date` of the original response.
    const isCached = /^\d{1,9}$/.test(age ?? '') && Number(age) > 0;
    if (Number.isNaN(at) || isCached) return;

    this.#dated += 1;
    this.#least = Math.max(this.#least, at - receivedAt);
    this.#most = Math.min(this.#most, at + SECOND_MS - sentAt);
  }

  /** The service's clock now, in ms since the epoch; the clock of this machine if the offset is unknown. */
  get now(): number {
    return Date.now() + (this.finding().value?.offsetMs ?? 0);
  }

  finding(): Finding<ClockOffset> {
    if (this.#dated === 0) return unknown('no response carried a Date of its own');
    if (this.#least > this.#most)
      return unknown('the responses disagree: there are several clocks, or the clock was set');

    const withinMs = Math.ceil((this.#most - this.#least) / 2);
    const offsetMs = Math.round((this.#most + this.#least) / 2);
    return known({ offsetMs, withinMs }, `Date on ${this.#dated} of ${this.#responses} responses`);
  }
}
