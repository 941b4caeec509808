import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createSandbox, type Sandbox } from 'accounting-data-sdk/testing';
import { build } from 'esbuild';
import { SeededRandom } from '../../../support/seeded-random.ts';
import { COLLECTIONS, type Copying, copy, type Pushing } from './program.ts';

export interface KillVerdict {
  readonly kills: number;
  /** Of these kills, how many left something that had begun. */
  readonly begun: number;
  /** What is wrong: after a death, after a sync of what changed, and after a full one, deletions included. */
  readonly findings: readonly string[];
}

/** What a copy holds: its rows by collection and id, rows that it has twice, and its checkpoints by key. */
export interface Held {
  readonly rows: readonly {
    readonly collection: string;
    readonly id: string;
    readonly body: object | string;
  }[];
  readonly checkpoints: readonly { readonly key: string; readonly value: string }[];
}

/** Few kills can all come before the first write: then more follow, which show that this was chance. */
const goesOn = ({ kills, begun, wanted }: { kills: number; begun: number; wanted: number }) =>
  kills < wanted || (begun === 0 && kills < 20);

let bundled: Promise<string> | undefined;

/** The program in one file: a process of it starts much faster than one of its sources. Each worker has its own. */
async function bundle(): Promise<string> {
  const pathOf = (path: string) => fileURLToPath(new URL(path, import.meta.url));
  const worker = process.env.VITEST_POOL_ID ?? 'alone';
  const outfile = pathOf(`../../../../node_modules/.cache/killed-${worker}.mjs`);
  const bundling = { bundle: true, platform: 'node', format: 'esm', logLevel: 'error' } as const;
  await build({ entryPoints: [pathOf('./program.ts')], outfile, ...bundling });
  return outfile;
}

export async function start(task: Copying | Pushing, stdio: 'ignore' | 'pipe' = 'ignore') {
  // Once: tests that run at the same time start it.
  bundled ??= bundle();
  const args = [await bundled, JSON.stringify(task)];
  return spawn(process.execPath, args, { stdio: [stdio, stdio, 'inherit'] });
}

/**
 * Kills a process with SIGKILL after a random number of requests, at most `mostRequests`, and up to 15 ms later: in a
 * response, in a transaction, in a file. The moment depends on requests because a slow machine must not be killed
 * before it has begun. Returns whether the process was killed; rejects if it ended with an error.
 */
async function killAtRandom(
  child: ChildProcess,
  { sandbox, random, mostRequests }: { sandbox: Sandbox; random: SeededRandom; mostRequests: number },
): Promise<boolean> {
  let left = random.int(1, mostRequests);
  const delayMs = random.int(0, 15);
  const stop = sandbox.onRequest(() => {
    left -= 1;
    if (left === 0) setTimeout(() => child.kill('SIGKILL'), delayMs);
  });
  const [code, signal] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve) => {
    child.once('close', (...end) => resolve(end));
  });
  stop();
  if (signal === 'SIGKILL') return true;
  if (code !== 0) throw new Error(`The process ended with code ${code}.`);
  return false;
}

