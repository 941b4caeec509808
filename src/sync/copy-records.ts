import { type CopyRow, copyRows } from '../internal/copy-rows.ts';
import type { KnownRecord } from '../reading/company.ts';
import type { ReadSettings } from '../reading/list-options.ts';
import type { LookUp, RunSource } from '../reading/source.ts';
import { canonicalValue } from '../schemas/field-kinds.ts';
import { lookUp } from './look-up.ts';
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

/** Records of a collection among which those with `createdAt` are looked for. */
const SAMPLE = 50;

/** Records of a copy that can prove which company an API key belongs to: products first, because they have `createdAt`. */
export async function* knownRecords(
  target: OpenTarget,
  sources: Readonly<Record<string, RunSource<{ id: string }>>>,
  settings: ReadSettings,
): AsyncGenerator<KnownRecord, void, undefined> {
  const ordered = Object.entries(sources).toSorted(
    ([a], [b]) => Number(b === 'products') - Number(a === 'products'),
  );
  for (const [collection, source] of ordered) {
    for (const { id, body } of await sampleOf(target, collection)) {
      const { createdAt } = body as { createdAt?: unknown };
      yield { collection, id, createdAt, lookUp: () => lookUp(source, id, settings) };
    }
  }
}

async function sampleOf(target: OpenTarget, collection: string): Promise<readonly StoredRow[]> {
  const ids: string[] = [];
  for await (const id of target.localIds?.(collection) ?? []) {
    if (ids.push(id) === SAMPLE) break;
  }
  return ids.length === 0 ? [] : ((await target.rows?.(collection, ids)) ?? []);
}
