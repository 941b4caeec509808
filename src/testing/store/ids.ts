import { mix } from '../data/seeded-random.ts';
import type { IdForm } from '../options.ts';

/** Ascending ids, each computed from its index alone. */
export interface IdSequence {
  at(index: number): string;
  /** The index from which on every id is larger than this one; 0 if the id does not show it. */
  indexAfter(id: string): number;
}

/** What makes a sequence different from others of its form. */
interface IdSeed {
  readonly seed: number;
  /** Added to a numeric start, so that companies do not share ids. */
  readonly offset: number;
}

/** Digits of a text id, so that such ids ascend by the characters too. */
const TEXT_DIGITS = 10;

/** The ids of one collection of one company. */
export function idSequence({ form, start, gap, prefix }: IdForm, { seed, offset }: IdSeed): IdSequence {
  if (form === 'uuid' || form === 'ulid') {
    const write = form === 'uuid' ? uuid : ulid;
    return { at: (index) => write(seed ^ offset, index), indexAfter: () => 0 };
  }

  const first = start + offset;
  const numberAt = (index: number) => first + index * gap + (index === 0 ? 0 : mix(seed, index) % gap);
  const indexAfter = (number: number) => {
    const index = Math.floor((number - first) / gap) + 1;
    return Number.isSafeInteger(first + index * gap) ? Math.max(0, index) : 0;
  };
  if (form === 'numeric') {
    return { at: (index) => String(numberAt(index)), indexAfter: (id) => indexAfter(Number(id)) };
  }
  return {
    at: (index) => `${prefix}${digits(numberAt(index), 10, TEXT_DIGITS)}`,
    indexAfter(id) {
      const number = id.startsWith(prefix) ? id.slice(prefix.length) : '';
      return /^\d+$/.test(number) ? indexAfter(Number(number)) : 0;
    },
  };
}

/** ULIDs and UUIDs begin with a time: that of the first record is in 2021, and each record is a second later. */
const timeAt = (index: number) => Date.UTC(2021, 0, 1) + index * 1000;

/** A UUID of version 7. */
function uuid(seed: number, index: number): string {
  const time = digits(timeAt(index), 16, 12);
  const random = [1, 2, 3].map((part) => digits(mix(seed + part, index), 16, 8)).join('');
  const variant = '89ab'[mix(seed, index) % 4];
  return `${time.slice(0, 8)}-${time.slice(8)}-7${random.slice(0, 3)}-${variant}${random.slice(3, 6)}-${random.slice(6, 18)}`;
}

function ulid(seed: number, index: number): string {
  const random = [0, 1, 2, 3].map((part) => digits(mix(seed + part, index) % 2 ** 20, 32, 4)).join('');
  // The alphabet of ULIDs lacks I, L, O and U. It has the same order as that of `toString(32)`.
  return (digits(timeAt(index), 32, 10) + random).replaceAll(/[a-v]/g, (digit) =>
    'ABCDEFGHJKMNPQRSTVWXYZ'.charAt(digit.charCodeAt(0) - 97),
  );
}

function digits(value: number, radix: number, count: number): string {
  return value.toString(radix).padStart(count, '0');
}
