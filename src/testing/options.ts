import type { CollectionName } from '../collections/index.ts';
import type {
  ID_FORMS,
  ListBody,
  ListOrder,
  ProblemTypeForm,
  TIMESTAMP_FORMS,
} from '../schemas/service-forms.ts';
import type { ClockOption } from './clock.ts';

/** How many records of each collection are generated, or how many in all. */
export type RecordCounts = number | Partial<Readonly<Record<CollectionName, number>>>;

export type { ListOrder };

/**
 * The form of `type` in a problem document. `api-platform` is what API Platform 3.4 and 4 send: `/errors/403`, and
 * `/validation_errors/<uuid>` with the UUID of the violated constraint (several: `0=<uuid>;1=<uuid>`); a 401 is
 * `{ "message": … }`. `api-platform-3.1` has a URL of RFC 2616 instead.
 */
export type ProblemType = ProblemTypeForm | 'api-platform' | 'api-platform-3.1';

/** The form of identifiers. UUIDs are of version 7, so that like ULIDs they sort by age. */
export interface IdOptions {
  /** @default 'numeric' */
  form?: (typeof ID_FORMS)[number] | undefined;
  /** The first numeric id. @default 1 */
  start?: number | undefined;
  /**
   * Mean distance between numeric ids: 1 is dense; with 5, four of five numbers are missing, at seeded places.
   * @default 1
   */
  gap?: number | undefined;
}

/** What the service does when an `Idempotency-Key` is sent again. While the first request still runs it answers 409. */
export interface IdempotencyOptions {
  /**
   * The same key and the same body: `stored` answers what the first request was answered, `conflict` answers 409.
   * With `ignored` the service does not read the header: it may be missing, and the same key creates a second record.
   * @default 'stored'
   */
  replay?: 'stored' | 'conflict' | 'ignored' | undefined;
  /** The same key with another body: `reject` answers 422 `validation_failed`, `stored` the first answer. @default 'reject' */
  differentBody?: 'reject' | 'stored' | undefined;
  /** How long a key is remembered, in ms. @default 86_400_000 (24 hours) */
  lifetimeMs?: number | undefined;
  /**
   * Whether a 422 `validation_failed` is stored like a success, so that the same key returns it again, even after the
   * caller has corrected whatever was wrong. By default, a rejected create leaves its key unused. @default false
   */
  storeRejections?: boolean | undefined;
}

/** The content types of request bodies that the service reads. Any other is answered with 415. */
export interface ContentTypeOptions {
  /** For POST. @default ['application/json'] */
  create?: readonly string[] | undefined;
  /** For PATCH. @default ['application/json'] */
  update?: readonly string[] | undefined;
}

/** The budget of each key. */
export interface RateLimitOptions {
  /** Requests allowed in a window; for `token-bucket` the size of the bucket. @default 10_000 */
  budget?: number | undefined;
  /** The window in ms; a `token-bucket` fills up in that time. @default 60_000 */
  windowMs?: number | undefined;
  /**
   * `fixed` opens at multiples of the window, `fixed-from-first` with the first request after the last one closed,
   * `sliding` counts the requests of the last window, `sliding-counter` estimates that from two fixed windows,
   * `token-bucket` refills steadily.
   * @default 'fixed'
   */
  kind?: 'fixed' | 'fixed-from-first' | 'sliding' | 'sliding-counter' | 'token-bucket' | undefined;
}

/**
 * What `createSandbox` takes. Everything that the contract does not show has a name and a default here: change it to
 * see whether a connector leans on a guess.
 */
export interface SandboxOptions {
  /** Seed of the generated data and of faults with a probability. @default 1 */
  seed?: number | undefined;
  /** Generated records of the first company: a number is spread over all fourteen collections. @default 0 */
  records?: RecordCounts | undefined;
  /** Generated records of the other company. @default 0 */
  otherRecords?: RecordCounts | undefined;
  /** Where `sandbox.fetch` and the msw handlers live. @default 'https://sandbox-<n>.invalid', unique in the process */
  origin?: string | undefined;
  /** An instant at which the clock stands until it is moved, or a source with `now()`. @default the clock of the machine */
  clock?: ClockOption | undefined;
  /** How far the service's clock is ahead of `clock`, in ms. @default 0 */
  clockOffsetMs?: number | undefined;
  /**
   * `seconds`: `2026-01-31T12:00:00Z`; `offset`: `…+00:00`, in `timeZone`; `milliseconds`: `….123Z`.
   * @default 'seconds'
   */
  timestamps?: (typeof TIMESTAMP_FORMS)[number] | undefined;
  /** The service's own zone, an IANA name such as `America/New_York`: see `timestamps` and `dateFilter`. @default 'UTC' */
  timeZone?: string | undefined;
  /**
   * How `updatedSince` is compared: `instant` converts its offset. `local` ignores the offset and compares the date and
   * time as written with local times of `timeZone`, as Symfony does: in New York `15:00:00Z` does not find a change of
   * `10:00:00-05:00`, which is the same moment.
   * @default 'instant'
   */
  dateFilter?: 'instant' | 'local' | undefined;
  /** Whether records other than products carry `createdAt` and `updatedAt`, which the contract does not say. @default false */
  timestampsEverywhere?: boolean | undefined;

