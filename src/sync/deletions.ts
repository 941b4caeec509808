import type { InvalidRecord } from '../events.ts';
import type { DeletionReport } from '../reports/sync-report.ts';
import type { Ids, Listing } from './listing.ts';
import type { Sighting } from './look-up.ts';
import { chunksOf, type Proof } from './proof.ts';

/** Records that exist although the read did not list them, and their rows as sent; and such rows that are invalid. */
interface Repairs<T> {
  readonly records: readonly T[];
  readonly rows: readonly unknown[];
  readonly invalid: readonly InvalidRecord[];
}

/** A step: what exists, and up to which id a run that is paused need not look again. */
type Step<T> = Repairs<T> & { readonly looked?: string | undefined };

type Counted = { -readonly [Name in keyof DeletionReport]: DeletionReport[Name] };

/**
 * Requests the records of a copy that a full read has not listed, because a read can miss a record. Yields those that
 * exist: they belong into the copy. Once every one is judged, removes those that do not exist. One that gets an error is
 * kept and reported. `parts`: with a limit, the records behind an id, some at a time, each part judged by itself.
 */
export async function* confirmDeletions<T extends { id: string }>(
  listing: Listing,
  proof: Proof<T>,
  report: Counted,
  remove: (ids: readonly string[]) => Promise<unknown>,
  parts?: { readonly after: string; size(): number } | undefined,
): AsyncGenerator<Step<T>, void> {
  const counted = await listing.count();
  report.candidates = counted.candidates;
  proof.know({ ...counted, local: listing.local });
  if (parts === undefined) return yield* confirmed(listing.unlisted());
  for await (const part of chunksOf(listing.unlisted(parts.after), parts.size)) {
    yield* confirmed(part);
    yield { ...repairsOf<T>([]), looked: part.at(-1) };
  }

  async function* confirmed(ids: Ids): AsyncGenerator<Step<T>, void> {
    for await (const sightings of proof.confirmed(ids)) {
      const unconfirmed = sightings.flatMap(({ id, seen }) =>
        seen instanceof Error ? { id, error: seen } : [],
      );
      report.unconfirmed = [...report.unconfirmed, ...unconfirmed];
      const repairs = repairsOf(sightings);
      const existing = repairs.records.length + repairs.invalid.length;
      if (existing > 0) yield repairs;
      report.repaired += existing;
      const gone = sightings.filter(({ seen }) => seen === undefined).map(({ id }) => id);
      if (gone.length === 0) continue;
      await remove(gone);
      report.deleted += gone.length;
    }
  }
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
