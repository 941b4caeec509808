import type { ClientContext } from './collections/context.ts';
import { type CollectionName, collections } from './collections/index.ts';
import {
  checkFlag,
  checkFunction,
  checkMethods,
  checkNumber,
  checkObject,
  checkOneOf,
  checkOptionNames,
  checkSchema,
} from './errors/check-input.ts';
import { InvalidInputError } from './errors/invalid-input-error.ts';
import { combineListeners, EVENTS, type Listeners, type Logger } from './events.ts';
import { stderrLogger } from './internal/logger.ts';
import type { OptionNames } from './internal/option-names.ts';
import { APP_INFO, type AppInfo, environment, userAgent } from './internal/runtime.ts';
import {
  LIST_OPTIONS,
  PAGINATION_OPTIONS,
  type PaginationOptions,
  paginationSettings,
} from './pagination/list-options.ts';
import type { ValidationMode } from './schemas/record-reader.ts';
import type { StandardSchema } from './schemas/standard-schema.ts';
import { type ApiKey, createKeySource } from './transport/api-key.ts';
import { CALL_OPTIONS, type CallOptions, type CallSettings, callSettings } from './transport/call-options.ts';
import { environmentProxy } from './transport/environment-proxy.ts';
import type { BareNotFound } from './transport/read-response.ts';
import { type ContentTypes, checkHeaderNames } from './transport/request-headers.ts';
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

/** Defaults of a client that `withOptions` can change. */
export interface ClientDefaults extends CallOptions, PaginationOptions {
  /**
   * What happens to a record that has neither the documented shape nor the shape of your schema:
   * - `throw`: an UnexpectedResponseError. The default, except for a `sync` with a `target`, which has `report`.
   * - `report`: in a list it goes to `on.invalidRecord` and `page.invalid` and not among the records; elsewhere as `throw`.
   * - `off`: our own schemas are not used. Yours are, and throw.
   */
  validation?: ValidationMode | undefined;
}

/** The content type of the bodies of creates (POST) and updates (PATCH). The body is the same JSON under any of them. */
export interface ContentTypeOptions {
  /** @default 'application/json' */
  create?: string | undefined;
  /** @default 'application/json' */
  update?: string | undefined;
}

const CONTENT_TYPE_OPTIONS: OptionNames<ContentTypeOptions> = { create: true, update: true };

export const CLIENT_DEFAULTS: OptionNames<ClientDefaults> = {
  ...CALL_OPTIONS,
  ...PAGINATION_OPTIONS,
  validation: true,
};

/** Options of {@link createClient}. */
export interface ClientOptions<S extends SchemasByName = Schemas> extends ClientDefaults {
  /**
   * The URL of the service, such as `https://books.example.com`. It may have a path prefix and may end in `/api/public/v1`.
   * https, unless it is on this machine or `allowInsecure` is set. Default: `ACCOUNTING_BASE_URL`.
   */
  baseUrl?: string | undefined;
  /**
   * The key of one company, or a function that returns it and is called before each call. After a 401 it is called again,
   * for at most 30 seconds, and another key is tried once. Default: `ACCOUNTING_API_KEY`.
   */
  apiKey?: ApiKey | undefined;
  /** Permits http beyond this machine, or through a proxy: the key is then sent in clear text. Default: false. */
  allowInsecure?: boolean | undefined;
  /**
   * A schema for the records of each collection. A record is the output of the schema, in the types of every method and
   * at run time. Drafts and patches of products keep all documented fields.
   */
  schemas?: (S & ExplainedSchemas<S>) | undefined;
  /** Listeners for requests, responses, retries, waits, errors and invalid records: one object, or an array. Never the key. */
  on?: Listeners | readonly Listeners[] | undefined;
  /** console, pino or winston, as they are. Default: none; with `ACCOUNTING_LOG=debug|info|warn` one to stderr. */
  logger?: Logger | undefined;
  /** Your connector's name, for the User-Agent if the runtime allows setting it. */
  appInfo?: AppInfo | undefined;
  /** Instead of the runtime's `fetch`: for proxies, agents and tests. */
  fetch?: FetchFunction | undefined;
  /**
   * The content types under which bodies are sent. By default both are JSON, and an update that gets a 415 is sent once
   * more as `application/merge-patch+json`, which means the same unless a value is an object; the client then sends every
   * such update so.
   *
   * @default { create: 'application/json', update: 'application/json' }
   * @example contentTypes: { update: 'application/merge-patch+json' }
   */
  contentTypes?: ContentTypeOptions | undefined;
  /**
   * What a 404 without a problem document means. `error`: perhaps a wrong `baseUrl`, so `find` throws a NotFoundError,
   * and a `delete` whose first response was lost does not count as done. `missing`: the record does not exist.
   *
   * @default 'error'
   */
  bareNotFound?: BareNotFound | undefined;
  /**
   * Whether a record must have the id that was requested. `false` for a stub in a test that returns one fixed record for
   * every id; a service that casts ids to numbers could then change another record.
   *
   * @default true
   */
  checkIds?: boolean | undefined;
  /**
   * Names of further response headers that errors, `onResponse` and the `response` event show, such as `x-trace-id`. The
   * API key is removed from their values.
   *
   * @default []
   */
  responseHeaders?: readonly string[] | undefined;
  /** The largest decoded body that is read, in bytes. Default: 16 MiB. */
  maxBodyBytes?: number | undefined;
  /**
   * Who shares the rate limiter of a key, which throttles calls before the quota is used up: every client of the
   * process with this origin and key (`shared`), this client alone (`client`), or no rate limiter (`false`).
   *
   * @default 'shared'
   */
  rateLimiter?: 'shared' | 'client' | false | undefined;
}

