import { type FieldKind, type FieldKindFacts, fieldKinds, type JsonType } from 'accounting-data-sdk';

/** The mark before the decimals of amounts and numbers. */
export type DecimalMark = '.' | ',';

/** A cell as a value of a kind of field. Amounts never become numbers, and what looks like thousands is never guessed. */
export function readCell(cell: string, kind: FieldKind, decimal: DecimalMark): Cell {
  const { json, pattern, decimal: isDecimal }: FieldKindFacts = fieldKinds[kind];
  const text = pattern === undefined ? cell : cell.trim();
  const value = READ[json](isDecimal ? withPoint(text, decimal) : text, decimal);
  if (value !== undefined && (pattern === undefined || pattern.test(value as string))) return { value };
  return {
    problem: `${JSON.stringify(cell.slice(0, 40))} is not ${EXPECTED[json](fieldKinds[kind], decimal)}`,
  };
}

/** A value, or what is wrong with the cell. */
export type Cell = { readonly value: unknown; readonly problem?: undefined } | { readonly problem: string };

/** Whether an amount or a number can only have a decimal comma: not `1,234`, which may be a thousand. */
export function hasDecimalComma(cell: string, kind: FieldKind): boolean {
  const { json, decimal }: FieldKindFacts = fieldKinds[kind];
  if (decimal !== true && json !== 'number') return false;
  const digits = cell.replaceAll(/[^\d.,]/g, '');
  return /^[\d.]*\d,\d+$/.test(digits) && !/^\d{1,3},\d{3}$/.test(digits);
}

/** A cell as a value of each JSON type; undefined if it is invalid. */
const READ: Readonly<Record<JsonType, (cell: string, decimal: DecimalMark) => unknown>> = {
  string: (cell) => cell,
  boolean: (cell) => BOOLEANS[cell.trim().toLowerCase()],
  integer: (cell) => (/^\s*-?\d+\s*$/.test(cell) ? numberOf(cell.trim(), '.') : undefined),
  number: (cell, decimal) => numberOf(cell.trim(), decimal),
  array: (cell) => arrayOf(cell.trim()),
};

/** What a cell of each JSON type should be. */
const EXPECTED: Readonly<Record<JsonType, (facts: FieldKindFacts, decimal: DecimalMark) => string>> = {
  string: ({ decimal: isDecimal, expected, example }, decimal) =>
    isDecimal
      ? `a decimal with a ${MARKS[decimal]}, such as ${String(example).replace('.', decimal)}, without thousands separators`
      : `${expected} such as ${example}`,
  boolean: () => 'true or false',
  integer: () => 'a whole number such as 12, without thousands separators',
  number: (_, decimal) => `a number with a ${MARKS[decimal]} and at most 15 digits`,
  array: () => 'a JSON array',
};

const MARKS: Readonly<Record<DecimalMark, string>> = { '.': 'point', ',': 'comma' };

/** The text with a point for its decimal mark. One with the other mark stays invalid: it may separate thousands. */
function withPoint(text: string, decimal: DecimalMark): string {
  if (decimal === '.') return text;
  return text.includes('.') ? '' : text.replace(',', '.');
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
function numberOf(text: string, decimal: DecimalMark): number | undefined {
  const number = withPoint(text, decimal);
  const digits = number.replace(/[-.]/g, '').replace(/^0+/, '');
  return /^-?\d+(?:\.\d+)?$/.test(number) && digits.length <= 15 ? Number(number) : undefined;
}

/** A JSON array, or strings between `|`. */
function arrayOf(text: string): unknown {
  if (!text.startsWith('[')) return text.split('|').map((part) => part.trim());
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
