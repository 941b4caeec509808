import { type CollectionName, collections } from '../collections/index.ts';
import {
  group,
  type Named,
  type OptionInputs,
  option,
  optional,
  type ResolvedOptions,
} from '../internal/options.ts';
import { isDate } from '../internal/realm.ts';
import { suggestion } from '../internal/suggestion.ts';
import type { AccountingRecord } from '../schemas/record.ts';
import {
  CURSORS,
  ID_FORMS,
  LIST_BODIES,
  LIST_ORDERS,
  type ListOrder,
  TIMESTAMP_FORMS,
} from '../schemas/service-forms.ts';
import { type ByCollection, byCollection, groupByCollection, groupOf, valueFor } from './by-collection.ts';
import { is, resolved, shown } from './checks.ts';
import type { ClockOption, TimeSource } from './clock.ts';
import { errorBody } from './error-body.ts';
import type { Fixtures } from './fixtures.ts';
import { zoneOffsetMs } from './time-zone.ts';

// A new option is one entry of these tables: types, checks, defaults, `sandbox --help` and the guide "Sandbox options"
// are derived from them. The doc comment of an entry is the documentation of the option, in the editor and in the guide.

const idOptions = {
  /**
   * The form of ids. UUIDs are of version 7, so that like ULIDs they sort by age. A `text` is `prefix` with ten digits behind
   * it.
   * @default 'numeric'
   */
  form: option(is.oneOf(...ID_FORMS), 'numeric'),
  /** The first number of `numeric` and `text` ids. @default 1 */
  start: option(is.integerFrom(0), 1),
  /**
   * The mean distance between the numbers. With 1 there are no gaps; with 5, four of five numbers are missing, at places
   * drawn from the seed.
   * @default 1
   */
  gap: option(is.integerFrom(1), 1),
  /** What `text` ids begin with, such as `mail.host.`. @default 'id-' */
  prefix: option(is.string, 'id-'),
  /** Whether numeric ids are sent as JSON numbers. @default false */
  numbers: option(is.flag, false),
};

interface IdsOfOne extends OptionInputs<typeof idOptions>, Named {}

/** Ids of generated and new records: see the option `ids`. */
export interface SandboxIds extends IdsOfOne, ByCollection<IdsOfOne> {}

const filterOptions = {
  /**
   * The bounds on `id`. `single` applies only the first of two. Those on ids that are not numeric also need
   * `textIdBounds`.
   * @default 'apply'
   */
  id: option(is.oneOf('apply', 'ignore', 'reject', 'single'), 'apply'),
  /** The filter by modification. @default 'apply' */
  updatedSince: option(is.oneOf('apply', 'ignore', 'reject'), 'apply'),
};

interface FiltersOfOne extends OptionInputs<typeof filterOptions>, Named {}

/** What lists do with filters: see the option `filters`. */
export interface SandboxFilters extends FiltersOfOne, ByCollection<FiltersOfOne> {}

const contentTypes = is.check<readonly string[]>(
  'an array of content types',
  (value) => is.strings.allows(value) && value.length > 0,
);

const contentTypeOptions = {
  /** For POST. @default ['application/json'] */
  create: option(contentTypes, ['application/json']),
  /** For PATCH. @default ['application/json'] */
  update: option(contentTypes, ['application/json']),
};

const idempotencyOptions = {
  /**
   * The response to the same key with the same body: `stored` returns the first response again, `conflict` returns 409.
   * With `ignored` the service does not read the header: it may be missing, and the same key creates a second record.
   * @default 'stored'
   */
  replay: option(is.oneOf('stored', 'conflict', 'ignored'), 'stored'),
  /**
   * The response to the same key with another body: `reject` returns 422 `validation_failed`, `stored` the first
   * response.
   * @default 'reject'
   */
  differentBody: option(is.oneOf('reject', 'stored'), 'reject'),
};

const newRecordOptions = {
  /** How long lists leave it out, in ms. @default 0 */
  listedAfterMs: option(is.integerFrom(0), 0),
  /** How long GET, PATCH and DELETE of its id respond with 404, in ms. @default 0 */
  foundAfterMs: option(is.integerFrom(0), 0),
};

