import { type CollectionName, collectionNames, fieldKinds, productFields } from 'accounting-data-sdk';
import { InvalidArgumentError } from 'commander';
import { suggestion } from '../internal/suggestion.ts';
import type { CellKind } from './push/cells.ts';
import { isServerField } from './push/columns.ts';
import type { CustomFields } from './push/product-file.ts';

/** A collection by its name (`accountAddresses`) or its path segment (`account-addresses`), in any spelling. */
export function collectionName(text: string): CollectionName {
  const letters = (name: string) => name.toLowerCase().replaceAll(/[^a-z]/g, '');
  const found = collectionNames.find((name) => letters(name) === letters(text));
  if (found !== undefined) return found;
  throw new InvalidArgumentError(`No collection is named ${text}. ${suggestion(text, collectionNames)}`);
}

/** One more collection of a list. */
export function collectionNameList(text: string, before: readonly CollectionName[] = []): CollectionName[] {
  return [...before, collectionName(text)];
}

/** An integer from `least` to `most`. */
export function wholeNumber(least: number, most = Number.MAX_SAFE_INTEGER): (text: string) => number {
  const range = most === Number.MAX_SAFE_INTEGER ? `of at least ${least}` : `from ${least} to ${most}`;
  return (text) => {
    const value = Number(text.replaceAll('_', ''));
    if (/^[\d_]+$/.test(text) && value >= least && value <= most) return value;
    throw new InvalidArgumentError(`Give a whole number ${range}.`);
  };
}

/** The most records to delete or change: an integer, or `all`. */
export function candidates(text: string): number {
  return text === 'all' ? Number.POSITIVE_INFINITY : wholeNumber(0)(text);
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** `90s`, `5m`, `0`: a time in ms. */
export function duration(text: string): number {
  const [, length = '', unit = 'ms'] = /^(\d+)(ms|s|m|h)$/.exec(text) ?? [];
  if (length !== '' || text === '0') return Number(length) * (UNITS[unit] ?? 0);
  throw new InvalidArgumentError('Give a time with its unit, such as 90s or 5m, or 0.');
}

const CELL_KINDS: readonly string[] = [...Object.keys(fieldKinds), 'json'];

/** `grade`, `colourCode:integer`: one more field that the API documentation does not have, with its kind unless it is a text. */
export function customField(text: string, before: CustomFields = {}): CustomFields {
  const end = text.lastIndexOf(':');
  const [name, kind] = end < 0 ? [text, 'string'] : [text.slice(0, end), text.slice(end + 1)];
  const field = name.trim();
  if (Object.hasOwn(productFields, field)) throw new InvalidArgumentError(`${field} is a documented field.`);
  if (isServerField(field))
    throw new InvalidArgumentError(`${field} is filled by the service: it cannot be written.`);
  if (field !== '' && CELL_KINDS.includes(kind.trim()))
    return { ...before, [field]: kind.trim() as CellKind };
  throw new InvalidArgumentError(
    `Give a name such as grade or colourCode:integer. The kinds are ${CELL_KINDS.join(', ')}.`,
  );
}

/** One character, or `tab`. */
export function delimiter(text: string): string {
  if (text === 'tab' || text === '\\t') return '\t';
  if ([...text].length === 1) return text;
  throw new InvalidArgumentError('Give one character, or tab.');
}

export function jsonObject(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  } catch {
    // The message of the parser would quote the text.
  }
  throw new InvalidArgumentError(`Give a JSON object such as '{"name":"Desk"}'.`);
}
