import { isAccountingError } from '../errors/guards.ts';
import { InvalidInputError } from '../errors/invalid-input-error.ts';
import { randomUuid } from '../internal/random-uuid.ts';
import { isObject } from '../schemas/validate.ts';
import type { LookUp } from './source.ts';

/** Keys that are remembered: an older one has to be proven again. */
const MOST_KEYS = 10;
/** Known records that are requested. */
const MOST_COMPARED = 5;

/** A record that was read with an earlier key. */
export interface KnownRecord {
  readonly collection: string;
  readonly id: string;
  /** As it was sent then. */
  readonly createdAt: unknown;
  /** Requests it with this key. An error of this record alone is returned. */
  lookUp(): Promise<LookUp<{ id: string }> | Error>;
}

interface GuardOptions {
  readonly tenant: string;
  /** Identifies the service and the key. */
  readonly digestOf: (salt: string) => Promise<string | undefined>;
  /** Accepts a key whose company cannot be proven. */
  readonly sameCompany: boolean;
  readonly known: () => AsyncIterable<KnownRecord>;
}

/**
 * The guard against the API key of another company, whose records have the same ids. `stored` holds salted digests of the
 * keys that were used before. A new one is no error, because keys are rotated: known records prove that its company is
 * the same. Returns what to store before anything is written; undefined if that is stored already, or if the key cannot
 * read, so that the run will fail by itself.
 */
export async function admitKey(
  stored: string | undefined,
  { tenant, digestOf, sameCompany, known }: GuardOptions,
): Promise<string | undefined> {
  const { salt, keys } = decode(stored);
  const digest = await digestOf(salt);
  if (digest === undefined || keys.includes(digest)) return undefined;
  if (stored !== undefined && !sameCompany) {
    try {
      const doubt = await doubtOf(known());
      if (doubt !== undefined) throw otherCompany(tenant, doubt);
    } catch (error) {
      if (isAccountingError(error, 'unauthenticated')) return undefined;
      throw error;
    }
  }
  return JSON.stringify({ salt, keys: [...keys, digest].slice(-MOST_KEYS) });
}

/**
 * Why known records do not prove that the company is the same; undefined if they do, or if none is known. Up to five known
 * records are requested: at least one must exist, and all that exist must have the same `createdAt`, which nothing
 * changes. Ids, names and numbers prove nothing, because companies that were made from one template share them.
 */
async function doubtOf(known: AsyncIterable<KnownRecord>): Promise<string | undefined> {
  let isAnyKnown = false;
  let isProven = false;
  let compared = 0;
  let rejection: Error | undefined;
  const failures = new Map<string, number>();
  for await (const { collection, id, createdAt, lookUp } of known) {
    isAnyKnown = true;
    const before = momentOf(createdAt);
    const failed = failures.get(collection) ?? 0;
    if (before === undefined || failed === MOST_COMPARED) continue;
    if (compared === MOST_COMPARED) break;
    const found = await lookUp();
    if (found instanceof Error) {
      if (isAccountingError(found, 'unauthenticated')) rejection = found;
      failures.set(collection, failed + 1);
      continue;
    }
    compared += 1;
    const row = found.row ?? found.invalid?.record;
    if (row === undefined) continue;
    if (momentOf(isObject(row) ? row.createdAt : undefined) !== before)
      return `${collection} ${id} was created at another time`;
    isProven = true;
  }
  if (isProven || !isAnyKnown) return undefined;
  // A 401 with a page may be about one request. If there was nothing else, it is about the key.
  if (compared === 0 && rejection !== undefined) throw rejection;
  return compared === 0
    ? 'it knows no record with createdAt that this key may read'
    : 'the records that it knows were not found';
}

/** The moment that a timestamp with an offset names, in ms; another value itself, and undefined for none. */
export function momentOf(value: unknown): number | string | undefined {
  if (typeof value === 'number') return `${value}`;
  if (typeof value !== 'string' || value === '') return undefined;
  const moment = /(?:z|[+-]\d\d:?\d\d)$/i.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(moment) ? value : moment;
}

function otherCompany(tenant: string, doubt: string): InvalidInputError {
  return new InvalidInputError(
    'tenant',
    `${tenant} was written with another API key, and nothing shows that this one is of the same company: ${doubt}. Nothing was written. For another company, use another tenant. For a new key of the same company, pass sameCompany: true once`,
  );
}

function decode(stored: string | undefined): { readonly salt: string; readonly keys: readonly string[] } {
  try {
    const { salt, keys } = JSON.parse(stored ?? '') as { salt?: unknown; keys?: unknown };
    if (typeof salt === 'string' && Array.isArray(keys)) return { salt, keys };
  } catch {}
  // A damaged value knows no key, so the company has to be proven.
  return { salt: randomUuid(), keys: [] };
}
