import { Readable } from 'node:stream';
import { type FieldKind, type ProductDraft, productFields, productServerFields } from 'accounting-data-sdk';
import { CsvError, parse } from 'csv-parse';
import { suggestion } from '../../internal/option-names.ts';
import { CommandFailure, EXIT } from '../errors.ts';
import { EncodingError, type FileSource, linesOf, textOf } from '../lines.ts';

export type ProductFormat = 'csv' | 'ndjson';

/** What an empty cell means: the field keeps its value, or it is cleared. */
export type EmptyCells = 'ignore' | 'clear';

interface FileOptions {
  readonly key: string;
  readonly empty: EmptyCells;
  readonly format?: ProductFormat | undefined;
  /** Fields by the names of their columns. */
  readonly map: ReadonlyMap<string, string>;
  readonly ignoreColumns: readonly string[];
  /** Read for the path `-`. */
  readonly stdin?: AsyncIterable<Uint8Array> | undefined;
}

/** A file of products: CSV whose columns are fields, or NDJSON. */
export class ProductFile {
  readonly #path: string;
  readonly #options: FileOptions;
  /** The line on which each row begins. */
  readonly #lines: number[] = [];
  /** The invalid cells of rows, by their position. */
  readonly #badCells = new Map<number, readonly string[]>();

  constructor(path: string, options: FileOptions) {
    this.#path = path;
    this.#options = options;
  }

  /** The line of a row by its position. */
  lineOf(row: number | undefined): number | undefined {
    return row === undefined ? undefined : this.#lines[row];
  }

  /** What is wrong with the cells of a row. */
  badCellsOf(row: number | undefined): readonly string[] {
    return (row === undefined ? undefined : this.#badCells.get(row)) ?? [];
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

  get #source(): FileSource {
    return this.#path === '-' ? (this.#options.stdin ?? '-') : this.#path;
  }

  get #format(): ProductFormat {
    return this.#options.format ?? (/\.(?:ndjson|jsonl)$/i.test(this.#path) ? 'ndjson' : 'csv');
  }

