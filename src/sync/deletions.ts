import { reasonOf } from '../errors/accounting-error.ts';
import type { InvalidRecord } from '../events.ts';
import { mostCandidates } from '../reading/candidates.ts';
import type { DeletionReport } from '../reports/sync-report.ts';
import type { Ids, Listing } from './listing.ts';
import { type Finding, otherIdOf, type Sighting } from './look-up.ts';
import { chunksOf, Proof } from './proof.ts';

/** Records that exist although the read did not list them, and their rows as sent; and such rows that are invalid. */
interface Repairs<T> {
  readonly records: readonly T[];
  readonly rows: readonly unknown[];
  readonly invalid: readonly InvalidRecord[];
}

/** A step: what exists, and up to which id a run that is paused need not look again. */
type Step<T> = Repairs<T> & { readonly looked?: string | undefined };

type Counted = { -readonly [Name in keyof DeletionReport]: DeletionReport[Name] };

interface Context<T> {
  readonly collection: string;
  readonly maxCandidates: number | undefined;
  readonly concurrency: number;
  readonly lookUp: (id: string) => Promise<Finding<T>>;
  readonly remove: (ids: readonly string[]) => Promise<unknown>;
  /** How many records the consumer was given before. */
  readonly delivered: () => number;
  /** With a limit of requests, of which some are left: the records behind an id. */
  readonly parts: { readonly after: string; left(): number } | undefined;
}

/** With a limit, records are looked up in parts: what is proven is removed before the next one. */
const LOOKED_UP_AT_A_TIME = 50;

/** Requests that prove the 404s of a part: one before the first, one after the last. */
const MOST_WITNESSES = 2;

/**
 * Requests the records of a copy that a full read has not listed, because a read can miss a record. Yields those that
 * exist: they belong into the copy. Once every one is judged, removes those that do not exist. One that gets an error is
 * kept and reported; one that the service has under an id in another case is removed, because the copy has that one too.
 * With a limit each part is judged by itself.
 */
export async function* confirmDeletions<T extends { id: string }>(
  listing: Listing,
  report: Counted,
  { collection, maxCandidates, concurrency, lookUp, remove, delivered, parts }: Context<T>,
): AsyncGenerator<Step<T>, void> {
  const { local } = listing;
  const proof = new Proof({
    collection,
    lookUp,
    witnesses: () => listing.witnesses(),
    maxCandidates: mostCandidates(maxCandidates, local),
    concurrency,
    delivered,
  });
  const counted = await listing.count();
  report.candidates = counted.candidates;
  proof.know({ ...counted, local });
  if (parts === undefined) return yield* confirmed(listing.unlisted());
  const sizeOf = () => Math.max(1, Math.min(LOOKED_UP_AT_A_TIME, parts.left() - MOST_WITNESSES));
  for await (const part of chunksOf(listing.unlisted(parts.after), sizeOf)) {
    yield* confirmed(part);
    yield { ...repairsOf<T>([]), looked: part.at(-1) };
  }

  async function* confirmed(ids: Ids): AsyncGenerator<Step<T>, void> {
    for await (const sightings of proof.confirmed(ids)) {
      const unconfirmed = sightings.flatMap(({ id, seen }) =>
        seen instanceof Error ? { id, error: seen } : [],
      );
      report.unconfirmed = [...report.unconfirmed, ...unconfirmed];
      const listed = await listing.listed(sightings.flatMap((one) => otherIdOf(one) ?? []));
      const repairs = repairsOf(sightings.filter((one) => !listed.has(otherIdOf(one) ?? '')));
      const existing = repairs.records.length + repairs.invalid.length;
      if (existing > 0) yield repairs;
      report.repaired += existing;
      const isGone = (one: Sighting<T>) => one.seen === undefined || otherIdOf(one) !== undefined;
      const gone = sightings.filter(isGone).map(({ id }) => id);
      if (gone.length === 0) continue;
      await remove(gone);
      report.deleted += gone.length;
    }
  }
}

/** What to say about records that are kept although the read did not list them; undefined if there are none. */
export function unconfirmedWarning({ unconfirmed: [first, ...others] }: DeletionReport): string | undefined {
  if (first === undefined) return undefined;
  const more = others.length === 0 ? '' : `, and ${others.length} more`;
  return `the record ${JSON.stringify(first.id)}${more} was not listed, and a request for it does not show whether it was deleted, so it is kept: ${reasonOf(first.error)}`;
}

function repairsOf<T>(sightings: readonly Sighting<T>[]): Repairs<T> {
  const repairs = { records: [] as T[], rows: [] as unknown[], invalid: [] as InvalidRecord[] };
  for (const { found } of sightings) {
    if (found instanceof Error) continue;
    if (found.invalid !== undefined) repairs.invalid.push(found.invalid);
    if (found.record === undefined) continue;
    repairs.records.push(found.record);
    repairs.rows.push(found.row);
  }
  return repairs;
}