/** A sandbox whose records change at each request, until it rests, and what copies must have of them. */
function changingRecords(random: SeededRandom, seed: number, records: number) {
  const sandbox = createSandbox({
    seed,
    records: Object.fromEntries(COLLECTIONS.map((name) => [name, records])),
    pageSize: 10,
    order: random.pick(['id-asc', 'id-asc', 'updated-asc', 'none']),
    ids: { gap: 2 },
  });
  /** When each record was last written to, by the clock of the sandbox. */
  const writtenAt = new Map<string, number>();
  const rest = sandbox.onRequest(() => {
    const name = random.pick(COLLECTIONS);
    const store = sandbox.store[name];
    const ids = store.ids();
    const what = random.int(0, 5);
    if (what === 1 && ids.length > 20) store.delete(random.pick(ids));
    if (what > 3 || what === 1) return;
    const change = { name: `Changed ${random.int(0, 1e6)}` };
    const { id } = what === 0 ? store.insert(change) : store.update(random.pick(ids), change);
    writtenAt.set(`${name} ${id}`, sandbox.clock.now());
  });
  const all = () =>
    COLLECTIONS.flatMap((name) =>
      sandbox.store[name].all().map((record) => ({ name, record, key: `${name} ${record.id}` })),
    );
  const textsOf = ({ rows }: Held) =>
    new Map(rows.map(({ collection, id, body }) => [`${collection} ${id}`, textOf(body)]));

  return {
    sandbox,
    rest,
    /** What a copy lacks or has in another form, and what it should have no more. */
    differences(held: Held): { lost: string[]; left: string[] } {
      const texts = textsOf(held);
      const lost = all().filter(({ key, record }) => texts.get(key) !== textOf(record));
      for (const { key } of all()) texts.delete(key);
      return {
        lost: lost.map(({ key }) => `lost ${key}`),
        left: [...texts.keys()].map((key) => `left ${key}`),
      };
    },
    /** What a copy that was left by a death must have by what its checkpoints say, and has not; and rows twice. */
    broken(held: Held): string[] {
      const texts = textsOf(held);
      const checkpoints = new Map(held.checkpoints.map(({ key, value }) => [key, value]));
      const ahead = all().filter(({ name, key, record }) => {
        const covers = coverage(checkpoints.get(`accounting-data-sdk:acme:${name}`));
        return covers(record.id, writtenAt.get(key) ?? 0) && texts.get(key) !== textOf(record);
      });
      const twice = held.rows.length - texts.size;
      const found = ahead.map(({ key }) => `the checkpoint is ahead of ${key}`);
      return twice === 0 ? found : [...found, `${twice} rows twice`];
    },
  };
}

function textOf(body: object | string): string {
  const record: object = typeof body === 'string' ? JSON.parse(body) : body;
  return JSON.stringify(Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1))));
}

/** Whether a checkpoint says that a record is in the copy in the version that it got at a moment. */
function coverage(checkpoint = '{}'): (id: string, writtenAt: number) => boolean {
  const { watermark, run } = JSON.parse(checkpoint) as {
    watermark?: string;
    run?: { watermark: string; since?: string; token?: string };
  };
  const timeOf = (text: string | undefined) =>
    text === undefined ? Number.NEGATIVE_INFINITY : Date.parse(text);
  const passed = passedBy(run?.token);
  const [promoted, from, until] = [watermark, run?.since, run?.watermark].map(timeOf) as [
    number,
    number,
    number,
  ];
  return (id, writtenAt) => writtenAt < promoted || (passed(id) && writtenAt >= from && writtenAt < until);
}

/** Whether a pagination that stands at a resume token has passed an id. */
function passedBy(token: string | undefined): (id: string) => boolean {
  if (token === undefined) return () => false;
  const { at } = JSON.parse(Buffer.from(token, 'base64url').toString()) as {
    at: { id?: string; order: 'asc' | 'desc' };
  };
  const { id: passed, order } = at;
  if (passed === undefined) return () => false;
  return (id) => (order === 'asc' ? BigInt(id) <= BigInt(passed) : BigInt(id) >= BigInt(passed));
}

/** Kills syncs at random moments, while a writer changes, deletes and creates records. */
export async function killSyncs(
  { to, read }: { readonly to: string; readonly read: () => Held },
  { kills: wanted, seed, records }: { kills: number; seed: number; records: number },
): Promise<KillVerdict> {
  const random = new SeededRandom(seed);
  const { sandbox, rest, differences, broken } = changingRecords(random, seed, records);
  await using _ = sandbox;
  await sandbox.listen();
  const task = { to, baseUrl: sandbox.baseUrl, apiKey: sandbox.keys.full };

  const findings: string[] = [];
  let [kills, begun] = [0, 0];
  for (let runs = 0; goesOn({ kills, begun, wanted }); runs++) {
    const mode = runs % 2 === 0 ? 'full' : 'incremental';
    // Half of the runs pause if they live long enough, and the next one resumes. A few get as far as the deletions.
    const child = await start({
      ...task,
      mode,
      stopAfter: random.pick([undefined, Math.ceil(records / 10)]),
    });
    const mostRequests = records * random.pick([0.2, 0.2, 0.2, 1.5]);
    const isKilled = await killAtRandom(child, { sandbox, random, mostRequests });
    const held = read();
    findings.push(...broken(held).map((what) => `after run ${runs}: ${what}`));
    if (!isKilled) continue;
    kills += 1;
    if (held.rows.length > 0) begun += 1;
  }
  rest();
  // The first one finishes what was interrupted, the second one reads what has changed since that began.
  for (let run = 0; run < 2; run++) await copy({ ...task, mode: 'incremental' });
  findings.push(...differences(read()).lost);
  await copy({ ...task, mode: 'full' });
  const held = read();
  const { lost, left } = differences(held);
  findings.push(...lost, ...left, ...broken(held));
  return { kills, begun, findings };
}

