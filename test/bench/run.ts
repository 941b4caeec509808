/**
 * Measures this package beside bare fetch and ky loops and the clients of other services, on a loopback server in a
 * process of its own. CPU time is that of the process itself.
 *
 * A machine is never quiet, so only ratios count, of what was measured one right after the other. Clients take turns with
 * short slices of a list; the figure of a process is the median of the ratios of its slices, and the figure of a client the
 * median of its processes.
 *
 *   npm run bench                          every part
 *   npm run bench -- lists cold            some of them
 *   npm run bench -- --clients ky,ours,…   with these clients only
 *   npm run bench -- --against <dist>      with another build of this package, as `before`
 *   npm run bench -- --quick               only whether everything runs
 */
import { execFile, fork } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { createClient } from 'accounting-data-sdk';
import { type LimiterName, playScenario } from '../support/rate-simulation.ts';
import { jsonResponse, newOrigin } from '../support/scripted-fetch.ts';

/** The most of each figure that is judged. */
const GOALS = {
  'request, CPU ÷ ky loop': 1.05,
  'list of 100 by page, CPU ÷ ky loop': 1,
  'list of 30 by page, CPU ÷ ky loop': 1.05,
  'pages of one record by default, CPU ÷ by page': 1.1,
  'list of 100 by default, CPU ÷ by page': 1.08,
  'list of 30 by default, CPU ÷ by page': 1.08,
  'import, ms over bare Node': 28,
  'first page of the default from a cold start ÷ fetch loop': 1.5,
  'heap of a million records ÷ fetch loop': 1.45,
  'heap of a million records ÷ 100,000': 1.1,
  'RSS of a million records ÷ fetch loop': 1.4,
  'CPU a record of a million ÷ 100,000': 1.15,
  'CPU of a call among 100,000 of one key ÷ among 25,000': 1.5,
  'CPU of a call among 12,000 keys ÷ among 3,000': 1.5,
  'failed calls of processes that share a quota': 0,
} as const;

const CLIENTS = ['fetch', 'ky', 'ours', 'ours-by-page', 'notion', 'stripe', 'openai'] as const;
type ClientName = (typeof CLIENTS)[number] | 'before' | 'before-by-page';

/** What `list.mjs` prints. */
interface Used {
  /** Since the process started: wall time, and CPU time in µs. */
  readonly importedAtMs: number;
  readonly importUs: number;
  readonly endedAtMs: number;
  readonly endUs: number;
  /** Of each record. */
  readonly cpuUs: number;
  readonly rssMb: number;
  readonly heapMb?: number;
}

interface Reading {
  readonly pageSize: number;
  readonly records: number;
  readonly warmUp?: number;
  /** How many of the records are read: all by default. */
  readonly limit?: number;
  readonly clients?: readonly ClientName[];
  readonly rounds?: number;
  readonly flags?: readonly string[];
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: 'boolean', default: false },
    against: { type: 'string' },
    clients: { type: 'string', default: CLIENTS.join() },
  },
});
const BEFORE: readonly ClientName[] = values.against === undefined ? [] : ['before', 'before-by-page'];
const ALL: readonly ClientName[] = [...(values.clients.split(',') as ClientName[]), ...BEFORE];
const ROUNDS = values.quick ? 1 : 3;
const scaled = (count: number) => (values.quick ? count / 100 : count);

const program = fileURLToPath(new URL('list.mjs', import.meta.url));
const DIST = fileURLToPath(new URL('../../dist', import.meta.url));

/** The argument of `list.mjs`. */
function argumentOf(client: ClientName, port: number, more: object): string {
  const dist = client.startsWith('before') ? resolve(values.against ?? '') : DIST;
  return JSON.stringify({ client, origin: `http://127.0.0.1:${port}`, dist, ...more });
}

async function serve(pageSize: number, records: number) {
  const server = fork(new URL('server.ts', import.meta.url), [`${pageSize}/${records}`]);
  const [port] = (await once(server, 'message')) as [number];
  return { port, stop: () => server.kill() };
}