  /** Records in a full page. @default 30 */
  pageSize?: number | undefined;
  /** @default 'id-asc' */
  order?: ListOrder | undefined;
  ids?: IdOptions | undefined;
  /** A filter value that cannot be read: left out in silence, or refused with 400. @default 'ignore' */
  invalidFilter?: 'ignore' | 'reject' | undefined;
  /** Bounds on UUIDs and ULIDs: applied in the order of their text, or dropped without an error. @default 'apply' */
  textIdBounds?: 'apply' | 'ignore' | undefined;
  /** What stands between the bounds of `id[between]`; both are included. @default '..' */
  betweenSeparator?: string | undefined;
  /** `_page` past the end: an empty list, or 404. Page 1 of an empty collection is always an empty list. @default 'empty' */
  afterLastPage?: 'empty' | 'not-found' | undefined;
  /**
   * Records that a list leaves out after it was cut into pages, as a service does that filters by permission too late:
   * a page then has fewer records than `pageSize`, although more follow. A share from 0 to 1, drawn from the seed, or
   * the ids. A record is found by its id all the same. @default 0
   */
  hiddenRecords?: number | readonly string[] | undefined;
  /**
   * The type of the column that numeric ids are stored in. A bound beyond `int4` (2,147,483,647) or `int8`
   * (9,223,372,036,854,775,807) is answered with 500, as PostgreSQL makes a service do. @default 'unbounded'
   */
  idColumn?: 'unbounded' | 'int4' | 'int8' | undefined;
  /** A bare array, or a JSON-LD object with `member` or `hydra:member`. @default 'array' */
  listBody?: ListBody | undefined;
  /**
   * The formats of responses: with `json` the header `Accept` is not read. `jsonld`: JSON-LD only, and 406 for an
   * `Accept` without it; records have `@id` and `@type`, and a list is an object (see `listBody`; `member` in the place
   * of `array`). `both`: the format that `Accept` prefers.
   * @default 'json'
   */
  formats?: 'json' | 'jsonld' | 'both' | undefined;
  /**
   * How a record names another one in fields such as `accountId`: by its id, or by its IRI
   * (`"/api/public/v1/accounts/2"`). @default 'id'
   */
  relations?: 'id' | 'iri' | undefined;

  /** @default 'bare' */
  problemType?: ProblemType | undefined;
  /** Content type of 403 and 404. @default 'application/problem+json' */
  problemContentType?: 'application/problem+json' | 'application/json' | 'application/ld+json' | undefined;

  /**
   * The body of a 404: a problem document, or that of a proxy or a router that does not know the path: HTML, a JSON
   * object without any member of a problem document, or nothing. @default 'problem'
   */
  notFoundBody?: 'problem' | 'html' | 'json' | 'empty' | undefined;

  /**
   * Content types that POST and PATCH accept. Given, any other is answered with 415; left out, any other than
   * `application/json` with 400. @default undefined
   */
  contentTypes?: ContentTypeOptions | undefined;
  /** Fields that are `null` in responses: shown as `null`, or left out, as API Platform does. @default 'sent' */
  nullFields?: 'sent' | 'omitted' | undefined;

  /** Status of a create. @default 201 */
  createStatus?: 200 | 201 | undefined;
  /** Status of an update; 204 has no body. @default 200 */
  updateStatus?: 200 | 201 | 204 | undefined;
  /** Status of a delete; 200 answers the record as it was. @default 204 */
  deleteStatus?: 200 | 204 | undefined;
  idempotency?: IdempotencyOptions | undefined;
  /** Product fields that must not be empty. @default [] */
  requiredFields?: readonly string[] | undefined;
  /** Allowed values of a product's `status`; undefined allows any. @default undefined */
  allowedStatuses?: readonly string[] | undefined;
  /** Unknown fields of a body: left out, or refused with 422. @default 'ignore' */
  unknownFields?: 'ignore' | 'reject' | undefined;
  /** Digits after the point to which an amount is filled up; `as-sent` leaves it alone. @default 4 */
  moneyDigits?: number | 'as-sent' | undefined;
  /** The largest request body, in bytes. @default 1_048_576 */
  maxRequestBytes?: number | undefined;
  /** Status of a body that is too large. @default 413 */
  tooLargeStatus?: 400 | 413 | 422 | undefined;
  /**
   * How long a write stays invisible to readers, in ms: a record then appears with an `updatedAt` that has passed.
   * Writers see it at once. @default 0
   */
  commitDelayMs?: number | undefined;

  /** `false`: no budget, and the headers report a large one that never shrinks. */
  rateLimit?: RateLimitOptions | false | undefined;
  /** How many of the last requests and commits are kept for `sandbox.requests` and `sandbox.journal`. @default 10_000 */
  logLimit?: number | undefined;
}
