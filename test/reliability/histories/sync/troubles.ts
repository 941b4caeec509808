import { createClient, isAccountingError, type SyncOptions, sync } from 'accounting-data-sdk';
import { createSandbox } from 'accounting-data-sdk/testing';
import { networkError, noResponse } from '../../../support/scripted-fetch.ts';
import { SeededRandom } from '../../../support/seeded-random.ts';
import { runUntilSettled } from '../../../support/virtual-clock.ts';

const collections = ['accounts', 'products', 'budgets'] as const;
type Name = (typeof collections)[number];
type Options = SyncOptions<ReturnType<typeof createClient>, Name>;

const TIMEOUT_MS = 2_000;
const SECOND = 1_000;

/** What a service does that is down. */
const DOWN: readonly ((signal: AbortSignal | null | undefined) => Response | Promise<Response>)[] = [
  () => new Response('', { status: 503 }),
  () => new Response('', { status: 502, headers: { 'retry-after': '5' } }),
  () => Promise.reject(networkError('ECONNREFUSED')),
  () => new Response('<h1>Maintenance</h1>', { headers: { 'content-type': 'text/html' } }),
  (signal) => noResponse(signal),
];

/** Two companies that were made from one template, a month apart: the same ids, other names. */
function twoCompanies(seed: number, random: SeededRandom) {
  const sandbox = createSandbox({
    seed,
    pageSize: random.pick([5, 10, 30]),
    order: random.pick(['id-asc', 'id-desc', 'updated-asc', 'updated-desc', 'none']),
    timestampsEverywhere: true,
    rateLimit: false,
  });
  const counts = new Map(collections.map((name) => [name, random.pick([0, 1, 3, 25, 70])]));
  const fill = (store: typeof sandbox.store, company: string) => {
    for (const [name, count] of counts)
      for (let n = 1; n <= count; n++) store[name].insert({ id: `${n}`, name: `${company} ${n}` });
  };
  sandbox.clock.advance(-30 * 86_400_000);
  fill(sandbox.otherStore, 'B');
  sandbox.clock.advance(30 * 86_400_000 - 3_600_000);
  fill(sandbox.store, 'A');
  sandbox.clock.advance(3_600_000);
  return sandbox;
}

/** What went wrong in the runs of one copy, and what they met. */
export interface Troubles {
  readonly findings: readonly string[];
  readonly met: readonly string[];
}

/**
 * Runs of `sync` through outages that outlast pauses, responses that are empty for a moment, and keys that change between
 * two requests: other keys of the company, and keys of another one. What a run says at its end is compared with what is true.
 */
