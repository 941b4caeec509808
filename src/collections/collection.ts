import { checkId, checkObject, checkOptionNames } from '../errors/check-input.ts';
import { NotFoundError } from '../errors/not-found-error.ts';
import type { OptionNames } from '../internal/option-names.ts';
import { createPaginator, type Paginator } from '../pagination/paginator.ts';
import { RecordReader } from '../schemas/record-reader.ts';
import type { StandardSchema } from '../schemas/standard-schema.ts';
import {
  callSettings,
  checkRequestOptions,
  REQUEST_OPTIONS,
  type RequestOptions,
} from '../transport/call-options.ts';
import type { CollectionInternals, WriteFacts } from '../transport/collection-internals.ts';
import { checkIdempotencyKey, newIdempotencyKey } from '../transport/idempotency-key.ts';
import type { ApiRequest, Expected } from '../transport/request.ts';
import type { CollectionContext } from './context.ts';
import type { AnyDefinition } from './define.ts';
import { LIST_OPTIONS, type ListOptions } from './list-options.ts';
import type { ListQuery } from './list-query.ts';
import { listSource } from './list-source.ts';
import { writeBody } from './write-body.ts';

/** A collection that can be read. */
export interface ReadOnlyCollection<T extends { id: string }> {
  /** The path segment, such as `account-addresses`. */
  readonly segment: string;
  /** The path segment of the collection that these records refer to: `accounts` for `account-addresses`. */
  readonly parent: string | undefined;
  /** Where the service is, `/api/public/v1` included. */
  readonly baseUrl: string;
  /**
   * The records of the collection, to iterate: `for await (const record of client.accounts.list())`, `.pages()`, or
   * `.toArray({ limit })`. Nothing is sent before you iterate.
   *
   * @throws At once: InvalidInputError for an invalid filter or option, CheckpointError for a
   * `resumeFrom` that is damaged or not of this list. While iterating: what {@link get} throws, and FilterIgnoredError.
   */
  list(query?: ListQuery, options?: ListOptions): Paginator<T>;
  /**
   * One record by its id.
   *
   * @throws NotFoundError if the company has no such record; UnauthenticatedError, ForbiddenError,
   * ScopeRequiredError, RateLimitedError, ConnectionError, TimeoutError, UnexpectedResponseError, InvalidInputError.
   */
  get(id: string, options?: RequestOptions): Promise<T>;
  /**
   * One record by its id; `undefined` if the company has no such record. Throws what {@link get} throws: also a
   * NotFoundError, if a 404 is not the service's problem document (see the client option `bareNotFound`).
   */
  find(id: string, options?: RequestOptions): Promise<T | undefined>;
}

/** Options of a create. */
export interface CreateOptions extends RequestOptions {
  /**
   * Names this intended create, so that repeating it creates no second record: see `idempotencyKeyFor`. Default: a
   * random key, generated before the first attempt and found on the error if the create fails.
   */
  idempotencyKey?: string | undefined;
}

export const CREATE_OPTIONS: OptionNames<CreateOptions> = { ...REQUEST_OPTIONS, idempotencyKey: true };

/** An option of lists has no effect on a call for one record, nor has a create's key on another call. */
const ELSEWHERE = [
  { names: LIST_OPTIONS, advice: 'It is an option of list.' },
  { names: CREATE_OPTIONS, advice: 'It is an option of create.' },
];

/** A collection that can be written too. */
export interface WritableCollection<T extends { id: string }, Draft, Patch> extends ReadOnlyCollection<T> {
  /**
   * Creates a record. Retried under one Idempotency-Key with the same bytes, so that a lost response creates no second
   * one.
   *
   * @throws ValidationFailedError with the violations that the service found; an error with `outcome: 'unknown'` or `'applied'` and
   * the `idempotencyKey` to repeat it with, if the outcome is unknown or the response could not be read.
   */
  create(draft: Draft, options?: CreateOptions): Promise<T>;
  /**
   * Changes a record: only the fields given; `null` clears a field, `undefined` leaves it out. Retried, because it
   * assigns absolute values; `retry: { updates: false }` turns that off.
   *
   * @throws NotFoundError, ValidationFailedError, and what {@link get} throws.
   */
  update(id: string, patch: Patch, options?: RequestOptions): Promise<T>;
  /**
   * Deletes a record. A retry that gets a 404 after a lost response counts as done.
   *
   * @throws NotFoundError if the record did not exist before the first attempt; what {@link get} throws.
   */
  delete(id: string, options?: RequestOptions): Promise<void>;
}

/** The client of one collection. Write methods exist only if the service has them. */
export function createCollection(
  definition: AnyDefinition,
  context: CollectionContext,
  schema: StandardSchema<{ id: string }> | undefined,
): ReadOnlyCollection<{ id: string }> {
  return definition.writable
    ? new Writable(definition, context, schema)
    : new ReadOnly(definition, context, schema);
}

