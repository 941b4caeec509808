// Reads the rows: one draft for each key.

import { isAccountingError } from '../errors/guards.ts';
import { InvalidInputError } from '../errors/invalid-input-error.ts';
import { each } from '../reading/each.ts';
import { type JsonFields, normalised } from './draft.ts';
import { folded } from './natural-key.ts';
import type { ResolvedPushOptions } from './options.ts';
import type { Results } from './results.ts';

/** A row as it was read. What is known of its product is kept by the phase that needs it. */
export interface PushRow {
  readonly key: string;
  /** Its position in `rows`. */
  readonly index: number;
  /** The row itself, kept only if `onResult` gets it. */
  readonly row: object | undefined;
  /** The normalised draft as JSON: a string is smaller than an object, and a create stores it. */
  readonly draft: string;
}

/** The rows by key. */
export interface Rows {
  readonly byKey: ReadonlyMap<string, PushRow>;
  /** The rows with a key that a service may store as this one, in their order. */
  similarTo(key: string): readonly PushRow[];
  /** The keys of rows that cannot be written, with their positions: their products are not missing. */
  readonly failed: ReadonlyMap<string, number>;
  /** Whether every row has a key: if not, it is unknown which products are missing. */
  readonly haveKeys: boolean;
}

/** Reads the rows to their end. Reports those that can never be written: without a key, invalid, duplicate. */
export async function readRows(
  { rows, key, source, bodyOf, onResult, signal }: ResolvedPushOptions,
  results: Results,
): Promise<Rows> {
  const byKey = new Map<string, PushRow>();
  const byForm = new Map<string, PushRow[]>();
  const failed = new Map<string, number>();
  const similarTo = (key: string) => byForm.get(folded(key)) ?? [];
  let haveKeys = true;
  for await (const row of each(rows, 'rows', signal)) {
    const index = results.rows++;
    if (results.rows % 1000 === 0) results.advance(1000);
    let name: string | undefined;
    try {
      name = rowKey(row, key, index);
      const firstIndex = byKey.get(name)?.index ?? failed.get(name);
      if (firstIndex !== undefined) {
        const reason = `rows[${firstIndex}] has the same key, and the first row wins`;
        results.add({ key: name, index, row }, { action: 'duplicate', firstIndex, reason });
        continue;
      }
      const draft = normalised(JSON.parse(bodyOf(row, 'draft')) as JsonFields, source.fields);
      const added = { key: name, index, row: onResult && row, draft: JSON.stringify(draft) };
      const similar = similarTo(name);
      if (similar.length === 0) byForm.set(folded(name), [added]);
      else (similar as PushRow[]).push(added);
      byKey.set(name, added);
    } catch (thrown) {
      // Such as what a getter of the row throws.
      const error = isAccountingError(thrown) ? thrown : unreadable(index, thrown);
      if (name === undefined) haveKeys = false;
      else failed.set(name, index);
      results.add({ key: name, index, row }, { action: 'failed', error });
    }
  }
  return { byKey, similarTo, failed, haveKeys };
}

function unreadable(index: number, cause: unknown): InvalidInputError {
  return new InvalidInputError(`rows[${index}]`, 'cannot be read: it threw', {}, { cause });
}

function rowKey(row: object, key: ResolvedPushOptions['key'], index: number): string {
  let value: unknown;
  try {
    value = key(row);
  } catch (error) {
    throw new InvalidInputError(`rows[${index}]`, 'has no key: the key function threw', {}, { cause: error });
  }
  if (typeof value === 'string' && folded(value) !== '') return value;
  throw new InvalidInputError(`rows[${index}]`, 'has no key: it must be a string with a visible character');
}
