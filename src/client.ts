import { collectionContext, createCollection } from './collections/collection.ts';
import type { ClientContext } from './collections/context.ts';
import { type CollectionDefinition, readOnly, type WriteShapes } from './collections/define.ts';
import { type CollectionName, collectionNames, collections } from './collections/index.ts';
import { checkedQuery } from './collections/list-query.ts';
import { listSource } from './collections/list-source.ts';
import { type RawRequest, sendRaw } from './collections/raw-request.ts';
import type { ReadOnlyCollection } from './collections/reader.ts';
import type { WritableCollection } from './collections/writer.ts';
import { isForbidden } from './errors/guards.ts';
import { InvalidInputError } from './errors/invalid-input-error.ts';
import { given, resolved, schema } from './input/checks.ts';
import { optional } from './internal/options.ts';
import {
  type ClientDefaults,
  type ClientOptions,
  changedDefaults,
  type ResolvedDefaults,
  resolveOptions,
  type SchemasByName,
} from './options.ts';
import { createPaginator } from './pagination/paginator.ts';
import { RoutedForms } from './schemas/id-form.ts';
import type { RateLimit } from './schemas/rate-limit.ts';
import type { AccountingRecord } from './schemas/record.ts';
import type { StandardSchema } from './schemas/standard-schema.ts';
import { type RequestOptions, requestOptions } from './transport/call-options.ts';
import { HttpTransport } from './transport/transport.ts';

/**
 * The record of a collection: the output of the caller's schema, if there is one.
 *
 * ```ts
 * type One = RecordOf<'budgets'>; // Budget
 * ```
 */
export type RecordOf<Name extends CollectionName, S extends SchemasByName = Record<never, never>> =
  (typeof collections)[Name] extends CollectionDefinition<infer Rec, infer _Writes>
    ? Name extends keyof S
      ? S[Name] extends StandardSchema<infer Output extends { id: string }>
        ? Output
        : Rec
      : Rec
    : never;

/** What a schema takes: the record as the service sends it. */
type InputOf<Schema> = Schema extends { readonly '~standard': { readonly types?: infer Types } }
  ? NonNullable<Types> extends { readonly input: infer Input }
    ? Input
    : unknown
  : unknown;

/**
 * The fields that a schema names beside those of a draft, each optional. The index signature of a loose schema is left
 * out: with it, a misspelt field would compile.
 */
type FurtherFields<Input, Draft, Clears = never> = {
  [Name in keyof Input as string extends Name
    ? never
    : number extends Name
      ? never
      : Name extends keyof Draft
        ? never
        : Name]?: Input[Name] | Clears | undefined;
};

/**
 * The client of a collection. Write methods exist only if the service has them.
 *
 * ```ts
 * type Budgets = CollectionOf<'budgets'>; // ReadOnlyCollection<Budget>
 * type Products = CollectionOf<'products'>; // WritableCollection<Product, ProductDraft, ProductPatch>
 * ```
 */
export type CollectionOf<Name extends CollectionName, S extends SchemasByName = Record<never, never>> =
  (typeof collections)[Name] extends CollectionDefinition<infer _Rec, infer Writes>
    ? Writes extends WriteShapes
      ? Name extends keyof S
        ? WritableCollection<
            RecordOf<Name, S>,
            Writes['draft'] & FurtherFields<InputOf<S[Name]>, Writes['draft']>,
            Writes['patch'] & FurtherFields<InputOf<S[Name]>, Writes['patch'], null>
          >
        : WritableCollection<RecordOf<Name, S>, Writes['draft'], Writes['patch']>
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
   * A collection by the name of its property, for code that is generic over collections: `client.collection(name)` is
   * `client[name]`, with the type of its records.
   */
  collection<Name extends CollectionName>(name: Name): ReadOnlyCollection<RecordOf<Name, S>>;
  /**
   * A read-only collection that this version does not know, by its path segment: `client.collection('invoices')`.
   * Give a schema to type and check its records. With `{}` the records of a known collection are not checked either.
   */
  collection<T extends { id: string } = AccountingRecord>(
    segment: string,
    options?: { readonly schema?: StandardSchema<T> | undefined },
  ): ReadOnlyCollection<T>;
  /** Any request under `/api/public/v1`, with the key, rate limiter, retries, timeouts and errors of every other call. */
  request<T = unknown>(request: RawRequest<T>, options?: RequestOptions): Promise<T>;
  /**
   * Checks that `baseUrl` and `apiKey` work, with one request for the first page of accounts. A key that may not read
   * accounts is a valid key: `readable` is false then.
   *
   * @throws what a list throws: UnauthenticatedError for a wrong key, ConnectionError, and NotFoundError or
   * UnexpectedResponseError if `baseUrl` does not point at the service.
   */
  ping(options?: RequestOptions): Promise<Ping>;
  /** A client with other defaults that shares transport, retry budget and rate limiter with this one. */
  withOptions(options: ClientDefaults): ClientFor<S>;
  /** The quota of the key as last reported; undefined until a response has the headers. */
  readonly rateLimit: RateLimit | undefined;
}

