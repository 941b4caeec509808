import type { ClientContext } from './collections/context.ts';
import { type CollectionName, collectionNames } from './collections/index.ts';
import { InvalidInputError } from './errors/invalid-input-error.ts';
import { combineListeners, events, type Listeners, type Logger } from './events.ts';
import { checkObject, given, resolved, schema } from './input/checks.ts';
import { LEVELS, stderrLogger } from './internal/logger.ts';
import {
  group,
  is,
  isPlainObject,
  type Named,
  type OptionInputs,
  option,
  optional,
  orEnvironment,
  type ResolvedOptions,
  required,
  withDefaults,
} from './internal/options.ts';
import { type AppInfo, environment, userAgent } from './internal/runtime.ts';
import { type PaginationChoice, paginationKind } from './pagination/by-cursor.ts';
import {
  checkParameters,
  isPaginationTable,
  listOptions,
  type PaginationOptions,
  paginationOptions,
} from './pagination/list-options.ts';
import type { ValidationMode } from './schemas/record-reader.ts';
import type { StandardSchema } from './schemas/standard-schema.ts';
import { type ApiKey, createKeySource } from './transport/api-key.ts';
import { type CallOptions, callOptions, callSettings } from './transport/call-options.ts';
import type { FetchFunction } from './transport/send.ts';
import type { TransportConfig } from './transport/transport.ts';
import { parseBaseUrl } from './transport/url.ts';

export type { RequestOptions } from './transport/call-options.ts';
export type { ApiKey, AppInfo, FetchFunction, ValidationMode };

/** A schema for the records of each collection: any Standard Schema (Zod, Valibot, ArkType …) whose output has an `id`. */
export type Schemas = { readonly [Name in CollectionName]?: StandardSchema<{ id: string }> | undefined };

/**
 * What the schemas of a client are inferred as. Any name, because a type of optional names accepts a variable that has
 * none of them, and a misspelt collection would compile. And any output, because ExplainedSchemas says in words what an
 * output lacks.
 */
export type SchemasByName = { readonly [name: string]: StandardSchema | undefined };

/** The schemas that fit. For one that does not, TypeScript shows the sentence that is its type. */
type ExplainedSchemas<S> = {
  readonly [Name in keyof S]: Name extends CollectionName
    ? S[Name] extends StandardSchema<{ id: string }> | undefined
      ? S[Name]
      : 'the schema output needs id: string'
    : 'there is no collection of this name';
};

type PaginationByCollection = { readonly [Name in CollectionName]?: PaginationChoice | undefined };

const clientPagination = {
  ...is.check<PaginationChoice | PaginationByCollection>(
    `${paginationKind.expected}, or an object with one of these for each collection that needs it`,
    (value) => paginationKind.allows(value) || (is.object.allows(value) && !('first' in value)),
  ),
  verify(value: PaginationChoice | PaginationByCollection, name: string) {
    if (!isPaginationTable(value)) return paginationKind.verify?.(value, name);
    const table = Object.fromEntries(collectionNames.map((each) => [each, optional(paginationKind)]));
    given(table, value, { of: name }, `${name}.`);
  },
};

const ownDefaults = {
  /**
   * How lists are read. An object says it for the collections that it names, such as `{ budgetLines: 'none' }`; the others
   * are read as by default. The kinds:
   * - `keyset`: by intervals of ids. No deletion and no write hides a record, every page carries a `resumeToken`, and
   *   `page.complete` says whether anything can be missing in the order of the service. It needs one free operator for each
   *   side of `id`: not both `gt` and `gte`, nor both `lt` and `lte`.
   * - `page`: `_page=1, 2, …` until an empty page, if the order of the service or the fewest requests matter. A record that
   *   is deleted during the read can hide another one, and so can an order in which many records are equal.
   * - `none`: one request is the whole list, for a service without pagination. It has nothing to resume.
   * - `link`: each response names the next page by a link in its header `Link` or in its body, such as `view.next` or
   *   `_links.next`. Only the query of the link is sent.
   * - a cursor of your own, for a service that documents one in another form.
   *
   * Default: `keyset`. A list is read by `page` instead if its query has `page` or both operators of one side of `id`, if
   * ids are not integers, and, unless you name `keyset`, if the service ignores or rejects its bounds before a record was
   * delivered; a sync or a push fails then. `first()` reads by page. After a crash, a sync by `keyset` resumes where it
   * stopped; any other starts again, with the watermark that it had.
   */
  pagination: optional(clientPagination),
  /**
   * What happens to a record that has neither the documented shape nor the shape of your schema:
   * - `throw`: an UnexpectedResponseError. The default, except for a `sync` with a `target`, which has `report`.
   * - `report`: in a list it goes to `on.invalidRecord` and `page.invalid` and not among the records; elsewhere as `throw`.
   * - `off`: our own schemas are not used. Yours are, and throw.
   */
  validation: optional(is.oneOf('throw', 'report', 'off')),
};

