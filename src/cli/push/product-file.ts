import { createReadStream } from 'node:fs';
import { type ProductDraft, productFields } from 'accounting-data-sdk';
import { FileProblem, type NdjsonRow, NotUtf8, ndjsonRows, Utf8 } from '../../files/ndjson.ts';
import { CommandFailure, EXIT } from '../errors.ts';
import { counted } from '../numbers.ts';
import {
  type Cell,
  type CellKind,
  checkValue,
  type DecimalMark,
  hasDecimalComma,
  isBlank,
  kindOf,
  likelyKind,
  mayHaveMore,
  readCell,
  roundedCode,
} from './cells.ts';
import { type ColumnOptions, fieldsOf, UnknownColumns, unknownColumns } from './columns.ts';
import { type CsvRow, csvRows } from './csv.ts';
import { checkFormat, notUtf8, type ProductFormat } from './formats.ts';

/** What an empty cell means: the field keeps its value, or it is cleared. */
export type EmptyCells = 'ignore' | 'clear';

/** Fields that the API documentation does not have, with their kinds. */
export type CustomFields = Readonly<Record<string, CellKind>>;

interface FileOptions {
  readonly key: string;
  readonly format?: ProductFormat | undefined;
  /** Fields by the names of their columns. */
  readonly map: ReadonlyMap<string, string>;
  readonly ignored: readonly string[];
  readonly customFields: CustomFields;
  /** Read for the path `-`. */
  readonly stdin?: AsyncIterable<Uint8Array> | undefined;
  /** The others are of a CSV file. */
  readonly delimiter?: string | undefined;
  readonly empty: EmptyCells;
  /** Undefined if the user did not name it: then a file with decimal commas is rejected. */
  readonly decimal?: DecimalMark | undefined;
  /** Undefined if the user did not name it: then a list that may have another mark is a warning. */
  readonly listSeparator?: string | undefined;
}

/** Rows that are read to find the kinds of unknown columns. */
const SAMPLE = 1000;

/** Codes that a spreadsheet takes for numbers. */
const CODES: readonly string[] = ['ean', 'upcCode'];

/** A file of products: CSV whose columns are fields, or NDJSON. */
export class ProductFile {
  readonly #path: string;
  readonly #options: FileOptions;
  readonly #columns: ColumnOptions;
  /** The line on which each row begins. */
  readonly #lines: number[] = [];
  /** What is wrong with rows, by their position. */
  readonly #problems = new Map<number, readonly string[]>();
  /** Lists that were read as one text, although they have another mark. */
  readonly #oneText = { rows: 0, first: '' };

  constructor(path: string, options: FileOptions) {
    this.#path = path;
    this.#options = options;
    this.#columns = { ...options, kinds: { ...productFields, ...options.customFields } };
  }

  /** The line of a row by its position. */
  lineOf(row: number | undefined): number | undefined {
    return row === undefined ? undefined : this.#lines[row];
  }

  /** What is wrong with a row. */
  problemsOf(row: number | undefined): readonly string[] {
    return (row === undefined ? undefined : this.#problems.get(row)) ?? [];
  }

  /** What was read, but perhaps not as it was meant. */
  get warning(): string | undefined {
    const { rows, first } = this.#oneText;
    const more = rows > 1 ? ` (and ${counted(rows - 1, 'more row')})` : '';
    return rows === 0
      ? undefined
      : `${first} is one text of a list${more}: "|" separates several, or what --list-separator names.`;
  }

  /** The rows as drafts. A row with an invalid cell is one that the push rejects. */
  async *rows(): AsyncGenerator<ProductDraft, void, undefined> {
    try {
      yield* this.#format === 'csv' ? this.#csv() : this.#ndjson();
    } catch (error) {
      if (error instanceof NotUtf8) throw this.#failure(notUtf8(this.#path));
      if (error instanceof FileProblem) throw this.#failure(error);
      if ((error as NodeJS.ErrnoException).code === undefined) throw error;
      const what = `it cannot be read: ${(error as Error).message}.`;
      throw this.#failure(
        new FileProblem(what, 'Check the path and the permissions, and run the same command again.'),
      );
    }
  }