export const CLIENT_OPTIONS: OptionNames<ClientOptions> = {
  ...CLIENT_DEFAULTS,
  baseUrl: true,
  apiKey: true,
  allowInsecure: true,
  // Names of collections, which are checked with the schemas.
  schemas: true,
  on: EVENTS,
  logger: true,
  appInfo: APP_INFO,
  fetch: true,
  contentTypes: CONTENT_TYPE_OPTIONS,
  bareNotFound: true,
  checkIds: true,
  responseHeaders: true,
  maxBodyBytes: true,
  rateLimiter: true,
};

/** An option of single calls, such as a signal, would be ignored by a client. */
const OF_CALLS = { names: LIST_OPTIONS, advice: 'Pass it to a call.' };

/** Everything that a client is made of, every default applied. */
interface ResolvedOptions {
  readonly transport: TransportConfig;
  /** Whether a record must have the id that was requested. */
  readonly checkIds: boolean;
  readonly defaults: ResolvedDefaults;
  readonly schemas: Schemas;
}

/** ClientDefaults with every default applied. */
export type ResolvedDefaults = Pick<ClientContext, 'settings' | 'lists' | 'validation'>;

const DEFAULT_SETTINGS: CallSettings = {
  timeoutMs: 30_000,
  deadlineMs: 120_000,
  maxWaitMs: 60_000,
  retry: {
    maxAttempts: 5,
    baseDelayMs: 500,
    maxDelayMs: 20_000,
    updates: true,
    creates: true,
    inProgressTypes: [
      'idempotency_key_in_use',
      'idempotency_in_progress',
      'request_in_progress',
      'idempotency',
    ],
  },
  maxOutageMs: 0,
};

const DEFAULTS: ResolvedDefaults = {
  settings: DEFAULT_SETTINGS,
  lists: { pagination: undefined, prefetch: 1, afterLastPage: 'empty', pageParameter: '_page' },
  validation: undefined,
};

const DEFAULT_MAX_BODY_BYTES = 16 * 2 ** 20;

/** Checks the options of a client and applies their defaults. `sync`, `push` and the other functions have options of their own. */
export function resolveOptions(options: ClientOptions): ResolvedOptions {
  checkObject(options, 'options');
  checkOptionNames(options, CLIENT_OPTIONS, { of: 'createClient', elsewhere: [OF_CALLS] });
  // Defaults by destructuring: only undefined means the default, null is invalid.
  const {
    apiKey = environment('ACCOUNTING_API_KEY') ?? '',
    fetch,
    contentTypes = {},
    bareNotFound = 'error',
    checkIds = true,
    responseHeaders = [],
    maxBodyBytes = DEFAULT_MAX_BODY_BYTES,
    on = {},
    logger = loggerFromEnvironment(),
    rateLimiter = 'shared',
    schemas = {},
  } = options;
  return {
    transport: {
      baseUrl: checkBaseUrl(options),
      keys: createKeySource(apiKey),
      fetch: fetch === undefined ? undefined : checkFunction(fetch, 'fetch'),
      contentTypes: checkContentTypes(contentTypes),
      bareNotFound: checkOneOf(bareNotFound, 'bareNotFound', ['error', 'missing']),
      responseHeaders: checkHeaderNames(responseHeaders),
      maxBodyBytes: checkNumber(maxBodyBytes, 'maxBodyBytes', 1),
      userAgent: userAgent(checkAppInfo(options.appInfo)),
      listeners: combineListeners(
        checkListeners(on),
        logger === undefined ? undefined : checkMethods(logger, 'logger', ['debug', 'info', 'warn']),
      ),
      rateLimiter: checkOneOf(rateLimiter, 'rateLimiter', ['shared', 'client', false]),
      checkedCollections: [collections.accounts.segment, collections.products.segment],
    },
    checkIds: checkFlag(checkIds, 'checkIds'),
    defaults: resolveDefaults(DEFAULTS, options),
    schemas: checkSchemas(schemas),
  };
}

