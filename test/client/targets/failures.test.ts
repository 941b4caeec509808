import { createClient, isAccountingError, type SyncProgress, sync, verify } from 'accounting-data-sdk';
import { postgresTarget } from 'accounting-data-sdk/targets';
import { createSandbox } from 'accounting-data-sdk/testing';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { caught } from '../../support/caught.ts';
import {
  loadTransport,
  runUntilSettled,
  startVirtualClock,
  stopVirtualClock,
} from '../../support/virtual-clock.ts';
import { loggerOfWarnings } from '../../support/warnings.ts';
import { openSqlite } from './engines.ts';

// Which failure means what is tested in unit/targets/failures.test.ts.

beforeAll(loadTransport);

const options = { baseUrl: 'https://books.example.com', apiKey: 'key' };
const denied = { code: '42501' };

test.each([
  ['is sent again while the database is away', { code: '57P01' }, 'invalid_input', false, 2],
  ['can be retried if the disk is full', { code: '53100' }, 'checkpoint', true, 1],
  ['cannot be retried if a table is missing', { code: '42P01' }, 'invalid_input', false, 1],
  [
    'cannot be retried if the pooler has no such database',
    { code: '08P01', message: 'no such database: books' },
    ...(['invalid_input', false, 1] as const),
  ],
  [
    'cannot be retried if the server has no TLS',
    { message: 'The server does not support SSL connections' },
    ...(['invalid_input', false, 1] as const),
  ],
] as const)('a statement of a copy %s', async (_, first, code, retryable, statements) => {
  let sent = 0;
  const target = postgresTarget({
    query: async (text) => {
      // What the role lacks is asked once, after a denied statement.
      if (text.includes('has_table_privilege')) return [];
      sent += 1;
      throw Object.assign(new Error('failed'), sent === 1 ? first : denied);
    },
  });
  const error = await caught(verify(createClient(options), { tenant: 'acme', target }));
  expect([error, sent]).toMatchObject([{ code, retryable }, statements]);
});

test.each([
  [500, []],
  [
    30_000,
    [
      /The database is away \(Error: connect ECONNREFUSED db\.example\.com:5432\)\. Waiting until it is back, for up to 120 s\.$/,
    ],
  ],
] as const)('warns once of a database that is away, after a second: %i ms', async (awayMs, expected) => {
  let until = Number.POSITIVE_INFINITY;
  const target = postgresTarget({
    query: async () => {
      if (performance.now() >= until) throw Object.assign(new Error('denied'), denied);
      throw Object.assign(new Error('connect ECONNREFUSED db.example.com:5432'), { code: 'ECONNREFUSED' });
    },
  });
  const { logger, warnings } = loggerOfWarnings();
  startVirtualClock();
  onTestFinished(stopVirtualClock);
  until = performance.now() + awayMs;
  const client = createClient({ ...options, logger });
  await runUntilSettled(caught(verify(client, { tenant: 'acme', target })));
  expect(warnings).toEqual(expected.map((text) => expect.stringMatching(text)));
});

const five = ['accounts', 'products', 'budgets', 'boms', 'budgetLines'] as const;

/** A sync into a copy that is away from its first batch on, and how long it takes. */
async function syncWithout(away: object, maxOutageMs: number) {
  const copy = openSqlite();
  startVirtualClock();
  onTestFinished(stopVirtualClock);
  const { logger, warnings } = loggerOfWarnings();
  const sandbox = createSandbox({ records: 40 });
  const reader = createClient({ ...sandbox.clientOptions, logger });
  let isAway = false;
  // From then on, until the end.
  sandbox.onRequest(() => {
    isAway = true;
  });
  const target = copy.through((sql) => {
    if (sql === 'ROLLBACK') return;
    if (isAway) throw Object.assign(new Error('away'), away);
  });
  const startedAt = performance.now();
  const options = { tenant: 'acme', collections: five, mode: 'full', target, maxOutageMs } as const;
  const error = await caught(runUntilSettled(sync(reader, options)));
  return { error, warnings, seconds: (performance.now() - startedAt) / 1000 };
}

test.each([
  ['SQLite is locked', { errcode: 5, code: 'ERR_SQLITE_ERROR' }, 4],
  ['there is no connection', { code: 'ECONNREFUSED' }, 4],
  ['the server restarts', { code: '57P01' }, 10],
  ['there are too many clients', { code: '53300' }, 1],
])('a sync waits once for its database, whatever is left to write: %s', async (_, away, most) => {
  const { error, warnings, seconds } = await syncWithout(away, most * 1000);
  expect(error).toMatchObject({ retryable: true });
  expect(seconds).toBeLessThan(most + 0.5);
  expect(seconds).toBeGreaterThan(most - 2.1);
  expect(warnings).toHaveLength(most > 1 ? 1 : 0);
});

