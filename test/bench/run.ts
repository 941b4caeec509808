/**
 * Measures this package beside bare fetch and ky loops and the clients of other services, on a loopback server in a
 * process of its own. The clients alternate, each in fresh processes; the CPU time is that of the process itself.
 *
 *   npm run bench                      every part
 *   npm run bench -- lists cold        some of them
 *   npm run bench -- --quick           only whether everything runs
 */
import { execFile, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { createClient } from 'accounting-data-sdk';
import { type LimiterName, playScenario } from '../support/rate-simulation.ts';
import { jsonResponse, newOrigin } from '../support/scripted-fetch.ts';

/** The most of each figure that is judged. */
const GOALS = {
  'list of 100 a page, CPU ÷ ky loop': 1.15,
  'list of 30 a page, CPU ÷ ky loop': 1.15,
  'request, CPU ÷ ky loop': 1.1,
  'import, ms over bare Node': 20,
  'first page from a cold start ÷ fetch loop': 1.6,
  'heap of a million records ÷ fetch loop': 1.5,
  'heap of a million records ÷ 100,000': 1.1,
  'RSS of a million records ÷ fetch loop': 1.4,
  'CPU a record of a million ÷ 100,000': 1.15,
  'CPU of a call among 12,000 of one key ÷ among 3,000': 2.5,
  'CPU of a call among 12,000 keys ÷ among 3,000': 2.5,
  'failed calls of processes that share a quota': 0,
} as const;

const CLIENTS = ['fetch', 'ky', 'ours', 'ours-by-page', 'notion', 'stripe', 'openai'] as const;
type ClientName = (typeof CLIENTS)[number];

/** What `list.mjs` prints. */
interface Used {
  readonly importedAtMs: number;
  readonly endedAtMs: number;
  /** Of each record. */
  readonly cpuUs: number;
  readonly rssMb: number;
  readonly heapMb: number;
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
  options: { quick: { type: 'boolean', default: false } },
});
const ROUNDS = values.quick ? 1 : 3;
const scaled = (count: number) => (values.quick ? count / 100 : count);

const program = fileURLToPath(new URL('list.mjs', import.meta.url));

/** What each client used, round by round: each round begins with another, so that what slows the machine slows all. */
async function reading({
  pageSize,
  records,
  warmUp = 0,
  limit = records,
  clients = CLIENTS,
  rounds = ROUNDS,
  flags = [],
}: Reading): Promise<(client: ClientName, what: keyof Used) => number> {
  const server = fork(new URL('server.ts', import.meta.url), [`${pageSize}/${records}`]);
  const [port] = (await once(server, 'message')) as [number];
  const used: { client: ClientName; round: Used }[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const first = round % clients.length;
    for (const client of [...clients.slice(first), ...clients.slice(0, first)]) {
      const options = JSON.stringify([client, `http://127.0.0.1:${port}`, pageSize, warmUp, limit]);
      const { stdout } = await promisify(execFile)(process.execPath, [...flags, program, options]);
      used.push({ client, round: JSON.parse(stdout) as Used });
    }
  }
  server.kill();
  return (client, what) =>
    median(used.filter((one) => one.client === client).map(({ round }) => round[what]));
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}

type Figures = Partial<Record<keyof typeof GOALS, number>>;

function print(title: string, rows: readonly (readonly [name: string, columns: Record<string, unknown>])[]) {
  console.log(`\n${title}`);
  console.table(Object.fromEntries(rows));
}

const round = (value: number) => Number(value.toFixed(2));

/** Where the start of a process goes: importing, and reading a page of 30. */
async function cold(): Promise<Figures> {
  const rounds = ROUNDS * 5;
  const start = { pageSize: 30, records: 3_000, rounds };
  const [imported, read] = [await reading({ ...start, limit: 0 }), await reading({ ...start, limit: 30 })];
  const overNode = (client: ClientName) =>
    imported(client, 'importedAtMs') - imported('fetch', 'importedAtMs');
  const overFetch = (client: ClientName) => read(client, 'endedAtMs') / read('fetch', 'endedAtMs');
  const columns = (client: ClientName) => ({
    'import, ms over bare Node': round(overNode(client)),
    'first page, ms': round(read(client, 'endedAtMs')),
    '÷ fetch loop': round(overFetch(client)),
  });
  print(
    'From a cold start',
    CLIENTS.map((client) => [client, columns(client)]),
  );
  return {
    'import, ms over bare Node': overNode('ours'),
    'first page from a cold start ÷ fetch loop': overFetch('ours-by-page'),
  };
}

/** Pages of 100, of 30 and of one record: what a request costs beside its records. */
async function lists(): Promise<Figures> {
  const costs = async (pageSize: number, pages: number) => {
    const warmUp = (pageSize === 1 ? 300 : 50) * pageSize;
    const used = await reading({ pageSize, records: scaled(pages) * pageSize, warmUp });
    const overKy = (client: ClientName) => used(client, 'cpuUs') / used('ky', 'cpuUs');
    const columns = (client: ClientName) => ({
      'CPU µs a record': round(used(client, 'cpuUs')),
      '÷ ky loop': round(overKy(client)),
      'RSS MB': round(used(client, 'rssMb')),
    });
    print(
      `${scaled(pages)} pages of ${pageSize}`,
      CLIENTS.map((client) => [client, columns(client)]),
    );
    return overKy;
  };
  return {
    'list of 100 a page, CPU ÷ ky loop': (await costs(100, 1_000))('ours'),
    'list of 30 a page, CPU ÷ ky loop': (await costs(30, 1_500))('ours'),
    // By keyset a page of one record takes more than one request.
    'request, CPU ÷ ky loop': (await costs(1, 1_000))('ours-by-page'),
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
      'CPU µs a record': round(used(client, 'cpuUs')),
      'heap MB': round(heap(client, 'heapMb')),
      'RSS MB': round(used(client, 'rssMb')),
    });
    print(
      `A list of ${records} records`,
      clients.map((client) => [client, columns(client)]),
    );
    return { used, heap: (client: ClientName) => heap(client, 'heapMb') };
  };
  const [short, long] = [await costsOf(scaled(100_000)), await costsOf(scaled(1_000_000))];
  return {
    'heap of a million records ÷ fetch loop': long.heap('ours') / long.heap('fetch'),
    'heap of a million records ÷ 100,000': long.heap('ours') / short.heap('ours'),
    'RSS of a million records ÷ fetch loop': long.used('ours', 'rssMb') / long.used('fetch', 'rssMb'),
    'CPU a record of a million ÷ 100,000': long.used('ours', 'cpuUs') / short.used('ours', 'cpuUs'),
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
    'CPU of a call among 12,000 of one key ÷ among 3,000': await growthOf(() => 'key'),
    'CPU of a call among 12,000 keys ÷ among 3,000': await growthOf((index) => `key-${index}`),
    'failed calls of processes that share a quota': failed,
  };
}

/** 1 if the cost of the queue is in proportion to the number of calls, 4 if it is not. */
async function growthOf(keyOf: (index: number) => string): Promise<number> {
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
  const few = scaled(3_000);
  await cpuOf(few);
  const ofFew = Math.min(await cpuOf(few), await cpuOf(few));
  return Math.min(await cpuOf(4 * few), await cpuOf(4 * few)) / ofFew;
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
