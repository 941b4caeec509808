// The one form of a draft, and what of it a product lacks. Pure functions.

import { isMoney } from '../schemas/money.ts';
import type { FieldTable } from '../schemas/record.ts';

/** Fields of a product by name, as JSON values. */
export type Fields = Readonly<Record<string, unknown>>;

/** A draft in the form in which it is compared, sent and stored: sorted fields, canonical money. `null` clears a field. */
export function normalised(draft: Fields, kinds: FieldTable): Fields {
  const fields = Object.entries(draft).map(([name, value]) => [name, canonical(value, kindOf(kinds, name))]);
  return sortedObject(fields as [string, unknown][]);
}

/** The fields that a create sends: clearing a field of a new product would mean nothing. */
export function withoutNull(draft: Fields): Fields {
  return Object.fromEntries(Object.entries(draft).filter(([, value]) => value !== null));
}

/** The fields of a normalised draft that a product does not have. `null` and a missing field are the same. */
export function changedFields(product: Fields, draft: Fields, kinds: FieldTable): string[] {
  return Object.keys(draft).filter((name) => {
    const present = canonical(product[name] ?? null, kindOf(kinds, name));
    return JSON.stringify(draft[name]) !== JSON.stringify(present);
  });
}

/** The named fields alone. */
export function picked(draft: Fields, names: readonly string[]): Fields {
  return Object.fromEntries(names.map((name) => [name, draft[name]]));
}

function kindOf(kinds: FieldTable, name: string) {
  return Object.hasOwn(kinds, name) ? kinds[name] : undefined;
}

function canonical(value: unknown, kind: string | undefined): unknown {
  return kind === 'money' && isMoney(value) ? canonicalMoney(value) : sorted(value);
}

/** The one string for an amount: `5`, `5.0` and `005.00000` become `5.0000`, as the service writes amounts. */
function canonicalMoney(amount: string): string {
  const canonical = amount.replace(
    /^(-?)0*(\d+)(?:\.(\d*?)0*)?$/,
    (_, sign: string, whole: string, decimals = '') => `${sign}${whole}.${decimals.padEnd(4, '0')}`,
  );
  return /[1-9]/.test(canonical) ? canonical : '0.0000';
}

/** With the members of every object in order, so that equal values have equal JSON. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return sortedObject(Object.entries(value).map(([name, inner]) => [name, sorted(inner)]));
}

function sortedObject(entries: [string, unknown][]): Fields {
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}
