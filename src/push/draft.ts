// The one form of a draft, and what of it a product lacks. Pure functions.

import type { PushDifference } from '../reports/push-report.ts';
import { canonicalValue, sameValue } from '../schemas/field-kinds.ts';
import type { FieldTable } from '../schemas/record.ts';

/** Fields of a product or of a draft by name, as JSON values. */
export type JsonFields = Readonly<Record<string, unknown>>;

/** A draft in the form in which it is compared, sent and stored: sorted fields, canonical money. `null` clears a field. */
export function normalised(draft: JsonFields, kinds: FieldTable): JsonFields {
  const fields = Object.entries(draft).map(
    ([name, value]) => [name, canonicalValue(kindOf(kinds, name), value)] as const,
  );
  return Object.fromEntries(fields.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The fields that a create sends: clearing a field of a new product would mean nothing. */
export function withoutNull(draft: JsonFields): JsonFields {
  return Object.fromEntries(Object.entries(draft).filter(([, value]) => value !== null));
}

/** The fields of a normalised draft that a product does not have. `null` and a missing field are the same. */
export function changedFields(product: JsonFields, draft: JsonFields, kinds: FieldTable): string[] {
  return Object.keys(draft).filter((name) => !sameValue(kindOf(kinds, name), draft[name], product[name]));
}

/** The fields that were sent, and that a product as the service returned it does not have. */
export function notStored(product: JsonFields, sent: JsonFields, kinds: FieldTable): PushDifference[] {
  return changedFields(product, sent, kinds).map((field) => ({
    field,
    sent: sent[field],
    returned: product[field] ?? null,
  }));
}

/** The named fields alone. */
export function picked(draft: JsonFields, names: readonly string[]): JsonFields {
  return Object.fromEntries(names.map((name) => [name, draft[name]]));
}

function kindOf(kinds: FieldTable, name: string) {
  return Object.hasOwn(kinds, name) ? kinds[name] : undefined;
}
