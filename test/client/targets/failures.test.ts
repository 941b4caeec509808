import { createClient, type SyncProgress, type SyncTarget, sync, verify } from 'accounting-data-sdk';
import { postgresTarget, type SqliteDatabase, sqliteTarget } from 'accounting-data-sdk/targets';
import { createSandbox } from 'accounting-data-sdk/testing';
import { expect, onTestFinished, test } from 'vitest';
import { caught } from '../../support/caught.ts';
import { runUntilSettled, startVirtualClock, stopVirtualClock } from '../../support/virtual-clock.ts';
import { openSqlite } from './engines.ts';

/**
 * What a failure means: the statement is sent again while the database is `away`; another run may succeed `later`;
 * `never`, until the caller changes something.
 */
type Meaning = 'away' | 'later' | 'never';

const client = createClient({ baseUrl: 'https://books.example.com', apiKey: 'key' });

/** What a database that fails once in this way, and then for lack of a right, ends with. */
async function meaningOf(open: (fail: () => void) => SyncTarget, failure: object): Promise<Meaning> {
  let statements = 0;
  const target = open(() => {
    statements += 1;
    if (statements === 1) throw Object.assign(new Error('The first'), failure);
    throw Object.assign(new Error('The second'), { code: '42501', errcode: 23 });
  });
  // It creates no tables, so that nothing is tried after the first failure but the same statement.
  const error = await caught(verify(client, { tenant: 'acme', target }));
  const { code, retryable } = error as { code: string; retryable: boolean };
  const found = `${code} ${retryable} after ${statements}`;
  if (found === 'invalid_input false after 2') return 'away';
  if (found === 'checkpoint true after 1') return 'later';
  if (found === 'invalid_input false after 1') return 'never';
  throw new Error(found, { cause: error });
}

const inPostgres = (fail: () => void) =>
  postgresTarget({
    query: async (text) => {
      // What the role lacks is asked once, after a denied statement.
      if (!text.includes('has_table_privilege')) fail();
      return [];
    },
  });

const inSqlite = (fail: () => void) => {
  const statement = { run: () => fail(), get: () => ({ one: 1 }), all: () => fail() as never };
  const database: SqliteDatabase = { exec: fail, prepare: () => statement, close: () => {} };
  return sqliteTarget(database);
};

const SQLSTATES: Readonly<Record<Meaning, readonly string[]>> = {
  away: [
    // Connection: failed, refused, lost; shutdown by an administrator, crash, start, idle for too long.
    ...['08000', '08001', '08003', '08006', '57P01', '57P02', '57P03', '57P05'],
    // Resources, out of memory, too many connections, a limit of the configuration.
    ...['53000', '53200', '53300', '53400'],
    // Serialization, deadlock, rolled back by an unknown state; a lock that is not available.
    ...['40001', '40P01', '40003', '55P03'],
  ],
  later: [
    // A full disk, a canceled statement, an error of the operating system or inside PostgreSQL, a standby.
    ...['53100', '57014', '58030', 'XX000', 'XX001', '25006'],
  ],
  never: [
    // Password, role, right, database, schema, table, column, syntax, kind of object, what depends on it.
    ...['28P01', '28000', '42501', '3D000', '3F000', '42P01', '42703', '42601', '42809', '42P16', '2BP01'],
    // Constraint, value, limit of a program, object in use, not supported, a database that was dropped.
    ...['23505', '22P02', '22P05', '54000', '55006', '0A000', '57P04'],
  ],
};

const OF_DRIVERS: Readonly<Record<Meaning, readonly object[]>> = {
  away: [
    ...[
      'ECONNREFUSED',
      'ECONNRESET',
      'EPIPE',
      'ETIMEDOUT',
      'EHOSTUNREACH',
      'ENETDOWN',
      'ENOTFOUND',
      'EAI_AGAIN',
    ],
    // postgres.js
    ...['CONNECT_TIMEOUT', 'CONNECTION_CLOSED', 'CONNECTION_ENDED', 'CONNECTION_DESTROYED'],
  ]
    .map((code): object => ({ code }))
    .concat(
      // pg
      ['Connection terminated unexpectedly', 'timeout exceeded when trying to connect'].map((message) => ({
        message,
      })),
    ),
  later: [{ message: 'Query read timeout' }, { code: 'ERR_OF_A_DRIVER' }],
  never: [],
};

test.each(
  Object.entries(SQLSTATES).flatMap(([meaning, codes]) => codes.map((code) => [code, meaning] as const)),
)('takes SQLSTATE %s of PostgreSQL for: %s', async (code, meaning) => {
  expect(await meaningOf(inPostgres, { code })).toBe(meaning);
});

test.each(
  Object.entries(OF_DRIVERS).flatMap(([meaning, failures]) =>
    failures.map((failure) => [failure, meaning] as const),
  ),
)('takes the error %j of a driver for: %s', async (failure, meaning) => {
  expect(await meaningOf(inPostgres, failure)).toBe(meaning);
});

