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
  /** The largest lead of a product that a GET confirmed. */
  #lead: number | undefined;

  /** Whether a product was created just now. */
  isNew(created: Created): boolean {
    const lead = leadOf(created);
    return lead !== undefined && this.#lead !== undefined && Math.abs(lead - this.#lead) <= ROUNDING_MS;
  }

  /** Whether a product that still exists was created before this run began to write. */
  isOld(created: Created): boolean {
    const lead = leadOf(created);
    if (lead === undefined) return false;
    const age = (this.#lead ?? lead) - lead;
    this.#lead = Math.max(lead, this.#lead ?? lead);
    return age > monotonicMs() - this.#startedAt + ROUNDING_MS;
  }
}

/** How far `createdAt` is ahead of the `Date` of the response, in ms; undefined if one of them is missing. */
function leadOf({ product, sentAt }: Created): number | undefined {
  const { createdAt } = sentOf(product);
  // Without an offset it could be of any time zone.
  if (typeof createdAt !== 'string' || !/T.*(?:Z|[+-]\d\d:?\d\d)$/.test(createdAt)) return undefined;
  const lead = Date.parse(createdAt) - (sentAt ?? Number.NaN);
  return Number.isNaN(lead) ? undefined : lead;
}
