import { type IdBounds, isAccountingError } from 'accounting-data-sdk';
import { SeededRandom } from '../../../support/seeded-random.ts';
import { clientOf, listPages } from '../service/client.ts';
import { type IdStyle, MAX_INT4, MAX_INT8 } from '../service/ids.ts';
import { isById, ORDERS } from '../service/orders.ts';
import {
  churn,
  InternalError,
  type SimOptions,
  type SimRecord,
  SimServer,
  versionOf,
} from '../service/server.ts';

/** Records that were there, the same, during the whole read, and were not delivered. */
function lost({ timeline }: SimServer, delivered: ReadonlySet<string>): SimRecord[] {
  return [...timeline.versions.keys()].flatMap((id) => {
    const [record, ...changes] = timeline.seen(id);
    return record === undefined || changes.length > 0 || delivered.has(versionOf(record)) ? [] : [record];
  });
}

/** A service of this seed. Its id column takes no larger bound than its type. */
function serviceOf(seed: number, random: SeededRandom): SimServer {
  const ids = random.pick<IdStyle>([
    ...(['dense', 'sparse', 'bursts', 'huge'] as const),
    ...(['clusters', 'int4', 'int8', 'descending'] as const),
  ]);
  const order = random.pick(ORDERS);
  const isLarge = random.chance(0.2);
  // Of ids anywhere in their type, tiny pages show too little.
  const isAnywhere = ['clusters', 'int4', 'int8', 'descending'].includes(ids);
  const pageSize = isLarge || isAnywhere ? random.pick([10, 30]) : random.pick([1, 2, 3, 5, 7, 10]);
  const hidden = pageSize < 5 ? 0 : random.pick([0, 0.003, 0.02, 0.2]);
  const canHideRuns = isById(order) && ['dense', 'sparse', 'bursts'].includes(ids);
  return new SimServer({
    seed,
    ids,
    order,
    pageSize,
    hidden,
    records: isLarge ? random.int(100, 700) : random.int(0, 60),
    column: ids === 'int8' || ids === 'huge' ? 'int8' : 'int4',
    reshuffles: random.chance(0.2),
    hiddenRun: hidden > 0 && canHideRuns && random.chance(0.5) ? pageSize : 0,
    bare: random.chance(0.3),
    ...(hidden === 0 && pageSize >= 5 ? oddity(random, pageSize) : {}),
  });
}

/** What a service does beside hiding rows. */
function oddity(random: SeededRandom, pageSize: number): Partial<SimOptions> {
  return random.pick<Partial<SimOptions>>([
    {},
    {},
    { emptyMoments: random.pick([0.02, 0.1]) },
    { maxBytes: pageSize * 270 },
    { late: 0.5 },
    { maxBytes: pageSize * 270, emptyMoments: 0.03 },
  ]);
}

/** The largest bound that may be requested after this id was seen. */
function largestAllowed(highestSeen: bigint): bigint {
  return [MAX_INT4, 2n ** 53n - 1n].find((largest) => highestSeen <= largest) ?? MAX_INT8;
}

/** How often a read fails: by a 500, or because so many rows were deleted that none is left of those that were shown. */
const MOST_FAILURES = 30;

/** More than any of these reads needs: the longest of 2,000 needed 497. */
const MOST_REQUESTS = 5_000;

/** One read with keyset pagination. */
export interface KeysetHistory {
  readonly findings: readonly string[];
  readonly complete: 'certain' | 'likely' | undefined;
  /** Whether the read was stopped or failed, and went on from a token. */
  readonly resumed: boolean;
  readonly hides: boolean;
}

/**
 * Reads a service with keyset pagination while its data changes: with up to eight pages ahead whose responses overtake
 * each other, with or without bounds, stopped after any page or by a 500, and resumed from the token.
 */