export async function playTroubles(seed: number): Promise<Troubles> {
  const random = new SeededRandom(seed * 13 + 7);
  const sandbox = twoCompanies(seed, random);
  const { full, otherCompany } = sandbox.keys;
  const rotated = sandbox.issueKey();
  const states = new Map<string, string>();
  const copy = new Map(collections.map((name) => [name, new Map<string, string>()]));
  const findings: string[] = [];
  const met = new Set<string>();

  let downUntil = 0;
  let down = DOWN[0];
  let failedAt: number | undefined;
  let wasDown = false;
  let emptyAt = Number.POSITIVE_INFINITY;
  let requests = 0;
  /** The lists that this run has requested. */
  const shown = new Set<string>();
  let outages = 0;
  let keys: readonly string[] = [full];
  const asked = new Set<string>();
  const client = createClient({
    ...sandbox.clientOptions,
    rateLimiter: false,
    timeoutMs: TIMEOUT_MS,
    apiKey: () => {
      const key = random.pick(keys);
      asked.add(key);
      return key;
    },
    fetch: async (url, init) => {
      requests += 1;
      if (Date.now() >= downUntil && random.chance(outages)) {
        down = random.pick(DOWN);
        downUntil = Date.now() + random.pick([1, 8, 60, 600]) * SECOND;
      }
      const sentAt = Date.now();
      if (sentAt < downUntil) {
        try {
          return await (down ?? noResponse)(init.signal);
        } finally {
          // One failure shows no outage: another follows it. A request that the limit has aborted shows nothing.
          const hasFailed = init.signal?.aborted !== true || Date.now() - sentAt >= TIMEOUT_MS;
          wasDown ||= hasFailed && failedAt !== undefined && sentAt > failedAt;
          if (hasFailed) failedAt ??= Date.now();
        }
      }
      [failedAt, wasDown] = [undefined, false];
      const response = await sandbox.fetch(url, init);
      const { pathname, searchParams } = new URL(url);
      // A list that shows nothing from the first request on looks like an empty one: the guide names that.
      if (requests < emptyAt || searchParams.size === 0 || !shown.has(pathname)) {
        if (searchParams.size > 0) shown.add(pathname);
        return response;
      }
      emptyAt = Number.POSITIVE_INFINITY;
      met.add('an empty moment');
      return Response.json([], { headers: response.headers });
    },
  });

  const names = (name: Name) =>
    new Map(sandbox.store[name].all().map((each) => [each.id, String(each.name)]));
  /** What the copy of a collection lacks, or has in an old version. */
  const missingFrom = (name: Name) =>
    [...names(name)].filter(([id, text]) => copy.get(name)?.get(id) !== text).map(([id]) => `${name}/${id}`);

  /** What was written since a run of its collection ended. */
  const written = new Set<string>();

  const run = async (options: Partial<Options>) => {
    const started = Date.now();
    requests = 0;
    shown.clear();
    asked.clear();
    [failedAt, wasDown] = [undefined, false];
    const { stopAfter } = options;
    const work = sync(client, {
      store: states,
      tenant: 'acme',
      collections,
      localIds: (name) => [...(copy.get(name)?.keys() ?? [])],
      onDelete: (ids, name) => {
        for (const id of ids) copy.get(name)?.delete(id);
      },
      maxCandidates: Number.POSITIVE_INFINITY,
      ...options,
      onBatch: ({ collection, records }) => {
        for (const { id, name } of records) copy.get(collection)?.set(id, String(name));
      },
    });
    const report = await runUntilSettled(work).catch((error: unknown) => {
      met.add(endOf(error, new Set([...asked].filter((key) => key !== full))));
      return undefined;
    });
    const seconds = (Date.now() - started) / SECOND;
    const most =
      stopAfter?.ms === undefined ? Number.POSITIVE_INFINITY : (stopAfter.ms + TIMEOUT_MS) / SECOND;
    if (seconds > most + 0.1) findings.push(`a limit of ${stopAfter?.ms} ms took ${seconds} s`);
    for (const [name, records] of copy)
      for (const [id, text] of records)
        if (!text.startsWith('A')) findings.push(`${name}/${id} is of the other company`);
    if (report === undefined) return undefined;
    const ended: string[] = [];
    met.add(report.paused ? 'a pause' : 'an end');
    if (report.paused && wasDown) findings.push('paused although the service was down');
    for (const { collection, status, complete, mode } of report.collections) {
      if (status === 'done') ended.push(collection);
      if (status !== 'done' || complete !== 'certain' || mode !== 'full') continue;
      // A run that was interrupted had perhaps delivered what was written since.
      const missing = missingFrom(collection as Name).filter((what) => !written.has(what));
      findings.push(...missing.map((what) => `certain without ${what}`));
    }
    for (const what of written) if (ended.includes(what.split('/')[0] ?? '')) written.delete(what);
    return report;
  };

  /** The company writes between two runs. */
  const live = () => {
    for (const collection of collections) {
      const records = sandbox.store[collection];
      for (let change = random.int(0, 4); change > 0; change--) {
        const id = records.ids()[random.int(0, 60)];
        const name = `A ${random.int(100, 999)}`;
        if (id === undefined || random.chance(0.3))
          written.add(`${collection}/${records.insert({ name }).id}`);
        else if (random.chance(0.2)) records.delete(id);
        else written.add(`${collection}/${records.update(id, { name }).id}`);
      }
    }
    sandbox.clock.advance(random.int(1, 600) * SECOND);
  };

  const hasRecords = () => [...copy.values()].some(({ size }) => size > 0);
  for (let each = random.int(2, 6); each > 0; each--) {
    // A copy without records knows no company.
    const isKnown = hasRecords();
    keys = isKnown
      ? random.pick([[full], [full], [full, rotated], [rotated], [full, otherCompany], [otherCompany]])
      : [full];
    outages = random.pick([0, 0.02, 0.2]);
    emptyAt = random.chance(0.4) ? random.int(2, 20) : Number.POSITIVE_INFINITY;
    const limit = random.pick([
      undefined,
      { requests: random.int(8, 30) },
      { ms: random.int(1, 20) * SECOND },
    ]);
    await run({
      mode: random.pick(['incremental', 'incremental', 'full']),
      concurrency: random.int(1, 3),
      maxOutageMs: random.pick([0, 3, 60, 900]) * SECOND,
      stopAfter: limit,
    });
    live();
  }

  [keys, outages, emptyAt, downUntil] = [[full], 0, Number.POSITIVE_INFINITY, 0];
  sandbox.clock.advance(600 * SECOND);
  for (const mode of ['incremental', 'full'] as const) {
    const report = await run({ mode });
    if (report === undefined || report.paused)
      findings.push(`the ${mode} run of a healthy service did not end`);
  }
  await run({ mode: 'full' });
  for (const name of collections) {
    const there = names(name);
    const left = [...(copy.get(name)?.keys() ?? [])].filter((id) => !there.has(id));
    findings.push(
      ...missingFrom(name).map((what) => `lost ${what}`),
      ...left.map((id) => `left ${name}/${id}`),
    );
  }
  return { findings, met: [...met] };
}

/** How a run ended that was rejected. Throws what should not end one. */
function endOf(error: unknown, otherKeys: ReadonlySet<string>): string {
  const errors = isAccountingError(error, 'sync_failed') ? error.errors.map((each) => each.error) : [error];
  for (const each of errors) {
    if (!isAccountingError(each)) throw error;
    const code = each.code === 'unexpected_response' ? each.reason : each.code;
    if (code === 'invalid_input' && otherKeys.size > 0) return 'a key that is not admitted';
    if (!FAILURES.includes(code)) throw error;
  }
  return 'an outage';
}

const FAILURES = [
  // An empty moment in the first response to a list that a look-up had shown.
  'deletions_aborted',
  'connection_failed',
  'timeout',
  'unknown_problem',
  'wrong_content',
  'incomplete_list',
  'filter_ignored',
];
