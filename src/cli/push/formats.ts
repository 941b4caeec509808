import { FileProblem, Utf8 } from '../../files/ndjson.ts';
import { shellWord } from './shell.ts';

export type ProductFormat = 'csv' | 'ndjson';

/** What a file is by the ending of its name. */
export function formatOf(path: string): ProductFormat {
  return /\.(?:ndjson|jsonl)$/i.test(path) ? 'ndjson' : 'csv';
}

/** What a file is in place of CSV or NDJSON, by its first bytes and their text. */
interface Format {
  readonly name: string;
  is(bytes: Uint8Array, text: string, format: ProductFormat): boolean;
  readonly remedy: string;
  /** What converts it. */
  readonly command?: string;
}

const BEGINNING = 65_536;

const ZIP = [0x50, 0x4b, 3, 4];
/** Compound files of older programs. */
const XLS = [0xd0, 0xcf, 0x11, 0xe0];

const FORMATS: readonly Format[] = [
  {
    name: 'a spreadsheet',
    is: (bytes, text) =>
      begins(bytes, XLS) || (begins(bytes, ZIP) && /\[Content_Types\]|xl\/|opendocument/.test(text)),
    remedy:
      'Save it as "CSV UTF-8" in the spreadsheet, which writes prices as it shows them: show all their decimals first. Or convert it with every value as it is, and push the result:',
    // The eighth value keeps numbers as such, the ninth does not round them as they are shown.
    command:
      'soffice --headless --convert-to "csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,true,false" --outdir converted FILE',
  },
  {
    name: 'NDJSON',
    is: (_, text, format) => format === 'csv' && /^\s*\{[\t ]*"(?:[^"\\]|\\.)*"\s*:(?!\s*\[\s*\{)/.test(text),
    remedy: 'Pass --format ndjson, and run the same command again.',
  },
  {
    name: 'neither CSV nor NDJSON',
    is: (bytes, text, format) => begins(bytes, ZIP) || isBinary(bytes, text) || isDocument(text, format),
    remedy:
      'Export one of the two, and push the result. jq -c ".[]" makes NDJSON of a list in JSON; the files of an archive are pushed one by one.',
  },
  ...(['LE', 'BE'] as const).map((order) => ({
    name: 'UTF-16',
    is: (bytes: Uint8Array) => isUtf16(bytes, order),
    remedy: 'Convert it, and push the result:',
    command: `iconv -f UTF-16${order} -t UTF-8 FILE > converted.csv`,
  })),
];

/** Throws for a file that is something else than CSV or NDJSON. */
export function checkFormat(bytes: Uint8Array, path: string, format: ProductFormat): void {
  const start = bytes.subarray(0, BEGINNING);
  const text = new TextDecoder().decode(start);
  const found = FORMATS.find((each) => each.is(start, text, format));
  if (found === undefined) return;
  throw new FileProblem(`it is ${found.name}.`, found.remedy, commands(found.command, path));
}

/** A file whose bytes are no text in UTF-8. */
export function notUtf8(path: string): FileProblem {
  return new FileProblem(
    'it is not UTF-8.',
    'Save it as "CSV UTF-8", or convert it, such as from Windows-1252, and push the result:',
    commands('iconv -f WINDOWS-1252 -t UTF-8 FILE > converted.csv', path),
  );
}

function commands(command: string | undefined, path: string): readonly string[] {
  return command === undefined ? [] : [command.replace('FILE', path === '-' ? 'FILE' : shellWord(path))];
}

function begins(bytes: Uint8Array, start: readonly number[]): boolean {
  return start.every((byte, at) => bytes[at] === byte);
}

/** Control characters, and bytes that are neither UTF-8 nor UTF-16: such as of a compressed file. */
function isBinary(bytes: Uint8Array, text: string): boolean {
  if (!/[^\P{Cc}\t-\r]/u.test(text) || isUtf16(bytes, 'LE') || isUtf16(bytes, 'BE')) return false;
  try {
    new Utf8().decode(bytes);
    return false;
  } catch {
    return true;
  }
}

/** JSON of several lines or with a list in it, XML, HTML. */
function isDocument(text: string, format: ProductFormat): boolean {
  if (/^\s*(?:<[?!a-z]|\[\s*[[{\]]|\{\s*\n)/i.test(text)) return true;
  return format === 'csv' && /^\s*\{\s*"/.test(text);
}

/** By its byte order mark or, without one, because a third of the high bytes are zero. */
function isUtf16(bytes: Uint8Array, order: 'LE' | 'BE'): boolean {
  if (begins(bytes, order === 'LE' ? [0xff, 0xfe] : [0xfe, 0xff])) return true;
  const high = bytes.subarray(0, 1000).filter((_, at) => at % 2 === (order === 'LE' ? 1 : 0));
  return high.filter((byte) => byte === 0).length > high.length / 3;
}
