import { open } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import { type ProductDraft, productFields } from '../../collections/products.ts';
import { suggestion } from '../../internal/option-names.ts';
import type { FieldKind } from '../../schemas/record.ts';
import { CommandFailure, EXIT } from '../errors.ts';
import { EncodingError, linesOf, textOf } from '../lines.ts';

export type ProductFormat = 'csv' | 'ndjson';

/** What an empty cell means: the field keeps its value, or it is cleared. */
export type EmptyCells = 'ignore' | 'clear';

interface FileOptions {
  readonly key: string;
  readonly empty: EmptyCells;
  readonly format?: ProductFormat | undefined;
}

/** A file of products: CSV whose columns are fields, or NDJSON. */
export class ProductFile {
  readonly #path: string;
  readonly #options: FileOptions;
  /** The line on which each row begins. */
  readonly #lines: number[] = [];

  constructor(path: string, options: FileOptions) {
    this.#path = path;
    this.#options = options;
  }

  /** The line of a row by its position. */
  lineOf(row: number | undefined): number | undefined {
    return row === undefined ? undefined : this.#lines[row];
  }

  /** The rows as drafts. A cell that is invalid for its field stays a string, so that the push rejects this row alone. */
  async *rows(): AsyncGenerator<ProductDraft, void, undefined> {
    try {
      yield* this.#format === 'csv' ? this.#csv() : this.#ndjson();
    } catch (error) {
      if (error instanceof CsvError) throw this.#failure(error.message);
      if (error instanceof EncodingError) throw this.#failure(error.message, 'Save it as UTF-8');
      if ((error as NodeJS.ErrnoException).code === undefined) throw error;
      throw this.#failure(`it cannot be read: ${(error as Error).message}`);
    }
  }

  get #format(): ProductFormat {
    return this.#options.format ?? (/\.(?:ndjson|jsonl)$/i.test(this.#path) ? 'ndjson' : 'csv');
  }

  async *#csv(): AsyncGenerator<ProductDraft, void, undefined> {
    const parser = parse({
      bom: true,
      delimiter: await delimiterOf(this.#path),
      info: true,
      relax_column_count: true,
      skip_empty_lines: true,
    });
    const file = Readable.from(textOf(this.#path));
    // `pipe` passes on no error.
    file.on('error', (error) => parser.destroy(error));
    file.pipe(parser);
    let columns: string[] | undefined;
    let end = { lines: 0, empty_lines: 0 };
    let breaks = 0;
    for await (const { record, info } of parser as AsyncIterable<{
      record: string[];
      info: { lines: number; empty_lines: number };
    }>) {
      // Both count up to the end of this row, and a line break of two characters in a cell as two.
      const line = end.lines + 1 + info.empty_lines - end.empty_lines;
      breaks += record.join(' ').split('\r\n').length - 1;
      end = { ...info, lines: info.lines - breaks };
      if (columns === undefined) {
        columns = record.map((name) => name.trim());
        this.#checkColumns(columns);
        continue;
      }
      if (record.length !== columns.length) {
        throw this.#failure(
          `line ${line} has ${record.length} cells, but there are ${columns.length} columns; is a quote missing?`,
        );
      }
      this.#lines.push(line);
      yield this.#draft(columns, record);
    }
    if (columns === undefined) throw this.#failure('it is empty.');
  }

  #draft(columns: readonly string[], cells: readonly string[]): ProductDraft {
    const draft: Record<string, unknown> = {};
    for (const [index, name] of columns.entries()) {
      const cell = cells[index] ?? '';
      if (cell !== '') draft[name] = cellValue(cell, KINDS[name]);
      else if (this.#options.empty === 'clear') draft[name] = null;
    }
    return draft;
  }

  async *#ndjson(): AsyncGenerator<ProductDraft, void, undefined> {
    let number = 0;
    for await (const text of linesOf(this.#path)) {
      number += 1;
      const line = number === 1 ? text.replace(/^\uFEFF/, '') : text;
      if (line.trim() === '') continue;
      const row = this.#parsed(line, number);
      this.#checkNames(Object.keys(row), `line ${number}`);
      this.#lines.push(number);
      yield row;
    }
  }

  #parsed(line: string, number: number): object {
    let row: unknown;
    try {
      row = JSON.parse(line);
    } catch {
      // Below.
    }
    if (typeof row === 'object' && row !== null && !Array.isArray(row)) return row;
    throw this.#failure(`line ${number} is not a JSON object.`);
  }

  #checkColumns(columns: readonly string[]): void {
    const { key } = this.#options;
    this.#checkNames(columns, 'the header');
    const twice = columns.find((name, index) => columns.indexOf(name) !== index);
    if (twice !== undefined) throw this.#failure(`the column ${twice} occurs twice.`);
    if (!columns.includes(key)) throw this.#failure(`it has no column ${key}, which --key names.`);
  }

  #checkNames(names: readonly string[], where: string): void {
    const unknown = names.find((name) => !Object.hasOwn(KINDS, name));
    if (unknown === undefined) return;
    const advice = suggestion(unknown, Object.keys(KINDS));
    throw this.#failure(
      `${where} names ${JSON.stringify(unknown)}, which is not a field of a product. ${advice}`,
    );
  }

  #failure(what: string, remedy = 'Correct the file'): CommandFailure {
    return new CommandFailure(`${this.#path} cannot be pushed: ${what}`, {
      advice: `Nothing was written. ${remedy}, and run the same command again.`,
      exitCode: EXIT.file,
    });
  }
}

const KINDS: Readonly<Record<string, FieldKind>> = productFields;

/** A cell as a value of its field; an invalid one stays a string. Amounts never become numbers. */
function cellValue(cell: string, kind: FieldKind | undefined): unknown {
  const text = cell.trim();
  if (kind === 'boolean') return BOOLEANS[text.toLowerCase()] ?? cell;
  if (kind === 'number' || kind === 'integer') return numberOf(text) ?? cell;
  if (kind === 'array') return arrayOf(text);
  return kind === 'money' ? text : cell;
}

const BOOLEANS: Readonly<Record<string, boolean>> = {
  true: true,
  yes: true,
  1: true,
  false: false,
  no: false,
  0: false,
};

/** Undefined for anything else, and for a number that would lose digits. */
function numberOf(text: string): number | undefined {
  const digits = text.replace(/[-.]/g, '').replace(/^0+/, '');
  return /^-?\d+(?:\.\d+)?$/.test(text) && digits.length <= 15 ? Number(text) : undefined;
}

/** A JSON array, or strings between `|`. */
function arrayOf(text: string): unknown {
  if (!text.startsWith('[')) return text.split('|').map((part) => part.trim());
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

const DELIMITERS = [',', ';', '\t', '|'];

/** The delimiter that the header has most often: spreadsheets of many countries write `;`. */
async function delimiterOf(path: string): Promise<string> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(65_536), 0, 65_536, 0);
    const text = buffer.toString('utf8', 0, bytesRead);
    const header = text.slice(0, text.search(/[\r\n]|$/));
    const count = (delimiter: string) => header.split(delimiter).length;
    return DELIMITERS.reduce((best, other) => (count(other) > count(best) ? other : best));
  } finally {
    await file.close();
  }
}
