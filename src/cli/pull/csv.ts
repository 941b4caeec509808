import { createReadStream } from 'node:fs';
import { jsonText } from '../../internal/json-text.ts';

/** Rows are joined until there are about this many characters. */
const CHUNK_CHARACTERS = 2 ** 16;

/**
 * A file of NDJSON as CSV (RFC 4180), in pieces. The columns are those of all records, in the order in which they first
 * come, so the file is read twice. `null` and a missing field are empty, an empty string is `""`, and a list or an object
 * is JSON. Every value is as the service sent it.
 */
export async function* csvOf(file: string): AsyncGenerator<string> {
  const columns = new Set<string>();
  for await (const record of recordsIn(file)) for (const name of Object.keys(record)) columns.add(name);
  if (columns.size === 0) return;

  let text = row([...columns]);
  for await (const record of recordsIn(file)) {
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
  const text = typeof value === 'object' ? jsonText(value) : String(value);
  return text === '' || /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** The records of NDJSON. Not by `readline`, which also ends a line at U+2028. */
async function* recordsIn(file: string): AsyncGenerator<Readonly<Record<string, unknown>>> {
  let rest = '';
  for await (const chunk of createReadStream(file, 'utf8')) {
    const lines = `${rest}${chunk}`.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) yield JSON.parse(line) as Readonly<Record<string, unknown>>;
  }
}
