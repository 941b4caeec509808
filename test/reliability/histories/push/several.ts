// One seeded history of processes that push the same rows to one service with one store: some at the same time, some are
// stopped for a while or killed, and the store is slow or loses its lock. Returns what was wrong.

import { createClient, isAccountingError, push } from 'accounting-data-sdk';
import { numbered } from '../../../support/push.ts';
import { SeededRandom } from '../../../support/seeded-random.ts';
import { advance, runUntilSettled } from '../../../support/virtual-clock.ts';
import {
  after,
  forgetPushesOfProcess,
  later,
  Process,
  SharedEntries,
  type StoreTraits,
  useProcessTimers,
} from './process.ts';
import { FAULTS, type Fault, formOf, Service, type ServiceTraits } from './service.ts';

export interface SeveralFigures {
  runs: number;
  /** Runs that ended because of another one. */
  concurrent: number;
  kills: number;
  stops: number;
}

export interface SeveralOptions {
  readonly store?: Partial<StoreTraits>;
  readonly service?: Partial<ServiceTraits>;
  /** The chance that a process is stopped, and for how long. */
  readonly stops?: number;
  readonly stopMs?: number;
  readonly faults?: readonly Fault[];
  readonly faultRate?: number;
  readonly rows?: number;
  readonly figures?: SeveralFigures;
}

const VISIBLE_AFTER_MS = 30_000;

/** Plays one history on the virtual clock. */
export async function playSeveral(seed: number, options: SeveralOptions = {}): Promise<readonly string[]> {
  useProcessTimers();
  const random = new SeededRandom(seed);
  const { figures } = options;
  const creates = random.chance(0.5);
  const service = new Service(
    {
      visibleAfterMs: VISIBLE_AFTER_MS,
      honoursKeys: creates || random.chance(0.3),
      stores5xx: random.chance(0.3),
      stores422: false,
      keyForm: 'as_sent',
      createdAt: random.pick(['sent', 'missing', 'forms'] as const),
      reusesIds: false,
      lags: random.pick(['both', 'list', 'item'] as const),
      slowness: 0.3,
      writeMs: random.pick([20, 200, 1_000]),
      ...options.service,
    },
    random,
  );
  const traits: StoreTraits = {
    latencyMs: random.pick([1, 5, 50, 300]),
    lock: random.pick(['none', 'none', 'file', 2_000] as const),
    lateWrites: random.pick([0, 0, 0.03]),
    lateMs: 10_000,
    failures: random.pick([0, 0, 0.01]),
    ...options.store,
  };
  const shared = new SharedEntries(traits, random);
  const drafts = numbered(options.rows ?? random.pick([8, 8, 120]));
  const findings: string[] = [];
  let runs = 0;

  /** Runs a push in a process of its own. `isCalm`: nothing happens to it. */
  const run = async (isCalm: boolean): Promise<unknown> => {
    const process = new Process(`run ${++runs}`);
    let hasEnded = false;
    const within = (ms: number, what: () => void) =>
      later(
        () => {
          if (!hasEnded) what();
        },
        random.next() ** 2 * ms,
      );
    if (!isCalm && random.chance(options.stops ?? 0.4)) {
      for (let stops = random.int(1, 2); stops > 0; stops--)
        within(20_000, () => {
          const usual = random.pick([1_500, 2_900, 3_100, 6_000, 20_000, 60_000]);
          process.stop((options.stopMs ?? usual) * (0.8 + 0.4 * random.next()));
          if (figures !== undefined) figures.stops += 1;
        });
    }
    if (!isCalm && random.chance(0.2))
      within(20_000, () => {
        process.kill();
        if (figures !== undefined) figures.kills += 1;
      });
    const rate = isCalm ? 0 : (options.faultRate ?? random.pick([0, 0.1]));
    let writes = 0;
    forgetPushesOfProcess();
    const { products } = createClient({
      baseUrl: 'https://books.example',
      apiKey: 'key-of-the-shop',
      rateLimiter: 'client',
      retry: { creates },
      fetch: (url, init = {}) =>
        process.call(() => {
          const isWrite = init.method !== 'GET';
          writes += Number(isWrite);
          const fault = isWrite && random.chance(rate) ? random.pick(options.faults ?? FAULTS) : undefined;
          return service.respond(String(url), init, process.name, fault);
        }),
    });
    const rows = drafts.map((row) => ({ ...row, name: process.name }));
    const store = shared.storeFor(process);
    const pushing = { tenant: 'shop', key: 'productNumber', visibleAfterMs: VISIBLE_AFTER_MS } as const;
    const work = process.run(() =>
      push(products, { ...pushing, rows, store, concurrency: random.int(1, 4) }).catch(
        (error: unknown) => error,
      ),
    );
    const end = await work;
    hasEnded = true;
    if (figures !== undefined) figures.runs += 1;
    if (isAccountingError(end, 'concurrent_run')) {
      if (figures !== undefined) figures.concurrent += 1;
      // A run that shows that it is alive is left alone.
      const wasSilent = process.stoppedForMs > 0 || traits.lateWrites > 0 || traits.failures > 0;
      if (!wasSilent && writes > 0) findings.push(`taken over: ${process.name}`);
    } else if (end instanceof Error && !isAccountingError(end, 'push_failed'))
      findings.push(`error: ${end.stack}`);
    return end;
  };
  const runLater = async (ms: number) => {
    await after(ms);
    return await run(false);
  };

  let startsAfterMs = 0;
  const all = [runLater(0)];
  for (let more = random.int(1, 3); more > 0; more--) {
    startsAfterMs += random.next() * random.pick([0, 10, 1_000, 5_000, 20_000]);
    all.push(runLater(startsAfterMs));
  }
  await runUntilSettled(Promise.all(all));
  shared.isHarsh = false;
  await advance(100_000);
  let last: unknown;
  for (let calm = 0; calm < 2; calm++) last = await runUntilSettled(run(true));
  if (last instanceof Error) findings.push(`blocked: ${last.message}`);
  const keys = service.existing.map((product) => formOf(service.nowOf(product).key));
  const twice = keys.filter((key, at) => keys.indexOf(key) !== at);
  if (twice.length > 0) findings.push(`twice: ${twice.length} of ${drafts.length} products`);
  const lost = drafts.filter(({ productNumber = '' }) => !keys.includes(formOf(productNumber)));
  if (lost.length > 0) findings.push(`lost: ${lost.length} of ${drafts.length} products`);
  return findings;
}