const rateLimitOptions = {
  /** Requests allowed in a window; for `token-bucket` the size of the bucket. @default 10_000 */
  limit: option(is.integerFrom(1), 10_000),
  /** The length of the window in ms; a `token-bucket` fills in that time. @default 60_000 */
  windowMs: option(is.integerFrom(1), 60_000),
  /**
   * `fixed` windows open at multiples of their length, `fixed-from-first` windows with the first request after the last
   * window. `sliding-counter` estimates the requests of the last `windowMs` from two fixed windows. A `token-bucket`
   * refills steadily.
   * @default 'fixed'
   */
  kind: option(is.oneOf('fixed', 'fixed-from-first', 'sliding-counter', 'token-bucket'), 'fixed'),
};

/** The number of generated records of each collection, or of all together. */
export type RecordCounts = number | Partial<Readonly<Record<CollectionName, number>>>;

const isCount = is.integerFrom(0).allows;
const recordCounts = is.check<RecordCounts>(
  'a whole number of at least 0, or an object with one for each collection; your own records go into fixtures',
  (value) =>
    isCount(value) || (typeof value === 'object' && value !== null && Object.values(value).every(isCount)),
);

/** Some records: a fraction, drawn from the seed; their ids; or a function that is true for them. */
export type RecordSelection = number | readonly string[] | ((record: AccountingRecord) => boolean);

const recordSelection = is.check<RecordSelection>(
  'a number from 0 to 1, an array of ids, or a function',
  (value) => is.fraction.allows(value) || is.strings.allows(value) || typeof value === 'function',
);

