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
  /** As the caller gave it. */
  readonly key: string;
  readonly folded: string;
  /** Its position in `rows`. */
  readonly index: number;
  /** The row itself, kept only if `onResult` gets it. */
  readonly row: object | undefined;
  /** The normalised draft as JSON: a string is smaller than an object, and a create stores it. */
  readonly draft: string;
}

/** The rows with one folded key, in their order. Their keys differ. Nearly always it is one row. */
export type RowGroup = readonly [PushRow, ...PushRow[]];

/** The rows by their folded key. */
export type Rows = ReadonlyMap<string, RowGroup>;

/** Reads the rows to their end. Reports those that can never be written: without a key, invalid, with the key of another. */
export async function readRows(
  { rows, key, source, bodyOf, onResult, signal }: ResolvedPushOptions,
  results: Results,
): Promise<Rows> {
  const groups = new Map<string, [PushRow, ...PushRow[]]>();
  for await (const row of each(rows, 'rows', signal)) {
    const index = results.rows++;
    if (results.rows % 1000 === 0) results.advance(1000);
    let name: string | undefined;
    try {
      name = rowKey(row, key, index);
      const form = folded(name);
      const group = groups.get(form);
      const first = group?.find((each) => each.key === name);
      if (first !== undefined) {
        results.add(
          { key: name, index, row },
          duplicateOf(first, 'has the same key, and the first row wins'),
        );
        continue;
      }
      const draft = normalised(JSON.parse(bodyOf(row, nameOf(index))) as JsonFields, source.fields);
      const added = {
        key: name,
        folded: form,
        index,
        row: onResult && row,
        draft: JSON.stringify(draft),
      };
      if (group === undefined) groups.set(form, [added]);
      else group.push(added);
    } catch (thrown) {
      // Such as what a getter of the row throws.
      const error = isAccountingError(thrown) ? thrown : unreadable(index, thrown);
      results.add({ key: name, index, row }, { action: 'failed', error });
    }
  }
  return groups;
}

/** The result of a row whose key another row has; `why` that one is pushed and not this one. */
export function duplicateOf({ index }: PushRow, why: string) {
  return { action: 'duplicate', firstIndex: index, reason: `${nameOf(index)} ${why}` } as const;
}

/** A row as errors and results call it. */
const nameOf = (index: number) => `rows[${index}]`;

function unreadable(index: number, cause: unknown): InvalidInputError {
  return new InvalidInputError(nameOf(index), 'cannot be read: it threw', {}, { cause });
}

function rowKey(row: object, key: ResolvedPushOptions['key'], index: number): string {
  const name = nameOf(index);
  let value: unknown;
  try {
    value = key(row);
  } catch (error) {
    throw new InvalidInputError(name, 'has no key: the key function threw', {}, { cause: error });
  }
  if (typeof value === 'string' && folded(value) !== '') return value;
  const isOther = value !== undefined && value !== null && typeof value !== 'string';
  const problem = isOther
    ? `has a key that is ${/^[aeiou]/.test(typeof value) ? 'an' : 'a'} ${typeof value}, not a string`
    : 'has no key: it must be a string with a visible character';
  throw new InvalidInputError(name, problem);
}
