// Waits for locks, aborts and lost connections, with scripted connections: postgres-server.test.ts has the same with a
// server, where there is one.

import { EventEmitter } from 'node:events';
import { createClient, verify } from 'accounting-data-sdk';
import { type PostgresConnection, postgresTarget } from 'accounting-data-sdk/targets';
import { expect, test } from 'vitest';
import { caught } from '../../support/caught.ts';
import { listenersOn } from '../../support/open-resources.ts';
import { runUntilSettled, useVirtualClock } from '../../support/virtual-clock.ts';
import { loggerOfWarnings } from '../../support/warnings.ts';

useVirtualClock();

const options = { baseUrl: 'https://books.example.com', apiKey: 'key' };
const denied = Object.assign(new Error('denied'), { code: '42501' });
const HOLDER = { pid: 4711, name: 'Desktop\n', state: 'idle in transaction' };

/** A connection whose first statement is never answered. `holders`: what is asked about it returns. */
function stuck(holders: () => readonly object[]) {
  const statements: { text: string; values: readonly string[] }[] = [];
  let reject: (error: Error) => void = () => {};
  const query: PostgresConnection['query'] = (text, values = []) => {
    statements.push({ text, values });
    if (statements.length === 1) return new Promise((_, fail) => (reject = fail));
    if (text.includes('pg_blocking_pids')) return Promise.resolve(holders());
    if (!text.includes('pg_cancel_backend')) return Promise.reject(denied);
    reject(Object.assign(new Error('canceling statement due to user request'), { code: '57014' }));
    return Promise.resolve([]);
  };
  /** What was asked to be canceled. */
  const canceled = () => statements.flatMap(({ text, values }) => (text.includes('pg_cancel') ? values : []));
  return { query, statements, canceled, fail: (error: Error) => reject(error) };
}

function opening(connection: PostgresConnection, more: { maxOutageMs?: number; signal?: AbortSignal } = {}) {
  const { logger, warnings } = loggerOfWarnings();
  const client = createClient({ ...options, logger });
  const target = postgresTarget(connection);
  return { warnings, error: caught(verify(client, { tenant: 'acme', target, ...more })) };
}

test('an abort while the database is away at the beginning rejects with its reason', async () => {
  const controller = new AbortController();
  const query = async () => {
    controller.abort('enough');
    throw Object.assign(new Error('no connection'), { code: 'ECONNREFUSED' });
  };
  const { error } = opening({ query }, { signal: controller.signal });
  expect(await runUntilSettled(error)).toBe('enough');
});

test.each([20_000, 3_000, 50, 0])(
  'a statement that waits for a lock is ended after maxOutageMs (%i), with one warning that says what holds it',
  async (maxOutageMs) => {
    const { query, statements, canceled } = stuck(() => [HOLDER]);
    const startedAt = performance.now();
    const { error, warnings } = opening({ query }, { maxOutageMs });
    expect(await runUntilSettled(error)).toMatchObject({
      code: 'checkpoint',
      retryable: true,
      message: expect.stringMatching(/because session 4711 \(Desktop, idle in transaction\) holds a lock\./),
      hint: expect.stringContaining('SELECT pg_terminate_backend(4711)'),
    });
    const tookMs = performance.now() - startedAt;
    expect(tookMs).toBeGreaterThanOrEqual(maxOutageMs);
    expect(tookMs).toBeLessThan(maxOutageMs + 2_000);
    const warning = /waits for a lock that session 4711 \(Desktop, idle in transaction\) holds\./;
    expect(warnings).toEqual(maxOutageMs < 100 ? [] : [expect.stringMatching(warning)]);
    // That statement, and no other.
    const [tag = ''] = canceled();
    expect(statements.filter(({ text }) => text.startsWith(tag))).toEqual([statements[0]]);
  },
);

test.each<[string, () => readonly object[]]>([
  ['that waits for no lock', () => []],
  [
    'about which nothing can be found out',
    () => {
      throw new Error('too many connections');
    },
  ],
])('a statement %s is waited for', async (_, holders) => {
  const { query, canceled, fail } = stuck(holders);
  setTimeout(() => fail(denied), 600_000);
  const { error, warnings } = opening({ query }, { maxOutageMs: 10_000 });
  expect(await runUntilSettled(error)).toMatchObject({ code: 'invalid_input', cause: denied });
  expect([canceled(), warnings.filter((text) => text.includes('lock'))]).toEqual([[], []]);
});

