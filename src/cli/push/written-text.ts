/** Fields that are identified by their text: a cell that could mean another text fails its row. */
export const CODES: readonly string[] = [
  'productNumber',
  'articleCode',
  'ean',
  'upcCode',
  'hsnCode',
  'serialNumber',
];

/** Texts that may be decimals: `12.0` is what it says. */
export const MEASURES: readonly string[] = [
  'depth',
  'diameter',
  'height',
  'length',
  'opening',
  'version',
  'volume',
  'weight',
  'width',
];

/** How programs write a text so that a spreadsheet keeps it, or a code that they took for a number. */
export type WrittenForm = 'apostrophe' | 'formula' | 'tab' | 'point';

/** A text, and the form in which it was written; or what is wrong with it. */
type WrittenText =
  | { readonly value: string; readonly form?: WrittenForm; readonly problem?: undefined }
  | { readonly problem: string; readonly value?: undefined; readonly form?: undefined };

/** What decides how a text was meant. */
interface TextContext {
  /** Whether the field is a code. */
  readonly isCode: boolean;
  /** Whether `12.0` may be a decimal, because of its field or of others in its column. */
  readonly isDecimal: boolean;
  /** Whether the cell is quoted in a file that quotes only what needs it. */
  readonly isQuoted: boolean;
}

/**
 * A text without the marks by which programs keep a spreadsheet from changing it: `'0012`, `="0012"`, a tab and `0012`;
 * and a code that was taken for a number: `12.0`. A code that could mean another text is a problem.
 */
export function readText(cell: string, { isCode, isDecimal, isQuoted }: TextContext): WrittenText {
  const text = cell.trim();
  const [, formula] = /^="((?:[^"]|"")*)"$/.exec(text) ?? [];
  if (formula !== undefined) return { value: formula.replaceAll('""', '"'), form: 'formula' };
  if (/^\s*\t/.test(cell) && (isCode || /^\d+$/.test(text))) return { value: text, form: 'tab' };
  // The protection of exports against formulas. Other texts may begin with an apostrophe: 's-Gravenhage.
  if (/^'[=+\-@]/.test(text)) return { value: text.slice(1), form: 'apostrophe' };
  if (!isQuoted) {
    const isMark = isCode ? /^'[^'\s]*\d[^'\s]*$/.test(text) : /^'\d+$/.test(text);
    if (isMark) return { value: text.slice(1), form: 'apostrophe' };
    const [, digits] = /^(0|[1-9]\d*)[.,]0$/.exec(text) ?? [];
    if (digits !== undefined && !isDecimal && Number.isSafeInteger(Number(digits)))
      return { value: digits, form: 'point' };
  }
  const guess = isCode ? GUESSES.find(({ is }) => is.test(isQuoted ? `"${text}"` : text)) : undefined;
  return guess === undefined ? { value: cell } : { problem: guess.problem };
}

/** Codes that could mean another text. */
const GUESSES: readonly { readonly is: RegExp; readonly problem: string }[] = [
  { is: /^"?['’]/, problem: 'begins with an apostrophe, which may be a part of it: remove the apostrophe' },
  { is: /^"?=/, problem: 'is a formula: write its result' },
  {
    is: /^"?(?:nan|nat|none|null|undefined|<na>|\\N)"?$/i,
    problem: 'is what a program writes for no value: leave the cell empty',
  },
  { is: /^"?#(?:N\/A|REF!|VALUE!|DIV\/0!|NAME\?|NULL!|NUM!)"?$/, problem: 'is an error of a spreadsheet' },
  {
    is: /^-?\d+[.,]0+$/,
    problem: 'may be a number in place of a code: write it without its decimals, or in quotes',
  },
  {
    // Without a plus as Java writes it: then only with a point, because a code may be 1E5.
    is: /^"?\d(?:[.,]\d+E\+?|E\+)\d+"?$/i,
    problem:
      'is a number that a spreadsheet rounded: format the column as text, and enter or import its values again',
  },
];