/** The defaults of a client that `withOptions` creates: those of its client, changed. */
export function changedDefaults(defaults: ResolvedDefaults, options: ClientDefaults): ResolvedDefaults {
  checkOptionNames(options, CLIENT_DEFAULTS, {
    of: 'withOptions',
    elsewhere: [{ names: CLIENT_OPTIONS, advice: 'Pass it to createClient.' }, OF_CALLS],
  });
  return resolveDefaults(defaults, options);
}

function resolveDefaults(defaults: ResolvedDefaults, options: ClientDefaults): ResolvedDefaults {
  checkObject(options, 'options');
  const { validation } = options;
  return {
    settings: callSettings(defaults.settings, options),
    lists: paginationSettings(defaults.lists, options),
    validation:
      validation === undefined
        ? defaults.validation
        : checkOneOf<ValidationMode>(validation, 'validation', ['throw', 'report', 'off']),
  };
}

function checkBaseUrl({ baseUrl = environment('ACCOUNTING_BASE_URL'), ...options }: ClientOptions): string {
  if (typeof baseUrl !== 'string') {
    throw new InvalidInputError('baseUrl', 'is missing; pass baseUrl or set ACCOUNTING_BASE_URL');
  }
  const { allowInsecure = false, fetch } = options;
  const base = parseBaseUrl(baseUrl, checkFlag(allowInsecure, 'allowInsecure'));
  // http to this machine is as safe as https, but only if the request does not leave it.
  const isPlain = base.startsWith('http:') && !allowInsecure && fetch === undefined;
  const proxy = isPlain ? environmentProxy(new URL(base)) : undefined;
  if (proxy === undefined) return base;
  throw new InvalidInputError(
    'baseUrl',
    `is http, and the environment sends it through the proxy ${proxy}, which would see the key; add its host to NO_PROXY, or pass allowInsecure: true`,
  );
}

function checkListeners(on: Listeners | readonly Listeners[]): Listeners | readonly Listeners[] {
  for (const listeners of [on].flat()) {
    checkObject(listeners, 'on', 'must be an object of listeners, or an array of such objects');
    for (const name of Object.keys(EVENTS) as (keyof Listeners)[]) {
      if (listeners[name] !== undefined) checkFunction(listeners[name], `on.${name}`);
    }
  }
  return on;
}

function loggerFromEnvironment(): Logger | undefined {
  const level = environment('ACCOUNTING_LOG');
  return level === 'debug' || level === 'info' || level === 'warn' ? stderrLogger(level) : undefined;
}

function checkAppInfo(app: AppInfo | undefined): AppInfo | undefined {
  const isProduct = (text: unknown) => typeof text === 'string' && /^[!-~]{1,100}$/.test(text);
  if (app === undefined) return undefined;
  checkObject(app, 'appInfo');
  const { name, version = '0' } = app;
  if (!(isProduct(name) && isProduct(version))) {
    throw new InvalidInputError('appInfo', 'name and version must be visible ASCII without spaces');
  }
  return app;
}

function checkContentTypes(options: ContentTypeOptions): ContentTypes {
  checkObject(options, 'contentTypes');
  const { create = JSON_TYPE, update } = options;
  for (const [name, type] of Object.entries({ create, update })) {
    if (type !== undefined && (typeof type !== 'string' || !isJsonType(type))) {
      throw new InvalidInputError(
        `contentTypes.${name}`,
        'must be a JSON content type such as application/merge-patch+json',
      );
    }
  }
  return { create, update };
}

const JSON_TYPE = 'application/json';

/** JSON Patch is JSON too, but a list of operations, not an object of fields. */
function isJsonType(type: string): boolean {
  return /^application\/(?!json-patch\b)(?:[\w.+-]+\+)?json(?:; ?charset=utf-8)?$/i.test(type);
}

function checkSchemas(schemas: Schemas): Schemas {
  checkObject(schemas, 'schemas');
  for (const [name, schema] of Object.entries(schemas)) {
    // A schema that is never used would leave its records unchecked.
    if (!Object.hasOwn(collections, name)) {
      throw new InvalidInputError(`schemas.${name}`, 'is not a collection');
    }
    if (schema !== undefined) checkSchema(schema, `schemas.${name}`);
  }
  return schemas;
}
