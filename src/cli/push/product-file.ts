import { Readable } from 'node:stream';
import { type FieldKind, type ProductDraft, productFields, productServerFields } from 'accounting-data-sdk';
import { CsvError, parse } from 'csv-parse';
import { nearest } from '../../internal/suggestion.ts';
import type { CustomFields } from '../arguments.ts';
import { CommandFailure, EXIT } from '../errors.ts';
import { EncodingError, type FileSource, linesOf, textOf } from '../lines.ts';
import { type DecimalMark, hasDecimalComma, readCell } from './cells.ts';

export type ProductFormat = 'csv' | 'ndjson';

/** What an empty cell means: the field keeps its value, or it is cleared. */
export type EmptyCells = 'ignore' | 'clear';

interface FileOptions {
  readonly key: string;
  readonly empty: EmptyCells;
  /** Of a CSV file. Undefined if the user did not name it: then a file with decimal commas is rejected. */
  readonly decimal?: DecimalMark | undefined;
  readonly format?: ProductFormat | undefined;
  /** Fields by the names of their columns. */
  readonly map: ReadonlyMap<string, string>;
  readonly ignoreColumns: readonly string[];
  readonly customFields?: CustomFields | undefined;
  /** Read for the path `-`. */
  readonly stdin?: AsyncIterable<Uint8Array> | undefined;
}

/** A file of products: CSV whose columns are fields, or NDJSON. */
export class ProductFile {
  readonly #path: string;
  readonly #options: FileOptions;
  /** The fields that a row may have. */
  readonly #kinds: Readonly<Record<string, FieldKind>>;
  /** The line on which each row begins. */
  readonly #lines: number[] = [];
  /** The invalid cells of rows, by their position. */
  readonly #badCells = new Map<number, readonly string[]>();

  constructor(path: string, options: FileOptions) {
    this.#path = path;
    this.#options = options;
    this.#kinds = { ...productFields, ...options.customFields };
  }

  /** The line of a row by its position. */
  lineOf(row: number | undefined): number | undefined {
    return row === undefined ? undefined : this.#lines[row];
  }

  /** What is wrong with the cells of a row. */
  badCellsOf(row: number | undefined): readonly string[] {
    return (row === undefined ? undefined : this.#badCells.get(row)) ?? [];
  }

  /** The rows as drafts. A row with an invalid cell is one that the push rejects. */
  async *rows(): AsyncGenerator<ProductDraft, void, undefined> {
    try {
      yield* this.#format === 'csv' ? this.#csv() : this.#ndjson();
    } catch (error) {
      if (error instanceof EncodingError) throw this.#failure(error.message, 'Save it as UTF-8');
      if ((error as NodeJS.ErrnoException).code === undefined) throw error;
      throw this.#failure(
        `it cannot be read: ${(error as Error).message}.`,
        'Check the path and the permissions',
      );
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
    const lines = new LineCounter();
    /** The lines on which the rows begin that the loop below has not reached. */
    const starts: number[] = [];
    const parser = parse({
      bom: true,
      delimiter: delimiterOf(start),
      record_delimiter: ['\r\n', '\n', '\r'],
      relax_column_count: true,
      skip_empty_lines: true,
      // Called while the row is parsed: the loop below is some rows behind.
      on_record: (cells: string[], info) => {
        starts.push(lines.next(cells, info));
        return cells;
      },
    });
    const file = Readable.from(chain(start, text));
    // `pipe` passes on no error.
    file.on('error', (error) => parser.destroy(error));
    file.pipe(parser);
    let columns: (string | undefined)[] | undefined;
    try {
      for await (const cells of parser as AsyncIterable<string[]>) {
        const line = starts.shift() ?? 0;
        if (columns === undefined) {
          columns = this.#fieldsOf(cells.map((name) => name.trim()));
          continue;
        }
        if (cells.length !== columns.length) {
          throw this.#failure(
            `line ${line} has ${cells.length} cells, but there are ${columns.length} columns; is a quote missing?`,
          );
        }
        this.#lines.push(line);
        yield this.#draft(columns, cells);
      }
    } catch (error) {
      throw error instanceof CsvError ? this.#failure(csvProblem(error, lines)) : error;
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

  /** A cell as a value of its field. */
  #valueOf(cell: string, name: string): unknown {
    const { decimal } = this.#options;
    const kind = this.#kinds[name] ?? 'string';
    const index = this.#lines.length - 1;
    if (decimal === undefined && hasDecimalComma(cell, kind)) {
      throw this.#failure(
        `line ${this.#lines[index]} has the ${name} ${JSON.stringify(cell)}, with a decimal comma.`,
        'Pass --decimal , to read it, or --decimal . to reject such rows',
      );
    }
    const read = readCell(cell, kind, decimal ?? '.');
    if (read.problem === undefined) return read.value;
    this.#badCells.set(index, [...this.badCellsOf(index), `${name}: ${read.problem}`]);
    return INVALID;
  }