export const clientDefaults = { ...callOptions, ...paginationOptions, ...ownDefaults };

/** Defaults of a client that `withOptions` can change. */
export interface ClientDefaults
  extends CallOptions,
    Omit<PaginationOptions, 'pagination'>,
    OptionInputs<typeof ownDefaults> {}

/** JSON Patch is JSON too, but a list of operations, not an object of fields. */
const jsonType = is.check<string>(
  'a JSON content type such as application/merge-patch+json',
  (type) =>
    is.string.allows(type) &&
    /^application\/(?!json-patch\b)(?:[\w.+-]+\+)?json(?:; ?charset=utf-8)?$/i.test(type),
);

const contentTypeOptions = {
  /** Of creates (POST). Default: `application/json`. */
  create: option(jsonType, 'application/json'),
  /** Of updates (PATCH). Default: `application/json`. */
  update: optional(jsonType),
};

/** The content type of the bodies of creates (POST) and updates (PATCH). The body is the same JSON under any of them. */
export interface ContentTypeOptions extends OptionInputs<typeof contentTypeOptions>, Named {}

const productToken = is.check<string>(
  'visible ASCII without spaces',
  (text) => is.string.allows(text) && /^[!-~]{1,100}$/.test(text),
);

const appInfo = { name: required(productToken), version: optional(productToken) };

const ownOptions = {
  /**
   * The URL of the service, such as `https://books.example.com`. It may have a path prefix and may end in `/api/public/v1`.
   * https, unless it is on this machine or `allowInsecure` is set. Default: `ACCOUNTING_BASE_URL`, if the property is left
   * out; undefined is an error.
   */
  baseUrl: orEnvironment(is.string, 'ACCOUNTING_BASE_URL'),
  /**
   * The key of one company, or a function that returns it and is called before each call. After a 401 it is called again,
   * for at most 30 seconds, and another key is tried once. Default: `ACCOUNTING_API_KEY`, if the property is left out.
   * Undefined is an error: a company without a key must not be read with that of another.
   */
  apiKey: orEnvironment(
    is.check<ApiKey>('a string or a function', (key) => ['string', 'function'].includes(typeof key)),
    'ACCOUNTING_API_KEY',
  ),
  /** Permits http beyond this machine: the key is then sent in clear text, also to a proxy. Default: false. */
  allowInsecure: option(is.flag, false),
  /** Listeners for requests, responses, retries, waits, errors and invalid records: one object, or an array. Never the key. */
  on: option(is.verified<Listeners | readonly Listeners[]>(checkListeners), {}),
  /** console, pino or winston. Default: none; with `ACCOUNTING_LOG=debug|info|warn` one to stderr. */
  logger: optional(is.withMethods<Logger>('debug', 'info', 'warn')),
  /** Your connector's name, for the User-Agent if the runtime allows setting it. */
  appInfo: optional(group<typeof appInfo, never, AppInfo>(appInfo)),
  /** Instead of the runtime's `fetch`: for proxies, agents and tests. */
  fetch: optional(is.callback<FetchFunction>()),
  /**
   * The content types under which bodies are sent. By default both are JSON, and an update that gets a 415 is sent once
   * more as `application/merge-patch+json`, which means the same unless a value is an object; the client then sends every
   * such update so.
   *
   * @example contentTypes: { update: 'application/merge-patch+json' }
   */
  contentTypes: group<typeof contentTypeOptions, never, ContentTypeOptions>(contentTypeOptions),
  /**
   * What a 404 without a problem document means. `error`: perhaps a wrong `baseUrl`, so `find` throws a NotFoundError,
   * and a `delete` whose first response was lost does not count as done. `missing`: every 404 and 410 of an item says that
   * the record does not exist, also one with a type of its own such as `product_not_found`.
   *
   * @default 'error'
   */
  bareNotFound: option(is.oneOf('error', 'missing'), 'error'),
  /**
   * How the service sends ids. The API documentation says strings. With `numbers`, an integer id that is a JSON number is
   * read as its decimal string in every response; fields that refer to other records stay as they are.
   *
   * @default 'strings'
   */
  ids: option(is.oneOf('strings', 'numbers'), 'strings'),
  /**
   * Whether a record must have the id that was requested. `false` for a stub in a test that returns one fixed record for
   * every id; a service that casts ids to numbers could then change another record.
   *
   * @default true
   */
  checkIds: option(is.flag, true),
  /** The largest decoded body that is read, in bytes. Default: 16 MiB. */
  maxBodyBytes: option(is.numberFrom(1), 16 * 2 ** 20),
  /**
   * Who shares the rate limiter of a key, which throttles calls before the quota is used up: every client of the
   * process with this origin and key (`shared`), this client alone (`client`), or no rate limiter (`false`).
   *
   * @default 'shared'
   */
  rateLimiter: option(is.oneOf('shared', 'client', false), 'shared'),
};