/** The clients in the order of a turn: each turn begins with another, so that what slows the machine slows all. */
function inTurn(clients: readonly ClientName[], turn: number): readonly ClientName[] {
  const first = turn % clients.length;
  return [...clients.slice(first), ...clients.slice(0, first)];
}

/** What each client used in whole processes, turn by turn. */
async function reading({
  pageSize,
  records,
  warmUp = 0,
  limit = records,
  clients = ALL,
  rounds = ROUNDS,
  flags = [],
}: Reading) {
  const { port, stop } = await serve(pageSize, records);
  const used = new Map<ClientName, Used[]>(clients.map((client) => [client, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const client of inTurn(clients, round)) {
      const argument = argumentOf(client, port, { pageSize, warmUp, limit });
      const { stdout } = await promisify(execFile)(process.execPath, [...flags, program, argument]);
      used.get(client)?.push(JSON.parse(stdout) as Used);
    }
  }
  stop();
  const all = (client: ClientName, what: keyof Used) =>
    (used.get(client) ?? []).map((turn) => turn[what] ?? Number.NaN);
  return {
    of: (client: ClientName, what: keyof Used) => median(all(client, what)),
    /** The median of the differences or ratios of each turn. */
    compared(
      [client, other]: readonly [ClientName, ClientName],
      what: keyof Used,
      compare: (a: number, b: number) => number,
    ) {
      const others = all(other, what);
      return median(all(client, what).map((value, turn) => compare(value, others[turn] ?? Number.NaN)));
    },
  };
}

interface Contest {
  readonly pageSize: number;
  /** Pages of a slice, of which a process reads one after another. */
  readonly pages: number;
  readonly warmUpPages: number;
}

/**
 * So many processes of each client, and slices of each process: a process differs from the next one more than its slices
 * differ, because each compiles its code in another way.
 */
const [PROCESSES, SLICES] = values.quick ? [1, 2] : [25, 15];

/** The clients of other services take part in the first processes only: nothing is judged by them. */
const JUDGED = /^(?:ky|ours|before)/;
const RIVALS_IN = 5;

/** CPU time of each client against that of others. */
async function contest({ pageSize, pages, warmUpPages }: Contest) {
  const { port, stop } = await serve(pageSize, 500_000_000);
  const turns: ReadonlyMap<ClientName, readonly number[]>[] = [];
  for (let turn = 0; turn < PROCESSES; turn += 1) {
    const clients = inTurn(ALL, turn).filter((client) => turn < RIVALS_IN || JUDGED.test(client));
    const running = new Map<ClientName, ReturnType<typeof fork>>();
    for (const client of clients) {
      const warmUp = Math.ceil(scaled(warmUpPages)) * pageSize;
      const child = fork(program, [argumentOf(client, port, { pageSize, warmUp, slice: pages * pageSize })]);
      running.set(client, child);
      await once(child, 'message');
    }
    const used = new Map<ClientName, number[]>(clients.map((client) => [client, []]));
    for (let slice = 0; slice < SLICES; slice += 1) {
      for (const client of inTurn(clients, slice)) {
        const child = running.get(client) as ReturnType<typeof fork>;
        child.send('next');
        const [cpuUs] = (await once(child, 'message')) as [number];
        used.get(client)?.push(cpuUs);
      }
    }
    turns.push(used);
    for (const child of running.values()) child.kill();
  }
  stop();
  return {
    cpuUs: (client: ClientName) => median(turns.flatMap((used) => used.get(client) ?? [])),
    /** How many times the CPU time of another client one takes: the median of all processes, and the middle half of them. */
    over(client: ClientName, other: ClientName) {
      const ratios = turns.flatMap((used) => {
        const others = used.get(other) ?? [];
        const own = used.get(client);
        return own === undefined ? [] : [median(own.map((us, slice) => us / (others[slice] ?? Number.NaN)))];
      });
      return { median: median(ratios), half: [quantile(ratios, 0.25), quantile(ratios, 0.75)] as const };
    },
  };
}

function quantile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? Number.NaN;
}

const median = (values: readonly number[]) => quantile(values, 0.5);