/** Every option of `createSandbox`, with its default and the values that it may have. */
export const sandboxOptions = {
  /** Seed of the generated records, the keys and the faults with a probability. @default 1 */
  seed: option(is.integer, 1),
  /** Generated records of the first company: a number is spread over all collections. @default 0 */
  records: option(recordCounts, 0),
  /** Generated records of the other company. @default 0 */
  otherRecords: option(recordCounts, 0),
  /**
   * Records of the first company, beside the generated ones: a folder that `pull --all --out` wrote, with a file for each
   * collection such as `accounts.ndjson`, or an object of records by collection. They keep their ids and references.
   * @default undefined
   */
  fixtures: optional(
    is.check<string | Fixtures>(
      'a folder, or an object of records by collection',
      (value) => is.string.allows(value) || is.object.allows(value),
    ),
  ),
  /**
   * The origin of `sandbox.fetch` and of the msw handlers. By default each sandbox has its own, such as
   * `https://sandbox-1.invalid`.
   * @default undefined
   */
  origin: optional(is.check<string>('a URL', (value) => URL.canParse(String(value)))),
  /**
   * A timestamp at which the clock stands still until a test moves it, or a source with `now()`. By default the clock of
   * the machine.
   * @default undefined
   */
  clock: optional(
    is.check<ClockOption>(
      'a timestamp, or an object with now()',
      (value) =>
        ['string', 'number'].includes(typeof value) ||
        isDate(value) ||
        is.withMethods<TimeSource>('now').allows(value),
    ),
  ),
  /** How far the service's clock is ahead of `clock`, in ms. @default 0 */
  clockOffsetMs: option(is.milliseconds, 0),
  /**
   * The form of timestamps. `seconds`: `2026-01-31T12:00:00Z`; `offset`: `2026-01-31T12:00:00+00:00`, in `timeZone`;
   * `milliseconds`: `2026-01-31T12:00:00.123Z`.
   * @default 'seconds'
   */
  timestamps: option(is.oneOf(...TIMESTAMP_FORMS), 'seconds'),
  /** The service's own time zone, an IANA name or an offset: see `timestamps` and `dateFilter`. @default 'UTC' */
  timeZone: option(
    is.check<string>('an IANA name such as Europe/Amsterdam, or an offset such as +12:45', isTimeZone),
    'UTC',
  ),
  /**
   * How `updatedSince` is compared. `utc` converts its offset. `local` ignores the offset and compares the date and time
   * as written with local times of `timeZone`, as Symfony does: in New York `15:00:00Z` does not find a change at
   * `10:00:00-05:00`, which is the same time. `stored` converts the bound to the local times that are stored without their
   * offset: when clocks go back, the changes of two hours have the same times.
   * @default 'utc'
   */
  dateFilter: option(is.oneOf('utc', 'local', 'stored'), 'utc'),
  /** Whether records other than products have `createdAt` and `updatedAt`. @default false */
  timestampsEverywhere: option(is.flag, false),

  /** Records in a full page. @default 30 */
  pageSize: option(is.integerFrom(1), 30),
  /**
   * The order of a list. `none` is a fixed shuffle in which a changed record moves. An object has the orders of collections
   * that differ, by their names.
   * @default 'id-asc'
   */
  order: option(byCollection(is.oneOf(...LIST_ORDERS)), 'id-asc'),
  /**
   * The order of records that are equal in `order`, such as those changed in the same second: by ascending id, another
   * order in each page, or another in each response. PostgreSQL has another in each page, because each page is a query of
   * its own; the same page again has the same records.
   * @default 'id-asc'
   */
  ties: option(is.oneOf('id-asc', 'each-page', 'each-response'), 'id-asc'),
  /** The name of the parameter with the page number; any other is ignored. API Platform's is `page`. @default '_page' */
  pageParameter: option(is.string, '_page'),
  /** The name of a parameter with the page size, as `itemsPerPage` of API Platform if that is enabled. Empty: none. @default '' */
  pageSizeParameter: option(is.string, ''),
  /**
   * Whether lists are divided into pages; if not, every response is the whole list. With `first` every response is the first
   * page, as of a service whose page parameter is not known. An object has this for collections that differ:
   * `{ accounts: false }`.
   * @default true
   */
  paginated: option(
    byCollection(
      is.check<boolean | 'first'>(
        "true, false or 'first'",
        (value) => typeof value === 'boolean' || value === 'first',
      ),
    ),
    true,
  ),
  /**
   * How a list is continued instead of by page numbers, which are then ignored: each response but the last one names the
   * next page by an opaque `cursor` in a link, in the header `Link` or in `view` of the body, which is then an object. Ties in
   * `order` are by id.
   * @default undefined
   */
  cursor: optional(is.oneOf(...CURSORS)),
  /** Whether lists have a header `Link` to the first and the next page, by their numbers. @default false */
  linkHeader: option(is.flag, false),
  /**
   * The ids of generated and new records. A collection that differs has options of its own by its name:
   * `{ form: 'uuid', products: { form: 'numeric' } }`.
   */
  ids: groupByCollection<typeof idOptions, SandboxIds>(idOptions),
  /**
   * What lists do with a filter: apply it, ignore it, or reject the request with 400. A collection that differs has options of
   * its own by its name: `{ accounts: { updatedSince: 'ignore' } }`.
   */
  filters: groupByCollection<typeof filterOptions, SandboxFilters>(filterOptions),
  /** An invalid value of a filter: dropped without an error, or rejected with 400. @default 'ignore' */
  invalidFilter: option(is.oneOf('ignore', 'reject'), 'ignore'),
  /**
   * Bounds on ids that are not numeric: applied in the order of the strings, or dropped without an error, as API Platform's range
   * filter does.
   * @default 'apply'
   */
  textIdBounds: option(is.oneOf('apply', 'ignore'), 'apply'),
  /** The separator between the bounds of `id[between]`. Both are included. @default '..' */
  betweenSeparator: option(is.string, '..'),
  /**
   * The response to a page after the last one: an empty list, or 404. Page 1 of an empty collection is always an empty
   * list.
   * @default 'empty'
   */
  afterLastPage: option(is.oneOf('empty', 'not_found'), 'empty'),
  /**
   * Records that a list leaves out after it was divided into pages, as a service does that checks permissions too late:
   * a page then has fewer records than `pageSize` although more follow. A fraction, drawn from the seed, ids, or a
   * function of the record. GET by id still finds them.
   * @default 0
   */
  hiddenRecords: option(recordSelection, 0),
  /**
   * Records that reject PATCH and DELETE with 403 `forbidden`, as `sandbox.store.products.lock(id)` does: a fraction,
   * drawn from the seed, ids, or a function of the record.
   * @default 0
   */
  lockedRecords: option(recordSelection, 0),
  /**
   * The type of the column that stores numeric ids. A bound beyond `int4` (2,147,483,647) or `int8`
   * (9,223,372,036,854,775,807) is a 500, as with PostgreSQL.
   * @default 'unbounded'
   */
  idColumn: option(is.oneOf('unbounded', 'int4', 'int8'), 'unbounded'),
  /**
   * The body of a list: an array, or a JSON-LD object with `member` or `hydra:member`, whose `view` has links to other pages.
   * Without pages it has `totalItems` instead.
   * @default 'array'
   */
  listBody: option(is.oneOf(...LIST_BODIES), 'array'),
  /**
   * The format of responses. With `json` the service does not read `Accept`. `jsonld`: 406 for an `Accept` without
   * JSON-LD; records have `@id` and `@type`, and a list is an object with `member` unless `listBody` says otherwise. `both`:
   * the one that `Accept` names first, JSON-LD for any other.
   * @default 'json'
   */
  formats: option(is.oneOf('json', 'jsonld', 'both'), 'json'),
  /**
   * How fields such as `accountId` name another record: by its id, or by its IRI (`"/api/public/v1/accounts/2"`).
   * @default 'id'
   */
  relations: option(is.oneOf('id', 'iri'), 'id'),

  /**
   * The form of `type` in a problem document. `about:blank`, `rfc-url`, `status` and `absent` are generic: they do not
   * name the error. `api-platform` is what API Platform 3.4 and 4 send: `/errors/403`, and `/validation_errors/<uuid>`
   * with the UUID of the violated constraint (several: `0=<uuid>;1=<uuid>`); a 401 is `{ "message": "…" }`.
   * `api-platform-3.1` has a URL of RFC 2616 instead.
   * @default 'bare'
   */
  problemType: option(
    is.oneOf(
      'bare',
      'path',
      'url',
      'urn',
      'about:blank',
      'rfc-url',
      'status',
      'absent',
      'api-platform',
      'api-platform-3.1',
    ),
    'bare',
  ),
  /**
   * The body of a 404 in place of a problem document, such as a proxy, gateway or router sends for an unknown path: a string
   * is sent as HTML, an empty string as no body, and an object as JSON, such as `{ "message": "Not Found" }`.
   * @default undefined
   */
  notFoundBody: optional(errorBody),
  /**
   * The content types that POST and PATCH accept; any other is a 415. By default `application/json`, and any other is a
   * 400.
   * @default undefined
   */
  contentTypes: optional(group(contentTypeOptions)),
  /** Fields that are `null`: sent as `null`, or left out of responses, as API Platform does. @default 'sent' */
  nullFields: option(is.oneOf('sent', 'omitted'), 'sent'),

  /** The status of a create. @default 201 */
  createStatus: option(is.oneOf(200, 201), 201),
  /** The status of an update; 204 has no body. @default 200 */
  updateStatus: option(is.oneOf(200, 201, 204), 200),
  /** The status of a delete; 200 returns the record as it was. @default 204 */
  deleteStatus: option(is.oneOf(200, 204), 204),
  /**
   * What an `Idempotency-Key` does, for 24 hours. While the first request runs, the same key is a 409
   * `request_in_progress`. A rejected create leaves its key unused.
   */
  idempotency: group(idempotencyOptions),
  /** Fields of a product that must not be empty. @default [] */
  requiredFields: option(is.strings, []),
  /** The allowed values of a product's `status`; `undefined` allows any. @default undefined */
  allowedStatuses: optional(is.strings),
  /**
   * Product fields that must be unique within a company; empty values are exempt. A value in use is a 422 with a violation.
   * @default []
   */
  uniqueFields: option(is.strings, []),
  /** Unknown fields of a body: dropped, stored as custom fields are, or rejected with 422. @default 'ignore' */
  unknownFields: option(is.oneOf('ignore', 'store', 'reject'), 'ignore'),
  /**
   * Digits after the decimal point to which an amount is padded: with 4, `'5'` is stored as `'5.0000'`. `as-sent` stores
   * it unchanged.
   * @default 4
   */
  moneyDigits: option(
    is.check<number | 'as-sent'>(
      'a whole number of at least 0, or as-sent',
      (value) => value === 'as-sent' || is.integerFrom(0).allows(value),
    ),
    4,
  ),
  /** Whether responses have the amounts of products as JSON numbers, which lose digits. @default false */
  moneyAsNumbers: option(is.flag, false),
  /**
   * How long requests that read do not see a write, in ms: a record then appears with an `updatedAt` in the past. Requests
   * that write see it at once.
   * @default 0
   */
  commitDelayMs: option(is.integerFrom(0), 0),
  /**
   * When requests see a record that a request created, such as one that is created in the background after its 201, or
   * listed from a replica. `commitDelayMs` applies too, `sandbox.store` sees the record at once.
   */
  newRecords: group(newRecordOptions),

  /** The quota of each key. With `false` the headers report a large quota that never shrinks. */
  rateLimit: group(rateLimitOptions, false),
  /** Whether responses carry `X-RateLimit-Limit` and `X-RateLimit-Remaining`. @default true */
  rateLimitHeaders: option(is.flag, true),
};

