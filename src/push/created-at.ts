// Tells a product that was created just now from that of an earlier create with the same idempotency key.

import { monotonicMs } from '../internal/monotonic-clock.ts';
import { sentOf } from '../schemas/as-sent.ts';
import type { Created } from './calls.ts';

/** `createdAt` and `Date` are rounded to seconds: leads of two new products differ by no more. */
const ROUNDING_MS = 2_000;

/**
 * `createdAt` alone shows nothing, because the database can have a clock of its own. But it is ahead of `Date` by the same
 * time, its lead, for every new product.
 */
export class CreatedAt {
  readonly #startedAt = monotonicMs();
  /** The largest lead of a product that a GET confirmed; NaN before the first. */
  #lead = Number.NaN;

  /** Whether a product was created just now. */
  isNew(created: Created): boolean {
    return Math.abs(leadOf(created) - this.#lead) <= ROUNDING_MS;
  }

  /** Whether a product that still exists was created before this run began to write. */
  isOld(created: Created): boolean {
    const lead = leadOf(created);
    const age = this.#lead - lead;
    // A lead that is unknown is neither smaller nor larger.
    if (Number.isNaN(this.#lead) || age < 0) this.#lead = lead;
    return age > monotonicMs() - this.#startedAt + ROUNDING_MS;
  }
}

/** How far `createdAt` is ahead of the `Date` of the response, in ms; NaN if one of them is missing. */
function leadOf({ product, sentAt }: Created): number {
  const { createdAt } = sentOf(product);
  // Without an offset it could be of any time zone.
  if (typeof createdAt !== 'string' || !/T.*(?:Z|[+-]\d\d:?\d\d)$/.test(createdAt)) return Number.NaN;
  return Date.parse(createdAt) - (sentAt ?? Number.NaN);
}
