import { copiedValue, differingField } from './same-value.ts';
import { type Fields, seenSince, type Version } from './timeline.ts';

/** What the service held and sent, and what the copy holds after a run. */
export interface Evidence {
  readonly collection: string;
  /** By id, oldest first. */
  readonly versions: ReadonlyMap<string, readonly Version[]>;
  /** The moment at which the run began. */
  readonly since: number;
  readonly copy: readonly Fields[];
  /** The lists that the run requested of the collection, in order. */
  readonly responses: readonly SentPage[];
  /** Whether the copy must not have records that were deleted before the run. */
  readonly deletions: boolean;
  /** Ids of records that no list shows: the copy may have them or not. */
  readonly hidden?: ReadonlySet<string>;
  /** If the run did not succeed: the ids that the copy held before it, which it must still hold. */
  readonly heldBefore?: ReadonlySet<string>;
}

/** A response to a list request. */
export interface SentPage {
  readonly at: number;
  /** Its number among the requests of the run. */
  readonly request: number;
  /** Empty if a fault kept the response from the connector. */
  readonly ids: readonly string[];
  /** Whether the request named a later page. */
  readonly isLaterPage: boolean;
}

/** What is wrong with a copy, and why. */
export interface Finding {
  readonly kind: 'missing' | 'stale' | 'extra' | 'unknown' | 'doubled' | 'wrong';
  readonly ids: readonly string[];
  /** Whole sentences. */
  readonly reason: string;
}

/**
 * Compares a copy with what the service held during a run. The copy may hold any version that existed in that time: a
 * record that changed, appeared or was deleted meanwhile may be in it in the old or the new state. Any other record must
 * be in it once, in the version of that time.
 */
export function judge(evidence: Evidence): Finding[] {
  const { versions, since, copy, hidden = new Set<string>(), heldBefore } = evidence;
  const copied = new Map<string, Fields[]>();
  for (const record of copy) {
    const id = String(copiedValue(record, 'id'));
    copied.set(id, [...(copied.get(id) ?? []), record]);
  }
  const ids: Record<Finding['kind'], string[]> = {
    missing: [],
    stale: [],
    extra: [],
    unknown: [],
    doubled: [],
    wrong: [],
  };
  for (const id of new Set([...versions.keys(), ...copied.keys()])) {
    if (hidden.has(id)) continue;
    const of = versions.get(id) ?? [];
    const rows = copied.get(id) ?? [];
    const kind = faultOf(of, seenSince(of, since), rows);
    if (kind === undefined) continue;
    // What a failed run has left undone is not held against it; what it has destroyed is.
    const isUndone =
      kind === 'stale' || kind === 'extra' || (kind === 'missing' && heldBefore?.has(id) !== true);
    if (heldBefore !== undefined && isUndone) continue;
    if (kind !== 'extra' || evidence.deletions) ids[kind].push(id);
  }
  return Object.entries(ids).flatMap(([kind, found]) => {
    const finding = { kind: kind as Finding['kind'], ids: found };
    return found.length === 0 ? [] : [{ ...finding, reason: reasonOf(finding, evidence, copied) }];
  });
}

function faultOf(
  versions: readonly Version[],
  acceptable: readonly (Fields | undefined)[],
  rows: readonly Fields[],
): Finding['kind'] | undefined {
  const [row] = rows;
  if (row === undefined) return acceptable.includes(undefined) ? undefined : 'missing';
  if (rows.length > 1) return 'doubled';
  const matches = (record: Fields | undefined) =>
    record !== undefined && differingField(record, row) === undefined;
  if (acceptable.some(matches)) return undefined;
  if (versions.every(({ record }) => record === undefined)) return 'unknown';
  if (acceptable.every((record) => record === undefined)) return 'extra';
  return versions.some(({ record }) => matches(record)) ? 'stale' : 'wrong';
}

