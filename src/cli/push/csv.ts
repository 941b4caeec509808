import { Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import { FileProblem } from '../../files/ndjson.ts';

/** A row of a CSV file. A cell without content is undefined, `""` is an empty text. */
export interface CsvRow {
  /** On which it begins. */
  readonly line: number;
  readonly cells: readonly (string | undefined)[];
  /** Which cells are quoted, in a file that does not quote every name. */
  readonly quoted: readonly boolean[];
}

interface CsvOptions {
  /** Found by {@link headOf} if it is undefined. */
  readonly delimiter: string | undefined;
  /** Names that the column of the key can have. */
  readonly keyColumns: readonly string[];
}

/** The rows of a CSV file, first the header; behind it also rows whose cells are all empty. */
export async function* csvRows(
  text: AsyncGenerator<string, void, undefined>,
  options: CsvOptions,
): AsyncGenerator<CsvRow, void, undefined> {
  const head = headOf(await beginningOf(text), options);
  const lines = new LineCounter();
  /** Of the rows that the loop below has not reached. */
  const ahead: Omit<CsvRow, 'cells'>[] = [];
  let quoted: boolean[] = [];
  let hasHeader = false;
  // If every name is quoted, every cell is, empty ones too.
  let quotesAll = true;
  const parser = parse({
    delimiter: head.delimiter,
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: MAX_ROW,
    cast(value, { quoting }) {
      quoted.push(quoting);
      return value === '' && (quotesAll || !quoting) ? undefined : value;
    },
    // Called while the row is parsed: the loop below is some rows behind.
    on_record: (cells: string[], info) => {
      const line = lines.next(cells, info);
      if (!hasHeader) {
        hasHeader = !cells.every(isEmpty);
        quotesAll = cells.every((cell, at) => quoted[at] === true || isEmpty(cell));
      }
      // Rows without content before the header are left out.
      if (hasHeader) ahead.push({ line, quoted: quotesAll ? [] : quoted });
      quoted = [];
      return hasHeader ? cells : null;
    },
  });
  const file = Readable.from(quotedFormulas(chain(head.text, text), head.delimiter));
  // `pipe` passes on no error.
  file.on('error', (error) => parser.destroy(error));
  file.pipe(parser);
  try {
    for await (const cells of parser as AsyncIterable<CsvRow['cells']>) {
      const { line = 0, quoted = [] } = ahead.shift() ?? {};
      yield { line, cells, quoted };
    }
  } catch (error) {
    throw error instanceof CsvError ? csvProblem(error, lines) : error;
  }
}

/** Whether a cell has no content, or blanks alone. */
export function isEmpty(cell: string | undefined): boolean {
  return cell === undefined || cell.trim() === '';
}

/** A longer row is the rest of the file behind a quote that is never closed. */
const MAX_ROW = 2 ** 24;

export const DELIMITERS: readonly string[] = [',', ';', '\t', '|'];

/** The records at the beginning of a file that decide its delimiter. */
const HEAD_RECORDS = 10;

interface Head {
  readonly delimiter: string;
  /** Without a byte order mark and a first line `sep=;`, of which the line break is left. */
  readonly text: string;
}

/**
 * Finds the delimiter: the one with which the first record has the column of the key, then the one that the second record
 * has as often, then the most frequent. Throws if the header comes after a title.
 */
function headOf(start: string, { delimiter, keyColumns }: CsvOptions): Head {
  const plain = start.replace(/^\uFEFF/, '');
  const [line = '', named] = /^"?sep=(.)"?(?=[\r\n]|$)/i.exec(plain) ?? [];
  const text = plain.slice(line.length);
  // Quotes may contain line breaks.
  const records = [...text.matchAll(/(?:"[^"]*"|[^"\r\n])+/g)]
    .filter(([record]) => record.trim() !== '')
    .slice(0, HEAD_RECORDS);
  const [title] = records;
  const [first = '', second = ''] = records.map(([record]) => record);
  const known = delimiter ?? named;
  const candidates = (known === undefined ? DELIMITERS : [known]).map((mark) => {
    const count = (record: string) => record.replaceAll(/"[^"]*"/g, '').split(mark).length - 1;
    const agrees = count(first) > 0 && count(first) === count(second);
    return { mark, rank: [hasColumn(first, mark, keyColumns), agrees, count(first)].map(Number) };
  });
  const [best] = candidates.toSorted((a, b) => compare(b.rank, a.rank));
  if (best === undefined || title === undefined) throw new FileProblem('it is empty.');

  const header = records.find(([record]) =>
    candidates.some(({ mark }) => hasColumn(record, mark, keyColumns)),
  );
  if (header !== undefined && header !== title) {
    const lineOf = (at: number) => text.slice(0, at).split(/\r\n|[\r\n]/).length;
    throw new FileProblem(
      `line ${lineOf(title.index)} is no header: ${JSON.stringify(first.slice(0, 60))}.`,
      `Remove the lines before the header on line ${lineOf(header.index)}, and run the same command again.`,
    );
  }
  return { delimiter: best.mark, text };
}

