import { InvalidInputError } from '../errors/invalid-input-error.ts';
import type { InvalidRecord } from '../events.ts';
import { OWN_INSTANT } from '../internal/own-instant.ts';
import { type CertifiedOptions, certifiedWalk } from '../pagination/certified.ts';
import { type CustomCursor, customWalk } from '../pagination/custom.ts';
import type { FetchPage } from '../pagination/page.ts';
import { pagesWalk } from '../pagination/pages.ts';
import { decodeResumeToken, encodeResumeToken } from '../pagination/resume-token.ts';
import type { WalkSource } from '../pagination/walk.ts';
import { type ReadList, type RecordReader, withClearedMisfits } from '../schemas/record-reader.ts';
import { callSettings, checkRequestOptions } from '../transport/settings.ts';
import type { Binding } from './binding.ts';
import type { ListOptions } from './list-options.ts';
import { type CheckedQuery, checkQuery, type ListQuery, parameters } from './list-query.ts';

/** What a list is made of. */
export interface ListParts<T extends { id: string }> {
  readonly binding: Binding;
  readonly reader: RecordReader<T>;
  readonly query: ListQuery;
  readonly options: ListOptions;
}

/** The walk of one list. Everything that can be wrong with query and options is found here, before anything is sent. */
export function walkSource<T extends { id: string }>(segment: string, parts: ListParts<T>): WalkSource<T> {
  const { binding, options } = parts;
  checkRequestOptions(options);
  const query = checkQuery(parts.query);
  if (!(OWN_INSTANT in options)) binding.serverClock.refuseFuture(query.updatedSince, 'updatedSince');
  const way = checkWay(binding, query, options);
  const scope = {
    baseUrl: binding.baseUrl,
    collection: segment,
    filters: Object.fromEntries(parameters(query, {})),
  };
  const position =
    options.resumeFrom === undefined ? undefined : decodeResumeToken(options.resumeFrom, scope);
  const shownIds = new WeakMap<InvalidRecord, string>();
  const fetchPage = pageFetcher(segment, parts, { query, shownIds });

  return {
    signal: options.signal,
    // Not when an answer comes: a certified walk asks again for what an answer did not show whole.
    onInvalid: (rows) => {
      for (const row of rows) {
        binding.listeners.invalidRecord?.({ ...row, id: shownIds.get(row) ?? row.id });
      }
    },
    tokenOf: (at) => encodeResumeToken(scope, at),
    resumeFrom: options.resumeFrom,
    pagination: way.pagination === 'page' || way.pagination === 'keyset' ? way.pagination : 'custom',
    start(limit, onAnswer) {
      const ask: FetchPage<T> = async (own, signal) => {
        const answer = await fetchPage(own, signal);
        onAnswer(answer);
        return answer;
      };
      const steps = {
        signal: options.signal,
        prefetch: way.prefetch,
        limit,
        facts: { method: 'GET', path: `/${segment}`, attempts: 1, outcome: 'applied' },
        bounds: query.id,
        afterLastPage: way.afterLastPage,
      } as const satisfies CertifiedOptions;
      if (way.pagination === 'page') return pagesWalk(ask, { ...steps, start: query.page ?? 1 });
      if (way.pagination === 'keyset') {
        return certifiedWalk(ask, {
          ...steps,
          resumeFrom: position,
          pageSizeHint: options.pageSizeHint,
        });
      }
      return customWalk(ask, way.pagination as CustomCursor<T>, steps);
    },
  };
}

function checkWay({ lists }: Binding, query: CheckedQuery, options: ListOptions) {
  const pagination = options.pagination ?? (options.resumeFrom === undefined ? lists.pagination : 'keyset');
  const { prefetch = lists.prefetch, afterLastPage = lists.afterLastPage } = options;
  if (pagination !== 'page' && pagination !== 'keyset' && typeof pagination?.next !== 'function') {
    throw new InvalidInputError('pagination', "must be 'page', 'keyset' or a cursor { first, next }");
  }
  if (options.resumeFrom !== undefined && pagination !== 'keyset') {
    throw new InvalidInputError(
      'resumeFrom',
      "requires pagination: 'keyset': no other kind has points to resume at",
    );
  }
  if (query.page !== undefined && pagination !== 'page') {
    throw new InvalidInputError(
      'page',
      "requires pagination: 'page', and cannot be combined with resumeFrom",
    );
  }
  if (!Number.isInteger(prefetch) || prefetch < 0) {
    throw new InvalidInputError('prefetch', 'must be a whole number from 0');
  }
  if (afterLastPage !== 'empty' && afterLastPage !== 'not_found') {
    throw new InvalidInputError('afterLastPage', "must be 'empty' or 'not_found'");
  }
  return { pagination, afterLastPage, prefetch: pagination === 'page' ? prefetch : Math.min(prefetch, 1) };
}

/** Fetches one answer of a list: the caller's filters, then what the walk asks for. */
function pageFetcher<T extends { id: string }>(
  segment: string,
  { binding, reader, options }: ListParts<T>,
  { query, shownIds }: { query: CheckedQuery; shownIds: WeakMap<InvalidRecord, string> },
): FetchPage<T> {
  const settings = callSettings(binding.settings, options);
  const read = (body: unknown) => reader.list(body);

  return async (own, signal) => {
    const { value, meta, serverTime, requestedAt, durationMs } = await binding.transport.send<ReadList<T>>({
      method: 'GET',
      path: [segment],
      template: `/${segment}`,
      query: [...parameters(query, own), ...Object.entries(own.parameters ?? {})],
      expected: { kind: 'json', read, cleared: withClearedMisfits },
      priority: 'background',
      settings,
      options: { ...options, signal },
    });
    binding.serverClock.saw(serverTime);
    return {
      records: value.records,
      ids: value.ids,
      invalid: value.misfits.map(({ shownId, ...misfit }): InvalidRecord => {
        const row = { collection: segment, ...misfit };
        if (shownId !== undefined) shownIds.set(row, shownId);
        return row;
      }),
      rateLimit: meta.rateLimit,
      serverTime,
      requestedAt,
      durationMs,
    };
  };
}
