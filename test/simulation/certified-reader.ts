import { certifiedWalk } from '../../src/pagination/certified.ts';
import type { IdBounds, WalkPosition } from '../../src/pagination/page.ts';
import { decodeResumeToken, encodeResumeToken } from '../../src/pagination/resume-token.ts';
import type { SimRecord } from './chronicle.ts';
import { churn } from './churn.ts';
import type { Random } from './random.ts';
import type { SimServer } from './server.ts';

export interface CertifiedReaderOptions {
  /** The caller's own bounds. */
  readonly bounds?: IdBounds;
  /** How likely the reader is stopped after a step and goes on from a token. */
  readonly stops: number;
}

const SCOPE = { baseUrl: 'https://books.example.com', collection: 'accounts', filters: {} };

/**
 * Reads with `keyset`: with or without look-ahead, with or without a page size known from before, and going on
 * from a resume token now and then. While the consumer works on a step the books change too.
 */
export async function* readCertified(
  server: SimServer,
  random: Random,
  { bounds, stops }: CertifiedReaderOptions = { stops: 0 },
): AsyncGenerator<readonly SimRecord[], void> {
  const fetchPage = server.fetchPage(bounds === undefined ? {} : { id: bounds });
  const pageSizeHint = random.pick([undefined, server.options.pageSize, 1]);
  let resumeFrom: WalkPosition | undefined;
  for (let done = false; !done; ) {
    done = true;
    const prefetch = random.int(0, 1);
    const options = { bounds, resumeFrom, pageSizeHint, prefetch, afterLastPage: 'empty' as const };
    for await (const step of certifiedWalk(fetchPage, options)) {
      yield step.records;
      churn(server, random, { rate: 0.5 });
      if (step.position === undefined || !random.chance(stops)) continue;
      resumeFrom = decodeResumeToken(encodeResumeToken(SCOPE, step.position), SCOPE);
      done = false;
      break;
    }
  }
}
