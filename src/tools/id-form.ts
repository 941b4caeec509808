import type { ID_FORMS } from '../schemas/service-forms.ts';

/** The form of identifiers. `other` is any text that is none of the three. */
export type IdForm = (typeof ID_FORMS)[number] | 'other';

const FORMS: readonly (readonly [IdForm, RegExp])[] = [
  ['numeric', /^(?:0|[1-9]\d{0,38})$/],
  ['uuid', /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i],
  ['ulid', /^[0-7][\dA-HJKMNP-TV-Z]{25}$/i],
];

/** The form that all ids have; undefined where there are none. Ids of several forms are `other`. */
export function idFormOf(ids: readonly string[]): IdForm | undefined {
  if (ids.length === 0) return undefined;
  const fitting = FORMS.find(([, pattern]) => ids.every((id) => pattern.test(id)));
  return fitting?.[0] ?? 'other';
}

/** Sorts two ids as a service would; undefined for a form of which nobody can know the order. */
export function idComparison(form: IdForm | undefined): ((a: string, b: string) => -1 | 0 | 1) | undefined {
  if (form === 'numeric') return (a, b) => compare(BigInt(a), BigInt(b));
  // Texts of one length whose first characters are the time: by character, letters in either case.
  if (form === 'uuid' || form === 'ulid') return (a, b) => compare(a.toLowerCase(), b.toLowerCase());
  return undefined;
}

function compare<T extends bigint | string>(a: T, b: T): -1 | 0 | 1 {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** The largest id that a 32-bit column holds. */
export const MAX_INT4 = 2_147_483_647n;

/** An id of a form that no record has, most likely. */
export function missingId(form: IdForm | undefined): string {
  switch (form) {
    case 'numeric':
      // The last but one that a 32-bit column holds: a larger one may fail for its size, not for being missing.
      return '2147483646';
    case 'uuid':
      return '00000000-0000-4000-8000-000000000000';
    case 'ulid':
      return '00000000000000000000000000';
    default:
      return 'no-such-record';
  }
}
