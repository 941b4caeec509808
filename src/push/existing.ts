// Reads the existing products: all of them, or a local copy and what changed since.

import { guarded, type RequestGuard } from '../internal/request-guard.ts';
import type { Page, ResponseTime } from '../pagination/page.ts';
import { boundAt, lowestOffset } from '../sync/bound.ts';
import type { SourceQuery } from '../sync/source.ts';
import { sinceOf } from '../sync/watermark.ts';
import type { AnyProduct, AnyTarget, ResolvedPushOptions } from './options.ts';
import type { Results } from './results.ts';

/** Some of the existing products. A page of the local copy has no response. */
export type ExistingPage = Pick<Page<AnyProduct>, 'records' | 'invalid' | 'restarted'> & {
  readonly first?: ResponseTime | undefined;
};

/** What a read needs. */
export interface Reading {
  readonly products: AnyTarget;
  readonly options: ResolvedPushOptions;
  readonly outage: RequestGuard;
  readonly results: Results;
}

/** Records of the copy in one page, and those that show the UTC offset of the service. */
const COPY_PAGE = 500;

/** Every existing product. */
export async function* existingProducts(reading: Reading): AsyncGenerator<ExistingPage, void, undefined> {
  const { existing, lookbackMs, signal } = reading.options;
  if (existing === undefined) {
    yield* listed(reading, {});
    return;
  }

  const copy = pagesOf(existing.products);
  const { value: start = [] } = await copy.next();
  // The changes come first, because a product of the copy that changed since must not be compared.
  const changed = new Set<string>();
  const updatedSince = boundAt(sinceOf(existing.asOf, lookbackMs), lowestOffset(start as readonly object[]));
  for await (const page of listed(reading, { updatedSince })) {
    for (const { id } of [...page.records, ...page.invalid]) if (id !== undefined) changed.add(id);
    yield page;
  }
  const unchanged = (products: readonly AnyProduct[]): ExistingPage => ({
    records: products.filter(({ id }) => !changed.has(id)),
    invalid: [],
    restarted: false,
  });
  yield unchanged(start);
  for await (const products of copy) {
    signal?.throwIfAborted();
    yield unchanged(products);
  }
}

/** The pages of a list that outlasts an outage. */
export function listed(
  { products, options, outage, results }: Reading,
  query: SourceQuery,
): AsyncIterable<Page<AnyProduct>> {
  const { list, signal } = options;
  return products
    .list(query, guarded({ ...list, prefetch: 1, signal, onWait: results.wait }, outage))
    .pages();
}

async function* pagesOf(
  products: Iterable<AnyProduct> | AsyncIterable<AnyProduct>,
): AsyncGenerator<AnyProduct[], void, undefined> {
  let page: AnyProduct[] = [];
  for await (const product of products) {
    page.push(product);
    if (page.length < COPY_PAGE) continue;
    yield page;
    page = [];
  }
  yield page;
}