function hasColumn(record: string, mark: string, names: readonly string[]): boolean {
  const cells = record
    .replaceAll(/"[^"]*"/g, (quoted) => quoted.replaceAll(mark, '\0'))
    .split(mark)
    .map((cell) =>
      cell
        .replaceAll('\0', mark)
        .trim()
        .replace(/^"(.*)"$/s, '$1')
        .replaceAll('""', '"')
        .trim(),
    );
  return cells.some((cell) => names.includes(cell));
}

/** Of two lists the one that is greater at the first difference. */
function compare(a: readonly number[], b: readonly number[]): number {
  return a.map((value, at) => value - (b[at] ?? 0)).find((difference) => difference !== 0) ?? 0;
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
  next(cells: CsvRow['cells'], info: ParserInfo): number {
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
  CSV_MAX_RECORD_SIZE: 'it has more than 16 MiB; perhaps its quote is never closed',
  CSV_INVALID_CLOSING_QUOTE: 'there is text behind its closing quote; double a quote inside a cell',
  INVALID_OPENING_QUOTE:
    'it has a quote but does not begin with one; quote the whole cell and double this quote',
};

/** Where the parser stopped: the column, and what it has of the cell. */
interface Place {
  readonly column: number;
  readonly field?: unknown;
}

/** What the parser found. The row that it stopped in is the one behind the last that it read. */
function csvProblem(error: CsvError, lines: LineCounter): FileProblem {
  const { code, column, empty_lines, field } = error as CsvError & ParserInfo & Place;
  const line = lines.nextLine({ lines: 0, empty_lines });
  // The quote of a header behind the byte order mark of another file.
  if (column === 0 && String(field) === '\uFEFF') return headerAgain(line);
  const what = CSV_PROBLEMS[code] ?? 'it is not valid CSV';
  return new FileProblem(`the row on line ${line}, cell ${column + 1}: ${what}.`);
}

/** A header behind the first: of two exports in one file it would become a product. */
export function headerAgain(line: number): FileProblem {
  return new FileProblem(
    `line ${line} is a header again: are these two files in one?`,
    'Push each of them by itself, or remove the line, and run the same command again.',
  );
}

/** Quotes cells of the form `="0012"`, which programs write for spreadsheets: a quote may only begin a cell. */
async function* quotedFormulas(
  text: AsyncIterable<string>,
  delimiter: string,
): AsyncGenerator<string, void, undefined> {
  const border = `\\u{${delimiter.codePointAt(0)?.toString(16)}}|[\\r\\n]`;
  const formula = new RegExp(`(^|${border})="([^"\\r\\n]+)"(?=${border}|$)`, 'gu');
  const quoted = (lines: string) => lines.replaceAll(formula, '$1"=""$2"""');
  let rest = '';
  for await (const piece of text) {
    const lines = rest + piece;
    // Behind the last line break a cell may be torn, but no line with such cells is that long.
    const end = Math.max(lines.lastIndexOf('\n'), lines.lastIndexOf('\r')) + 1;
    const whole = lines.length - end > BEGINNING ? lines.length : end;
    yield quoted(lines.slice(0, whole));
    rest = lines.slice(whole);
  }
  yield quoted(rest);
}

async function* chain(start: string, rest: AsyncIterable<string>): AsyncGenerator<string, void, undefined> {
  yield start;
  yield* rest;
}

/** Characters that hold the first records of a file, and any line but one of very long texts. */
const BEGINNING = 65_536;

/** Enough of a text for its first records. */
async function beginningOf(text: AsyncGenerator<string, void, undefined>): Promise<string> {
  let start = '';
  while (start.length < BEGINNING) {
    const { done, value } = await text.next();
    if (done) break;
    start += value;
  }
  return start;
}
