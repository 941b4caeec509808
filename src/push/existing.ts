// Reads the existing products.

import type { Page } from '../pagination/page.ts';
import type { ReadSettings } from '../reading/list-options.ts';
import { joinedEvidence } from '../reports/evidence.ts';
import type { AnyProduct, ResolvedPushOptions } from './options.ts';
import type { Results } from './results.ts';

export interface ExistingPage extends Page<AnyProduct> {
  /** Rows that came twice when everything was read once more: as many products can be missing. */
  readonly repeatedAgain?: number;
}

/** Every existing product. If the list may have missed one, it is read once more by page: what one read shows is there. */
export async function* existingProducts(
  options: ResolvedPushOptions,
  results: Results,
): AsyncGenerator<ExistingPage, void, undefined> {
  let isIncomplete = false;
  for await (const page of pages(options, results)) {
    // By page each read is only likely to be complete, and a second one shows no more.
    isIncomplete = page.repeated > 0 || (page.pagination === 'keyset' && page.complete === 'likely');
    yield page;
  }
  if (!isIncomplete) return;
  let isFirst = true;
  for await (const page of pages(options, results, { pagination: 'page' })) {
    yield { ...page, restarted: isFirst || page.restarted, repeatedAgain: page.repeated };
    isFirst = false;
  }
}

/** The pages of a list that outlasts an outage. Products that do not match a schema are in `invalid`. */
async function* pages(
  { list, signal, writes }: ResolvedPushOptions,
  results: Results,
  other: Partial<ReadSettings> = {},
): AsyncGenerator<Page<AnyProduct>, void, undefined> {
  const before = results.evidence;
  for await (const page of writes.list({}, { ...list, ...other, signal, onWait: results.wait })) {
    results.evidence = joinedEvidence(before, page.evidence);
    yield page;
  }
}