test('each statement is ended by a mark of its own', async () => {
  const marks = new Set<string>();
  for (let runs = 0; runs < 3; runs++) {
    const { query, canceled } = stuck(() => [HOLDER]);
    await runUntilSettled(opening({ query }, { maxOutageMs: 100 }).error);
    for (const mark of canceled()) marks.add(mark);
  }
  expect(marks.size).toBe(3);
});

test('an abort ends the statement on the server, and rejects with its reason', async () => {
  const { query, canceled } = stuck(() => []);
  const stop = new AbortController();
  const reason = new Error('stop');
  setTimeout(() => stop.abort(reason), 1_000);
  const startedAt = performance.now();
  const { error } = opening({ query }, { signal: stop.signal });
  expect(await runUntilSettled(error)).toBe(reason);
  expect(performance.now() - startedAt).toBeLessThan(2_500);
  expect(canceled()).toHaveLength(1);
});

test.each(['a client', 'a pool'])(
  'with %s of pg, the statement is ended by a client beside it',
  async (what) => {
    const scripted = stuck(() => [HOLDER]);
    const log: string[] = [];
    class Client extends EventEmitter {
      readonly connectionParameters: unknown;
      constructor(settings: unknown) {
        super();
        this.connectionParameters = settings;
      }
      async connect() {
        log.push(`connect ${JSON.stringify(this.connectionParameters)}`);
      }
      async query(text: string, values: string[]) {
        log.push(/pg_\w+(?=\()/.exec(text)?.[0] ?? '');
        return scripted.query(text, values);
      }
      async end() {
        log.push('end');
      }
    }
    class First extends Client {
      override query = async (text: string, values: string[]) => scripted.query(text, values);
    }
    const settings = { host: 'db.example.com' };
    const first = Object.assign(new First(settings), { constructor: Client });
    const pool = Object.assign(new EventEmitter(), { Client, options: settings, query: scripted.query });
    const { error } = opening(what === 'a client' ? first : pool, { maxOutageMs: 100 });
    await runUntilSettled(error);
    await Promise.resolve();
    const connect = 'connect {"host":"db.example.com"}';
    expect(log).toEqual([connect, 'pg_blocking_pids', 'end', connect, 'pg_cancel_backend', 'end']);
  },
);

test('a connection without a listener for errors has one while a run lasts, even if two runs use it', async () => {
  const emitter = new EventEmitter();
  const scripted = [stuck(() => []), stuck(() => [])];
  let opened = 0;
  const listeners = () => emitter.listenerCount('error');
  const runs = scripted.map(({ query }) => {
    const connection = Object.assign(emitter, { query });
    const { error } = opening(connection);
    opened += 1;
    return error;
  });
  expect([opened, listeners()]).toEqual([2, 1]);
  // Otherwise it would throw.
  emitter.emit('error', new Error('Connection terminated unexpectedly'));
  for (const [at, { fail }] of scripted.entries()) {
    fail(denied);
    await runUntilSettled(runs[at] as Promise<unknown>);
    expect(listeners()).toBe(at === 0 ? 1 : 0);
  }

  // A later run has one of its own, and none if the caller has one.
  for (const after of [0, 1]) {
    if (after === 1) emitter.on('error', () => {});
    const { query, fail } = stuck(() => []);
    const { signal } = new AbortController();
    const { error } = opening(Object.assign(emitter, { query }), { signal });
    expect(listeners()).toBe(1);
    fail(denied);
    await runUntilSettled(error);
    expect([listeners(), listenersOn(signal)]).toEqual([after, 0]);
  }
});

test.each([
  'Client has encountered a connection error and is not queryable',
  'Client was closed and is not queryable',
])('a client that is gone is a permanent error that says to pass a pool: %s', async (message) => {
  let sent = 0;
  const query = async () => {
    sent += 1;
    throw new Error(message);
  };
  const { error } = opening({ query });
  const found = await runUntilSettled(error);
  expect(found).toMatchObject({
    code: 'checkpoint',
    retryable: false,
    hint: expect.stringMatching(/^Pass a pool/),
  });
  expect(sent).toBe(1);
});