class ReadOnly<T extends { id: string }> implements ReadOnlyCollection<T>, CollectionInternals {
  readonly #segment: string;
  readonly #parent: string | undefined;
  readonly #context: CollectionContext;
  readonly #reader: RecordReader<T>;
  readonly #oneRecord: Expected<T> = { kind: 'json', read: (body) => this.#reader.one(body) };

  constructor(
    definition: AnyDefinition,
    context: CollectionContext,
    schema: StandardSchema<{ id: string }> | undefined,
  ) {
    const { fields, parent, segment, writable } = definition;
    this.#segment = segment;
    this.#parent = parent?.segment;
    this.#context = context;
    this.#reader = new RecordReader({ fields, schema, validation: context.validation, keepFields: writable });
  }

  get segment(): string {
    return this.#segment;
  }

  get parent(): string | undefined {
    return this.#parent;
  }

  get baseUrl(): string {
    return this.#context.baseUrl;
  }

  callbackFailed(name: string, thrown: unknown): void {
    this.#context.listeners.listenerFailed?.(name, thrown);
  }

  list(query: ListQuery = {}, options: ListOptions = {}): Paginator<T> {
    return createPaginator(
      listSource({ context: this.#context, segment: this.#segment, reader: this.#reader, query, options }),
    );
  }

  async get(id: string, options: RequestOptions = {}): Promise<T> {
    checkOptionNames(options, REQUEST_OPTIONS, { of: 'get', elsewhere: ELSEWHERE });
    return await this.send({ method: 'GET', id: checkId(id), expected: this.oneRecord }, options);
  }

  async find(id: string, options: RequestOptions = {}): Promise<T | undefined> {
    try {
      return await this.get(id, options);
    } catch (error) {
      if (error instanceof NotFoundError && error.missing) return undefined;
      throw error;
    }
  }

  /** What is due in the response to a request for one record. */
  protected get oneRecord(): Expected<T> {
    return this.#oneRecord;
  }

  /** Sends a request to the collection, or to the record of an id. */
  protected async send<R>(
    { method, id, body, idempotencyKey, expected }: Outgoing<R>,
    options: RequestOptions,
  ): Promise<R> {
    checkRequestOptions(options);
    const segment = this.#segment;
    const { value } = await this.#context.transport.send({
      method,
      path: id === undefined ? [segment] : [segment, id],
      template: id === undefined ? `/${segment}` : `/${segment}/{id}`,
      body,
      idempotencyKey,
      expected,
      priority: 'interactive',
      settings: callSettings(this.#context.settings, options),
      options,
    });
    return value;
  }
}

interface Outgoing<R> extends Pick<ApiRequest<R>, 'method' | 'body' | 'idempotencyKey' | 'expected'> {
  /** Already checked. */
  readonly id?: string;
}

class Writable<T extends { id: string }>
  extends ReadOnly<T>
  implements WritableCollection<T, object, object>, CollectionInternals
{
  readonly #definition: AnyDefinition;
  readonly #writeFacts: WriteFacts;

  constructor(
    definition: AnyDefinition,
    context: CollectionContext,
    schema: StandardSchema<{ id: string }> | undefined,
  ) {
    super(definition, context, schema);
    this.#definition = definition;
    const { fields } = definition;
    const body = (draft: object) => writeBody(definition, draft, 'draft');
    this.#writeFacts = { fields, settings: context.settings, body };
  }

  get writeFacts(): WriteFacts {
    return this.#writeFacts;
  }

  async create(draft: object, options: CreateOptions = {}): Promise<T> {
    const body = writeBody(this.#definition, draft, 'draft');
    checkObject(options, 'options');
    checkOptionNames(options, CREATE_OPTIONS, { of: 'create', elsewhere: ELSEWHERE });
    const idempotencyKey =
      options.idempotencyKey === undefined
        ? newIdempotencyKey()
        : checkIdempotencyKey(options.idempotencyKey);
    return await this.send({ method: 'POST', body, idempotencyKey, expected: this.oneRecord }, options);
  }

  async update(id: string, patch: object, options: RequestOptions = {}): Promise<T> {
    checkOptionNames(options, REQUEST_OPTIONS, { of: 'update', elsewhere: ELSEWHERE });
    const body = writeBody(this.#definition, patch, 'patch');
    return await this.send({ method: 'PATCH', id: checkId(id), body, expected: this.oneRecord }, options);
  }

  async delete(id: string, options: RequestOptions = {}): Promise<void> {
    checkOptionNames(options, REQUEST_OPTIONS, { of: 'delete', elsewhere: ELSEWHERE });
    const expected = { kind: 'nothing', value: undefined } as const;
    await this.send({ method: 'DELETE', id: checkId(id), expected }, options);
  }
}