/** Primary codes, and extended ones of BUSY_SNAPSHOT, IOERR_WRITE, READONLY_DBMOVED and CONSTRAINT_TRIGGER. */
const SQLITE_CODES: Readonly<Record<Meaning, readonly number[]>> = {
  away: [5, 6, 15, 17, 517],
  later: [7, 9, 10, 13, 778],
  never: [1, 3, 8, 11, 14, 19, 23, 26, 1032, 1811],
};

/** Of the file, or of the lock beside it. */
const FILE_CODES: Readonly<Record<'later' | 'never', readonly string[]>> = {
  later: ['EMFILE', 'ENFILE', 'ENOSPC', 'EDQUOT', 'EIO'],
  never: ['ENOENT', 'EACCES', 'EPERM', 'EROFS', 'EISDIR', 'ENOTDIR'],
};

test.each(
  Object.entries(FILE_CODES).flatMap(([meaning, codes]) => codes.map((code) => [code, meaning] as const)),
)('takes %s of a file for: %s', async (code, meaning) => {
  expect(await meaningOf(inSqlite, { code, path: 'books.sqlite', syscall: 'open' })).toBe(meaning);
});

test.each(
  Object.entries(SQLITE_CODES).flatMap(([meaning, codes]) => codes.map((code) => [code, meaning] as const)),
)('takes code %i of SQLite for: %s', async (errcode, meaning) => {
  expect(await meaningOf(inSqlite, { code: 'ERR_SQLITE_ERROR', errcode })).toBe(meaning);
});

test.each([
  [500, []],
  [
    1_500,
    [
      /The database is away \(Error: connect ECONNREFUSED db\.example\.com:5432\)\. Waiting until it is back, for up to 120 s\.$/,
    ],
  ],
  [30_000, [/The database is away/]],
] as const)('warns once of a database that is away, after a second: %i ms', async (awayMs, expected) => {
  const warnings: string[] = [];
  let until = Number.POSITIVE_INFINITY;
  const target = postgresTarget({
    query: async () => {
      if (performance.now() >= until) throw Object.assign(new Error('denied'), { code: '42501' });
      throw Object.assign(new Error('connect ECONNREFUSED db.example.com:5432'), { code: 'ECONNREFUSED' });
    },
  });
  const logger = {
    debug() {},
    info() {},
    error() {},
    warn: (text: string) => void warnings.push(text),
  };
  const noting = createClient({ baseUrl: 'https://books.example.com', apiKey: 'key', logger });
  startVirtualClock();
  onTestFinished(stopVirtualClock);
  until = performance.now() + awayMs;
  await runUntilSettled(caught(verify(noting, { tenant: 'acme', target })));
  expect(warnings).toEqual(expected.map((text) => expect.stringMatching(text)));
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
  const error = await caught(verify(client, { tenant: 'acme', target, maxOutageMs: 0 }));
  expect(error).toMatchObject({ code: 'checkpoint', message: expect.stringContaining(says) });
});

test('onProgress says that a sync waits for the database, whichever statement it is away at', async () => {
  const copy = openSqlite();
  startVirtualClock();
  onTestFinished(stopVirtualClock);
  const sandbox = createSandbox({ records: 2 });
  const reader = createClient(sandbox.clientOptions);
  /** The reports of a sync whose database is away for three seconds from this statement on. */
  const syncAwayAt = async (statement: number, onProgress: (progress: SyncProgress) => void) => {
    let statements = 0;
    let until = Number.NEGATIVE_INFINITY;
    const target = copy.through((sql) => {
      // A process can always give up its own transaction.
      if (sql === 'ROLLBACK') return;
      statements += 1;
      if (statements === statement) until = performance.now() + 3_000;
      if (performance.now() < until) throw Object.assign(new Error('locked'), copy.away);
    });
    const collections = ['accounts', 'products'] as const;
    await runUntilSettled(sync(reader, { tenant: 'acme', collections, target, mode: 'full', onProgress }));
    return statements;
  };
  // The first sync creates the tables.
  await syncAwayAt(0, () => {});
  const all = await syncAwayAt(0, ({ waiting }) => expect(waiting).toBe(false));
  expect(all).toBeGreaterThan(10);

  for (let statement = 1; statement <= all; statement += 1) {
    const waits: SyncProgress[] = [];
    await syncAwayAt(statement, (progress) => {
      if (progress.waiting) waits.push(progress);
    });
    expect(waits.length, `statement ${statement} of ${all}`).toBeGreaterThan(0);
    for (const { collection, waitingUntil } of waits) {
      expect(['accounts', 'products']).toContain(collection);
      expect(waitingUntil).toBeInstanceOf(Date);
    }
  }
});