  async *#ndjson(): AsyncGenerator<ProductDraft, void, undefined> {
    const unused = new Set(this.#options.map.keys());
    let number = 0;
    for await (const text of linesOf(this.#source)) {
      number += 1;
      const line = number === 1 ? text.replace(/^\uFEFF/, '') : text;
      if (line.trim() === '') continue;
      const row = this.#parsed(line, number);
      const names = memberNames(line);
      for (const name of names) unused.delete(name);
      const fields = this.#namedFields(names, `line ${number}`);
      this.#lines.push(number);
      const entries = names.map((name, index) => [fields[index], row[name]] as const);
      yield Object.fromEntries(entries.filter(([field]) => field !== undefined));
    }
    // A push reads every row before it writes.
    for (const name of unused)
      throw this.#failure(`no line names ${JSON.stringify(name)}, which --map names.`);
  }

  #parsed(line: string, number: number): Readonly<Record<string, unknown>> {
    let row: unknown;
    try {
      row = JSON.parse(line);
    } catch {
      // Below.
    }
    if (typeof row === 'object' && row !== null && !Array.isArray(row)) return { ...row };
    throw this.#failure(`line ${number} is not a JSON object.`);
  }

  /** The field of each column of a CSV file; undefined for a column that is ignored. */
  #fieldsOf(columns: readonly string[]): (string | undefined)[] {
    const { key, map } = this.#options;
    const unused = [...map.keys()].find((name) => !columns.includes(name));
    if (unused !== undefined)
      throw this.#failure(`it has no column ${JSON.stringify(unused)}, which --map names.`);
    const fields = this.#namedFields(columns, 'the header');
    if (!fields.includes(key)) throw this.#failure(`it has no column ${key}, which --key names.`);
    return fields;
  }

  #namedFields(names: readonly string[], where: string): (string | undefined)[] {
    const { ignoreColumns, map } = this.#options;
    const unknown: string[] = [];
    const fields = names.map((name) => {
      const mapped = map.get(name);
      if (mapped === undefined && (ignoreColumns.includes(name) || isServerField(name))) return undefined;
      const field = mapped ?? name;
      if (Object.hasOwn(this.#kinds, field)) return field;
      unknown.push(name);
      return undefined;
    });
    if (unknown.length > 0) throw this.#unknownNames(unknown, where);
    const twice = fields.find((field, index) => field !== undefined && fields.indexOf(field) !== index);
    if (twice !== undefined) {
      const sources = names.filter((_, index) => fields[index] === twice).map((name) => JSON.stringify(name));
      throw this.#failure(
        `${where} names the field ${twice} ${sources.length} times: ${sources.join(', ')}.`,
      );
    }
    return fields;
  }

  #unknownNames(names: readonly string[], where: string): CommandFailure {
    const { map } = this.#options;
    const described = names.map((name) => {
      const meant = nearest(map.get(name) ?? name, Object.keys(this.#kinds));
      return JSON.stringify(name) + (meant === undefined ? '' : ` (did you mean ${meant}?)`);
    });
    const what = names.length === 1 ? 'which is not a documented field' : 'which are not documented fields';
    const unmapped = names.filter((name) => !map.has(name));
    const fields = names.map((name) => map.get(name) ?? name);
    const ways = [
      ...unmapped.map((name) => `--map "${name}=field"`),
      `--ignore-columns "${names.join(',')}"`,
      `--custom-fields "${fields.join(',')}"`,
    ];
    return this.#failure(
      `${where} names ${described.join(', ')}, ${what} of a product.`,
      `Correct ${unmapped.length < names.length ? '--map' : 'the file'}, or pass ${ways.slice(0, -1).join(', ')} or ${ways.at(-1)}`,
    );
  }

  #failure(what: string, remedy = 'Correct the file'): CommandFailure {
    return new CommandFailure(`${this.#path} cannot be pushed: ${what}`, {
      advice: `Nothing was written. ${remedy}, and run the same command again.`,
      exitCode: EXIT.file,
    });
  }
}

