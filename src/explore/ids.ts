import { type CollectionName, collectionNames, collections } from '../collections/index.ts';
import type { ID_FORMS } from '../schemas/service-forms.ts';

/** The form of identifiers. `text` is any string that is in none of the others. */
export type IdForm = (typeof ID_FORMS)[number];

const PATTERNS: readonly (readonly [IdForm, RegExp])[] = [
  ['numeric', /^(?:0|[1-9]\d{0,38})$/],
  ['uuid', /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i],
  ['ulid', /^[0-7][\dA-HJKMNP-TV-Z]{25}$/i],
];

/** The form that all ids have; undefined without ids. Ids of several forms are `text`. */
export function idFormOf(ids: readonly string[]): IdForm | undefined {
  if (ids.length === 0) return undefined;
  return PATTERNS.find(([, pattern]) => ids.every((id) => pattern.test(id)))?.[0] ?? 'text';
}

/** Compares two ids as a service would; undefined for a form whose order is unknown. */
export function idComparison(form: IdForm | undefined): ((a: string, b: string) => number) | undefined {
  if (form === 'numeric') return (a, b) => compare(BigInt(a), BigInt(b));
  // They begin with a timestamp and have one length: they sort by character, in either case.
  if (form === 'uuid' || form === 'ulid') return (a, b) => compare(a.toLowerCase(), b.toLowerCase());
  return undefined;
}

function compare<T extends bigint | string>(a: T, b: T): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** The largest id that a 32-bit column holds. */
export const MAX_INT4 = 2_147_483_647n;

/** An id that most likely does not exist, in the form of the others. */
export function missingId(form: IdForm | undefined): string {
  switch (form) {
    case 'numeric':
      // The service may reject an id that a 32-bit column cannot hold; this one is only missing.
      return '2147483646';
    case 'uuid':
      return '00000000-0000-4000-8000-000000000000';
    case 'ulid':
      return '00000000000000000000000000';
    default:
      return 'no-such-record';
  }
}

const nameOfSegment = new Map<string, CollectionName>(
  collectionNames.map((name) => [collections[name].segment, name]),
);

/** The collection of the record that an IRI such as `/api/public/v1/accounts/2` names; undefined for any other value. */
export function collectionOfIri(value: unknown): CollectionName | undefined {
  if (typeof value !== 'string') return undefined;
  const [, segment = ''] = /\/api\/public\/v1\/([a-z-]+)\/[^/?#]+$/.exec(value) ?? [];
  return nameOfSegment.get(segment);
}
