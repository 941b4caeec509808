import { type FieldKind, type FieldKindFacts, fieldKinds, type JsonType } from 'accounting-data-sdk';
import { keepsDigits, parseExactly } from '../../files/exact-json.ts';
import { counted } from '../numbers.ts';
import type { ListMark } from './notices.ts';

/** The mark before the decimals of amounts and numbers. */
export type DecimalMark = '.' | ',';

/** A kind of field, or any JSON. */
export type CellKind = FieldKind | 'json';

/** How the cells of a file are written. */
interface CellForm {
  readonly decimal: DecimalMark;
  /** Between the texts of a list. */
  readonly listSeparator: string;
}

/** A value, or what is wrong with the cell. */
export interface Cell {
  readonly value?: unknown;
  readonly problem?: string | undefined;
}

/** A longer text is no field of a product, but the rest of a file behind a quote that is never closed. */
const MAX_CELL = 1_000_000;

/** A cell as a value of a kind of field. Amounts never become numbers, and what looks like thousands is never guessed. */
export function readCell(cell: string, kind: CellKind, form: CellForm): Cell {
  if (cell.length > MAX_CELL) return tooLong(cell);
  const { json, pattern, decimal: isDecimal }: Facts = factsOf(kind);
  const text = json === 'string' && pattern === undefined ? cell : cell.trim();
  const marked = isDecimal || json === 'number' || json === 'integer' ? withPoint(text, form.decimal) : text;
  const { value, problem } = READ[json](marked, form);
  if (problem !== undefined) return { problem: `${shortened(cell)} ${problem}` };
  if (value !== undefined && (pattern === undefined || pattern.test(value as string))) return { value };
  return { problem: `${shortened(cell)} is not ${EXPECTED[json](factsOf(kind), form)}` };
}

/** A value of NDJSON as the service would get it, or what is wrong with it. */
export function readValue(value: unknown, kind: CellKind): Cell {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  if (text.length > MAX_CELL) return tooLong(text);
  // SQLite has no booleans and no lists.
  if (kind === 'boolean' && (value === 1 || value === 0)) return { value: value === 1 };
  if (kind !== 'array' || typeof value !== 'string' || !value.trimStart().startsWith('[')) return { value };
  return READ.array(value.trim(), { decimal: '.', listSeparator: '' });
}

/** Whether an amount or a number can only have a decimal comma: not `1,234`, which may be a thousand. */
export function hasDecimalComma(cell: string, kind: CellKind): boolean {
  const { json, decimal } = factsOf(kind);
  if (decimal !== true && json !== 'number') return false;
  const digits = cell.replaceAll(/[^\d.,]/g, '');
  return /^[\d.]*\d,\d+$/.test(digits) && !/^\d{1,3},\d{3}$/.test(digits);
}

/** What may separate several texts of a list that was read as one. */
export function listMark(cell: string, value: unknown): ListMark | undefined {
  if (!Array.isArray(value) || value.length !== 1) return undefined;
  const text = cell.trim();
  if (text.startsWith('{')) return 'brace';
  if (text.startsWith('[')) return undefined;
  if (/[\r\n]/.test(text)) return 'line break';
  return /[,;]/.test(text) ? 'mark' : undefined;
}

/** Whether a cell has no content. A text may consist of spaces. */
export function isBlank(cell: string, kind: CellKind): boolean {
  const { json, pattern } = factsOf(kind);
  return cell.trim() === '' && (json !== 'string' || pattern !== undefined);
}

/** The kind that suits all cells of a column. Zeros at the end distinguish an amount from a number. */
export function likelyKind(cells: readonly string[]): CellKind {
  const kinds = Object.keys(LOOKS) as (keyof typeof LOOKS)[];
  return (cells.length > 0 && kinds.find((kind) => cells.every(LOOKS[kind]))) || 'string';
}

/** The kind of a value of NDJSON. */
export function kindOf(value: unknown): CellKind {
  if (typeof value === 'boolean') return 'boolean';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  if (Array.isArray(value)) return 'array';
  return typeof value === 'object' && value !== null ? 'json' : 'string';
}

