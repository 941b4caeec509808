import type { ProductFields } from 'accounting-data-sdk';
import { CsvError, parse } from 'csv-parse/sync';
import { type Column, columns, NUMBER_COLUMN, readCell, type Value } from './columns.ts';
import type { RowResult } from './results.ts';

/** A row that says what a product should be. */
export interface Row {
  readonly line: number;
  readonly productNumber: string;
  /** Only the fields whose columns are in the file. */
  readonly fields: ProductFields;
}

/** A file: rows that can be pushed, and those that have to be put right first. */
export interface ShopFile {
  readonly rows: readonly Row[];
  readonly invalid: readonly RowResult[];
  readonly notes: readonly string[];
}

/** The file as a whole cannot be used. The message says why. */
export class FileError extends Error {
  override readonly name = 'FileError';
}

interface Line {
  readonly record: readonly string[];
  readonly info: { readonly lines: number };
}

/** Reads the export of a shop. A row with a mistake keeps no other from being pushed. */
export function readRows(csv: string): ShopFile {
  const [head, ...lines] = parseLines(csv);
  const headers = head?.record.map((header) => header.toLowerCase()) ?? [];
  const used = headers.map((header) => columns.find((column) => column.header === header));
  checkHeaders(headers);

  const rows: Row[] = [];
  const invalid: RowResult[] = [];
  for (const line of lines) {
    const { row, messages } = readRow(line, used);
    if (messages.length === 0) rows.push(row);
    else invalid.push({ line: row.line, productNumber: row.productNumber, action: 'invalid', messages });
  }
  const unknown = headers.filter((_, index) => used[index] === undefined);
  const notes = unknown.length === 0 ? [] : [`These columns are not used: ${unknown.join(', ')}.`];
  const twice = duplicates(rows);
  return {
    rows: rows.filter((row) => !twice.has(row.productNumber)),
    invalid: [...invalid, ...rows.flatMap((row) => asDuplicate(row, twice.get(row.productNumber)))],
    notes,
  };
}

function parseLines(csv: string): readonly Line[] {
  try {
    return parse(csv, {
      bom: true,
      delimiter: delimiterOf(csv),
      info: true,
      relax_column_count: true,
      skip_empty_lines: true,
      trim: true,
    }) as unknown as readonly Line[];
  } catch (error) {
    if (error instanceof CsvError) throw new FileError(`The file is not readable as CSV: ${error.message}`);
    throw error;
  }
}

/** Spreadsheets of many countries write `;` where others write `,`. */
function delimiterOf(csv: string): string {
  const head = csv.slice(0, csv.search(/[\r\n]|$/));
  return head.split(';').length > head.split(',').length ? ';' : ',';
}

function checkHeaders(headers: readonly string[]): void {
  if (!headers.includes(NUMBER_COLUMN)) {
    throw new FileError(`The file has no column "${NUMBER_COLUMN}": it says which product a row is about.`);
  }
  const twice = headers.filter((header, index) => headers.indexOf(header) !== index);
  if (twice.length > 0)
    throw new FileError(`The file has two columns of the same name: ${twice.join(', ')}.`);
}

function readRow({ record, info }: Line, used: readonly (Column | undefined)[]) {
  const fields: Record<string, Value> = {};
  const messages: string[] = [];
  if (record.length !== used.length) {
    messages.push(`has ${record.length} cells, but there are ${used.length} columns; is a quote missing?`);
  }
  for (const [index, column] of used.entries()) {
    if (column === undefined || record.length !== used.length) continue;
    const cell = readCell(record[index] ?? '', column.kind);
    if ('value' in cell) fields[column.field] = cell.value;
    else messages.push(`column ${column.header}: ${cell.problem}`);
  }
  const productNumber = String(fields.productNumber ?? '');
  if (productNumber === '' && messages.length === 0) messages.push(`column ${NUMBER_COLUMN}: is empty`);
  return { row: { line: info.lines, productNumber, fields: fields as ProductFields }, messages };
}

/** The lines of every number that is in the file more than once. */
function duplicates(rows: readonly Row[]): ReadonlyMap<string, readonly number[]> {
  const lines = new Map<string, number[]>();
  for (const { productNumber, line } of rows) {
    lines.set(productNumber, [...(lines.get(productNumber) ?? []), line]);
  }
  return new Map([...lines].filter(([, all]) => all.length > 1));
}

/** Which of them is right, only the shop knows: none is pushed. */
function asDuplicate({ line, productNumber }: Row, lines: readonly number[] | undefined): RowResult[] {
  if (lines === undefined) return [];

  const message = `is in the file more than once, in the lines ${lines.join(', ')}; keep the one that is right`;
  return [{ line, productNumber, action: 'invalid', messages: [message] }];
}
