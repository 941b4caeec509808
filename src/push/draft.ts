// The one form of a draft, and what of it a product lacks. Pure functions.

import type { PushDifference } from '../reports/push-report.ts';
import { canonicalValue, sameValue } from '../schemas/field-kinds.ts';
import type { FieldTable } from '../schemas/record.ts';
import { folded } from './natural-key.ts';

/** Fields of a product or of a draft by name, as JSON values. */
export type JsonFields = Readonly<Record<string, unknown>>;

/** What is compared: the kinds of the fields, and the folded key of the row with the field that holds it, if that is known. */
export interface Comparison {
  readonly kinds: FieldTable;
  readonly rowKey: string;
  readonly keyField: string | undefined;
}

/** A draft in the form in which it is compared, sent and stored: sorted fields, canonical money. `null` clears a field. */
export function normalised(draft: JsonFields, kinds: FieldTable): JsonFields {
  const fields = Object.entries(draft).map(
    ([name, value]) => [name, canonicalValue(ownValue(kinds, name), value)] as const,
  );
  return Object.fromEntries(fields.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The fields that a create sends: clearing a field of a new product would mean nothing. */
export function withoutNull(draft: JsonFields): JsonFields {
  return Object.fromEntries(Object.entries(draft).filter(([, value]) => value !== null));
}

/**
 * The fields of a normalised draft that a product does not have. `null` and a missing field are the same, and so are two
 * keys of one folded form.
 */
export function changedFields(product: JsonFields, draft: JsonFields, how: Comparison): string[] {
  return Object.keys(draft).filter(
    (name) =>
      !sameValue(ownValue(how.kinds, name), draft[name], ownValue(product, name)) &&
      !(hasKey(ownValue(product, name), how) && isKeyField(name, draft, how)),
  );
}

/** Whether a field of the draft holds the key. A function as `key` does not say: then it is the only field that can. */
function isKeyField(name: string, draft: JsonFields, how: Comparison): boolean {
  if (how.keyField !== undefined) return name === how.keyField && hasKey(draft[name], how);
  const holders = Object.keys(draft).filter((each) => hasKey(draft[each], how));
  return holders.length === 1 && holders[0] === name;
}

function hasKey(value: unknown, { rowKey }: Comparison): boolean {
  return typeof value === 'string' && folded(value) === rowKey;
}

/** The fields that were sent, and that a product as the service returned it does not have. */
export function notStored(product: JsonFields, sent: JsonFields, how: Comparison): PushDifference[] {
  return changedFields(product, sent, how).map((field) => ({
    field,
    sent: sent[field],
    returned: ownValue(product, field) ?? null,
  }));
}

/** The named fields alone. */
export function picked(draft: JsonFields, names: readonly string[]): JsonFields {
  return Object.fromEntries(names.map((name) => [name, draft[name]]));
}

/** The own member of a name: a product may lack a field that is called `constructor`. */
export function ownValue<V>(fields: Readonly<Record<string, V>>, name: string): V | undefined {
  return Object.hasOwn(fields, name) ? fields[name] : undefined;
}
