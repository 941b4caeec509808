import { createReadStream } from 'node:fs';
import { ndjsonRows } from '../../files/ndjson.ts';
import { CODES, readText } from '../push/written-text.ts';

/** Rows are joined until there are about this many characters. */
const CHUNK_CHARACTERS = 2 ** 16;

/**
 * A file of NDJSON as CSV (RFC 4180), in pieces. The columns are those of all records, in the order in which they first
 * come, so the file is read twice. `null` and a missing field are empty, an empty string is `""`, and a list or an object
 * is JSON. Every string is as the service sent it, but for one that `push` would read as another, which is written as `="…"`,
 * and for halves of surrogate pairs, which UTF-8 does not have: `warn` gets the first record with one.
 */
export async function* csvOf(file: string, warn: (text: string) => void): AsyncGenerator<string> {
  const columns = new Set<string>();
  for await (const record of recordsIn(file)) for (const name of Object.keys(record)) columns.add(name);
  if (columns.size === 0) return;

  let text = row([...columns].map(quoted));
  let isWarned = false;
  for await (const record of recordsIn(file)) {
    const broken = isWarned ? undefined : [...columns].find((name) => /\p{Cs}/u.test(String(record[name])));
    if (broken !== undefined) {
      isWarned = true;
      warn(
        `${broken} of the record ${JSON.stringify(record.id)} has half of a surrogate pair: CSV has U+FFFD in its place, NDJSON keeps it.`,
      );
    }
    const cells = [...columns].map((name) => (Object.hasOwn(record, name) ? cell(name, record[name]) : ''));
    text += row(cells);
    if (text.length < CHUNK_CHARACTERS) continue;
    yield text;
    text = '';
  }
  if (text !== '') yield text;
}

function row(cells: readonly string[]): string {
  return `${cells.join(',')}\n`;
}

/** A value so that `push` reads it: in quotes, or in the form of a text, where another text could be meant. */
function cell(name: string, value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value !== 'string')
    return quoted(typeof value === 'object' ? JSON.stringify(value) : `${value}`);
  const isRead = (isQuoted: boolean) =>
    readText(value, { isCode: CODES.includes(name), isDecimal: false, isQuoted }).value === value;
  if (isRead(false)) return quoted(value);
  return inQuotes(isRead(true) ? value : `="${value.replaceAll('"', '""')}"`);
}

function quoted(text: string): string {
  return QUOTED.test(text) ? inQuotes(text) : text;
}

function inQuotes(text: string): string {
  return `"${text.replaceAll('"', '""')}"`;
}

/** Empty, or with marks of CSV or blanks at an end. */
const QUOTED = /^$|[",\r\n]|^\s|\s$/;

async function* recordsIn(file: string): AsyncGenerator<Readonly<Record<string, unknown>>> {
  for await (const { row } of ndjsonRows(createReadStream(file))) yield row;
}
