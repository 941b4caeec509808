import { type Finding, known, unknown } from './finding.ts';

/** When a request went out and its response was in, by the clock of this machine; ms since the epoch. */
export interface Moment {
  readonly sentAt: number;
  readonly receivedAt: number;
}

/** How far the service's clock is ahead of this machine's. */
export interface ClockOffset {
  /** In ms; negative where it is behind. */
  readonly offsetMs: number;
  /** It lies no further from `offsetMs` than this. */
  readonly withinMs: number;
}

/** `Date` is cut to the second. */
const SECOND_MS = 1000;

/**
 * Reads the service's clock from `Date`. One answer bounds the offset to a second and the time it was on its way;
 * every further one narrows that.
 */
export class ClockReading {
  #least = Number.NEGATIVE_INFINITY;
  #most = Number.POSITIVE_INFINITY;
  #answers = 0;
  #dated = 0;
  #cached = 0;

  seen(date: string | undefined, age: string | undefined, { sentAt, receivedAt }: Moment): void {
    this.#answers += 1;
    const aged = /^\d{1,9}$/.test(age ?? '') ? Number(age) : 0;
    if (aged > 0) this.#cached += 1;
    const at = Date.parse(date ?? '');
    // What a cache kept says when it was made, not when it was sent.
    if (Number.isNaN(at) || aged > 0) return;

    this.#dated += 1;
    this.#least = Math.max(this.#least, at - receivedAt);
    this.#most = Math.min(this.#most, at + SECOND_MS - sentAt);
  }

  /** Answers with an `Age`: something between here and the service keeps copies. */
  get cached(): number {
    return this.#cached;
  }

  /** The service's clock now, in ms since the epoch; this machine's where nothing better is known. */
  get now(): number {
    const { value } = this.finding();
    return Date.now() + (value?.offsetMs ?? 0);
  }

  finding(): Finding<ClockOffset> {
    if (this.#dated === 0) return unknown('no response carried a Date of its own');
    if (this.#least > this.#most)
      return unknown('the responses disagree: several clocks, or one that was set');

    const withinMs = Math.ceil((this.#most - this.#least) / 2);
    const offsetMs = Math.round((this.#most + this.#least) / 2);
    return known({ offsetMs, withinMs }, `Date on ${this.#dated} of ${this.#answers} answers`);
  }
}
