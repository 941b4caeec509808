import { reasonOf } from '../errors/accounting-error.ts';
import type { InvalidRecord } from '../events.ts';
import { mostCandidates } from '../reading/candidates.ts';
import type { Finding } from '../reading/look-up.ts';
import type { RunSource } from '../reading/source.ts';
import type { DeletionReport } from '../reports/sync-report.ts';
import type { Ids, Listing } from './listing.ts';
import { otherIdOf, type Sighting } from './look-up.ts';
import { chunksOf, Proof, WITNESSES_OF_A_FORM } from './proof.ts';

/** Records that exist although the read did not list them, and their rows as sent; and such rows that are invalid. */
interface Repairs<T> {
  readonly records: readonly T[];
  readonly rows: readonly unknown[];
  readonly invalid: readonly InvalidRecord[];
}

type Counted = { -readonly [Name in keyof DeletionReport]: DeletionReport[Name] };

interface Context<T> {
  readonly collection: string;
  readonly maxCandidates: number | undefined;
  readonly concurrency: number;
  readonly lookUp: (id: string) => Promise<Finding<T>>;
  readonly source: Pick<RunSource<{ id: string }>, 'segment' | 'forms'>;
  readonly remove: (ids: readonly string[]) => Promise<unknown>;
  /** How many records the consumer was given before. */
  readonly delivered: () => number;
  /** How many requests a run with a limit has left. */
  readonly left: (() => number) | undefined;
}

/** With a limit, records are looked up in parts: what is proven is removed before the next one. */
const LOOKED_UP_AT_A_TIME = 50;

/** Requests that prove the 404s of a part: one before the first, one after the last, and some of another form of ids. */
const MOST_WITNESSES = 2 + WITNESSES_OF_A_FORM;

/**
 * Requests the records of a copy that a full read has not listed, because a read can miss a record. Yields those that
 * exist: they belong into the copy. Once every one is judged, removes those that do not exist. One that gets an error is
 * kept and reported; one that the service has under an id in another case is removed, because the copy has that one too.
 * With a limit each part is judged by itself.
 */
export async function* confirmDeletions<T extends { id: string }>(
  listing: Listing,
  report: Counted,
  { collection, maxCandidates, concurrency, lookUp, source, remove, delivered, left }: Context<T>,
): AsyncGenerator<Repairs<T>, void> {
  const { local } = listing;
  const proof = new Proof({
    collection,
    lookUp,
    witnesses: () => listing.witnesses(),
    witnessesOf: (form) => listing.witnessesOf(form),
    segment: source.segment,
    forms: source.forms,
    maxCandidates: mostCandidates(maxCandidates, local),
    concurrency,
    delivered,
  });
  const counted = await listing.count();
  report.candidates = counted.candidates;
  proof.know({ ...counted, local });
  if (left === undefined) return yield* confirmed(listing.unlisted());
  const sizeOf = () => Math.max(1, Math.min(LOOKED_UP_AT_A_TIME, left() - MOST_WITNESSES));
  for await (const part of chunksOf(await fromAnywhere(listing.unlisted()), sizeOf)) {
    yield* confirmed(part);
    // A step without records: the limit applies once a run has committed something.
    yield repairsOf([]);
  }

  async function* confirmed(ids: Ids): AsyncGenerator<Repairs<T>, void> {
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

/** From a random id on: records that are kept in every run must not keep a run with a limit from those behind them. */
async function fromAnywhere(ids: AsyncIterable<string>): Promise<readonly string[]> {
  const all: string[] = [];
  for await (const id of ids) all.push(id);
  const from = Math.floor(Math.random() * all.length);
  return [...all.slice(from), ...all.slice(0, from)];
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