/** Options of {@link createClient}. */
export interface ClientOptions<S extends SchemasByName = Schemas>
  extends ClientDefaults,
    OptionInputs<typeof ownOptions> {
  /**
   * A schema for the records of each collection; its output types every method. A record is this output: with
   * `z.object` it loses the fields that the schema does not name, with `z.looseObject` it keeps them.
   */
  schemas?: (S & ExplainedSchemas<S>) | undefined;
}

export const clientOptions = {
  ...ownOptions,
  ...clientDefaults,
  schemas: option(is.verified<Schemas>(checkSchemas), {}),
};

/** An option of single calls, such as a signal, would be ignored by a client. */
const OF_CALLS = { names: listOptions, advice: 'Pass it to a call.' };

interface ResolvedClient {
  readonly transport: TransportConfig;
  /** How the service sends ids. */
  readonly ids: ClientContext['ids'];
  /** Whether a record must have the id that was requested. */
  readonly checkIds: boolean;
  readonly defaults: ResolvedDefaults;
  readonly schemas: Schemas;
}

export type ResolvedDefaults = Pick<ClientContext, 'settings' | 'lists' | 'validation'>;

/** Checks the options of a client and applies their defaults. `sync`, `push` and the other functions have options of their own. */
export function resolveOptions(options: ClientOptions): ResolvedClient {
  const checked = resolved(clientOptions, options, { of: 'createClient', elsewhere: [OF_CALLS] });
  const { apiKey = environment('ACCOUNTING_API_KEY') ?? '', logger = loggerFromEnvironment() } = checked;
  const { fetch, contentTypes, bareNotFound, maxBodyBytes, rateLimiter, ids, checkIds, schemas } = checked;
  const baseUrl = checkBaseUrl(checked);
  const keys = createKeySource(apiKey);
  return {
    transport: {
      baseUrl,
      keys,
      redactor: keys.redactor,
      fetch,
      contentTypes,
      bareNotFound,
      maxBodyBytes,
      userAgent: userAgent(checked.appInfo),
      listeners: combineListeners(checked.on, logger),
      rateLimiter,
    },
    ids,
    checkIds,
    defaults: defaultsOver(undefined, checked),
    schemas,
  };
}

/** The defaults of a client that `withOptions` creates: those of its client, changed. */
export function changedDefaults(defaults: ResolvedDefaults, options: ClientDefaults): ResolvedDefaults {
  const elsewhere = [{ names: clientOptions, advice: 'Pass it to createClient.' }, OF_CALLS];
  return defaultsOver(defaults, given(clientDefaults, options, { of: 'withOptions', elsewhere }));
}

function defaultsOver(base: ResolvedDefaults | undefined, options: ClientDefaults): ResolvedDefaults {
  const { pagination = base?.lists.pagination, ...own } = options;
  const lists = withDefaults(paginationOptions, own, { ...base?.lists, pagination: undefined });
  checkParameters(lists.parameters, lists.pageParameter);
  return {
    settings: callSettings(base?.settings ?? {}, options),
    lists: { ...lists, pagination },
    validation: options.validation ?? base?.validation,
  };
}

function checkBaseUrl({
  baseUrl = environment('ACCOUNTING_BASE_URL'),
  allowInsecure,
}: Pick<ResolvedOptions<typeof clientOptions>, 'baseUrl' | 'allowInsecure'>): string {
  if (baseUrl === undefined) {
    throw new InvalidInputError(
      'baseUrl',
      'is missing: pass it or set ACCOUNTING_BASE_URL, which node --env-file=.env reads from a file; without a service, pass the clientOptions of createSandbox()',
    );
  }
  return parseBaseUrl(baseUrl, allowInsecure);
}

function checkListeners(on: Listeners | readonly Listeners[]): void {
  for (const [index, listeners] of [on].flat().entries()) {
    checkObject(listeners, 'on', 'must be an object of listeners, or an array of such objects');
    given(events, listeners, { of: 'createClient' }, Array.isArray(on) ? `on[${index}].` : 'on.');
  }
}

function loggerFromEnvironment(): Logger | undefined {
  const name = environment('ACCOUNTING_LOG');
  const level = LEVELS.find((each) => each === name);
  return level && stderrLogger(level);
}

function checkSchemas(schemas: Schemas): void {
  if (!isPlainObject(schemas)) throw new InvalidInputError('schemas', 'must be a plain object');
  const table = Object.fromEntries(collectionNames.map((name) => [name, optional(schema())]));
  given(table, schemas, { of: 'schemas' }, 'schemas.');
}
