import { createReadStream } from 'node:fs';
import { type ProductDraft, productFields } from 'accounting-data-sdk';
import { FileProblem, type NdjsonRow, NotUtf8, ndjsonRows, Utf8 } from '../../files/ndjson.ts';
import { CommandFailure, EXIT } from '../errors.ts';
import {
  type Cell,
  type CellKind,
  type DecimalMark,
  hasDecimalComma,
  isBlank,
  kindOf,
  likelyKind,
  listMark,
  readCell,
  readValue,
  shortened,
} from './cells.ts';
import { type ColumnFacts, columnFacts } from './column-facts.ts';
import { type ColumnOptions, fieldsOf, headerCheck, UnknownColumns, unknownColumns } from './columns.ts';
import { type CsvRow, csvRows, isEmpty } from './csv.ts';
import { checkFormat, formatOf, notUtf8, type ProductFormat } from './formats.ts';
import { Notices } from './notices.ts';
import { rowName } from './row-results.ts';
import { CODES, MEASURES, readText } from './written-text.ts';

/** What an empty cell means: the field keeps its value, as it does for `""` and null then, or it is cleared. */
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
  /** Undefined if the user did not name it: then an empty cell keeps the value, and `""` is an empty text. */
  readonly empty?: EmptyCells | undefined;
  /** The others are of a CSV file. */
  readonly delimiter?: string | undefined;
  /** Undefined if the user did not name it: then a file with decimal commas is rejected. */
  readonly decimal?: DecimalMark | undefined;
  /** Undefined if the user did not name it: then a list that may have another mark is a warning. */
  readonly listSeparator?: string | undefined;
}

/** Rows that are read ahead to find out about columns. */
const SAMPLE = 1000;

/** A column that is a field. */
interface FieldColumn {
  readonly at: number;
  readonly field: string;
  readonly facts: ColumnFacts;
}

/** A file of products: CSV whose columns are fields, or NDJSON. */
export class ProductFile {
  readonly #path: string;
  readonly #options: FileOptions;
  readonly #columns: ColumnOptions;
  /** The line on which each row begins. */
  readonly #lines: number[] = [];
  /** What is wrong with rows, by their position. */
  readonly #problems = new Map<number, readonly string[]>();
  readonly #notices = new Notices();
  /** The fields of rows that are texts without content, by the position of the row. */
  readonly #emptied = new Map<number, readonly string[]>();

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

  /** Sentences about what was read otherwise than it stands in the file, or perhaps not as it was meant. */
  get notices(): readonly string[] {
    return this.#notices.sentences;
  }