export async function playKeyset(seed: number): Promise<KeysetHistory> {
  const random = new SeededRandom(seed);
  const server = serviceOf(seed, random);
  const { hidden = 0, hiddenRun = 0, order, maxBytes, emptyMoments = 0, late = 0 } = server.options;
  const findings: string[] = [];

  const rate = random.pick([0, 0.3, 1, 1]);
  const failing = random.chance(0.3) ? random.int(1, 25) : 0;
  let [sent, highestSeen] = [0, 0n];
  server.beforeResponse = () => {
    sent += 1;
    if (sent === MOST_REQUESTS) throw new Error('The read sends requests without end.');
    if (sent === failing) throw new InternalError();
  };
  server.afterResponse = () => {
    const { largestBound } = server;
    if (largestBound > largestAllowed(highestSeen))
      findings.push(`the bound ${largestBound} after ${highestSeen}`);
    for (const { id } of server.lastResponse) if (BigInt(id) > highestSeen) highestSeen = BigInt(id);
    churn(server, random, rate);
  };

  const bounds: IdBounds | undefined = random.chance(0.2)
    ? { gt: String(random.int(0, 400)), lte: String(random.int(500, 900)) }
    : undefined;
  // A page of hidden rows ends a list of changes, which does not look behind its end: the guide names that.
  const mayHidePage = hiddenRun > 0 || (hidden >= 0.2 && server.options.pageSize <= 7);
  const isChanges = random.chance(0.3) && !mayHidePage;
  const filters = { id: bounds, updatedSince: isChanges ? new Date(0) : undefined };
  const stops = random.pick([0, 0, 0.05, 0.3]);

  // Requests ahead overtake each other.
  const slowest = random.pick([0, 2, 6]);
  const prefetch = random.pick([0, 1, 2, 4, 8, random.int(1, 8)]);
  // In descending order the first page contradicts it.
  const listOrder = isById(order) && random.chance(0.4) ? 'id' : 'any';
  const { accounts } = clientOf(server, {
    latency: () => random.int(0, slowest),
    onSent: (inFlight) => {
      if (inFlight > Math.max(prefetch, 1)) findings.push(`${inFlight} requests in flight`);
    },
  });
  server.beginRead();
  server.timeline.beginRun();
  const delivered = new Set<string>();
  let complete: KeysetHistory['complete'];
  let [resumeFrom, failures, resumed]: [string | undefined, number, boolean] = [undefined, 0, false];
  for (let done = false; !done; ) {
    done = true;
    try {
      for await (const page of listPages(accounts, { ...filters, resumeFrom, prefetch, listOrder })) {
        if (page.restarted) delivered.clear();
        for (const record of page.records) {
          delivered.add(versionOf(record));
          // Of a node that is late, a record is older, or deleted by now.
          const seen = server.timeline.seen(record.id);
          if (late === 0 && !seen.some((each) => each?.version === record.version))
            findings.push(`${versionOf(record)} was never visible`);
        }
        complete = page.complete;
        churn(server, random, rate / 2);
        if (page.resumeToken === undefined || !random.chance(stops)) continue;
        ({ resumeToken: resumeFrom } = page);
        done = false;
        resumed = true;
        break;
      }
    } catch (error) {
      const isIncomplete =
        isAccountingError(error, 'unexpected_response') && error.reason === 'incomplete_list';
      if (isIncomplete || (isAccountingError(error, 'filter_ignored') && error.retryable)) {
        // It showed rows and then none of them, or three and more were deleted: the read begins again.
        if (++failures > MOST_FAILURES) throw error;
        delivered.clear();
        resumeFrom = undefined;
        done = false;
        continue;
      }
      if (!isAccountingError(error, 'unknown_problem') || ++failures > MOST_FAILURES) throw error;
      ({ resumeToken: resumeFrom } = error);
      resumed ||= resumeFrom !== undefined;
      done = false;
    }
  }

  // Behind a page of hidden rows, and among hidden rows in another order than that of ids, others can be missing.
  // In another order a response that is cut by bytes looks like a whole one.
  const isCut = maxBytes !== undefined && !isById(order);
  // What shows nothing from the first request on looks like an empty list.
  const showsNothing = emptyMoments > 0 && delivered.size === 0;
  const mayLose = mayHidePage || (hidden > 0 && !isById(order)) || showsNothing;
  // Two moments without rows can come one after another, and one node or the other can lack what it has shown.
  const mayBeLikely = (isCut || emptyMoments > 0 || late > 0) && complete === 'likely';
  const { gt = '-1', lte = '9'.repeat(30) } = bounds ?? {};
  const inBounds = ({ id }: SimRecord) => BigInt(id) > BigInt(gt) && BigInt(id) <= BigInt(lte);
  // As can the last ones, if the last page has a hidden row and a record is deleted between the last two requests.
  const inOrder = server.ids.map(BigInt).sort((a, b) => (a < b === (order !== 'id desc') ? -1 : 1));
  const last = new Set(hidden > 0 ? inOrder.slice(-server.options.pageSize).map(String) : []);
  const isLost = (record: SimRecord) => inBounds(record) && !last.has(record.id);
  const missing = mayLose || mayBeLikely ? [] : lost(server, delivered).filter(isLost);
  findings.push(...missing.map((record) => `lost ${versionOf(record)}, although ${complete}`));
  return { findings, complete, resumed, hides: hidden > 0 };
}
