import { mix } from '../data/seeded-random.ts';
import type { ResolvedSandboxOptions } from '../options.ts';

/** Ascending ids, each computed from its index alone. */
export interface IdSequence {
  at(index: number): string;
  /** The index of an id, or -1 if the sequence does not contain it. */
  indexOf(id: string): number;
}

/** What makes a sequence different from others of its form. */
export interface IdSeed {
  readonly seed: number;
  /** Added to a numeric start, so that companies do not share ids. */
  readonly offset: number;
}

/** ULIDs and UUIDs contain a time: the first record's is in 2021, and each record is a second later. */
const FIRST_MS = Date.UTC(2021, 0, 1);
const STEP_MS = 1000;
const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

function numeric(ids: ResolvedSandboxOptions['ids'], { seed, offset }: IdSeed): IdSequence {
  const first = ids.start + offset;
  const at = (index: number) => {
    const jitter = ids.gap === 1 ? 0 : mix(seed, index) % ids.gap;
    return String(first + index * ids.gap + jitter);
  };
  const indexOf = (id: string) => {
    const index = Math.floor((Number(id) - first) / ids.gap);
    return index >= 0 && at(index) === id ? index : -1;
  };
  return { at, indexOf };
}

/** A sequence whose ids begin with a time. */
function timed(write: (ms: number, index: number) => string, read: (id: string) => number): IdSequence {
  const at = (index: number) => write(FIRST_MS + index * STEP_MS, index);
  const indexOf = (id: string) => {
    const index = (read(id) - FIRST_MS) / STEP_MS;
    return Number.isSafeInteger(index) && index >= 0 && at(index) === id ? index : -1;
  };
  return { at, indexOf };
}

function base32(value: number, digits: number): string {
  let text = '';
  for (let rest = value; text.length < digits; rest = Math.floor(rest / 32))
    text = CROCKFORD[rest % 32] + text;
  return text;
}

function readBase32(text: string): number {
  let value = 0;
  for (const digit of text) value = value * 32 + CROCKFORD.indexOf(digit);
  return value;
}

const hex = (value: number, digits: number) => value.toString(16).padStart(digits, '0').slice(-digits);

/** The ids of one collection of one company. */
export function idSequence(ids: ResolvedSandboxOptions['ids'], from: IdSeed): IdSequence {
  if (ids.form === 'numeric') return numeric(ids, from);
  const seed = from.seed ^ from.offset;

  if (ids.form === 'ulid') {
    const tail = (index: number) =>
      [0, 1, 2, 3].map((part) => base32(mix(seed + part, index) % 2 ** 20, 4)).join('');
    return timed(
      (ms, index) => base32(ms, 10) + tail(index),
      (id) => readBase32(id.slice(0, 10)),
    );
  }

  const write = (ms: number, index: number) => {
    const time = hex(ms, 12);
    const variant = '89ab'[mix(seed, index) % 4];
    const [a, b, c] = [1, 2, 3].map((part) => mix(seed + part, index));
    return `${time.slice(0, 8)}-${time.slice(8)}-7${hex(a ?? 0, 3)}-${variant}${hex((a ?? 0) >>> 12, 3)}-${hex(b ?? 0, 8)}${hex(c ?? 0, 4)}`;
  };
  return timed(write, (id) => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16));
}