type Figures = Partial<Record<keyof typeof GOALS, number>>;

function print(title: string, rows: readonly (readonly [name: string, columns: Record<string, unknown>])[]) {
  console.log(`\n${title}`);
  console.table(Object.fromEntries(rows));
}

const round = (value: number) => Number(value.toFixed(2));

/** Where the start of a process goes: importing, and reading a page of 30. */
async function cold(): Promise<Figures> {
  const start = { pageSize: 30, records: 3_000, rounds: ROUNDS * 7 };
  const [imported, read] = [await reading({ ...start, limit: 0 }), await reading({ ...start, limit: 30 })];
  const overNode = (client: ClientName, what: 'importedAtMs' | 'importUs') =>
    imported.compared([client, 'fetch'], what, (ours, node) => ours - node);
  const overFetch = (client: ClientName, what: 'endedAtMs' | 'endUs') =>
    read.compared([client, 'fetch'], what, (ours, theirs) => ours / theirs);
  const columns = (client: ClientName) => ({
    'import, ms over bare Node': round(overNode(client, 'importedAtMs')),
    'CPU ms': round(overNode(client, 'importUs') / 1_000),
    'first page, ms': round(read.of(client, 'endedAtMs')),
    '÷ fetch loop': round(overFetch(client, 'endedAtMs')),
    'CPU ÷': round(overFetch(client, 'endUs')),
  });
  print(
    'From a cold start',
    ALL.map((client) => [client, columns(client)]),
  );
  return {
    'import, ms over bare Node': overNode('ours', 'importedAtMs'),
    'first page of the default from a cold start ÷ fetch loop': overFetch('ours', 'endedAtMs'),
  };
}

/** Pages of 100, of 30 and of one record: what a request costs beside its records. */
async function lists(): Promise<Figures> {
  const costs = async (pageSize: number, pages: number) => {
    const used = await contest({ pageSize, pages, warmUpPages: pageSize === 1 ? 1_000 : 200 });
    const columns = (client: ClientName) => {
      const { median, half } = used.over(client, 'ky');
      return {
        'CPU µs a record': round(used.cpuUs(client)),
        '÷ ky loop': round(median),
        'half of the processes': half.map((end) => end.toFixed(2)).join(' to '),
      };
    };
    print(
      `Pages of ${pageSize}`,
      ALL.map((client) => [client, columns(client)]),
    );
    return {
      byPage: used.over('ours-by-page', 'ky').median,
      byDefault: used.over('ours', 'ours-by-page').median,
    };
  };
  const [hundred, thirty, one] = [await costs(100, 20), await costs(30, 40), await costs(1, 100)];
  return {
    'request, CPU ÷ ky loop': one.byPage,
    'list of 100 by page, CPU ÷ ky loop': hundred.byPage,
    'list of 30 by page, CPU ÷ ky loop': thirty.byPage,
    // By keyset a page of one record takes more than one request.
    'pages of one record by default, CPU ÷ by page': one.byDefault,
    'list of 100 by default, CPU ÷ by page': hundred.byDefault,
    'list of 30 by default, CPU ÷ by page': thirty.byDefault,
  };
}

/** Lists of a hundred thousand and of a million records. */
async function memory(): Promise<Figures> {
  const clients = ['fetch', 'ours'] as const;
  const costsOf = async (records: number) => {
    const all = { pageSize: 100, warmUp: scaled(30_000), clients, records };
    const used = await reading(all);
    // Apart, because forced collections cost time.
    const heap = await reading({ ...all, rounds: 1, flags: ['--expose-gc'] });
    const columns = (client: ClientName) => ({
      'CPU µs a record': round(used.of(client, 'cpuUs')),
      'heap MB': round(heap.of(client, 'heapMb')),
      'RSS MB': round(used.of(client, 'rssMb')),
    });
    print(
      `A list of ${records} records`,
      clients.map((client) => [client, columns(client)]),
    );
    return { used, heap: (client: ClientName) => heap.of(client, 'heapMb') };
  };
  const [short, long] = [await costsOf(scaled(100_000)), await costsOf(scaled(1_000_000))];
  return {
    'heap of a million records ÷ fetch loop': long.heap('ours') / long.heap('fetch'),
    'heap of a million records ÷ 100,000': long.heap('ours') / short.heap('ours'),
    'RSS of a million records ÷ fetch loop': long.used.of('ours', 'rssMb') / long.used.of('fetch', 'rssMb'),
    'CPU a record of a million ÷ 100,000': long.used.of('ours', 'cpuUs') / short.used.of('ours', 'cpuUs'),
  };
}

