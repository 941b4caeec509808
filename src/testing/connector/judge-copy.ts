import { type Copy, columnOf, differingField } from './same-value.ts';
import type { Fields, Timeline } from './timeline.ts';

/** What the service held and sent, and what the copy holds after a run. */
export interface Evidence {
  readonly timeline: Timeline;
  readonly copy: Copy;
  /** Whether the copy may still have records that were deleted before the run. */
  readonly mayKeepDeleted?: boolean;
  /** If the run did not succeed: the copy before it, none of whose records may be lost. */
  readonly heldBefore?: Copy | undefined;
}

const KINDS = {
  missing: ['is missing from the copy', 'are missing from the copy'],
  stale: ['is stale in the copy', 'are stale in the copy'],
  extra: ['is still in the copy, but was deleted', 'are still in the copy, but were deleted'],
  unknown: ['is in the copy, but never existed', 'are in the copy, but never existed'],
  doubled: ['is in the copy more than once', 'are in the copy more than once'],
  wrong: ['has a wrong value in the copy', 'have a wrong value in the copy'],
} as const;
type Kind = keyof typeof KINDS;

/**
 * Compares a copy with what the service held during a run, and returns what is wrong as sentences such as `3 of 120
 * accounts are missing from the copy (ids 31, 61, 91). …`. The copy may hold any version that existed in that time: a
 * record that changed, appeared or was deleted meanwhile may be in it in the old or the new state. Any other record must
 * be in it once, in the version of that time.
 */
export function judgeCopy(collection: string, total: number, evidence: Evidence): string[] {
  return [...idsByKind(evidence)].map(([kind, ids]) => {
    const [one, several] = KINDS[kind];
    const named = `${ids.slice(0, 5).join(', ')}${ids.length > 5 ? ', …' : ''}`;
    const what = ids.length === 1 ? `${one} (id ${named})` : `${several} (ids ${named})`;
    return `${ids.length} of ${total} ${collection} ${what}. ${reasonOf(kind, String(ids[0]), evidence)}`;
  });
}

/** The ids of the records that are not as they may be in a copy. */
export function idsByKind(evidence: Evidence): ReadonlyMap<Kind, readonly string[]> {
  const found = new Map<Kind, string[]>();
  for (const id of new Set([...evidence.timeline.versions.keys(), ...evidence.copy.keys()])) {
    const kind = kindOf(id, evidence);
    if (kind !== undefined) found.set(kind, [...(found.get(kind) ?? []), id]);
  }
  return found;
}

function kindOf(
  id: string,
  { timeline, copy, mayKeepDeleted = false, heldBefore }: Evidence,
): Kind | undefined {
  const [row, ...others] = copy.get(id) ?? [];
  const seen = timeline.seen(id);
  // What a failed run has left undone is not held against it; what it has destroyed is.
  const failed = heldBefore !== undefined;
  if (row === undefined) {
    const mayLack = seen.includes(undefined) || (failed && !heldBefore.has(id));
    return mayLack ? undefined : 'missing';
  }
  if (others.length > 0) return 'doubled';
  const isRow = (record: Fields | undefined) =>
    record !== undefined && differingField(record, row) === undefined;
  if (seen.some(isRow)) return undefined;
  const versions = timeline.versions.get(id) ?? [];
  if (versions.length === 0) return 'unknown';
  if (seen.every((record) => record === undefined)) return failed || mayKeepDeleted ? undefined : 'extra';
  if (versions.some(({ record }) => isRow(record))) return failed ? undefined : 'stale';
  return 'wrong';
}

/** What happened to one of the records of a finding, and whether a response contained it. */
function reasonOf(kind: Kind, id: string, { timeline, copy, heldBefore }: Evidence): string {
  const last = timeline.versions.get(id)?.at(-1);
  const [row = {}, ...others] = copy.get(id) ?? [];
  const since = kind === 'stale' ? (last?.at ?? 0) : 0;
  const sent = timeline.pages.find(({ at, ids }) => at >= since && ids.includes(id));
  const response = sent ? `The response to request ${sent.request} of the run` : 'No response of the run';
  switch (kind) {
    case 'missing':
      if (heldBefore !== undefined)
        return `The copy had record ${id} before the run, and the service still has it.`;
      return timeline.pages.length === 0
        ? 'The run did not list the collection.'
        : `${response} contained record ${id}.`;
    case 'stale':
      return `Record ${id} was changed ${last?.when}. ${response} contained the new version.`;
    case 'extra':
      return `Record ${id} was deleted ${last?.when}.`;
    case 'unknown':
      return `The service never had record ${id}.`;
    case 'doubled':
      return `Record ${id} is in the copy ${others.length + 1} times.`;
    case 'wrong': {
      const field = differingField(last?.record ?? {}, row) ?? 'id';
      return `${field} of record ${id} is ${shown(row[columnOf(field)])} in the copy and ${shown(last?.record?.[field])} in the service.`;
    }
  }
}

function shown(value: unknown): string {
  return typeof value === 'bigint' ? String(value) : (JSON.stringify(value) ?? 'undefined');
}
