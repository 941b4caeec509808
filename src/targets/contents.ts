import { CheckpointError } from '../errors/checkpoint-error.ts';
import { exactJson, jsonText } from '../internal/json-text.ts';
import { causeText, sentence } from '../internal/text.ts';
import type { Batch } from '../sync/batch.ts';

/** The most columns of a view. PostgreSQL and SQLite have limits of 1,600 and 2,000; `body` has every field anyway. */
export const MAX_COLUMNS = 1_500;

/** A row of the table of records. */
export interface Row {
  readonly id: string;
  /** The record as JSON. */
  readonly body: string;
}

/** The records of a batch as JSON. Rejects a value that JSON would lose, which only a schema of the caller returns. */
export function rowsOf({ collection, records, rows }: Batch<{ id: string }>): readonly Row[] {
  return records.map((record, index) => {
    // What the service sent was JSON before.
    if (record === rows[index]) return { id: record.id, body: jsonText(record) };
    try {
      return { id: record.id, body: exactJson(record) as string };
    } catch {
      throw unstorable(
        collection,
        record.id,
        'has a value that JSON cannot represent. Return strings from the schema',
      );
    }
  });
}

/** A record that cannot be stored: its batch is not committed. */
export function unstorable(collection: string, id: string, what: string): CheckpointError {
  return new CheckpointError(
    sentence(`The record ${JSON.stringify(id)} of ${collection} ${what}. Nothing of its batch was written`),
  );
}

/** A database that failed. Nothing of the transaction was committed, as far as this process knows. */
export function failedWrite(error: unknown): CheckpointError {
  const reason = causeText(error) || 'something other than an error';
  return new CheckpointError(
    `${sentence(`The copy could not be written: ${reason}`)} A batch is written with its checkpoint or not at all.`,
    { retryable: true, hint: 'When the cause is gone, run it again: it resumes there.' },
    { cause: error },
  );
}

/** The names of the fields of each collection that are known, and have columns. */
export class KnownFields {
  readonly #names = new Map<string, Set<string>>();

  add(collection: string, names: Iterable<string>): void {
    const known = this.#of(collection);
    for (const name of names) known.add(name);
  }

  /** The fields of records that are not known yet, in the order in which they come. */
  unknown(collection: string, records: readonly object[]): readonly string[] {
    const known = this.#of(collection);
    const found = new Set<string>();
    for (const record of records) {
      // Not `id`, which is a column of every table. A name with NUL cannot be part of a statement.
      for (const name in record) {
        if (!known.has(name) && name !== 'id' && !name.includes('\0')) found.add(name);
      }
    }
    return known.size >= MAX_COLUMNS ? [] : [...found].slice(0, MAX_COLUMNS - known.size);
  }

  #of(collection: string): Set<string> {
    const names = this.#names.get(collection) ?? new Set();
    this.#names.set(collection, names);
    return names;
  }
}

/** The name of a collection's view: `bank_feed_accounts` for `bankFeedAccounts`. */
export function viewName(collection: string): string {
  return collection.replaceAll(/[A-Z]/g, (letter, at) => `${at === 0 ? '' : '_'}${letter.toLowerCase()}`);
}