const LOOKS = {
  boolean: (cell: string) => cell === 'true' || cell === 'false',
  integer: (cell: string) => LOOKS.number(cell) && Number.isSafeInteger(Number(cell)),
  number: (cell: string) => String(Number(cell)) === cell && Number.isFinite(Number(cell)),
  money: (cell: string) => /^-?\d{1,18}\.\d{1,8}$/.test(cell),
  array: (cell: string) => Array.isArray(jsonOf(cell).value),
  json: (cell: string) => typeof jsonOf(cell).value === 'object',
};

interface Facts extends Omit<FieldKindFacts, 'json'> {
  readonly json: JsonType | 'json';
}

function factsOf(kind: CellKind): Facts {
  return kind === 'json' ? { json: 'json', expected: 'JSON', example: { depth: 2 } } : fieldKinds[kind];
}

/** A cell as a value of each JSON type; without one if it is invalid. */
const READ: Readonly<Record<Facts['json'], (cell: string, form: CellForm) => Cell>> = {
  string: (value) => ({ value }),
  boolean: (cell) => ({ value: BOOLEANS.get(cell.toLowerCase()) }),
  // `2.0` is of a column with numbers and gaps.
  integer: (cell) => (/^-?\d+(?:\.0)?$/.test(cell) ? numberOf(cell) : {}),
  number: (cell) => (/^-?\d+(?:\.\d+)?(?:e[+-]\d+)?$/.test(cell) ? numberOf(cell) : {}),
  array(cell, { listSeparator }) {
    const list = cell.startsWith('[') ? jsonOf(cell) : undefined;
    if (list) return list.problem !== undefined || Array.isArray(list.value) ? list : {};
    const parts = cell.split(listSeparator).map((part) => part.trim());
    return { value: parts.filter((part) => part !== '') };
  },
  json: (cell) => jsonOf(cell),
};

/** What a cell of each JSON type should be. */
const EXPECTED: Readonly<Record<Facts['json'], (facts: Facts, form: CellForm) => string>> = {
  string: ({ decimal: isDecimal, expected, example }, { decimal }) =>
    isDecimal
      ? `a decimal with a ${MARKS[decimal]}, such as ${String(example).replace('.', decimal)}, without thousands separators`
      : `${expected} such as ${example}`,
  boolean: () => 'true or false',
  integer: () => 'a whole number such as 12, without thousands separators',
  number: (_, { decimal }) =>
    `a number with a ${MARKS[decimal]}, such as 2${decimal}5, without thousands separators`,
  array: () => 'a list such as a|b, or in JSON ["a","b"]',
  json: () => 'JSON',
};

const MARKS: Readonly<Record<DecimalMark, string>> = { '.': 'point', ',': 'comma' };

/** The text with a point for its decimal mark. One with the other mark stays invalid: it may separate thousands. */
function withPoint(text: string, decimal: DecimalMark): string {
  if (decimal === '.') return text;
  return text.includes('.') ? '' : text.replace(',', '.');
}

/** `t` is of PostgreSQL, `1.0` as above. */
const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ...['true', 't', 'yes', 'y', '1', '1.0'].map((text) => [text, true] as const),
  ...['false', 'f', 'no', 'n', '0', '0.0'].map((text) => [text, false] as const),
]);

const LOSSY = 'has more digits than a JSON number keeps';

function numberOf(text: string): Cell {
  return keepsDigits(text) ? { value: Number(text) } : { problem: LOSSY };
}

function jsonOf(text: string): Cell {
  try {
    const { value, lossy } = parseExactly(text);
    return lossy === undefined ? { value } : { problem: `has ${lossy}, which ${LOSSY}` };
  } catch {
    return {};
  }
}

function tooLong({ length }: string): Cell {
  return {
    problem: `has ${counted(length, 'character')}; at most ${counted(MAX_CELL, 'character')} are sent`,
  };
}

/** A cell in a message. */
export function shortened(cell: string): string {
  return JSON.stringify(cell.slice(0, 40));
}
