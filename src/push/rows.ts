// Reads the rows: one compact draft for each key.

import { isAccountingError } from '../errors/guards.ts';
import { InvalidInputError } from '../errors/invalid-input-error.ts';
import { type Fields, normalised } from './draft.ts';
import { Drafts } from './drafts.ts';
import type { ResolvedPushOptions } from './options.ts';
import type { Results } from './results.ts';
import { Row, type Rows } from './row.ts';

/** Reads the rows to their end. Reports those that can never be written: without a key, invalid, duplicate. */
export async function readRows<T, Draft extends object, Patch>(
  { rows, key, facts, signal }: ResolvedPushOptions<T, Draft, Patch>,
  results: Results,
): Promise<Rows> {
  const byKey = new Map<string, Row>();
  const drafts = new Drafts();
  const failedKeys = new Set<string>();
  let haveKeys = true;
  for await (const row of rows) {
    signal?.throwIfAborted();
    const index = results.rows++;
    let name: string | undefined;
    try {
      name = keyOf(row, key, index);
      if (byKey.has(name) || failedKeys.has(name)) {
        results.add({ key: name, row: index, action: 'duplicate' });
        continue;
      }
      const draft = normalised(JSON.parse(facts.body(row)) as Fields, facts.fields);
      byKey.set(name, new Row({ key: name, index }, JSON.stringify(draft), drafts));
    } catch (error) {
      if (!isAccountingError(error)) throw error;
      if (name === undefined) haveKeys = false;
      else failedKeys.add(name);
      results.add({ key: name, row: index, action: 'failed', error });
    }
    if (results.rows % 1000 === 0) results.advance(1000);
  }
  return { byKey, failedKeys, haveKeys };
}

function keyOf<Draft>(row: Draft, key: (row: Draft) => unknown, index: number): string {
  let value: unknown;
  try {
    value = key(row);
  } catch (error) {
    throw new InvalidInputError(`rows[${index}]`, 'has no key: the key function threw', {}, { cause: error });
  }
  if (typeof value === 'string' && value !== '') return value;
  throw new InvalidInputError(`rows[${index}]`, 'has no key: it must be a string that is not empty');
}