/**
 * A client whose records have the types of the caller's schemas; otherwise as {@link Client}.
 *
 * ```ts
 * const accounts = z.object({ id: z.string(), city: z.string() });
 * const client = createClient({ schemas: { accounts } });
 * // A ReadOnlyCollection<{ id: string; city: string }>:
 * const account = await client.accounts.get('17');
 * ```
 *
 * @interface
 */
export type ClientWith<S extends SchemasByName> = ClientMethods<S> & {
  readonly [Name in keyof typeof collections]: CollectionOf<Name, S>;
};

/** The whole service: one property for each collection, and methods beside them. */
export interface Client extends ClientWith<Record<never, never>> {}

/** A name of its own for the client without schemas: an editor shows `Client` and not its parameters. */
type ClientFor<S extends SchemasByName> = keyof S extends never ? Client : ClientWith<S>;

/**
 * A client for the data of one company.
 *
 * ```ts
 * // Without options it reads ACCOUNTING_BASE_URL and ACCOUNTING_API_KEY.
 * const client = createClient({ baseUrl: 'https://books.example.com', apiKey: () => readFromVault('acme') });
 * for await (const account of client.accounts.list()) console.log(account.id);
 * ```
 * @throws InvalidInputError for invalid options. Nothing is sent before the first call.
 */
export function createClient<const S extends SchemasByName = Record<never, never>>(
  options: ClientOptions<S> = {},
): ClientFor<S> {
  const { transport: config, ids, checkIds, defaults, schemas } = resolveOptions(options);
  const transport = new HttpTransport(config);
  const { baseUrl, listeners } = config;
  const shared = {
    transport,
    baseUrl,
    listeners,
    ids,
    checkIds,
    stringIds: new Set<string>(),
    forms: new RoutedForms(),
    warnedFields: new Set<string>(),
  };

  const clientWith = (defaults: ResolvedDefaults): ClientFor<S> => {
    const context: ClientContext = { ...shared, ...defaults };
    const bound = Object.fromEntries(
      collectionNames.map((name) => [name, createCollection(collections[name], context, schemas[name])]),
    );
    const collection = (name: string, options?: { readonly schema?: StandardSchema<{ id: string }> }) =>
      options === undefined && typeof name === 'string' && Object.hasOwn(bound, name)
        ? bound[name]
        : unknownCollection(context, name, options);
    const methods: ClientMethods<S> = {
      // The compiler does not see that a name has the collection of its own type.
      collection: collection as ClientMethods<S>['collection'],
      request: (request, requestOptions = {}) => sendRaw(context, request, requestOptions),
      ping: (requestOptions) => ping(context, requestOptions),
      withOptions: (changed) => clientWith(changedDefaults(defaults, changed)),
      get rateLimit() {
        return transport.rateLimit;
      },
    };
    const client = Object.freeze(Object.defineProperties(bound, Object.getOwnPropertyDescriptors(methods)));
    // The definition of each collection decides its methods, and its schema their types: the compiler knows neither.
    return client as unknown as ClientFor<S>;
  };
  return clientWith(defaults);
}

/** Ignores the caller's schema: a record that does not match it still proves that the service responded. */
async function ping(context: ClientContext, options: RequestOptions = {}): Promise<Ping> {
  const { segment } = collections.accounts;
  const accounts = collectionContext(readOnly(segment), { ...context, validation: 'off' }, undefined);
  const checked = given(requestOptions, options, { of: 'ping' });
  // A 404 is a wrong baseUrl here, even if the service has one for an empty list.
  const own = { ...checked, prefetch: 0, afterLastPage: 'empty', isResult: isForbidden } as const;
  try {
    await createPaginator(listSource(accounts, checkedQuery({}), own)).first();
    return { ok: true, readable: true };
  } catch (error) {
    if (isForbidden(error)) return { ok: true, readable: false };
    throw error;
  }
}

function unknownCollection<T extends { id: string }>(
  context: ClientContext,
  segment: string,
  options: { readonly schema?: StandardSchema<T> | undefined } = {},
): ReadOnlyCollection<T> {
  const checked = resolved({ schema: optional(schema<StandardSchema<T>>()) }, options, { of: 'collection' });
  if (typeof segment !== 'string' || !/^[A-Za-z0-9][\w-]*$/.test(segment)) {
    throw new InvalidInputError('segment', 'must be one path segment of letters, digits, "-" and "_"');
  }
  return createCollection(readOnly(segment), context, checked.schema) as ReadOnlyCollection<T>;
}