function reasonOf(
  { kind, ids }: Pick<Finding, 'kind' | 'ids'>,
  evidence: Evidence,
  copied: ReadonlyMap<string, readonly Fields[]>,
): string {
  const [first = ''] = ids;
  const versions = evidence.versions.get(first) ?? [];
  const last = versions.at(-1);
  switch (kind) {
    case 'missing':
      return evidence.heldBefore === undefined
        ? whyMissing(ids, evidence)
        : 'The copy had them before the run, and the service still has them.';
    case 'stale': {
      const sent = evidence.responses.find(
        ({ at, ids: sentIds }) => at >= (last?.at ?? 0) && sentIds.includes(first),
      );
      const change = `Record ${first} was changed ${last?.when}`;
      if (sent === undefined) return `${change}; no response of the run contained it.`;
      return `${change}; the response to request ${sent.request} contained the new version.`;
    }
    case 'extra':
      return `Record ${first} was deleted ${last?.when}.`;
    case 'unknown':
      return 'The service never had them.';
    case 'doubled':
      return `Record ${first} is in the copy ${copied.get(first)?.length} times.`;
    case 'wrong': {
      const [row = {}] = copied.get(first) ?? [];
      const record = last?.record ?? {};
      const field = differingField(record, row) ?? 'id';
      return `${field} of record ${first} is ${shown(copiedValue(row, field))} in the copy and ${shown(record[field])} in the service.`;
    }
  }
}

/** Whether the responses of the run contained what is missing, and what changed meanwhile. */
function whyMissing(ids: readonly string[], { responses, since, versions }: Evidence): string {
  const sent = responses.find((response) => response.ids.some((id) => ids.includes(id)));
  if (sent !== undefined) {
    const id = sent.ids.find((each) => ids.includes(each));
    return `The response to request ${sent.request} contained record ${id}.`;
  }
  if (responses.length === 0) return 'The run did not list the collection.';
  const changes = [...versions].flatMap(([id, of]) =>
    of.filter(({ at }) => at > since).map((version) => ({ id, ...version })),
  );
  const change = changes.sort((a, b) => a.at - b.at)[0];
  if (change === undefined) return 'No response of the run contained them, and nothing changed meanwhile.';
  const what = `record ${change.id} was ${change.record === undefined ? 'deleted' : 'written'} ${change.when}`;
  const others = changes.length > 1 ? `, and ${changes.length - 1} more changes followed` : '';
  return responses.some(({ isLaterPage }) => isLaterPage)
    ? `No response contained them: they moved to pages that had been requested already when ${what}${others}.`
    : `No response contained them. In the run, ${what}${others}.`;
}

const SHOWN_IDS = 5;
const KINDS: Readonly<Record<Finding['kind'], (one: boolean) => string>> = {
  missing: (one) => `${one ? 'is' : 'are'} missing from the copy`,
  stale: (one) => `${one ? 'is' : 'are'} stale in the copy`,
  extra: (one) => `${one ? 'is' : 'are'} in the copy and deleted in the service`,
  unknown: (one) => `${one ? 'is' : 'are'} in the copy and never existed`,
  doubled: (one) => `${one ? 'is' : 'are'} in the copy more than once`,
  wrong: (one) => `${one ? 'has' : 'have'} a wrong value in the copy`,
};

/** A finding as a sentence, such as `3 of 120 accounts are missing from the copy (ids 31, 61, 91). …`. */
export function describe(
  { kind, ids, reason }: Finding,
  { collection, total }: { collection: string; total: number },
) {
  const isOne = ids.length === 1;
  const named = `${ids.slice(0, SHOWN_IDS).join(', ')}${ids.length > SHOWN_IDS ? ', …' : ''}`;
  return `${ids.length} of ${total} ${collection} ${KINDS[kind](isOne)} (${isOne ? 'id' : 'ids'} ${named}). ${reason}`;
}

function shown(value: unknown): string {
  return typeof value === 'bigint' ? String(value) : (JSON.stringify(value) ?? 'undefined');
}
