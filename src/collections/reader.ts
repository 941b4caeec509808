import { showsMissingRecord } from '../errors/guards.ts';
import { NotFoundError } from '../errors/not-found-error.ts';
import { unroutedId } from '../errors/unrouted-id.ts';
import { checkId } from '../input/checks.ts';
import type { ListOptions } from '../pagination/list-options.ts';
import { createPaginator, type Paginator } from '../pagination/paginator.ts';
import type { RequestOptions } from '../transport/call-options.ts';
import type { CollectionContext } from './context.ts';
import { checkedQuery, type ListQuery } from './list-query.ts';
import { checkedListOptions, listSource } from './list-source.ts';
import { checkedOptions, expectedRecord, sendOne } from './send-one.ts';

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
   * One record by its id. A record with another id, except for its case, is an UnexpectedResponseError: some services
   * return record 6002 for `6002-A`.
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

/** Throws in place of a NotFoundError for an id of a form that the service lists but does not find: the record may exist. */
export function throwIfUnrouted({ forms, definition }: CollectionContext, id: string, error: unknown): void {
  const { segment } = definition;
  if (error instanceof NotFoundError && forms.isUnrouted(segment, id))
    throw unroutedId(segment, id, undefined, error);
}

export function reader(context: CollectionContext): ReadOnlyCollection<{ id: string }> {
  const { definition, baseUrl } = context;

  async function read(method: 'get' | 'find', id: string, given: RequestOptions = {}) {
    const options = checkedOptions(given, method);
    try {
      return await sendOne(
        context,
        {
          method: 'GET',
          id: checkId(id),
          expected: expectedRecord(context),
          isResult: method === 'find' ? showsMissingRecord : undefined,
        },
        options,
      );
    } catch (error) {
      throwIfUnrouted(context, id, error);
      throw error;
    }
  }

  return {
    segment: definition.segment,
    parent: definition.parent?.segment,
    baseUrl,
    list(query = {}, options = {}) {
      const checked = checkedListOptions(options);
      return createPaginator(listSource(context, checkedQuery(query), checked));
    },
    get: (id, options) => read('get', id, options),
    async find(id, options) {
      try {
        return await read('find', id, options);
      } catch (error) {
        if (showsMissingRecord(error)) return undefined;
        throw error;
      }
    },
  };
}
