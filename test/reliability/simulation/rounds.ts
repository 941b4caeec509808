import type { SeededRandom } from '../../support/seeded-random.ts';
import type { SimRecord } from './chronicle.ts';
import { churn } from './churn.ts';
import { changingServer, type HistoryOptions } from './history.ts';
import type { SimServer } from './server.ts';

/** A part of a read, and the server time of the response that it came in. */
export interface Piece {
  readonly records: readonly SimRecord[];
  readonly serverTime: Date | undefined;
}

/** Creates reads of one service. */
export type Reader = (server: SimServer) => (updatedSince: Date | undefined) => AsyncIterable<Piece>;

/** The `updatedSince` of the next read, from what a finished one showed. */
export type Watermark = (pieces: readonly Piece[], before: Date | undefined) => Date | undefined;

/** The largest `updatedAt` seen: whatever is committed late below it is never read. */
export const largestUpdatedAt: Watermark = (pieces, before) => {
  const stamps = pieces.flatMap((piece) => piece.records.map((record) => Date.parse(record.updatedAt)));
  const largest = Math.max(before?.getTime() ?? Number.NEGATIVE_INFINITY, ...stamps);
  return Number.isFinite(largest) ? new Date(largest) : undefined;
};

/** The server's date at the beginning of the read, less 120 s for commits that become visible late. */
export const dateAtStart: Watermark = (pieces, before) => {
  const start = pieces[0]?.serverTime;
  return start === undefined ? before : new Date(start.getTime() - 120_000);
};

const ROUNDS = 6;

/**
 * Reads everything once and then what changed, over and over, while the data changes; at last nothing changes any more
 * and the reader reads once more. Returns the records that the reader still lacks or has in an old version: lost for
 * good. Deleted ones are not looked at, because no list of changes can show them.
 */
export async function lostForGood(
  { reader, watermark }: { readonly reader: Reader; readonly watermark: Watermark },
  options: HistoryOptions,
): Promise<readonly SimRecord[]> {
  const { server, random } = changingServer(options);
  const read = reader(server);
  const versions = new Map<string, number>();
  let updatedSince: Date | undefined;
  for (let round = 0; round <= ROUNDS; round++) {
    const pieces: Piece[] = [];
    for await (const piece of read(updatedSince)) {
      pieces.push(piece);
      for (const { id, version } of piece.records) versions.set(id, version);
    }
    updatedSince = watermark(pieces, updatedSince);
    if (round < ROUNDS - 1) live(server, random);
    else rest(server);
  }
  return server.records.filter(({ id, version }) => versions.get(id) !== version);
}

function live(server: SimServer, random: SeededRandom): void {
  for (let change = random.int(0, 40); change > 0; change--) churn(server, random, { rate: 1 });
}

/** Every commit becomes visible, and nothing changes any more. */
function rest(server: SimServer): void {
  server.afterResponse = undefined;
  server.advance(600_000);
}