/** How much of a quota the callers of a key get in real time, and what the queue costs. */
async function rateLimiter(): Promise<Figures> {
  const scenarios = [
    { callers: 8 },
    { callers: 50 },
    { callers: 8, processes: 2 },
    { callers: 50, processes: 2 },
    { callers: 8, processes: 4 },
  ];
  let failed = 0;
  const share = async (limiter: LimiterName, callers: (typeof scenarios)[number]) => {
    const quota = { limit: 100, windowMs: 2_000, windows: values.quick ? 2 : 16, seed: 1 };
    const run = await playScenario({ limiter, ...quota, ...callers });
    failed += run.failed;
    const rejections = run.rejections.flat();
    const perWindow = rejections.reduce((sum, count) => sum + count, 0) / rejections.length;
    return `${run.share.toFixed(2)}; ${perWindow.toFixed(1)}`;
  };
  const limiters = ['fixed', 'sliding-counter', 'token-bucket'] as const;
  const rows = scenarios.map(async (callers) => {
    const cells = limiters.map(async (limiter) => [limiter, await share(limiter, callers)] as const);
    const name = `${callers.processes ?? 1} processes of ${callers.callers} callers`;
    return [name, Object.fromEntries(await Promise.all(cells))] as const;
  });
  print('Share of a quota of 100 calls in 2 s; 429s of each process in a window', await Promise.all(rows));
  return {
    'CPU of a call among 100,000 of one key ÷ among 25,000': await growthOf(25_000, () => 'key'),
    'CPU of a call among 12,000 keys ÷ among 3,000': await growthOf(3_000, (index) => `key-${index}`),
    'failed calls of processes that share a quota': failed,
  };
}

/** 1 if the cost of the queue is in proportion to the number of calls, 4 if it is not. */
async function growthOf(few: number, keyOf: (index: number) => string): Promise<number> {
  const cpuOf = async (count: number) => {
    let index = 0;
    const quota = { 'x-ratelimit-limit': '1000000', 'x-ratelimit-remaining': '900000' };
    const { accounts } = createClient({
      baseUrl: newOrigin(),
      apiKey: () => keyOf(index++),
      fetch: async () => jsonResponse({ id: '1' }, 200, quota),
      maxWaitMs: 600_000,
      deadlineMs: 600_000,
    });
    const before = process.cpuUsage();
    await Promise.all(Array.from({ length: count }, () => accounts.get('1')));
    const { user, system } = process.cpuUsage(before);
    return (user + system) / count;
  };
  const count = scaled(few);
  await cpuOf(count);
  const ratios: number[] = [];
  for (let turn = 0; turn < ROUNDS; turn += 1) {
    const ofFew = await cpuOf(count);
    ratios.push((await cpuOf(4 * count)) / ofFew);
  }
  return median(ratios);
}

const PARTS = { cold, lists, memory, 'rate-limiter': rateLimiter };
const wanted = positionals.length === 0 ? Object.keys(PARTS) : positionals;
const judged: (readonly [string, object])[] = [];
for (const name of wanted) {
  const part = PARTS[name as keyof typeof PARTS];
  if (part === undefined) throw new Error(`no part ${name}: there are ${Object.keys(PARTS).join(', ')}`);
  for (const [what, measured] of Object.entries(await part())) {
    const goal = GOALS[what as keyof typeof GOALS];
    judged.push([what, { goal: `≤ ${goal}`, measured: round(measured), met: measured <= goal }]);
    if (!values.quick && !(measured <= goal)) process.exitCode = 1;
  }
}
print('Goals', judged as [string, Record<string, unknown>][]);
