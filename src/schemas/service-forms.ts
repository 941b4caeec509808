/** Every path of the service begins with it (specification: What the service does). */
export const API_PATH = '/api/public/v1';

/*
 * Forms that the specification leaves open. The sandbox plays each of them, and `probe` names the one that it sees.
 */

/** Forms of identifiers. `text` is any other string. */
export const ID_FORMS = ['numeric', 'uuid', 'ulid', 'text'] as const;

/** A bare array, or a JSON-LD object with `member` or `hydra:member`. */
export const LIST_BODIES = ['array', 'member', 'hydra:member'] as const;
/** The body of a list response: a bare array, or an object with `member` or `hydra:member`. */
export type ListBody = (typeof LIST_BODIES)[number];

/** The order of a list response. `none` is neither by id nor by a timestamp. */
export const LIST_ORDERS = [
  'id-asc',
  'id-desc',
  'created-asc',
  'created-desc',
  'updated-asc',
  'updated-desc',
  'none',
] as const;
/** The order of a list. */
export type ListOrder = (typeof LIST_ORDERS)[number];

/** Where a list names the cursor of its next page: in the header `Link`, or in the body. */
export const CURSORS = ['header', 'body'] as const;

/** `seconds`: `2026-01-31T12:00:00Z`; `offset`: `…+00:00`; `milliseconds`: `….123Z`. */
export const TIMESTAMP_FORMS = ['seconds', 'offset', 'milliseconds'] as const;
