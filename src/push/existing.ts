// Reads the existing products: all of them, or a local copy and what changed since.

import type { InvalidRecord } from '../events.ts';
import { guarded, type RequestGuard } from '../internal/request-guard.ts';
import type { Page, ResponseTime } from '../pagination/page.ts';
import { boundAt, lowestOffset } from '../sync/bound.ts';
import type { SourceQuery } from '../sync/source.ts';
import { sinceOf } from '../sync/watermark.ts';
import type { PushTarget, ResolvedPushOptions } from './options.ts';
import type { Results } from './results.ts';

/** Some of the existing products. */
export interface ExistingPage<T> {
  readonly products: readonly T[];
  readonly invalid: readonly InvalidRecord[];
  /** The first response of the read: its `Date` is the start of the run by the clock of the service. */
  readonly first: ResponseTime | undefined;
  /** The products before this page come again. */
  readonly restarted: boolean;
}

/** What a read needs. */
export interface Reading<T extends { id: string }, Draft extends object, Patch extends object> {
  readonly products: PushTarget<T, Draft, Patch>;
  readonly options: ResolvedPushOptions<T, Draft, Patch>;
  readonly outage: RequestGuard;
  readonly results: Results;
}

/** Records of the copy in one page, and those that show the UTC offset of the service. */
const COPY_PAGE = 500;

/** Every existing product. */
export async function* existingProducts<T extends { id: string }, Draft extends object, Patch extends object>(
  reading: Reading<T, Draft, Patch>,
): AsyncGenerator<ExistingPage<T>, void, undefined> {
  const { existing, lookbackMs, signal } = reading.options;
  if (existing === undefined) {
    for await (const page of listed(reading, {})) yield existingPage(page);
    return;
  }

  const copy = pagesOf(existing.products);
  const { value: start = [] } = await copy.next();
  // The changes come first, because a product of the copy that changed since must not be compared.
  const changed = new Set<string>();
  const updatedSince = boundAt(sinceOf(existing.asOf, lookbackMs), lowestOffset(start as readonly object[]));
  for await (const page of listed(reading, { updatedSince })) {
    for (const { id } of [...page.records, ...page.invalid]) if (id !== undefined) changed.add(id);
    yield existingPage(page);
  }
  const unchanged = (products: readonly T[]): ExistingPage<T> => ({
    products: products.filter(({ id }) => !changed.has(id)),
    invalid: [],
    first: undefined,
    restarted: false,
  });
  yield unchanged(start);
  for await (const products of copy) {
    signal?.throwIfAborted();
    yield unchanged(products);
  }
}

/** The pages of a list that outlasts an outage. */
export function listed<T extends { id: string }, Draft extends object, Patch extends object>(
  { products, options, outage, results }: Reading<T, Draft, Patch>,
  query: SourceQuery,
): AsyncIterable<Page<T>> {
  const { list, signal } = options;
  return products
    .list(query, guarded({ ...list, prefetch: 1, signal, onWait: results.wait }, outage))
    .pages();
}

function existingPage<T>({ records, invalid, first, restarted }: Page<T>): ExistingPage<T> {
  return { products: records, invalid, first, restarted };
}

async function* pagesOf<T>(products: Iterable<T> | AsyncIterable<T>): AsyncGenerator<T[], void, undefined> {
  let page: T[] = [];
  for await (const product of products) {
    page.push(product);
    if (page.length < COPY_PAGE) continue;
    yield page;
    page = [];
  }
  yield page;
}