  /** Notes that these fields of a row were, or would be, changed. */
  noteChanged(row: number, key: string | undefined, fields: readonly string[]): void {
    for (const field of this.#emptied.get(row) ?? [])
      if (fields.includes(field)) this.#notices.add('emptied', `${rowName(this.#lines[row], key)}: ${field}`);
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
    return this.#options.format ?? formatOf(this.#path);
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
    const sample: CsvRow[] = [];
    while (sample.length < SAMPLE) {
      const { value: row } = await rows.next();
      if (!row) break;
      sample.push(row);
    }
    const fields = this.#fieldsOfHeader(names, sample);
    const facts = columnFacts(sample, names.length);
    const columns = fields.flatMap((field, at): FieldColumn[] =>
      field === undefined ? [] : [{ at, field, facts: facts[at] ?? NO_FACTS }],
    );
    const checkHeader = headerCheck(names, fields, fields.indexOf(key));
    for await (const row of chained(sample, rows)) {
      const { line, cells } = row;
      checkHeader(row);
      const more = cells.findIndex((cell, at) => at >= names.length && !isEmpty(cell));
      if (more >= 0) {
        throw new FileProblem(
          `line ${line} has ${JSON.stringify(cells[more])} in cell ${more + 1}, but there are ${names.length} columns; is a quote missing?`,
        );
      }
      if (columns.every(({ at, field }) => isEmpty(cells[at]) || !this.#makesRow(field))) {
        this.#notices.add('skipped', `line ${line}`);
        continue;
      }
      const values = columns.flatMap((column): [string, Cell][] => {
        const cell = this.#cellOf(column, row);
        return cell === undefined ? [] : [[column.field, cell]];
      });
      yield this.#draft(line, values);
    }
  }

  #fieldsOfHeader(names: readonly string[], sample: readonly CsvRow[]): (string | undefined)[] {
    const { key, map } = this.#options;
    const unused = [...map.keys()].find((name) => !names.includes(name));
    if (unused !== undefined)
      throw new FileProblem(
        `it has no column ${JSON.stringify(unused)}, which --map names.${unused.includes('=') ? ' Repeat --map for each column.' : ''}`,
      );
    let fields: (string | undefined)[];
    try {
      fields = fieldsOf(names, 'the header', this.#columns);
    } catch (error) {
      if (!(error instanceof UnknownColumns)) throw error;
      const kinds = error.names.map((name) => {
        const at = names.indexOf(name);
        const found = sample.flatMap(({ cells }) => cells[at] ?? []);
        return [name, likelyKind(found)] as const;
      });
      throw unknownColumns('the header', kinds, this.#columns);
    }
    if (!fields.includes(key)) throw new FileProblem(`it has no column ${key}, which --key names.`);
    return fields;
  }

  async *#ndjson(): AsyncGenerator<ProductDraft, void, undefined> {
    const unused = new Set(this.#options.map.keys());
    let shape: string | undefined;
    let checkHeader: ReturnType<typeof headerCheck> | undefined;
    for await (const row of ndjsonRows(this.#bytes())) {
      const members = memberNames(row.text);
      const names = members.map((name) => name.trim());
      for (const name of names) unused.delete(name);
      if (names.includes('') && !this.#options.map.has('')) this.#notices.add('unnamed', `line ${row.line}`);
      const fields = this.#fieldsOfMembers(names, row);
      const keyAt = fields.indexOf(this.#options.key);
      // A program that converts CSV makes an object of a second header too.
      if (names.join() !== shape) checkHeader = headerCheck(names, fields, keyAt);
      shape = names.join();
      if (keyAt >= 0) checkHeader?.({ line: row.line, cells: members.map((name) => textIn(row.row[name])) });
      const values = fields.flatMap((field, at): [string, unknown][] =>
        field === undefined ? [] : [[field, row.row[members[at] ?? '']]],
      );
      const isNone = (value: unknown) => value === null || isBlankText(value);
      if (values.every(([field, value]) => isNone(value) || !this.#makesRow(field))) {
        this.#notices.add('skipped', `line ${row.line}`);
        continue;
      }
      const read = values.flatMap(([field, value]): [string, Cell][] => {
        const isIgnored = this.#options.empty === 'ignore' && isNone(value);
        return isIgnored ? [] : [[field, this.#valueOf(field, value, row.line)]];
      });
      yield this.#draft(row.line, read, row.lossy);
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
  #cellOf({ at, field, facts }: FieldColumn, { line, cells, quoted }: CsvRow): Cell | undefined {
    const { decimal, empty, listSeparator } = this.#options;
    const kind = this.#columns.kinds[field] ?? 'string';
    const cell = cells[at];
    if (cell === undefined || isBlank(cell, kind)) return empty === 'clear' ? { value: null } : undefined;
    if (decimal === undefined && hasDecimalComma(cell, kind)) {
      throw new FileProblem(
        `line ${line} has the ${field} ${JSON.stringify(cell)}, with a decimal comma.`,
        'Pass --decimal , to read it, or --decimal . to reject such rows, and run the same command again.',
      );
    }
    const read = readCell(cell, kind, { decimal: decimal ?? '.', listSeparator: listSeparator ?? '|' });
    if (kind === 'string' && read.problem === undefined) {
      const text = this.#textOf(field, cell, { line, facts, isQuoted: quoted[at] === true });
      return empty === 'ignore' && isBlankText(text.value) ? undefined : text;
    }
    const mark = listSeparator === undefined ? listMark(cell, read.value) : undefined;
    if (mark !== undefined) this.#notices.add(mark, place(line, field, cell));
    return read;
  }

  /** A member of NDJSON as a value of its field. */
  #valueOf(field: string, value: unknown, line: number): Cell {
    const read = readValue(value, this.#columns.kinds[field] ?? 'string');
    if (!this.#isCode(field) || typeof read.value !== 'string') return read;
    return this.#textOf(field, read.value, { line, facts: NO_FACTS, isQuoted: true });
  }

  /** A text without what a program wrote around it. */
  #textOf(
    field: string,
    cell: string,
    { line, facts, isQuoted }: { line: number; facts: ColumnFacts; isQuoted: boolean },
  ): Cell {
    const { value, problem, form } = readText(cell, {
      isCode: this.#isCode(field),
      isDecimal: facts.hasDecimals || MEASURES.includes(field),
      isQuoted,
    });
    if (problem !== undefined) return { problem: `${shortened(cell)} ${problem}` };
    const isPadded = facts.isPadded && value.endsWith(' ');
    const notice = form ?? (isPadded ? 'padded' : undefined);
    if (notice !== undefined) this.#notices.add(notice, place(line, field, cell));
    // An invisible space would make another key.
    if (field === this.#options.key) return { value: value.trim() };
    return { value: isPadded ? value.trimEnd() : value };
  }

  /** Whether a value of the field makes a product of a row: a second image of one may have a custom field. */
  #makesRow(field: string): boolean {
    return field === this.#options.key || !Object.hasOwn(this.#options.customFields, field);
  }

  #isCode(field: string): boolean {
    return field === this.#options.key || CODES.includes(field);
  }

  /** A row, or if something is wrong with it, one that a push rejects, with its key, so that another row is a duplicate. */
  #draft(line: number, values: readonly [string, Cell][], lossy?: string): ProductDraft {
    const { key } = this.#options;
    const index = this.#lines.push(line) - 1;
    const emptied = values.flatMap(([field, { value }]) => (isBlankText(value) ? [field] : []));
    if (emptied.length > 0 && this.#options.empty === undefined) this.#emptied.set(index, emptied);
    const problems = values.flatMap(([field, { problem }]) =>
      problem === undefined ? [] : [`${field}: ${problem}`],
    );
    if (lossy !== undefined) problems.push(`${lossy} has more digits than a JSON number keeps`);
    const draft = Object.fromEntries(values.map(([field, { value }]) => [field, value]));
    if (problems.length === 0) return draft;
    this.#problems.set(index, problems);
    // JSON has no such value.
    return { [key]: draft[key], [key === 'name' ? 'brand' : 'name']: Number.NaN };
  }
}

function textIn(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** Whether a value is a text without content, which would clear another one. */
function isBlankText(value: unknown): boolean {
  return typeof value === 'string' && isEmpty(value);
}

/** Of a value that is in no column. */
const NO_FACTS: ColumnFacts = { isPadded: false, hasDecimals: false };

/** Where a cell is: `line 3, tags: "alu, slim"`. */
function place(line: number, field: string, cell: string): string {
  return `line ${line}, ${field}: ${shortened(cell)}`;
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

async function* chained<V>(first: readonly V[], rest: AsyncIterable<V>): AsyncGenerator<V, void, undefined> {
  yield* first;
  yield* rest;
}
