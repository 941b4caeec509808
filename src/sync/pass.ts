import type { DeletionsAbortReason } from '../errors/deletions-aborted-error.ts';
import { type CopyRow, storedId } from '../internal/copy-rows.ts';
import { canonicalValue } from '../schemas/field-kinds.ts';
import type { OpenTarget, StoredRow } from './target.ts';

/** What the service says of one record: what a copy keeps of it, that there is none, or an error that shows neither. */
export type Seen = CopyRow | Error | undefined;

/** What a record that was listed or requested means for a copy. */
export function changeOf(
  seen: Seen,
  stored: Pick<StoredRow, 'body' | 'invalid'> | undefined,
): 'add' | 'change' | 'remove' | 'same' | 'unknown' {
  if (seen instanceof Error) return 'unknown';
  if (seen === undefined) return stored === undefined ? 'same' : 'remove';
  if (stored === undefined) return 'add';
  const { invalid = seen.invalid } = stored;
  return invalid === seen.invalid && canonicalText(seen.body) === canonicalText(stored.body)
    ? 'same'
    : 'change';
}

function canonicalText(value: unknown): string {
  // Before the members are sorted: their names may change too.
  const stored: unknown = JSON.parse(JSON.stringify(value), (_, member: unknown) => {
    if (typeof member === 'string') return storedText(member);
    if (typeof member !== 'object' || member === null || Array.isArray(member)) return member;
    return Object.fromEntries(Object.entries(member).map(([name, inner]) => [storedText(name), inner]));
  });
  return JSON.stringify(canonicalValue(undefined, stored));
}

/** A text as a database has it that cannot store U+0000 and halves of surrogate pairs. */
function storedText(text: string): string {
  return text.replaceAll(/\0|\p{Cs}/gu, '\ufffd');
}

/** These records of a copy, by the ids of the service. */
export async function storedRows(
  copy: Pick<Required<OpenTarget>, 'rows'>,
  collection: string,
  ids: readonly string[],
): Promise<(id: string) => StoredRow | undefined> {
  const rows = new Map((await copy.rows(collection, ids)).map((row) => [row.id, row] as const));
  return (id) => rows.get(id) ?? rows.get(storedId(id));
}

/** What a pass over a copy knows before it removes a record. */
export interface DeletionProof {
  /** Records of the copy. */
  readonly local: number;
  /** Records that the service listed, and those among them that the copy did not have; undefined without a list. */
  readonly listed: { readonly seen: number; readonly missing: number } | undefined;
  /** Records of the copy that the service did not list, or, without a list, did not find. */
  readonly candidates: number;
  /** Whether a record that exists was found by its id; undefined if none was requested yet. */
  readonly witness: 'found' | 'none' | undefined;
}

/** Whether a 404 may remove a record: yes, not before a record that exists was requested, or no, and why. */
export function verdict(
  { local, listed, candidates, witness }: DeletionProof,
  maxCandidates: number,
): 'remove' | 'ask_witness' | DeletionsAbortReason {
  if (candidates === 0) return 'remove';
  if (listed?.seen === 0) return 'empty_read';
  // A few ids are often the same in two companies, most are not. If the records were really deleted, those that the
  // service lists are known to the copy after a sync.
  const isOtherCompany = listed && candidates > local / 2 && listed.missing > listed.seen / 2;
  if (isOtherCompany && maxCandidates !== Number.POSITIVE_INFINITY) return 'few_local_ids_seen';
  if (candidates > maxCandidates) return 'too_many_candidates';
  if (witness === undefined) return 'ask_witness';
  return witness === 'found' ? 'remove' : 'first_record_not_found';
}
