import { createHash } from 'node:crypto';

/** What a sync reads: what changed, or everything, which finds deletions. */
export type Mode = 'incremental' | 'full';

/** When a company's job of this hour starts, and what it reads. */
export interface Slot {
  readonly startAfter: Date;
  readonly mode: Mode;
}

const HOUR_MS = 3_600_000;
const HOURS_IN_WEEK = 168;
/** Companies whose hash is the same do not start at the same moment. */
const JITTER_MS = 10_000;

/**
 * The slot of a company in the hour of `now`. Its minute follows from a hash of the tenant, and so does the hour of the
 * week in which everything is read: both are the same on every machine, and spread over all companies. `random` is in
 * 0..1.
 */
export function slotOf(tenant: string, now: Date, random = Math.random()): Slot {
  const hash = createHash('sha256').update(tenant).digest();
  const inHour = Math.floor((hash.readUInt32BE(0) / 2 ** 32) * (HOUR_MS - JITTER_MS));
  const hour = Math.floor(now.getTime() / HOUR_MS);
  const isFull = hour % HOURS_IN_WEEK === hash.readUInt32BE(4) % HOURS_IN_WEEK;
  return {
    startAfter: new Date(hour * HOUR_MS + inHour + Math.floor(random * JITTER_MS)),
    mode: isFull ? 'full' : 'incremental',
  };
}
