import type { CollectionContext } from './collections/context.ts';
import { type CollectionName, collections } from './collections/index.ts';
import { LIST_OPTIONS, PAGINATION_OPTIONS, type PaginationOptions } from './collections/list-options.ts';
import { checkOptionNames } from './errors/check-option-names.ts';
import { InvalidInputError } from './errors/invalid-input-error.ts';
import { combineListeners, EVENTS, type Listeners, type Logger } from './events.ts';
import { stderrLogger } from './internal/logger.ts';
import type { OptionNames } from './internal/option-names.ts';
import { APP_INFO, type AppInfo, environment, userAgent } from './internal/runtime.ts';
import type { Validation } from './schemas/record-reader.ts';
import { isStandardSchema, type StandardSchema } from './schemas/standard-schema.ts';
import { type ApiKey, createKeySource } from './transport/api-key.ts';
import {
  CALL_OPTIONS,
  type CallOptions,
  type CallSettings,
  callSettings,
  checkObject,
} from './transport/call-options.ts';
import type { BareNotFound } from './transport/read-response.ts';
import type { ContentTypes } from './transport/request-headers.ts';
import type { FetchFunction } from './transport/send.ts';
import type { TransportConfig } from './transport/transport.ts';
import { parseBaseUrl } from './transport/url.ts';

export type { RequestOptions } from './transport/call-options.ts';
export type { ApiKey, AppInfo, FetchFunction, Validation };

/** A schema for the records of each collection: any Standard Schema (Zod, Valibot, ArkType …) whose output has an `id`. */
export type Schemas = { readonly [Name in CollectionName]?: StandardSchema<{ id: string }> | undefined };

/**
 * What the schemas of a client are inferred as. Any name: a type of nothing but optional names would give up on a
 * variable that has none of them, and a misspelt collection would pass unnoticed. And any output: ExplainedSchemas says
 * in words what an output lacks.
 */
export type SchemasByName = { readonly [name: string]: StandardSchema | undefined };

/** The schemas that fit. For one that does not, TypeScript shows the sentence that stands here in place of a type. */
type ExplainedSchemas<S> = {
  readonly [Name in keyof S]: Name extends CollectionName
    ? S[Name] extends StandardSchema<{ id: string }> | undefined
      ? S[Name]
      : 'the schema output needs id: string'
    : 'there is no collection of this name';
};

/** Habits of a client that `withOptions` can change. */
export interface ClientDefaults extends CallOptions, PaginationOptions {
  /**
   * What happens to a record that does not have the shape of the contract, or of your schema:
   * - `throw`: an UnexpectedResponseError. The default.
   * - `report`: in a list it goes to `on.invalidRecord` and `page.invalid` instead of into the walk; elsewhere as `throw`.
   * - `off`: our own schemas are not asked (your own are, and throw).
   */
  validation?: Validation | undefined;
}

/** The content type of the bodies of creates (POST) and updates (PATCH). The body is the same JSON under any of them. */
export interface ContentTypeOptions {
  /** @default 'application/json' */
  create?: string | undefined;
  /** @default 'application/json' */
  update?: string | undefined;
}

export const CONTENT_TYPE_OPTIONS: OptionNames<ContentTypeOptions> = { create: true, update: true };

export const CLIENT_DEFAULTS: OptionNames<ClientDefaults> = {
  ...CALL_OPTIONS,
  ...PAGINATION_OPTIONS,
  validation: true,
};

/** Options of {@link createClient}. */
export interface ClientOptions<S extends SchemasByName = Schemas> extends ClientDefaults {
  /**
   * Where the service is: `https://books.example.com`, a path prefix allowed, with or without `/api/public/v1`. https,
   * unless on this machine or `allowInsecure`. Default: `ACCOUNTING_BASE_URL`.
   */
  baseUrl?: string | undefined;
  /** The key of one company, or a function that is asked for it before each call. Default: `ACCOUNTING_API_KEY`. */
  apiKey?: ApiKey | undefined;
  /** Permits plain http beyond this machine: the key then travels in the clear. Default: false. */
  allowInsecure?: boolean | undefined;
  /** A schema for the records of each collection; its output types every method. */
  schemas?: (S & ExplainedSchemas<S>) | undefined;
  /** What the client tells: requests, answers, retries, waits, errors, invalid records, checkpoints. Never the key. */
  on?: Listeners | undefined;
  /** console, pino or winston, as they are. Default: none; with `ACCOUNTING_LOG=debug|info|warn` one to stderr. */
  logger?: Logger | undefined;
  /** Your connector's name, for the User-Agent where the runtime allows to set one. */
  appInfo?: AppInfo | undefined;
  /** Instead of the runtime's `fetch`: for proxies, agents and tests. */
  fetch?: FetchFunction | undefined;
  /**
   * The content types under which bodies are sent. API Platform accepts a PATCH only as
   * `application/merge-patch+json` unless it is configured otherwise, and returns 415 for any other type.
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
  /** The largest decoded body that is read, in bytes. Default: 16 MiB. */
  maxBodyBytes?: number | undefined;
  /**
   * Who shares the rate limiter of a key, which holds calls back before the quota is used up: every client of the
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
  maxBodyBytes: true,
  rateLimiter: true,
};

/** An option of single calls, such as a signal, would be ignored by a client. */
const OF_CALLS = { names: LIST_OPTIONS, advice: 'Pass it to a call.' };

/** Everything a client is made of, each default applied. */
export interface ResolvedOptions {
  readonly transport: TransportConfig;
  readonly habits: Habits;
  readonly schemas: Schemas;
}

/** ClientDefaults with every default applied. */
export type Habits = Pick<CollectionContext, 'settings' | 'lists' | 'validation'>;

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
    inProgressTypes: ['idempotency_key_in_use', 'idempotency_in_progress', 'request_in_progress'],
  },
};

