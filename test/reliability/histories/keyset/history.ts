import { SeededRandom } from '../../../support/seeded-random.ts';
import { type SimRecord, versionOf } from '../service/chronicle.ts';
import { type ChurnOptions, churn } from '../service/churn.ts';
import { ID_STYLES } from '../service/ids.ts';
import { ORDERS, type Order } from '../service/orders.ts';
import { SimServer } from '../service/server.ts';

/** What one read of changing data delivered and lost. */
export interface ReadVerdict {
  readonly server: SimServer;
  /** Records that were there, the same, during the whole read, and were not delivered. */
  readonly lost: readonly SimRecord[];
  /** Delivered versions that were visible at no moment of the read. */
  readonly untrue: readonly SimRecord[];
  readonly delivered: number;
}

/** Reads the data in some way: yields what it delivers, piece by piece. */
export type Reader = (server: SimServer, random: SeededRandom) => AsyncIterable<readonly SimRecord[]>;

export interface HistoryOptions {
  readonly seed: number;
  /** Left out: the seed decides. */
  readonly order?: Order;
  readonly records?: number;
  readonly pageSize?: number;
  readonly churn: ChurnOptions;
}

/** The service of a seed, whose data changes after each request. */
function changingServer(options: HistoryOptions): { server: SimServer; random: SeededRandom } {
  const random = new SeededRandom(options.seed);
  const server = new SimServer({
    seed: options.seed,
    order: options.order ?? ORDERS[options.seed % ORDERS.length] ?? 'none',
    pageSize: options.pageSize ?? random.pick([1, 2, 3, 7, 10, 10, 10]),
    ids: random.pick(ID_STYLES),
    records: options.records ?? random.int(0, 60),
    reshuffles: random.chance(0.2),
  });
  server.afterResponse = () => churn(server, random, options.churn);
  return { server, random };
}

/** Runs one reader through one history. */
export async function readChanging(reader: Reader, options: HistoryOptions): Promise<ReadVerdict> {
  const { server, random } = changingServer(options);
  const { chronicle } = server;
  const from = chronicle.moment;
  const delivered: SimRecord[] = [];
  for await (const records of reader(server, random)) delivered.push(...records);

  const to = chronicle.moment;
  const taken = new Set(delivered.map(versionOf));
  return {
    server,
    lost: chronicle.unchanged(from, to).filter((record) => !taken.has(versionOf(record))),
    untrue: delivered.filter((record) => !chronicle.wasVisible(record, from, to)),
    delivered: delivered.length,
  };
}