/**
 * Kills pushes at random requests and starts them again at once, while lists and gets show new products late. Rows are
 * added whenever a push gets to its end.
 */
export async function killPushes({
  kills: wanted,
  seed,
}: {
  kills: number;
  seed: number;
}): Promise<KillVerdict> {
  const random = new SeededRandom(seed);
  await using sandbox = createSandbox({ seed, newRecords: { listedAfterMs: 60, foundAfterMs: 50 } });
  await sandbox.listen();
  const { products } = sandbox.store;
  const folder = mkdtempSync(join(tmpdir(), 'kill-pushes-'));
  let rows = 40;
  const run = async (mostRequests: number) => {
    const waits = { visibleAfterMs: 1_000, timeoutMs: 10_000 };
    const task = { baseUrl: sandbox.baseUrl, apiKey: sandbox.keys.full, folder, rows, ...waits };
    return await killAtRandom(await start(task), { sandbox, random, mostRequests });
  };
  try {
    let [kills, begun] = [0, 0];
    while (goesOn({ kills, begun, wanted })) {
      const before = products.count;
      if (await run(40)) {
        kills += 1;
        if (products.count > before) begun += 1;
      } else rows += 40;
    }
    // To the end.
    await run(Number.POSITIVE_INFINITY);
    const found = products.all().map(({ productNumber, name }) => `${productNumber}: ${name}`);
    const expected = Array.from({ length: rows }, (_, n) => `K-${n}: Name ${n}`);
    const lost = expected.filter((one) => !found.includes(one)).map((one) => `lost ${one}`);
    const more = found.length - (rows - lost.length);
    return { kills, begun, findings: more === 0 ? lost : [...lost, `${more} products twice`] };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Two processes push the same rows with one store, the second a little later. Returns what each ended with, and the creates. */
export async function pushTwice({
  lock,
  secondAfterMs,
  stops,
}: {
  /** That of their store. */
  lock: NonNullable<Pushing['lock']>;
  /** After the first twenty creates of the first one. */
  secondAfterMs: number;
  /** Whether the first one is stopped then, until the second one has ended. */
  stops: boolean;
}): Promise<{
  readonly codes: readonly (number | null)[];
  readonly posts: number;
  readonly products: number;
}> {
  await using sandbox = createSandbox({ rateLimit: false });
  await sandbox.listen();
  sandbox.faults.add({ kind: 'delay', ms: 50 }, { method: 'POST' });
  const posts = () => sandbox.count(({ method }) => method === 'POST');
  const folder = mkdtempSync(join(tmpdir(), 'push-twice-'));
  const waits = { visibleAfterMs: 1_000, timeoutMs: 10_000 };
  const own = { folder, lock, rows: 120, ...waits, waitsForInput: true };
  const task = { baseUrl: sandbox.baseUrl, apiKey: sandbox.keys.full, ...own };
  try {
    // Both have started before, because that takes a slow machine long.
    const [first, second] = [await start(task, 'pipe'), await start(task, 'pipe')];
    await Promise.all(
      [first, second].map(({ stdout }) => once(stdout as NonNullable<typeof stdout>, 'data')),
    );
    const ends = [first, second].map((child) => once(child, 'close'));
    const hasBegun = new Promise<void>((resolve) => {
      sandbox.onRequest(() => {
        if (posts() >= 20) resolve();
      });
    });
    first.stdin?.end('\n');
    await Promise.race([hasBegun, ends[0]]);
    if (stops) first.kill('SIGSTOP');
    await new Promise((resolve) => setTimeout(resolve, secondAfterMs));
    second.stdin?.end('\n');
    await ends[1];
    if (stops) first.kill('SIGCONT');
    const codes = (await Promise.all(ends)).map(([code]) => code as number | null);
    return { codes, posts: posts(), products: sandbox.store.products.count };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
