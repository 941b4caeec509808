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

type Kind = 'missing' | 'stale' | 'extra' | 'unknown' | 'doubled' | 'wrong';

/** What is wrong with a copy. */
export interface Finding {
  readonly kind: Kind;
  readonly ids: readonly string[];
}

/**
 * Compares a copy with what the service held during a run. The copy may hold any version that existed in that time: a
 * record that changed, appeared or was deleted meanwhile may be in it in the old or the new state. Any other record must
 * be in it once, in the version of that time.
 */
export function judge(evidence: Evidence): Finding[] {
  const { timeline, copy } = evidence;
  const found = new Map<Kind, string[]>();
  for (const id of new Set([...timeline.versions.keys(), ...copy.keys()])) {
    const kind = faultOf(id, evidence);
    if (kind !== undefined) found.set(kind, [...(found.get(kind) ?? []), id]);
  }
  return [...found].map(([kind, ids]) => ({ kind, ids }));
}

function faultOf(
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

const SHOWN_IDS = 5;
const KINDS: Readonly<Record<Kind, readonly [one: string, several: string]>> = {
  missing: ['is missing from the copy', 'are missing from the copy'],
  stale: ['is stale in the copy', 'are stale in the copy'],
  extra: ['is still in the copy, but was deleted', 'are still in the copy, but were deleted'],
  unknown: ['is in the copy, but never existed', 'are in the copy, but never existed'],
  doubled: ['is in the copy more than once', 'are in the copy more than once'],
  wrong: ['has a wrong value in the copy', 'have a wrong value in the copy'],
};

/** A finding with its reason, such as `3 of 120 accounts are missing from the copy (ids 31, 61, 91). …`. */
export function explain(
  { kind, ids }: Finding,
  { collection, total, ...evidence }: Evidence & { readonly collection: string; readonly total: number },
): string {
  const [first = ''] = ids;
  const named = `${ids.slice(0, SHOWN_IDS).join(', ')}${ids.length > SHOWN_IDS ? ', …' : ''}`;
  const [one, several] = KINDS[kind];
  const what = ids.length === 1 ? `${one} (id ${named})` : `${several} (ids ${named})`;
  return `${ids.length} of ${total} ${collection} ${what}. ${reasonOf(kind, first, evidence)}`;
}

/** What happened to one of the records of a finding. */
function reasonOf(kind: Kind, id: string, evidence: Evidence): string {
  const { timeline, copy } = evidence;
  const last = timeline.versions.get(id)?.at(-1);
  const rows = copy.get(id) ?? [];
  switch (kind) {
    case 'missing':
      return whyMissing(id, evidence);
    case 'stale': {
      const change = `Record ${id} was changed ${last?.when}`;
      const sent = timeline.pages.find(({ at, ids }) => at >= (last?.at ?? 0) && ids.includes(id));
      return sent === undefined
        ? `${change}; no response of the run contained it.`
        : `${change}; the response to request ${sent.request} contained the new version.`;
    }
    case 'extra':
      return `Record ${id} was deleted ${last?.when}.`;
    case 'unknown':
      return `The service never had record ${id}.`;
    case 'doubled':
      return `Record ${id} is in the copy ${rows.length} times.`;
    case 'wrong': {
      const [row = {}] = rows;
      const record = last?.record ?? {};
      const field = differingField(record, row) ?? 'id';
      return `${field} of record ${id} is ${shown(row[columnOf(field)])} in the copy and ${shown(record[field])} in the service.`;
    }
  }
}

/** Whether the connector got a record, and what happened meanwhile if it did not. */
function whyMissing(id: string, { timeline, heldBefore }: Evidence): string {
  if (heldBefore !== undefined)
    return `The copy had record ${id} before the run, and the service still has it.`;
  const { pages } = timeline;
  const sent = pages.find(({ ids }) => ids.includes(id));
  if (sent !== undefined) return `The response to request ${sent.request} contained record ${id}.`;
  if (pages.length === 0) return 'The run did not list the collection.';
  const unseen = `No response of the run contained record ${id}`;
  const failed = pages.find(({ fault }) => fault !== undefined);
  if (failed !== undefined) return `${unseen}; request ${failed.request} met the fault '${failed.fault}'.`;
  const changes = timeline.changes();
  const [first] = changes;
  if (first === undefined) return `${unseen}, and nothing changed meanwhile.`;
  const what = `record ${first.id} was ${first.record === undefined ? 'deleted' : 'written'} ${first.when}`;
  const more = changes.length === 1 ? '' : `, the first of ${changes.length} changes`;
  return pages.some(({ isLaterPage }) => isLaterPage)
    ? `${unseen}: it moved to a page that had been requested already when ${what}${more}.`
    : `${unseen}. During the run, ${what}${more}.`;
}

function shown(value: unknown): string {
  return typeof value === 'bigint' ? String(value) : (JSON.stringify(value) ?? 'undefined');
}
