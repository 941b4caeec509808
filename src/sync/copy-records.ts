import { isAccountingError, isForbidden } from '../errors/guards.ts';
import { type CopyRow, copyRows } from '../internal/copy-rows.ts';
import type { CompanyMatch } from '../reading/company.ts';
import type { ReadSettings } from '../reading/list-options.ts';
import type { LookUp, RunSource } from '../reading/source.ts';
import { canonicalValue } from '../schemas/field-kinds.ts';
import type { OpenTarget, StoredRow } from './target.ts';

/** What a copy keeps of one record that was requested; undefined if it does not exist. */
export function copyRow(found: LookUp<{ id: string }>): CopyRow | undefined {
  const { record, invalid } = found;
  return copyRows(record === undefined ? [] : [record], invalid === undefined ? [] : [invalid])[0];
}

/** Whether a row of a copy has this content. A database may have replaced characters that it cannot store. */
export function isStored({ body, invalid }: CopyRow, stored: StoredRow): boolean {
  return (stored.invalid ?? invalid) === invalid && canonicalText(body) === canonicalText(stored.body);
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
export function storedText(text: string): string {
  return text.replaceAll(/\0|\p{Cs}/gu, '\ufffd');
}

/** Known records that are compared at most. */
const MOST_COMPARED = 5;
/** Records of a collection among which those with timestamps are looked for. */
const SAMPLE = 50;

type Source = RunSource<{ id: string }>;

/**
 * Compares known records with those of the service: products first, and only records with a timestamp, because companies
 * that were created from one template have equal records otherwise.
 */
export async function compareCompany(
  target: OpenTarget,
  sources: Readonly<Record<string, Source>>,
  settings: ReadSettings,
): Promise<CompanyMatch> {
  const names = Object.keys(sources).toSorted((a, b) => Number(b === 'products') - Number(a === 'products'));
  let match: CompanyMatch = 'nothing_known';
  let compared = 0;
  for (const name of names) {
    const known = await sampleOf(target, name);
    if (known.length > 0) match = 'none_same';
    for (const stored of known.filter(hasTimestamp)) {
      if (compared === MOST_COMPARED) return match;
      const found = await (sources[name] as Source)
        .lookUp(stored.id, settings)
        .catch((error: unknown) => deniedOr(error));
      if (found === 'unauthenticated') return 'unknown';
      if (found === 'forbidden') break;
      compared += 1;
      const row = copyRow(found);
      if (row !== undefined && isStored(row, stored)) return 'same';
    }
  }
  return match;
}

function deniedOr(error: unknown): 'unauthenticated' | 'forbidden' {
  if (isAccountingError(error, 'unauthenticated')) return 'unauthenticated';
  if (isForbidden(error)) return 'forbidden';
  throw error;
}

async function sampleOf(target: OpenTarget, collection: string): Promise<readonly StoredRow[]> {
  const ids: string[] = [];
  for await (const id of target.localIds?.(collection) ?? []) {
    if (ids.push(id) === SAMPLE) break;
  }
  return ids.length === 0 ? [] : ((await target.rows?.(collection, ids)) ?? []);
}

function hasTimestamp({ body }: StoredRow): boolean {
  const { createdAt, updatedAt } = body as { createdAt?: unknown; updatedAt?: unknown };
  return typeof createdAt === 'string' || typeof updatedAt === 'string';
}
