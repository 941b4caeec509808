import { type ClientOptions, createClient, memoryStore, push, sync } from 'accounting-data-sdk';
import { createSandbox } from 'accounting-data-sdk/testing';
import { expect, test } from 'vitest';
import { networkError, problemResponse } from '../../support/scripted-fetch.ts';
import { runToEnd, startEvenClock, useVirtualClock } from '../../support/virtual-clock.ts';

useVirtualClock();

/** What a request gets in place of its response: by the time in ms, the path and its number, from 1. */
type Fault = (ms: number, path: string, n: number) => Response | Error | undefined;

interface Play {
  readonly fault: Fault;
  readonly options?: ClientOptions;
  readonly run?: object;
  readonly collections?: readonly ('accounts' | 'boms' | 'budgets')[];
  readonly abortAt?: number;
}

const down = () => problemResponse(503, { title: 'Down' });
const lost = () => networkError('ECONNRESET');
const between =
  (from: number, to: number, fault: () => Response | Error = down, of = ''): Fault =>
  (ms, path) =>
    ms >= from && ms < to && path.startsWith(of) ? fault() : undefined;

const ofCreates =
  (to: number, fault: () => Response | Error): Fault =>
  (ms, path) =>
    path === 'products' && ms < to ? fault() : undefined;

const PLAYS: Readonly<Record<string, Play>> = {
  'a short outage at the beginning': { fault: between(0, 20_000) },
  'a short outage in the middle, of the network': { fault: between(150, 20_000, lost) },
  'one collection at a time': { fault: between(150, 20_000), run: { concurrency: 1 } },
  'one collection alone': { fault: between(150, 20_000), collections: ['boms'] },
  'an outage that is too long': { fault: between(150, 1e9), run: { maxOutageMs: 15_000 } },
  'no outage outlasted': { fault: between(150, 1e9), run: { maxOutageMs: 0 } },
  'one collection down for good': { fault: between(0, 1e9, down, 'boms'), run: { maxOutageMs: 15_000 } },
  'one collection down for good, one at a time': {
    fault: between(0, 1e9, down, 'boms'),
    run: { maxOutageMs: 15_000, concurrency: 1 },
  },
  'one collection down for a while': { fault: between(0, 5_000, lost, 'boms') },
  'two outages': { fault: (ms, ...at) => between(0, 8_000)(ms, ...at) ?? between(9_000, 30_000)(ms, ...at) },
  'a Retry-After in an outage': {
    fault: between(150, 20_000, () => problemResponse(503, {}, { 'retry-after': '12' })),
  },
  'a Retry-After of more than the outage may last': {
    fault: between(150, 20_000, () => problemResponse(503, {}, { 'retry-after': '40' })),
    run: { maxOutageMs: 30_000 },
  },
  'an outage that ends in a rejected key': {
    fault: (ms) => (ms < 8_000 ? down() : problemResponse(401, { type: 'unauthenticated' })),
  },
  'an outage that ends in a rejected request': {
    fault: (ms, path) =>
      ms < 8_000 ? down() : path.startsWith('boms') ? problemResponse(403, { type: 'forbidden' }) : undefined,
  },
  'two outages with a 429 between them': {
    fault: (ms) => {
      if (ms >= 6_000 && ms < 7_000) return problemResponse(429, {}, { 'retry-after': '1' });
      return ms < 20_000 ? down() : undefined;
    },
    run: { maxOutageMs: 15_000 },
    collections: ['boms'],
  },
  'aborted in an outage': { fault: between(150, 1e9), abortAt: 9_000 },
  'a limit in an outage': { fault: between(150, 1e9), run: { stopAfter: { ms: 9_000 } } },
  'each second request fails': { fault: (_, __, n) => (n % 2 === 1 ? down() : undefined) },
};

/** A client of a service with a fault, and its log: requests and waits by the virtual time. */
function begin(fault: Fault, options: Play['options'] = {}) {
  startEvenClock();
  const lines: string[] = [];
  const startedAt = Date.now();
  const now = () => Date.now() - startedAt;
  const log = (text: string) => void lines.push(`${String(now()).padStart(6)} ${text}`);
  const sandbox = createSandbox({
    origin: 'https://service.example',
    clock: { now: () => Date.now() },
    records: { accounts: 3, boms: 2, budgets: 1, products: 2 },
  });
  let sent = 0;
  const client = createClient({
    ...sandbox.clientOptions,
    rateLimiter: 'client',
    retry: { maxAttempts: 2 },
    on: { retry: ({ path, reason, waitMs }) => log(`${path.slice(1)} ${reason}, again in ${waitMs}`) },
    logger: { debug() {}, info() {}, warn: (text) => log(`warning: ${text.replace(/#\d+ /, '')}`) },
    fetch: async (url, init) => {
      const path = decodeURIComponent(url.split('/v1/')[1] ?? '');
      sent += 1;
      const n = sent;
      await new Promise((resolve) => setTimeout(resolve, 100));
      init.signal?.throwIfAborted();
      const given = fault(now(), path, n);
      log(`${init.method} ${path} ${given instanceof Error ? 'lost' : (given?.status ?? 'ok')}`);
      if (given instanceof Error) throw given;
      return given ?? sandbox.fetch(url, init);
    },
    ...options,
  });
  return { client, log, lines };
}

/** What a sync does, and how it ends. */
async function play({ fault, options, run, collections = ['accounts', 'boms', 'budgets'], abortAt }: Play) {
  const { client, log, lines } = begin(fault, options);
  const controller = new AbortController();
  if (abortAt !== undefined) setTimeout(() => controller.abort(new Error('the caller stops')), abortAt);
  await runToEnd(
    sync(client, {
      store: memoryStore(),
      tenant: 'acme',
      collections,
      signal: controller.signal,
      mode: 'full',
      onBatch: ({ collection, records }: { collection: string; records: unknown[] }) =>
        log(`batch of ${collection}: ${records.length}`),
      ...run,
    } as never).then(
      ({ collections }) => log(`done ${collections.map(({ status }) => status).join(' ')}`),
      (error: Error) => log(String(error)),
    ),
  );
  return lines;
}

/** The same for a push of two rows. */
async function playPush(fault: Fault, run: object = {}) {
  const { client, log, lines } = begin(fault);
  const rows = [{ productNumber: 'A' }, { productNumber: 'B' }];
  await runToEnd(
    push(client.products, {
      store: memoryStore(),
      tenant: 'acme',
      rows,
      key: 'productNumber',
      ...run,
    } as never).then(
      (report) => log(`done ${JSON.stringify((report as { counts: object }).counts)}`),
      (error: Error) => log(String(error)),
    ),
  );
  return lines;
}

test('runs outlast outages, or end, as recorded', async () => {
  const parts: string[] = [];
  for (const [title, each] of Object.entries(PLAYS)) parts.push(`# ${title}`, ...(await play(each)), '');
  parts.push('# a push in an outage of the list', ...(await playPush(between(0, 8_000))), '');
  parts.push('# a push in an outage of creates', ...(await playPush(ofCreates(8_000, lost))), '');
  parts.push(
    '# a push in an outage that is too long',
    ...(await playPush(ofCreates(1e9, down), { maxOutageMs: 5_000 })),
  );
  await expect(`${parts.join('\n')}\n`).toMatchFileSnapshot('./outages.txt');
});
