// What takes several sessions of a server. Without a server on the machine, postgres-session.test.ts tests the same with
// scripted connections.

import { type ClientOptions, createClient, type SyncBaseOptions, sync } from 'accounting-data-sdk';
import { postgresTarget } from 'accounting-data-sdk/targets';
import { createSandbox, type Sandbox } from 'accounting-data-sdk/testing';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { caught } from '../../support/caught.ts';
import { type Connections, connections, hasServer, PostgresServer } from '../../support/postgres-server.ts';
import { loggerOfWarnings } from '../../support/warnings.ts';
import { newSchema } from './engines.ts';

type RunOptions = Partial<Omit<SyncBaseOptions, 'collections'>> & Pick<ClientOptions, 'fetch'>;

// They wait most of the time.
describe.skipIf(!hasServer)('a copy on a PostgreSQL server', { concurrent: true }, () => {
  let server: PostgresServer;
  const opened: { end(): Promise<void> }[] = [];
  beforeAll(async () => {
    server = await PostgresServer.start();
  });
  afterAll(async () => {
    await Promise.all(opened.map((connection) => connection.end()));
    await server.stop();
  });

  function connect(name: string, max?: number): Connections {
    const connected = connections(server.folder, name, max);
    opened.push(connected);
    return connected;
  }

  /** A session of another program, after these statements. */
  async function session(...statements: readonly string[]): Promise<Connections> {
    const connected = connect('Desktop', 1);
    for (const sql of statements) await connected.query(sql);
    return connected;
  }

  /** A copy after its first sync, and what later syncs into it do. */
  async function copy() {
    const schema = newSchema();
    const sandbox = createSandbox({ records: { accounts: 30, products: 30 }, pageSize: 10 });
    const pool = connect(schema);
    const run = async ({ fetch, ...options }: RunOptions = {}) => {
      const { logger, warnings } = loggerOfWarnings();
      const client = createClient({ ...sandbox.clientOptions, logger, ...(fetch && { fetch }) });
      const target = postgresTarget(pool, { schema });
      const all = { tenant: 'acme', collections: ['accounts', 'products'] as const, ...options, target };
      return { report: await sync(client, all), warnings };
    };
    await run();
    const change = (fields: Readonly<Record<string, unknown>>) => {
      sandbox.clock.advance(60_000);
      sandbox.store.accounts.update('1', fields);
    };
    const rows = async (sql: string) => await pool.query(sql.replaceAll('*.', `${schema}.`));
    return { schema, sandbox, pool, run, change, rows };
  }

  /** Statements in a schema that wait for a lock. */
  const waiting = async (pool: Connections, schema: string) => {
    const sql = `SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%"${schema}"%'`;
    return await pool.query(sql);
  };

  test.each([
    ['in an open transaction', 'SELECT 1 FROM *.accounts', 'The view accounts could not be replaced'],
    [
      'with a cursor',
      'DECLARE c CURSOR FOR SELECT 1 FROM *.accounts; FETCH c',
      'The view accounts could not be',
    ],
    ['of the status', 'SELECT 1 FROM *.sync_status', 'The view sync_status could not be replaced'],
    ['that writes a record of another company', INSERT, 'An index of accounts is missing'],
  ])(
    'is written while there is an idle session %s, with one warning that names it',
    async (_, statement, said) => {
      const { schema, run, change, rows, pool } = await copy();
      // As an older version of this package wrote it.
      const [{ sql } = {}] = await rows(`SELECT pg_get_viewdef('*.sync_status') AS sql`);
      await pool.query(
        `CREATE OR REPLACE VIEW ${schema}.sync_status AS ${`${sql}`.replace(/sdk \S+/, 'sdk older')}`,
      );
      const idle = await session('BEGIN', statement.replaceAll('*.', `${schema}.`));
      change({ warehouseId: 'w1' });
      const others = [run({ tenant: 'bolt' }), rows('SELECT 1 FROM *.products LIMIT 1')];
      const { report, warnings } = await run();
      expect(report).toMatchObject({ records: 1, paused: false });
      const locked = warnings.filter((text) => text.includes('lock timeout'));
      expect(locked).toEqual([expect.stringContaining(said)]);
      expect(locked[0]).toMatch(
        /in use by session \d+ \(Desktop, idle in transaction\): .*SELECT pg_terminate_backend\(\d+\)/,
      );
      await Promise.all(others);
      expect(
        await rows(
          `SELECT body ->> 'warehouseId' AS id FROM *.record WHERE id = '1' AND tenant = 'acme' AND collection = 'accounts'`,
        ),
      ).toEqual([{ id: 'w1' }]);

      // The next run does the rest.
      await idle.query('COMMIT');
      change({ name: 'Later' });
      expect((await run()).warnings).toEqual([]);
      expect(
        await rows(`SELECT "warehouseId" AS id FROM *.accounts WHERE tenant = 'acme' AND id = '1'`),
      ).toEqual([{ id: 'w1' }]);
      const indexes = await rows(
        `SELECT indexname FROM pg_indexes WHERE schemaname = '${schema}' AND indexname = 'record_warehouseId'`,
      );
      expect(indexes).toHaveLength(1);
      const [{ sql: status } = {}] = await rows(`SELECT pg_get_viewdef('*.sync_status') AS sql`);
      expect(status).not.toContain('sdk older');
    },
  );

  test.each([
    ['a table', 'LOCK TABLE *.record IN ACCESS EXCLUSIVE MODE'],
    ['the row of the copy', `SELECT FROM *.checkpoint WHERE key = 'copy' FOR UPDATE`],
  ])('waits for a lock on %s for maxOutageMs, says so, and continues later', async (_, lock) => {
    const { schema, run, change, rows, pool } = await copy();
    const sql = lock.replaceAll('*.', `${schema}.`);
    const idle = await session('BEGIN', sql);
    change({ name: 'Changed' });
    const waits: unknown[] = [];
    const onProgress = ({ waiting }: { waiting: boolean }) => waiting && waits.push(waiting);
    const error = await caught(run({ maxOutageMs: 400, onProgress }));
    expect(error).toMatchObject({ retryable: true });
    expect(`${error}`).toMatch(/because session \d+ \(Desktop, idle in transaction\) holds a lock/);
    await until(async () => (await waiting(pool, schema)).length === 0);

    const running = run({ onProgress });
    await until(() => waits.length > 0);
    await idle.query('COMMIT');
    expect(await running).toMatchObject({
      warnings: [expect.stringContaining('holds. End its transaction')],
    });
    expect(await rows(`SELECT name FROM *.accounts WHERE id = '1'`)).toEqual([{ name: 'Changed' }]);
  });

  test('leaves no statement on the server after an abort', async () => {
    const { schema, run, change, pool } = await copy();
    await session('BEGIN', `LOCK TABLE ${schema}.record IN ACCESS EXCLUSIVE MODE`);
    change({ name: 'Changed' });
    const stop = new AbortController();
    const running = caught(run({ signal: stop.signal }));
    await until(async () => (await waiting(pool, schema)).length === 1);
    const reason = new Error('stop');
    stop.abort(reason);
    expect(await running).toBe(reason);
    await until(async () => (await waiting(pool, schema)).length === 0);
  });

  test('outlasts connections that the server ends', async () => {
    const { schema, run, sandbox } = await copy();
    const admin = await session();
    let requests = 0;
    const fetch: typeof globalThis.fetch = async (input, init) => {
      const response = await sandbox.fetch(input, init);
      // Idle connections and, if it is in time, one that writes.
      if (++requests % 4 === 1)
        await admin.query(
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = '${schema}'`,
        );
      return response;
    };
    const full = { mode: 'full', fetch } as const;
    const [first, second] = await Promise.all([run(full), run({ ...full, tenant: 'bolt' })]);
    expect(requests).toBeGreaterThan(8);
    for (const { report } of [first, second]) expect(report).toMatchObject({ records: count(sandbox) });
  });

  test('of two first syncs at once over two pools, one goes on, whichever writes first', async () => {
    const names = ['accounts', 'products'] as const;
    const pools = [connect('one', 3), connect('another', 3)];
    for (let round = 0; round < 8; round++) {
      const schema = newSchema();
      const sandbox = createSandbox({ records: { accounts: 60, products: 60 }, pageSize: 10 });
      // Neither writes before both have read the state, however busy the machine is.
      const bothRead = Promise.withResolvers<void>();
      let left = pools.length;
      const ends = await Promise.allSettled(
        pools.map(async (pool, at) => {
          const collections = at <= round % 2 ? names : names.toReversed();
          const target = postgresTarget(pool, { schema });
          let isFirst = true;
          const fetch: typeof globalThis.fetch = async (input, init) => {
            if (isFirst && --left === 0) bothRead.resolve();
            isFirst = false;
            await bothRead.promise;
            return await sandbox.fetch(input, init);
          };
          // One rate limiter would send the first request of both alone.
          const client = createClient({ ...sandbox.clientOptions, rateLimiter: false, fetch });
          return await sync(client, { tenant: 'acme', target, collections });
        }),
      );
      const reasons = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason as unknown] : []));
      expect(reasons).toMatchObject([{ code: 'concurrent_run', retryable: true }]);
      const status = await pools[0]?.query(
        `SELECT collection, records, complete, last_error FROM ${schema}.sync_status ORDER BY collection`,
      );
      const ended = { records: '60', complete: 'certain', last_error: null };
      expect(status).toEqual(names.map((collection) => ({ collection, ...ended })));
    }
  });
});

const until = (is: () => boolean | Promise<boolean>) => vi.waitUntil(is, { timeout: 60_000, interval: 20 });

/** A write of another program that is not committed. */
const INSERT = `INSERT INTO *.record (tenant, collection, id, body, invalid, unreadable_date, synced_at)
  VALUES ('other', 'boms', '1', '{}', false, false, now())`;

const count = ({ store }: Sandbox) => store.accounts.all().length + store.products.all().length;
