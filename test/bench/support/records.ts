import { products } from '../../../src/collections/products.ts';
import { type FieldKind, fieldKinds } from '../../../src/schemas/field-kinds.ts';

/** The number of fields of a record of the bench, and its bytes as JSON. */
export const FIELDS = 68;
export const BYTES = 1_769;

/** Ids have seven digits, so that every record has the same length. */
export const FIRST_ID = 1_000_000;

const WORDS = 'oak walnut desk chair lamp shelf drawer frame panel hinge'.split(' ');

function fieldValue(kind: FieldKind, seed: number): unknown {
  if (kind === 'money') return `${(seed * 37) % 1000}.${String(seed % 10_000).padStart(4, '0')}`;
  switch (fieldKinds[kind].json) {
    case 'string':
      return seed % 5 === 0 ? null : `${WORDS[seed % WORDS.length]} ${seed % 97}`;
    case 'boolean':
      return seed % 2 === 0;
    case 'integer':
      return seed % 10;
    case 'number':
      return (seed % 400) / 4;
    case 'array':
      return ['new', WORDS[seed % WORDS.length]];
  }
}

/** A product with fields that are unspecified, as JSON of exactly BYTES bytes. */
export function recordJson(index: number): string {
  const record: Record<string, unknown> = { id: String(FIRST_ID + index) };
  Object.entries(products.fields).forEach(([name, kind], field) => {
    record[name] = fieldValue(kind, index * 13 + field * 7);
  });
  record.createdAt = '2026-01-31T12:00:00Z';
  record.updatedAt = '2026-02-28T12:00:00Z';
  for (let extra = 1; Object.keys(record).length < FIELDS; extra += 1)
    record[`extra${extra}`] = `x${index % 10}`;
  record.description = '';
  const missing = BYTES - JSON.stringify(record).length;
  if (missing < 0) throw new Error(`a record has ${-missing} bytes too many`);
  record.description = 'd'.repeat(missing);
  return JSON.stringify(record);
}
