import { SeededRandom } from '../../support/seeded-random.ts';
import type { SimRecord } from './chronicle.ts';
import { type ChurnOptions, churn } from './churn.ts';
import { ID_STYLES } from './ids.ts';
import { ORDERS, type Order } from './orders.ts';
import { SimServer } from './server.ts';

/** One walk through books that change under it, and what a judge finds afterwards. */
export interface WalkVerdict {
  readonly server: SimServer;
  /** Records that were there, the same, during the whole walk, and were not delivered. */
  readonly lost: readonly SimRecord[];
  /** Delivered versions that were visible at no moment of the walk. */
  readonly untrue: readonly SimRecord[];
  readonly delivered: number;
}

/** Reads the books in some way: yields what it delivers, piece by piece. */
export type Reader = (server: SimServer, random: SeededRandom) => AsyncIterable<readonly SimRecord[]>;

export interface HistoryOptions {
  readonly seed: number;
  /** Left out: the seed decides. */
  readonly order?: Order;
  readonly records?: number;
  readonly pageSize?: number;
  readonly churn: ChurnOptions;
}

/** The books of a seed, already changing after each request and ready to be read. */
export function changingServer(options: HistoryOptions): { server: SimServer; random: SeededRandom } {
  const random = new SeededRandom(options.seed);
  const server = new SimServer({
    seed: options.seed,
    order: options.order ?? ORDERS[options.seed % ORDERS.length] ?? 'none',
    pageSize: options.pageSize ?? random.pick([1, 2, 3, 7, 10, 10, 10]),
    ids: random.pick(ID_STYLES),
    records: options.records ?? random.int(0, 60),
    reshuffles: random.chance(0.2),
  });
  server.afterAnswer = () => churn(server, random, options.churn);
  return { server, random };
}

/** Runs one reader through one history, and judges it. */
export async function readChanging(reader: Reader, options: HistoryOptions): Promise<WalkVerdict> {
  const { server, random } = changingServer(options);
  const { chronicle } = server;
  const from = chronicle.moment;
  const delivered: SimRecord[] = [];
  for await (const records of reader(server, random)) delivered.push(...records);

  const to = chronicle.moment;
  const taken = new Set(delivered);
  return {
    server,
    lost: chronicle.unchanged(from, to).filter((record) => !taken.has(record)),
    untrue: delivered.filter((record) => !chronicle.wasVisible(record, from, to)),
    delivered: delivered.length,
  };
}
