import type { IdBounds, ListHint } from 'accounting-data-sdk';
import type { SeededRandom } from '../../../support/seeded-random.ts';
import type { SimRecord } from '../service/chronicle.ts';
import { churn } from '../service/churn.ts';
import { clientOf, listPages } from '../service/client.ts';
import { isById } from '../service/orders.ts';
import type { SimServer } from '../service/server.ts';

export interface KeysetReaderOptions {
  /** The caller's own bounds. */
  readonly bounds?: IdBounds;
  /** How likely the reader stops after a page and resumes from its token. */
  readonly stops: number;
}

/**
 * What an earlier read may have found out, or nothing: pages may have become shorter or longer since then. Only in the
 * order of ids can it know that the list is sorted by id.
 */
export function anyHint(server: SimServer, random: SeededRandom): ListHint | undefined {
  const { order, pageSize } = server.options;
  const sortedById = isById(order) && random.chance(0.7);
  const hintedOrder = sortedById
    ? order === 'id asc'
      ? 'asc'
      : 'desc'
    : random.pick([undefined, 'asc', 'desc'] as const);
  const hint = { pageSize: random.pick([0, 1, pageSize, 3 * pageSize]), order: hintedOrder, sortedById };
  return random.pick([undefined, hint, hint]);
}

/**
 * Reads with `keyset`: with or without look-ahead, with or without a hint from before, and resuming from a token now
 * and then. While the consumer works on a page the data changes too.
 */
export async function* readKeyset(
  server: SimServer,
  random: SeededRandom,
  { bounds: id, stops }: KeysetReaderOptions = { stops: 0 },
): AsyncGenerator<readonly SimRecord[], void> {
  const { accounts } = clientOf(server);
  const hint = anyHint(server, random);
  let resumeFrom: string | undefined;
  for (let done = false; !done; ) {
    done = true;
    const prefetch = random.int(0, 1);
    for await (const page of listPages(accounts, { id, hint, resumeFrom, prefetch })) {
      yield page.records;
      churn(server, random, { rate: 0.5 });
      if (page.resumeToken === undefined || !random.chance(stops)) continue;
      resumeFrom = page.resumeToken;
      done = false;
      break;
    }
  }
}