test('a collection that always fails, a bad row, a database that is away and a limit, all at once, cost only what each must', async () => {
  const copy = openSqlite();
  startVirtualClock();
  onTestFinished(stopVirtualClock);
  const { logger, warnings } = loggerOfWarnings();
  const sandbox = createSandbox({
    records: { accounts: 10, products: 40, budgets: 25, boms: 10, budgetLines: 60 },
    pageSize: 10,
    rateLimit: false,
  });
  const [bad = ''] = sandbox.store.products.ids();
  const client = createClient({
    ...sandbox.clientOptions,
    logger,
    fetch: async (input, init) => {
      const { pathname } = new URL(String(input));
      seen.add(pathname.split('/').at(-1) ?? '');
      if (/\/accounts\b/.test(pathname)) return new Response('', { status: 500 });
      const response = await sandbox.fetch(input, init);
      if (!/\/products$/.test(pathname)) return response;
      const rows = (await response.json()) as { id: string }[];
      return Response.json(
        rows.map((one) => (one.id === bad ? { ...one, name: { de: 'Stuhl' } } : one)),
        response,
      );
    },
  });
  const seen = new Set<string>();
  let [batches, until] = [0, Number.NEGATIVE_INFINITY];
  const target = copy.through((sql) => {
    if (sql !== 'ROLLBACK' && performance.now() < until) throw Object.assign(new Error('locked'), copy.away);
  });
  const onProgress = ({ waiting }: SyncProgress) => {
    if (!waiting && ++batches === 4) until = performance.now() + 30_000;
  };
  const RUNS = 14;
  for (let run = 1; run <= RUNS; run += 1) {
    const options = { tenant: 'acme', collections: five, target, onProgress, stopAfter: { requests: 12 } };
    const outcome = await runUntilSettled(sync(client, options).catch((error: unknown) => error));
    const failed = isAccountingError(outcome, 'sync_failed') ? outcome.errors : [];
    // Each failure is named once, and only that of the collection that always fails.
    expect([[], ['accounts']]).toContainEqual(failed.map(({ collection }) => collection));
    // Its failure ends no round for the others: the runs at the end read all of them again.
    if (run === RUNS - 4) seen.clear();
  }
  expect([...seen].toSorted()).toEqual(['accounts', 'boms', 'budget-lines', 'budgets', 'products']);
  const rows = await copy.query(
    `SELECT collection, count(*) AS n FROM ${copy.tables}record GROUP BY collection ORDER BY collection`,
  );
  expect(Object.fromEntries(rows.map(({ collection, n }) => [collection, n]))).toEqual(
    Object.fromEntries(
      five.filter((name) => name !== 'accounts').map((name) => [name, sandbox.store[name].ids().length]),
    ),
  );
  const statuses = await copy.query(`SELECT * FROM ${copy.views}sync_status ORDER BY collection`);
  const errors = statuses.filter(({ last_error }) => last_error).map(({ collection }) => collection);
  expect(errors).toEqual(['accounts']);
  expect(statuses.flatMap(({ collection, invalid }) => (invalid ? [collection] : []))).toEqual(['products']);
  expect(warnings.filter((text) => text.includes('database is away'))).toHaveLength(1);
});

const refused = (address: string) =>
  Object.assign(new Error(`connect ECONNREFUSED ${address}`), { code: 'ECONNREFUSED' });

test.each([
  [
    'of several addresses',
    new AggregateError([refused('::1:5432'), refused('127.0.0.1:5432')], ''),
    'Error: connect ECONNREFUSED ::1:5432',
  ],
  ['of one cause', new Error('', { cause: new RangeError('too far') }), 'RangeError: too far'],
  ['of nothing', new RangeError(''), 'read or written: RangeError.'],
] as const)('says what an error of the database without a message is: %s', async (_, failure, says) => {
  const target = postgresTarget({ query: async () => Promise.reject(failure) });
  const error = await caught(verify(createClient(options), { tenant: 'acme', target, maxOutageMs: 0 }));
  expect(error).toMatchObject({ code: 'checkpoint', message: expect.stringContaining(says) });
});

test('onProgress says that a sync waits for the database, whichever statement it is away at', async () => {
  const copy = openSqlite();
  startVirtualClock();
  onTestFinished(stopVirtualClock);
  const reader = createClient(createSandbox({ records: 2 }).clientOptions);
  const collections = ['accounts', 'products'] as const;
  /** The waits of a sync whose database is away for three seconds from this statement on, and all its statements. */
  const syncAwayAt = async (statement: number) => {
    const waits: SyncProgress[] = [];
    let statements = 0;
    let until = Number.NEGATIVE_INFINITY;
    const target = copy.through((sql) => {
      // A process can always give up its own transaction.
      if (sql === 'ROLLBACK') return;
      statements += 1;
      if (statements === statement) until = performance.now() + 3_000;
      if (performance.now() < until) throw Object.assign(new Error('locked'), copy.away);
    });
    const onProgress = (progress: SyncProgress) => progress.waiting && waits.push(progress);
    await runUntilSettled(sync(reader, { tenant: 'acme', collections, target, mode: 'full', onProgress }));
    return { waits, statements };
  };
  // The first sync creates the tables.
  await syncAwayAt(0);
  const { waits, statements: all } = await syncAwayAt(0);
  expect([waits, all > 10]).toEqual([[], true]);
  for (let statement = 1; statement <= all; statement += 1) {
    const { waits } = await syncAwayAt(statement);
    expect(waits.length, `statement ${statement} of ${all}`).toBeGreaterThan(0);
    // Before the first request, and after the last one.
    if (statement === 1)
      expect(waits).toMatchObject(waits.map(() => ({ collection: 'accounts', last: false })));
    if (statement === all)
      expect(waits).toMatchObject(waits.map(() => ({ collection: 'products', last: true })));
    for (const { collection, waitingUntil } of waits) {
      expect(collections).toContain(collection);
      expect(waitingUntil).toBeInstanceOf(Date);
    }
  }
});