const DEFAULT_HABITS: Habits = {
  settings: DEFAULT_SETTINGS,
  lists: { pagination: 'page', prefetch: 1, afterLastPage: 'empty' },
  validation: 'throw',
};

const DEFAULT_MAX_BODY_BYTES = 16 * 2 ** 20;

/** Checks the options of a client and applies every default: the one place that does. */
export function resolveOptions(options: ClientOptions): ResolvedOptions {
  checkObject(options, 'options');
  checkOptionNames(options, CLIENT_OPTIONS, { of: 'createClient', elsewhere: [OF_CALLS] });
  const baseUrl = options.baseUrl ?? environment('ACCOUNTING_BASE_URL');
  if (typeof baseUrl !== 'string') {
    throw new InvalidInputError('baseUrl', 'is missing; give baseUrl or set ACCOUNTING_BASE_URL');
  }
  const base = parseBaseUrl(baseUrl, options.allowInsecure ?? false);
  return {
    transport: {
      baseUrl: base,
      keys: createKeySource(options.apiKey ?? environment('ACCOUNTING_API_KEY') ?? ''),
      fetch: checkFetch(options.fetch),
      contentTypes: checkContentTypes(options.contentTypes ?? {}),
      bareNotFound: checkBareNotFound(options.bareNotFound ?? 'error'),
      maxBodyBytes: checkMaxBodyBytes(options.maxBodyBytes ?? DEFAULT_MAX_BODY_BYTES),
      userAgent: userAgent(checkAppInfo(options.appInfo)),
      listeners: combineListeners(options.on ?? {}, options.logger ?? loggerFromEnvironment()),
      rateLimiter: checkRateLimiter(options.rateLimiter ?? 'shared'),
    },
    habits: resolveHabits(DEFAULT_HABITS, options),
    schemas: checkSchemas(options.schemas ?? {}),
  };
}

/** The habits of a client that `withOptions` makes: those that it starts from, changed. */
export function changedHabits(habits: Habits, options: ClientDefaults): Habits {
  checkOptionNames(options, CLIENT_DEFAULTS, {
    of: 'withOptions',
    elsewhere: [{ names: CLIENT_OPTIONS, advice: 'Pass it to createClient.' }, OF_CALLS],
  });
  return resolveHabits(habits, options);
}

function resolveHabits(habits: Habits, options: ClientDefaults): Habits {
  checkObject(options, 'options');
  const { validation = habits.validation } = options;
  if (!['throw', 'report', 'off'].includes(validation)) {
    throw new InvalidInputError('validation', "must be 'throw', 'report' or 'off'");
  }
  const { lists } = habits;
  return {
    settings: callSettings(habits.settings, options),
    lists: {
      pagination: options.pagination ?? lists.pagination,
      prefetch: options.prefetch ?? lists.prefetch,
      afterLastPage: options.afterLastPage ?? lists.afterLastPage,
    },
    validation,
  };
}

function loggerFromEnvironment(): Logger | undefined {
  const level = environment('ACCOUNTING_LOG');
  return level === 'debug' || level === 'info' || level === 'warn' ? stderrLogger(level) : undefined;
}

function checkMaxBodyBytes(bytes: number): number {
  if (typeof bytes !== 'number' || !(bytes >= 1))
    throw new InvalidInputError('maxBodyBytes', 'must be at least 1');
  return bytes;
}

function checkAppInfo(app: AppInfo | undefined): AppInfo | undefined {
  const isProduct = (text: unknown) => typeof text === 'string' && /^[!-~]{1,100}$/.test(text);
  if (app !== undefined && !(isProduct(app?.name) && isProduct(app.version ?? '0'))) {
    throw new InvalidInputError('appInfo', 'name and version must be visible ASCII without spaces');
  }
  return app;
}

function checkFetch(fetch: FetchFunction | undefined): FetchFunction | undefined {
  if (fetch !== undefined && typeof fetch !== 'function') {
    throw new InvalidInputError('fetch', 'must be a function');
  }
  return fetch;
}

function checkContentTypes(options: ContentTypeOptions): ContentTypes {
  checkObject(options, 'contentTypes');
  const { create = JSON_TYPE, update = JSON_TYPE } = options;
  for (const [name, type] of Object.entries({ create, update })) {
    if (typeof type !== 'string' || !isJsonType(type)) {
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

function checkBareNotFound(bareNotFound: BareNotFound): BareNotFound {
  if (bareNotFound !== 'error' && bareNotFound !== 'missing') {
    throw new InvalidInputError('bareNotFound', "must be 'error' or 'missing'");
  }
  return bareNotFound;
}

function checkRateLimiter(rateLimiter: 'shared' | 'client' | false): 'shared' | 'client' | false {
  if (![false, 'shared', 'client'].includes(rateLimiter)) {
    throw new InvalidInputError('rateLimiter', "must be 'shared', 'client' or false");
  }
  return rateLimiter;
}

function checkSchemas(schemas: Schemas): Schemas {
  for (const [name, schema] of Object.entries(schemas)) {
    // A schema that nobody asks would leave its records unchecked in silence.
    if (!Object.hasOwn(collections, name)) {
      throw new InvalidInputError(`schemas.${name}`, 'is none of the collections');
    }
    if (schema !== undefined && !isStandardSchema(schema)) {
      throw new InvalidInputError(
        `schemas.${name}`,
        'must be a Standard Schema, as Zod, Valibot and ArkType make them',
      );
    }
  }
  return schemas;
}