/**
 * The options of `createSandbox`. Everything that the specification leaves open is an option with a stated default:
 * change it to see whether a connector relies on an assumption.
 */
export interface SandboxOptions extends OptionInputs<typeof sandboxOptions>, Named {}

/** Options of the sandbox with every default applied. */
export interface ResolvedSandboxOptions extends ResolvedOptions<typeof sandboxOptions> {}

/** The ids of one collection. */
export type IdForm = ResolvedOptions<typeof idOptions>;

/** The options of one collection: those that each collection can have for itself are its own. */
export interface CollectionOptions
  extends Omit<ResolvedSandboxOptions, 'ids' | 'filters' | 'order' | 'paginated'> {
  readonly ids: IdForm;
  readonly filters: ResolvedOptions<typeof filterOptions>;
  readonly order: ListOrder;
  readonly paginated: boolean | 'first';
}

/** The options of one collection. */
export function optionsOf(options: ResolvedSandboxOptions, name: CollectionName): CollectionOptions {
  return {
    ...options,
    ids: groupOf(idOptions, options.ids, name),
    filters: groupOf(filterOptions, options.filters, name),
    order: valueFor(sandboxOptions.order, options.order, name),
    paginated: valueFor(sandboxOptions.paginated, options.paginated, name),
  };
}

/** The form of `type` in a problem document: see the option `problemType`. */
export type ProblemType = ResolvedSandboxOptions['problemType'];

/** Applies the defaults. Throws a TypeError for an option or a value that does not exist. */
export function resolveSandboxOptions(given: SandboxOptions): ResolvedSandboxOptions {
  const options = resolved(sandboxOptions, given, 'createSandbox', 'records');
  checkFields('requiredFields', options.requiredFields);
  checkFields('uniqueFields', options.uniqueFields);
  return options;
}

function checkFields(option: string, names: readonly string[]): void {
  const { fields, serverFilled } = collections.products;
  const known = Object.keys(fields).filter((name) => !serverFilled.includes(name));
  const unknown = names.find((name) => !known.includes(name));
  if (unknown === undefined) return;
  throw new TypeError(
    `${option}: ${shown(unknown)} is not a field of a product. ${suggestion(unknown, known)}`,
  );
}

function isTimeZone(value: unknown): boolean {
  try {
    zoneOffsetMs(String(value), 0);
    return true;
  } catch {
    return false;
  }
}
