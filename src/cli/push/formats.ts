import { FileProblem } from '../../files/ndjson.ts';
import { shellWord } from './shell.ts';

export type ProductFormat = 'csv' | 'ndjson';

/** What a file is in place of CSV or NDJSON, by its first bytes and their text. */
interface Format {
  readonly name: string;
  is(bytes: Uint8Array, text: string, format: ProductFormat): boolean;
  /** What converts it, without which it is another option of the command. */
  readonly command?: string;
  readonly remedy?: string;
}

const BEGINNING = 65_536;

const CONVERT = 'Convert it, and push the result:';
const SPREADSHEET = {
  remedy: 'Save it as "CSV UTF-8" in the spreadsheet, or convert it, and push the result:',
  command: 'soffice --headless --convert-to "csv:Text - txt - csv (StarCalc):44,34,76" FILE',
};
const ZIP = [0x50, 0x4b, 3, 4];
const COMPRESSED = [
  ['gzip', [0x1f, 0x8b], 'gunzip -c'],
  ['bzip2', [0x42, 0x5a, 0x68], 'bunzip2 -c'],
  ['xz', [0xfd, 0x37, 0x7a, 0x58, 0x5a], 'xz -dc'],
  ['zstd', [0x28, 0xb5, 0x2f, 0xfd], 'zstd -dc'],
] as const;

const FORMATS: readonly Format[] = [
  ...COMPRESSED.map(([by, start, command]) => ({
    name: `compressed by ${by}`,
    is: (bytes: Uint8Array) => begins(bytes, start),
    command: `${command} FILE > converted.csv`,
  })),
  {
    name: 'a spreadsheet (.xlsx or .ods)',
    is: (bytes, text) => begins(bytes, ZIP) && /\[Content_Types\]|xl\/|opendocument/.test(text),
    ...SPREADSHEET,
  },
  { name: 'a zip archive', is: (bytes) => begins(bytes, ZIP), command: 'unzip -p FILE > converted.csv' },
  {
    name: 'a spreadsheet (.xls)',
    is: (bytes) => begins(bytes, [0xd0, 0xcf, 0x11, 0xe0]),
    ...SPREADSHEET,
  },
  ...(['LE', 'BE'] as const).map((order) => ({
    name: 'UTF-16',
    is: (bytes: Uint8Array) => isUtf16(bytes, order),
    command: `iconv -f UTF-16${order} -t UTF-8 FILE > converted.csv`,
  })),
  {
    name: 'XML or HTML',
    is: (_, text) => /^\s*<[?!a-z]/i.test(text),
    remedy: 'Export CSV, or convert XML, such as with xq, and push the result:',
    command: `xq -c '.[][][]' FILE > converted.ndjson`,
  },
  {
    name: 'a JSON list',
    is: (_, text) => /^\s*\[\s*[[{\]]/.test(text),
    command: `jq -c '.[]' FILE > converted.ndjson`,
  },
  {
    name: 'a JSON document',
    is: (_, text, format) =>
      (format === 'csv' ? /^\s*\{\s*(?:\n|"[^"]*"\s*:\s*\[\s*\{)/ : /^\s*\{\s*\n/).test(text),
    remedy: 'Convert it, with the name of its list in place of products, and push the result:',
    command: `jq -c '.products[]' FILE > converted.ndjson`,
  },
  {
    name: 'NDJSON',
    is: (_, text, format) => format === 'csv' && /^\s*\{\s*"/.test(text),
    remedy: 'Pass --format ndjson, and run the same command again.',
  },
];

/** Throws for a file that is something else than CSV or NDJSON. */
export function checkFormat(bytes: Uint8Array, path: string, format: ProductFormat): void {
  const start = bytes.subarray(0, BEGINNING);
  const text = new TextDecoder().decode(start);
  const found = FORMATS.find((each) => each.is(start, text, format));
  if (found === undefined) return;
  throw new FileProblem(`it is ${found.name}.`, found.remedy ?? CONVERT, commands(found.command, path));
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

/** By its byte order mark or, without one, because a third of the high bytes are zero. */
function isUtf16(bytes: Uint8Array, order: 'LE' | 'BE'): boolean {
  if (begins(bytes, order === 'LE' ? [0xff, 0xfe] : [0xfe, 0xff])) return true;
  const high = bytes.subarray(0, 1000).filter((_, at) => at % 2 === (order === 'LE' ? 1 : 0));
  return high.filter((byte) => byte === 0).length > high.length / 3;
}
