import { createReadStream } from 'node:fs';
import { ndjsonRows } from '../../files/ndjson.ts';

/** Rows are joined until there are about this many characters. */
const CHUNK_CHARACTERS = 2 ** 16;

/**
 * A file of NDJSON as CSV (RFC 4180), in pieces. The columns are those of all records, in the order in which they first
 * come, so the file is read twice. `null` and a missing field are empty, an empty string is `""`, and a list or an object
 * is JSON. Every string is as the service sent it, but for halves of surrogate pairs, which UTF-8 does not have: `warn`
 * gets the first record with one.
 */
export async function* csvOf(file: string, warn: (text: string) => void): AsyncGenerator<string> {
  const columns = new Set<string>();
  for await (const record of recordsIn(file)) for (const name of Object.keys(record)) columns.add(name);
  if (columns.size === 0) return;

  let text = row([...columns]);
  let isWarned = false;
  for await (const record of recordsIn(file)) {
    const broken = isWarned ? undefined : [...columns].find((name) => /\p{Cs}/u.test(String(record[name])));
    if (broken !== undefined) {
      isWarned = true;
      warn(
        `${broken} of the record ${JSON.stringify(record.id)} has half of a surrogate pair: CSV has U+FFFD in its place, NDJSON keeps it.`,
      );
    }
    text += row([...columns].map((name) => (Object.hasOwn(record, name) ? record[name] : undefined)));
    if (text.length < CHUNK_CHARACTERS) continue;
    yield text;
    text = '';
  }
  if (text !== '') yield text;
}

function row(values: readonly unknown[]): string {
  return `${values.map(field).join(',')}\n`;
}

function field(value: unknown): string {
  if (value === null || value === undefined) return '';
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  return QUOTED.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Empty, with marks of CSV or blanks at an end, or a text that `push` reads as another one unless it is quoted. */
const QUOTED = /^$|[",\r\n]|^[\s']|\s$|^\d+[.,]0$/;

async function* recordsIn(file: string): AsyncGenerator<Readonly<Record<string, unknown>>> {
  for await (const { row } of ndjsonRows(createReadStream(file))) yield row;
}