  async *#csv(): AsyncGenerator<ProductDraft, void, undefined> {
    const text = textOf(this.#source);
    const start = await headerOf(text);
    const parser = parse({
      bom: true,
      delimiter: delimiterOf(start),
      info: true,
      relax_column_count: true,
      skip_empty_lines: true,
    });
    const file = Readable.from(this.#checked(start, text));
    // `pipe` passes on no error.
    file.on('error', (error) => parser.destroy(error));
    file.pipe(parser);
    let columns: (string | undefined)[] | undefined;
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
        columns = this.#fieldsOf(record.map((name) => name.trim()));
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

  #draft(columns: readonly (string | undefined)[], cells: readonly string[]): ProductDraft {
    const draft: Record<string, unknown> = {};
    for (const [index, name] of columns.entries()) {
      if (name === undefined) continue;
      const given = cells[index] ?? '';
      // An invisible space would make another key.
      const cell = name === this.#options.key ? given.trim() : given;
      if (cell !== '') draft[name] = this.#valueOf(cell, name);
      else if (this.#options.empty === 'clear') draft[name] = null;
    }
    return draft;
  }

  #valueOf(cell: string, name: string): unknown {
    const kind = KINDS[name];
    const value = cellValue(cell, kind);
    const isBad =
      kind === 'money' ? !isAmount(value) : kind !== 'array' && typeof value !== JSON_TYPES[kind ?? ''];
    if (isBad) {
      const index = this.#lines.length - 1;
      const problem = `${name}: ${JSON.stringify(cell.slice(0, 40))} is not ${EXPECTED_CELLS[kind ?? '']}`;
      this.#badCells.set(index, [...this.badCellsOf(index), problem]);
    }
    return value;
  }

  /** The text of a file whose lines all end in the same way: the parser would take the others for a part of a cell. */
  async *#checked(start: string, rest: AsyncIterable<string>): AsyncGenerator<string, void, undefined> {
    let isQuoted = false;
    let before = '';
    let end: string | undefined;
    let line = 1;
    const check = (text: string) => {
      for (let index = 0; index < text.length; index++) {
        const character = text[index] as string;
        if (character === '"') isQuoted = !isQuoted;
        if (character === '\n') {
          line += 1;
          const found = (index > 0 ? text[index - 1] : before) === '\r' ? 'CR LF' : 'LF';
          if (!isQuoted) {
            end ??= found;
            if (end !== found) {
              throw this.#failure(
                `its line endings are mixed: line ${line - 1} ends with ${found}, the first with ${end}.`,
              );
            }
          }
        }
      }
      before = text.at(-1) ?? before;
      return text;
    };
    yield check(start);
    for await (const text of rest) yield check(text);
  }

  async *#ndjson(): AsyncGenerator<ProductDraft, void, undefined> {
    let number = 0;
    for await (const text of linesOf(this.#source)) {
      number += 1;
      const line = number === 1 ? text.replace(/^\uFEFF/, '') : text;
      if (line.trim() === '') continue;
      const row = this.#parsed(line, number);
      const names = Object.keys(row);
      const fields = this.#namedFields(names, `line ${number}`);
      this.#lines.push(number);
      const entries = Object.entries(row).map(([, value], index) => [fields[index], value] as const);
      yield Object.fromEntries(entries.filter(([name]) => name !== undefined));
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

  /** The field of each column of a CSV file; undefined for a column that is ignored. */
  #fieldsOf(columns: readonly string[]): (string | undefined)[] {
    const { key, map } = this.#options;
    const unused = [...map.keys()].find((name) => !columns.includes(name));
    if (unused !== undefined)
      throw this.#failure(`it has no column ${JSON.stringify(unused)}, which --map names.`);
    const fields = this.#namedFields(columns, 'the header');
    const twice = fields.find((name, index) => name !== undefined && fields.indexOf(name) !== index);
    if (twice !== undefined) throw this.#failure(`the column ${twice} occurs twice.`);
    if (!fields.includes(key)) throw this.#failure(`it has no column ${key}, which --key names.`);
    return fields;
  }

  #namedFields(names: readonly string[], where: string): (string | undefined)[] {
    const { ignoreColumns, map } = this.#options;
    return names.map((name) => {
      // What `pull` writes and the service fills.
      if (ignoreColumns.includes(name) || (Object.hasOwn(productServerFields, name) && !map.has(name)))
        return undefined;
      if (name === 'id') return undefined;
      const field = map.get(name) ?? name;
      if (Object.hasOwn(KINDS, field)) return field;
      const advice = suggestion(field, Object.keys(KINDS));
      throw this.#failure(
        `${where} names ${JSON.stringify(name)}, which is not a field of a product. ${advice} Name its field with --map "${name}=field", or pass --ignore-columns "${name}".`,
      );
    });
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

const JSON_TYPES: Readonly<Record<string, string>> = {
  string: 'string',
  boolean: 'boolean',
  number: 'number',
  integer: 'number',
};

const EXPECTED_CELLS: Readonly<Record<string, string>> = {
  boolean: 'true or false',
  number: 'a number with a point and at most 15 digits',
  integer: 'a whole number',
  money: 'a decimal with a point, such as 1234.50',
};

function isAmount(value: unknown): boolean {
  return typeof value === 'string' && /^-?\d{1,18}(?:\.\d{1,8})?$/.test(value);
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

/** The beginning of a text with its first line. */
async function headerOf(text: AsyncGenerator<string, void, undefined>): Promise<string> {
  let start = '';
  while (!/[\r\n]/.test(start) && start.length < 65_536) {
    const { done, value } = await text.next();
    if (done) break;
    start += value;
  }
  return start;
}

/** The delimiter that the header has most often: spreadsheets of many countries write `;`. */
function delimiterOf(start: string): string {
  const header = start.slice(0, start.search(/[\r\n]|$/));
  const count = (delimiter: string) => header.split(delimiter).length;
  return DELIMITERS.reduce((best, other) => (count(other) > count(best) ? other : best));
}
