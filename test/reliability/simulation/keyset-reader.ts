import type { IdBounds } from 'accounting-data-sdk';
import { byKeyset } from '../../../src/pagination/keyset/keyset.ts';
import type { ResumePosition } from '../../../src/pagination/page.ts';
import { decodeResumeToken, encodeResumeToken } from '../../../src/pagination/resume-token.ts';
import type { SeededRandom } from '../../support/seeded-random.ts';
import type { SimRecord } from './chronicle.ts';
import { churn } from './churn.ts';
import type { SimServer } from './server.ts';

export interface KeysetReaderOptions {
  /** The caller's own bounds. */
  readonly bounds?: IdBounds;
  /** How likely the reader stops after a page and resumes from its token. */
  readonly stops: number;
}

const SCOPE = { baseUrl: 'https://books.example.com', collection: 'accounts', filters: {} };
const tokenOf = (position: ResumePosition) => encodeResumeToken(SCOPE, position);

/**
 * Reads with `keyset`: with or without look-ahead, with or without a page size known from before, and resuming from a
 * token now and then. While the consumer works on a page the data changes too.
 */
export async function* readKeyset(
  server: SimServer,
  random: SeededRandom,
  { bounds, stops }: KeysetReaderOptions = { stops: 0 },
): AsyncGenerator<readonly SimRecord[], void> {
  const fetchPage = server.fetchPage(bounds === undefined ? {} : { id: bounds });
  const pageSizeHint = random.pick([undefined, server.options.pageSize, 1]);
  let resumeFrom: ResumePosition | undefined;
  for (let done = false; !done; ) {
    done = true;
    const prefetch = random.int(0, 1);
    const options = { bounds, resumeFrom, pageSizeHint, prefetch, afterLastPage: 'empty', tokenOf } as const;
    for await (const page of byKeyset(fetchPage, options)) {
      yield page.records;
      churn(server, random, { rate: 0.5 });
      if (page.resumeToken === undefined || !random.chance(stops)) continue;
      resumeFrom = decodeResumeToken(page.resumeToken, SCOPE);
      done = false;
      break;
    }
  }
}
