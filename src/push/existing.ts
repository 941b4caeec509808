// Reads the existing products: all of them, or a local copy and what changed since.

import { InvalidInputError } from '../errors/invalid-input-error.ts';
import type { Page } from '../pagination/page.ts';
import { boundAt, lowestOffset } from '../reading/bound.ts';
import { each } from '../reading/each.ts';
import type { ReadSettings } from '../reading/list-options.ts';
import { runSource, type SourceQuery, type WriteSource } from '../reading/source.ts';
import { checkStart, sinceOf } from '../reading/watermark.ts';
import type { AnyProduct, AnyTarget, ResolvedPushOptions } from './options.ts';
import type { Results } from './results.ts';

/** Some of the existing products. A page of the local copy has no response. */
export type ExistingPage = Pick<Page<AnyProduct>, 'records' | 'sent' | 'invalid' | 'restarted'> & {
  /** Rows that came twice when everything was read once more: as many products can be missing. */
  readonly repeatedAgain?: number;
};

/** What a read needs. */
export interface Reading {
  readonly products: AnyTarget;
  readonly options: ResolvedPushOptions;
  readonly results: Results;
}

/** Records of the copy in one page, and those that show the UTC offset of the service. */
const COPY_PAGE = 500;

/** Every existing product: of the local copy and what changed since, or of the service alone. */
export async function* existingProducts(
  reading: Reading,
  existing: ResolvedPushOptions['existing'],
): AsyncGenerator<ExistingPage, void, undefined> {
  const { lookbackMs, signal } = reading.options;
  if (existing === undefined) {
    yield* listed(reading, {});
    return;
  }

  const { products, asOf } = existing;
  const given = typeof products === 'function' ? products() : products;
  const copy = pagesOf(each(given, 'existing.products', signal));
  try {
    const { value: start = [] } = await copy.next();
    if (start.length === 0) await checkEmpty(reading);
    // The changes come first, because a product of the copy that changed since must not be compared.
    const changed = new Set<string>();
    const updatedSince = boundAt(
      sinceOf(checkStart(asOf, 'existing.asOf'), lookbackMs),
      lowestOffset(start as readonly object[]),
    );
    for await (const page of listed(reading, { updatedSince })) {
      for (const { id } of [...page.records, ...page.invalid]) if (id !== undefined) changed.add(id);
      yield page;
    }
    const unchanged = (products: readonly AnyProduct[]): ExistingPage => {
      const records = products.filter(({ id }) => !changed.has(id));
      return { records, sent: records, invalid: [], restarted: false };
    };
    yield unchanged(start as readonly AnyProduct[]);
    for await (const products of copy) yield unchanged(products);
  } finally {
    await copy.return();
  }
}

/** Reads a list. If it may have missed a product, reads it once more by page: what one read shows is there. */
async function* listed(
  reading: Reading,
  query: SourceQuery = {},
): AsyncGenerator<ExistingPage, void, undefined> {
  let isIncomplete = false;
  for await (const page of pages(reading, query)) {
    // By page each read is only likely to be complete, and a second one shows no more.
    isIncomplete = page.repeated > 0 || (page.pagination === 'keyset' && page.complete === 'likely');
    yield page;
  }
  if (!isIncomplete) return;
  let isFirst = true;
  for await (const page of pages(reading, query, { pagination: 'page', prefetch: 1 })) {
    yield { ...page, restarted: isFirst || page.restarted, repeatedAgain: page.repeated };
    isFirst = false;
  }
}

/** The pages of a list that outlasts an outage. Products that do not match a schema are in `invalid`. */
async function* pages(
  { products, options, results }: Reading,
  query: SourceQuery,
  other: Partial<ReadSettings> = {},
): AsyncGenerator<Page<AnyProduct>, void, undefined> {
  const { list, signal } = options;
  const { lenient } = runSource(products).writes as WriteSource<AnyProduct>;
  const settings = { ...list, ...other, signal, onWait: results.wait };
  for await (const page of lenient.list(query, settings)) {
    results.complete.add(page.complete);
    yield page;
  }
}

/** A copy that lost its products would lead to a second one for each row. */
async function checkEmpty(reading: Reading): Promise<void> {
  for await (const { rows } of pages(reading, {})) {
    if (rows.length === 0) continue;
    throw new InvalidInputError(
      'existing.products',
      'is empty, but the service has products. Restore the copy, or leave out existing',
    );
  }
}

async function* pagesOf(products: AsyncIterable<AnyProduct>): AsyncGenerator<AnyProduct[], void, undefined> {
  let page: AnyProduct[] = [];
  for await (const product of products) {
    page.push(product);
    if (page.length < COPY_PAGE) continue;
    yield page;
    page = [];
  }
  yield page;
}
