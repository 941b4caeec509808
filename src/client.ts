import { type AnyRequest, sendAny } from './collections/any-request.ts';
import {
  createCollection,
  type ReadOnlyCollection,
  type WritableCollection,
} from './collections/collection.ts';
import type { CollectionContext } from './collections/context.ts';
import { type CollectionDefinition, readOnly, type WriteShapes } from './collections/define.ts';
import { type CollectionName, collections } from './collections/index.ts';
import { checkOptionNames, checkSchema } from './errors/check-input.ts';
import { isApiError } from './errors/guards.ts';
import { InvalidInputError } from './errors/invalid-input-error.ts';
import {
  type ClientDefaults,
  type ClientOptions,
  changedDefaults,
  type ResolvedDefaults,
  resolveOptions,
  type SchemasByName,
} from './options.ts';
import type { RateLimit } from './schemas/rate-limit.ts';
import type { AccountingRecord } from './schemas/record.ts';
import type { StandardSchema } from './schemas/standard-schema.ts';
import { REQUEST_OPTIONS, type RequestOptions } from './transport/call-options.ts';
import { HttpTransport } from './transport/transport.ts';

/** The record of a collection: the caller's schema decides, if there is one. Documented product fields stay typed. */
export type RecordOf<Name extends CollectionName, S extends SchemasByName = Record<never, never>> =
  (typeof collections)[Name] extends CollectionDefinition<infer Rec, infer Writes>
    ? Name extends keyof S
      ? S[Name] extends StandardSchema<infer Output extends { id: string }>
        ? Writes extends WriteShapes
          ? Rec & Output
          : Output
        : Rec
      : Rec
    : never;

/** The client of a collection: write methods exist only if the service has them. */
export type CollectionOf<Name extends CollectionName, S extends SchemasByName = Record<never, never>> =
  (typeof collections)[Name] extends CollectionDefinition<infer _Rec, infer Writes>
    ? Writes extends WriteShapes
      ? WritableCollection<RecordOf<Name, S>, Writes['draft'], Writes['patch']>
      : ReadOnlyCollection<RecordOf<Name, S>>
    : never;

/** The result of `client.ping()`: the service responded and accepted the key. */
export interface Ping {
  readonly ok: true;
  /** Whether the key may read accounts. */
  readonly readable: boolean;
}

/** What a client can do beside its collections. */
export interface ClientMethods<S extends SchemasByName> {
  /**
   * A read-only collection that this version does not know, by its path segment: `client.collection('invoices')`.
   * Give a schema to type and check its records.
   */
  collection<T extends { id: string } = AccountingRecord>(
    segment: string,
    options?: { readonly schema?: StandardSchema<T> | undefined },
  ): ReadOnlyCollection<T>;
  /** Any request under `/api/public/v1`, with the key, rate limiter, retries, timeouts and errors of every other call. */
  request<T = unknown>(request: AnyRequest<T>, options?: RequestOptions): Promise<T>;
  /**
   * Checks that `baseUrl` and `apiKey` work, with one request for the first page of accounts. A key that may not read
   * accounts is a valid key: `readable` is false then.
   *
   * @throws what a list throws: UnauthenticatedError for a wrong key, ConnectionError, and NotFoundError or
   * UnexpectedResponseError if `baseUrl` does not point at the service.
   */
  ping(options?: RequestOptions): Promise<Ping>;
  /** A client with other defaults that shares transport, retry budget and rate limiter with this one. */
  withOptions(options: ClientDefaults): Client<S>;
  /** The quota of the key as last reported; undefined until a response has the headers. */
  readonly rateLimit: RateLimit | undefined;
}

/**
 * The whole service: one property for each collection, and the methods of {@link ClientMethods}.
 *
 * @interface
 */
export type Client<S extends SchemasByName = Record<never, never>> = ClientMethods<S> & {
  readonly [Name in keyof typeof collections]: CollectionOf<Name, S>;
};

/**
 * A client for the data of one company.
 *
 * ```ts
 * const client = createClient({ baseUrl: 'https://books.example.com', apiKey: process.env.ACCOUNTING_API_KEY });
 * for await (const account of client.accounts.list()) console.log(account.id);
 * ```
 * @throws InvalidInputError for invalid options. Nothing is sent before the first call.
 */
export function createClient<const S extends SchemasByName = Record<never, never>>(
  options: ClientOptions<S> = {},
): Client<S> {
  const { transport: config, defaults, schemas } = resolveOptions(options);
  const transport = new HttpTransport(config);
  const { baseUrl, listeners } = config;
  const shared = { transport, baseUrl, listeners };

  const clientWith = (own: ResolvedDefaults): Client<S> => {
    const context: CollectionContext = { ...shared, ...own };
    const bound = Object.entries(collections).map(([name, definition]) => [
      name,
      createCollection(definition, context, schemas[name as CollectionName]),
    ]);
    const methods: ClientMethods<S> = {
      collection: (segment, options) => unknownCollection(context, segment, options),
      request: (request, requestOptions = {}) => sendAny(context, request, requestOptions),
      ping: (requestOptions) => ping(context, requestOptions),
      withOptions: (changed) => clientWith(changedDefaults(own, changed)),
      get rateLimit() {
        return transport.rateLimit;
      },
    };
    return Object.freeze(
      Object.defineProperties(Object.fromEntries(bound), Object.getOwnPropertyDescriptors(methods)),
    );
  };
  return clientWith(defaults);
}

/** Without the caller's schema: a record of another shape still comes from the service. */
async function ping(context: CollectionContext, options: RequestOptions = {}): Promise<Ping> {
  const { segment } = collections.accounts;
  const accounts = createCollection(readOnly(segment), { ...context, validation: 'off' }, undefined);
  try {
    checkOptionNames(options, REQUEST_OPTIONS, { of: 'ping' });
    await accounts.list({}, { ...options, pagination: 'page', prefetch: 0 }).first();
    return { ok: true, readable: true };
  } catch (error) {
    if (isApiError(error, 'forbidden') || isApiError(error, 'scope_required')) {
      return { ok: true, readable: false };
    }
    throw error;
  }
}

function unknownCollection<T extends { id: string }>(
  context: CollectionContext,
  segment: string,
  options: { readonly schema?: StandardSchema<T> | undefined } | undefined,
): ReadOnlyCollection<T> {
  checkOptionNames(options, { schema: true }, { of: 'collection' });
  const schema = options?.schema;
  if (typeof segment !== 'string' || !/^[A-Za-z0-9][\w-]*$/.test(segment)) {
    throw new InvalidInputError('segment', 'must be one path segment of letters, digits, "-" and "_"');
  }
  if (schema !== undefined) checkSchema(schema, 'schema');
  return createCollection(readOnly(segment), context, schema) as ReadOnlyCollection<T>;
}
