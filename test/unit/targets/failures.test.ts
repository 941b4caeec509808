import { expect, onTestFinished, test, vi } from 'vitest';
import { type FailureKind, failureKind, outlasting } from '../../../src/targets/failures.ts';

const codes = (...all: readonly string[]) => all.map((code) => ({ code }));
/** Of PgBouncer, which has one code for everything that it says itself. */
const pooler = (...all: readonly string[]) => all.map((message) => ({ code: '08P01', message }));
/** Primary codes of SQLite, and extended ones of BUSY_SNAPSHOT, IOERR_WRITE, READONLY_DBMOVED and CONSTRAINT_TRIGGER. */
const sqlite = (...all: readonly number[]) => all.map((errcode) => ({ code: 'ERR_SQLITE_ERROR', errcode }));
/** Of the file, or of the lock beside it. */
const files = (...all: readonly string[]) => all.map((code) => ({ code, path: 'books.sqlite' }));

test.each<[FailureKind, readonly object[]]>([
  [
    'away',
    [
      // Connection: failed, refused, lost; shutdown by an administrator, crash, start, idle for too long.
      ...codes('08000', '08001', '08003', '08006', '57P01', '57P02', '57P03', '57P05'),
      // Resources, out of memory, too many connections, a limit of the configuration.
      ...codes('53000', '53200', '53300', '53400'),
      // Serialization, deadlock, rolled back by an unknown state; a lock that is not available.
      ...codes('40001', '40P01', '40003', '55P03'),
      ...codes('ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETDOWN', 'ENOTFOUND'),
      // postgres.js
      ...codes('EAI_AGAIN', 'CONNECT_TIMEOUT', 'CONNECTION_CLOSED', 'CONNECTION_ENDED'),
      // pg
      { message: 'Connection terminated unexpectedly' },
      { message: 'timeout exceeded when trying to connect' },
      ...pooler('server conn crashed?', 'query_wait_timeout', 'the pooler is shutting down'),
      ...pooler('server login has been failing, try again later (server_login_retry)'),
      ...pooler('no more connections allowed (max_client_conn)'),
      // A local socket has a path, too.
      { code: 'ECONNREFUSED', path: '/var/run/postgresql' },
      ...sqlite(5, 6, 15, 17, 517),
      ...codes('SQLITE_BUSY', 'SQLITE_BUSY_RECOVERY', 'SQLITE_LOCKED', 'SQLITE_PROTOCOL', 'SQLITE_SCHEMA'),
    ],
  ],
  [
    'later',
    [
      // A full disk, a canceled statement, an error of the operating system or inside PostgreSQL, a standby.
      ...codes('53100', '57014', '58030', 'XX000', 'XX001', '25006'),
      { message: 'Query read timeout' },
      { code: 'ERR_OF_A_DRIVER' },
      ...sqlite(7, 9, 10, 13, 778),
      ...codes('SQLITE_NOMEM', 'SQLITE_INTERRUPT', 'SQLITE_IOERR_WRITE', 'SQLITE_FULL'),
      ...files('EMFILE', 'ENFILE', 'ENOSPC', 'EDQUOT', 'EIO'),
    ],
  ],
  [
    'never',
    [
      // Password, role, right, database, schema, table, column, syntax, kind of object, what depends on it.
      ...codes('28P01', '28000', '42501', '3D000', '3F000', '42P01', '42703', '42601', '42809', '2BP01'),
      // Constraint, value, limit of a program, object in use, not supported, a database that was dropped.
      ...codes('23505', '22P02', '22P05', '54000', '55006', '0A000', '57P04'),
      ...pooler('no such database: books', 'no such user: ann', 'database does not allow connections: books'),
      ...pooler('unsupported startup parameter: options', 'unsupported startup parameter in options: jit'),
      ...pooler(
        'SSL required',
        'TLS connection required',
        'bouncer config error',
        'SASL authentication failed',
      ),
      { message: 'The server does not support SSL connections' },
      ...codes('CERT_HAS_EXPIRED', 'SELF_SIGNED_CERT_IN_CHAIN', 'ERR_TLS_CERT_ALTNAME_INVALID'),
      // A client of pg whose connection has ended opens no other one.
      { message: 'Client has encountered a connection error and is not queryable' },
      { message: 'Client was closed and is not queryable' },
      ...sqlite(1, 3, 8, 11, 14, 19, 23, 26, 1032, 1811),
      ...codes('SQLITE_ERROR', 'SQLITE_CANTOPEN', 'SQLITE_CORRUPT', 'SQLITE_READONLY_DBMOVED'),
      ...files('ENOENT', 'EACCES', 'EPERM', 'EROFS', 'EISDIR', 'ENOTDIR'),
    ],
  ],
])('a failure of a database means: %s', (kind, failures) => {
  const found = failures.map((failure) => failureKind(Object.assign(new Error('failed'), failure)));
  expect(failures.map((failure, at) => [failure, found[at]])).toEqual(
    failures.map((failure) => [failure, kind]),
  );
});

test('a database may be away several times in a run, each time for maxOutageMs', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const patience = { maxOutageMs: 1_000, signal: undefined, warn: () => {}, waits: () => {} };
  const [warn, waits] = [vi.fn(), vi.fn()];
  const endless = { ...patience, maxOutageMs: Number.POSITIVE_INFINITY, warn, waits };
  const awayFor = async (ms: number, how = patience) => {
    const until = performance.now() + ms;
    const work = () => {
      if (performance.now() < until) throw Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
      return 'back';
    };
    const result = outlasting(work, how).catch(() => 'given up');
    await vi.runAllTimersAsync();
    return await result;
  };
  expect([await awayFor(600), await awayFor(600), await awayFor(1_600)]).toEqual([
    'back',
    'back',
    'given up',
  ]);
  // Each time with one warning, after a second.
  expect([await awayFor(9_000, endless), await awayFor(600, endless), await awayFor(9_000, endless)]).toEqual(
    ['back', 'back', 'back'],
  );
  const text = 'The database is away (Error: refused). Waiting until it is back.';
  expect(warn.mock.calls).toEqual([[text], [text]]);
  expect(Math.max(...waits.mock.calls.map(([waitMs]) => waitMs))).toBe(2_000);
});
