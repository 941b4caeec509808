import type { CollectionName } from '../../collections/index.ts';
import { explanationOf, known, unknown } from './finding.ts';
import type { CollectionDetails, CollectionFindings, Finding, ProbeReport } from './report.ts';

/** The findings that options follow from. */
export type Findings = Pick<ProbeReport, 'collections' | 'problems' | 'quota' | 'writes'>;

/** A collection that could be read. */
export type Readable = CollectionFindings & { readonly details: CollectionDetails };

/** The collections that could be read. The more records one has, the more it shows: those come first. */
export function readableOf(collections: Findings['collections']): readonly Readable[] {
  return collections
    .filter((one): one is Readable => one.details !== undefined)
    .sort((a, b) => b.details.rows - a.details.rows);
}

/** A finding of which no option follows. */
export const NOTHING = unknown('nothing follows');

/** Another value that follows from a finding; undefined if none does. */
export function followed<T, R>(finding: Finding<T>, read: (value: T) => R | undefined): Finding<R> {
  if (!finding.known) return finding;
  const value = read(finding.value);
  return value === undefined ? NOTHING : known(value, finding.evidence);
}

/** The first finding of a kind that is known. */
export function firstKnown<T>(
  readable: readonly Readable[],
  read: (details: CollectionDetails) => Finding<T>,
): Finding<T> {
  return readable.map(({ details }) => read(details)).find((finding) => finding.known) ?? NOTHING;
}

/** Whether something holds in any collection. */
export function holdsAnywhere<T>(
  readable: readonly Readable[],
  read: (details: CollectionDetails) => Finding<T>,
  holds: (value: T) => boolean,
): Finding<boolean> {
  const findings = readable.map(({ details }) => read(details));
  const found = findings.find((finding) => finding.known && holds(finding.value));
  const decisive = found ?? findings.find((finding) => finding.known);
  return decisive === undefined ? NOTHING : known(found !== undefined, explanationOf(decisive));
}

/** The values of a finding by collection: the one that all have, or that of each. */
export function byCollection<T>(
  readable: readonly Readable[],
  read: (one: Readable) => Finding<T>,
):
  | { readonly all: Finding<T> }
  | { readonly each: ReadonlyMap<CollectionName, Finding<T> & { known: true }> } {
  const each = new Map<CollectionName, Finding<T> & { known: true }>();
  for (const one of readable) {
    const finding = read(one);
    if (finding.known) each.set(one.collection, finding);
  }
  const values = new Set([...each.values()].map(({ value }) => value));
  return values.size > 1 ? { each } : { all: [...each.values()][0] ?? NOTHING };
}