/** Whether the service fills a field, which `pull` writes too. */
function isServerField(name: string): boolean {
  return name === 'id' || Object.hasOwn(productServerFields, name);
}

/** In place of an invalid cell: a push rejects the row, because JSON has no such value. */
const INVALID = Number.NaN;

/** The names of the members of a JSON object, also those that occur twice, of which `JSON.parse` keeps the last. */
function memberNames(line: string): string[] {
  const names: string[] = [];
  let depth = 0;
  let last = '';
  for (const [token] of line.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\]:]/g)) {
    if (token === '{' || token === '[') depth += 1;
    else if (token === '}' || token === ']') depth -= 1;
    else if (token !== ':') last = token;
    else if (depth === 1) names.push(JSON.parse(last) as string);
  }
  return names;
}

/** What the parser counts. */
interface ParserInfo {
  readonly lines: number;
  readonly empty_lines: number;
}

/** Counts the lines on which rows begin. The parser counts to the end of a row, and `\r\n` in a cell twice. */
class LineCounter {
  #end: ParserInfo = { lines: 0, empty_lines: 0 };
  /** `\r\n` in cells so far. */
  #breaks = 0;

  /** The line of a row that the parser has just read. */
  next(cells: readonly string[], info: ParserInfo): number {
    const line = this.nextLine(info);
    this.#breaks += cells.join(' ').split('\r\n').length - 1;
    this.#end = { lines: info.lines - this.#breaks, empty_lines: info.empty_lines };
    return line;
  }

  /** The line on which the row behind the last one begins. */
  nextLine({ empty_lines }: ParserInfo): number {
    return this.#end.lines + 1 + empty_lines - this.#end.empty_lines;
  }
}

const CSV_PROBLEMS: Readonly<Record<string, string>> = {
  CSV_QUOTE_NOT_CLOSED: 'its quote is never closed',
  CSV_INVALID_CLOSING_QUOTE: 'there is text behind its closing quote; double a quote inside a cell',
  INVALID_OPENING_QUOTE:
    'it has a quote but does not begin with one; quote the whole cell and double this quote',
};

/** What the parser found. The row that it stopped in is the one behind the last that it read. */
function csvProblem(error: CsvError, lines: LineCounter): string {
  const { code, column, empty_lines } = error as CsvError & { column: number } & ParserInfo;
  const what = CSV_PROBLEMS[code] ?? 'it is not valid CSV';
  return `the row on line ${lines.nextLine({ lines: 0, empty_lines })}, cell ${column + 1}: ${what}.`;
}

async function* chain(start: string, rest: AsyncIterable<string>): AsyncGenerator<string, void, undefined> {
  yield start;
  yield* rest;
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