  #failure({ message, remedy, choices }: FileProblem): CommandFailure {
    const advice = remedy ?? 'Correct the file, and run the same command again.';
    return new CommandFailure(`${this.#path} cannot be pushed: ${message}`, {
      advice: ['Nothing was written. '.concat(advice), ...choices.map((line) => `  ${line}`)].join('\n'),
      exitCode: EXIT.file,
    });
  }

  get #format(): ProductFormat {
    return this.#options.format ?? (/\.(?:ndjson|jsonl)$/i.test(this.#path) ? 'ndjson' : 'csv');
  }

  async *#bytes(): AsyncGenerator<Uint8Array, void, undefined> {
    const { stdin } = this.#options;
    const file = this.#path === '-' && stdin ? stdin : createReadStream(this.#path);
    let isFirst = true;
    for await (const bytes of file as AsyncIterable<Uint8Array>) {
      if (isFirst) checkFormat(bytes, this.#path, this.#format);
      isFirst = false;
      yield bytes;
    }
  }

  async *#text(): AsyncGenerator<string, void, undefined> {
    const utf8 = new Utf8();
    for await (const bytes of this.#bytes()) yield utf8.decode(bytes);
    yield utf8.decode();
  }

  async *#csv(): AsyncGenerator<ProductDraft, void, undefined> {
    const { key, map, delimiter } = this.#options;
    const keyColumns = [key, ...[...map].filter(([, field]) => field === key).map(([column]) => column)];
    const rows = csvRows(this.#text(), { delimiter, keyColumns });
    const { value: header } = await rows.next();
    if (!header) throw new FileProblem('it is empty.');
    const names = header.cells.map((name = '') => name.trim());
    const fields = await this.#fieldsOfHeader(names, rows);
    for await (const { line, cells } of rows) {
      const more = cells.findIndex((cell = '', at) => at >= names.length && cell.trim() !== '');
      if (more >= 0) {
        throw new FileProblem(
          `line ${line} has ${JSON.stringify(cells[more])} in cell ${more + 1}, but there are ${names.length} columns; is a quote missing?`,
        );
      }
      const values = fields.flatMap((field, at): [string, Cell][] => {
        const cell = field === undefined ? undefined : this.#cellOf(field, cells[at], line);
        return field === undefined || cell === undefined ? [] : [[field, cell]];
      });
      yield this.#draft(line, values);
    }
  }

  async #fieldsOfHeader(
    names: readonly string[],
    rows: AsyncGenerator<CsvRow>,
  ): Promise<(string | undefined)[]> {
    const { key, map } = this.#options;
    const unused = [...map.keys()].find((name) => !names.includes(name));
    if (unused !== undefined)
      throw new FileProblem(`it has no column ${JSON.stringify(unused)}, which --map names.`);
    let fields: (string | undefined)[];
    try {
      fields = fieldsOf(names, 'the header', this.#columns);
    } catch (error) {
      if (!(error instanceof UnknownColumns)) throw error;
      const cells = new Map(error.names.map((name) => [name, [] as string[]]));
      let read = 0;
      for await (const row of rows) {
        for (const [name, found] of cells) {
          const cell = row.cells[names.indexOf(name)];
          if (cell !== undefined) found.push(cell);
        }
        if (++read === SAMPLE) break;
      }
      const kinds = [...cells].map(([name, found]) => [name, likelyKind(found)] as const);
      throw unknownColumns('the header', kinds, this.#columns);
    }
    if (!fields.includes(key)) throw new FileProblem(`it has no column ${key}, which --key names.`);
    return fields;
  }

  async *#ndjson(): AsyncGenerator<ProductDraft, void, undefined> {
    const unused = new Set(this.#options.map.keys());
    for await (const row of ndjsonRows(this.#bytes())) {
      const names = memberNames(row.text);
      for (const name of names) unused.delete(name);
      const fields = this.#fieldsOfMembers(names, row);
      const values = fields.flatMap((field, at): [string, Cell][] =>
        field === undefined ? [] : [[field, checkValue(row.row[names[at] ?? ''])]],
      );
      yield this.#draft(row.line, values, row.lossy);
    }
    // A push reads every row before it writes.
    for (const name of unused)
      throw new FileProblem(`no line names ${JSON.stringify(name)}, which --map names.`);
  }

  #fieldsOfMembers(names: readonly string[], { line, row }: NdjsonRow): (string | undefined)[] {
    try {
      return fieldsOf(names, `line ${line}`, this.#columns);
    } catch (error) {
      if (!(error instanceof UnknownColumns)) throw error;
      const kinds = error.names.map((name) => [name, kindOf(row[name])] as const);
      throw unknownColumns(`line ${line}`, kinds, this.#columns);
    }
  }

  /** A cell as a value of its field; undefined if the product keeps its own. */
  #cellOf(field: string, cell: string | undefined, line: number): Cell | undefined {
    const { key, decimal, empty, listSeparator } = this.#options;
    const kind = this.#columns.kinds[field] ?? 'string';
    if (cell === undefined || isBlank(cell, kind)) return empty === 'clear' ? { value: null } : undefined;
    if (decimal === undefined && hasDecimalComma(cell, kind)) {
      throw new FileProblem(
        `line ${line} has the ${field} ${JSON.stringify(cell)}, with a decimal comma.`,
        'Pass --decimal , to read it, or --decimal . to reject such rows, and run the same command again.',
      );
    }
    // An invisible space would make another key.
    const text = field === key ? cell.trim() : cell;
    const read = readCell(text, kind, { decimal: decimal ?? '.', listSeparator: listSeparator ?? '|' });
    if (listSeparator === undefined && mayHaveMore(text, read.value)) {
      this.#oneText.rows += 1;
      this.#oneText.first ||= `line ${line}, ${field}: ${JSON.stringify(cell)}`;
    }
    return read;
  }

  /** A row, or if something is wrong with it, one that a push rejects, with its key, so that another row is a duplicate. */
  #draft(line: number, values: readonly [string, Cell][], lossy?: string): ProductDraft {
    const { key } = this.#options;
    const index = this.#lines.push(line) - 1;
    const problems = values.flatMap(([field, { value, problem }]) => {
      const isCode = field === key || CODES.includes(field);
      const what = problem ?? (isCode ? roundedCode(value) : undefined);
      return what === undefined ? [] : [`${field}: ${what}`];
    });
    if (lossy !== undefined) problems.push(`${lossy} has more digits than a JSON number keeps`);
    const draft = Object.fromEntries(values.map(([field, { value }]) => [field, value]));
    if (problems.length === 0) return draft;
    this.#problems.set(index, problems);
    // JSON has no such value.
    return { [key]: draft[key], [key === 'name' ? 'brand' : 'name']: Number.NaN };
  }
}

/** The names of the members of a JSON object, also those that occur twice, of which `JSON.parse` keeps the last. */
function memberNames(json: string): string[] {
  const names: string[] = [];
  let depth = 0;
  let last = '';
  for (const [token] of json.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\]:]/g)) {
    if (token === '{' || token === '[') depth += 1;
    else if (token === '}' || token === ']') depth -= 1;
    else if (token !== ':') last = token;
    else if (depth === 1) names.push(JSON.parse(last) as string);
  }
  return names;
}
