import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { reasonOf, requestOf } from '../../../src/errors/accounting-error.ts';
import { CheckpointError } from '../../../src/errors/checkpoint-error.ts';
import { ConnectionError } from '../../../src/errors/connection-error.ts';
import { SyncError, type SyncFailure } from '../../../src/errors/sync-error.ts';
import type { CollectionReport, SyncReport } from '../../../src/reports/sync-report.ts';

type Status = CollectionReport['status'];

/** The report of a sync with a collection of each of these names. */
function reportOf(statuses: Readonly<Record<string, Status>>, more: Partial<SyncReport> = {}): SyncReport {
  const collections = Object.entries(statuses).map(([collection, status]) => ({ collection, status }));
  return { tenant: 'acme', paused: false, records: 5, ...more, collections } as unknown as SyncReport;
}

const SENT = { attempts: 7, outcome: 'unknown' } as const;
const lost = (what = 'The store is down.') =>
  new CheckpointError(what, { retryable: true, hint: 'Check the store.' });

const WAYS = ['It is locked.', 'It is full.', 'It is gone.', 'It is old.'];

/** The failures of some collections, each with an error of its own unless one is given. */
const failing = (names: readonly string[], error?: unknown): SyncFailure => ({
  errors: names.map((collection, at) => ({ collection, error: error ?? lost(WAYS[at]) })),
});

test('a SyncError is one JSON line with every reason once, and the collections by their status', () => {
  const report = reportOf({ accounts: 'done', boms: 'failed', budgets: 'done', products: 'failed' });
  const error = new SyncError(report, failing(['boms', 'products'], lost()), SENT);
  expect(JSON.parse(JSON.stringify(error))).toEqual({
    name: 'SyncError',
    message:
      'checkpoint: The sync of acme failed for 2 of 4 collections (boms, products): The store is down. Committed batches are kept. Check the store.',
    code: 'sync_failed',
    causeCode: 'checkpoint',
    retryable: true,
    outcome: 'unknown',
    attempts: 7,
    errors: [
      {
        collections: 'boms, products',
        name: 'CheckpointError',
        message: 'The store is down. Check the store.',
        code: 'checkpoint',
      },
    ],
    report: {
      tenant: 'acme',
      paused: false,
      records: 5,
      collections: { done: 'accounts, budgets', failed: 'boms, products' },
    },
  });
  // At the default depth of `console.log`, the causes of causes would be left out.
  const cause = new RangeError('pool is empty', { cause: new Error('socket closed') });
  const deep = new SyncError(
    report,
    failing(['boms'], new CheckpointError('It is down.', {}, { cause })),
    SENT,
  );
  expect(inspect(deep)).toContain('socket closed');
});

const three = { a: 'failed', b: 'failed', c: 'failed' } as const;
const stop = (reason: 'key_rejected' | 'outage', ...names: readonly string[]): SyncFailure => ({
  ...failing(names),
  stop: { reason, error: lost('The last one.') },
});

test.each<[report: SyncReport, failure: SyncFailure, says: string]>([
  [reportOf(three), failing(['a', 'b', 'c']), 'failed for 3 of 3 collections (a, b, c):'],
  [reportOf({ ...three, d: 'failed' }), failing(['a', 'b', 'c', 'd']), 'failed for 4 of 4 collections:'],
  [
    reportOf({ ...three, d: 'failed', e: 'done' }),
    failing(['a', 'b', 'c', 'd']),
    'failed for 4 of 5 collections (a, b, c and 1 more):',
  ],
  [reportOf({ a: 'failed' }), failing(['a']), '(a): It is locked. Committed batches are kept.'],
  [reportOf(three), failing(['a', 'b']), '1 other reason: see errors.'],
  [reportOf(three), failing(['a', 'b', 'c']), '2 other reasons: see errors.'],
  [
    reportOf(three),
    { ...failing(['a']), revoked: ['a', 'b', 'c', 'd', 'e'] },
    'This tenant could read a, b, c and 2 more before: the API key has lost a right.',
  ],
  [
    reportOf({ a: 'failed' }),
    stop('key_rejected', 'a'),
    'the service rejected the API key, so its collection stopped: The last one.',
  ],
  [
    reportOf({ a: 'failed', b: 'stopped' }),
    stop('key_rejected', 'a'),
    'the service rejected the API key, so both collections stopped: The last one.',
  ],
  [reportOf(three), stop('outage', 'a'), 'for longer than maxOutageMs, so all 3 collections stopped:'],
  [
    reportOf({ ...three, b: 'done' }, { paused: true }),
    stop('outage', 'a'),
    'the service was down when the limit of stopAfter was reached, so all other collections stopped (1 of 3 was done):',
  ],
  [
    reportOf({ ...three, b: 'done', c: 'done' }, { paused: true }),
    stop('key_rejected', 'a'),
    'the service rejected the API key, so all other collections stopped (2 of 3 were done):',
  ],
])('the message of a SyncError says how many collections failed, and why (%#)', (report, failure, says) => {
  const error = new SyncError(report, failure, SENT);
  expect(error.message).toContain(says);
  expect([error.stopped, error.cause]).toEqual([failure.stop?.reason, failure.errors[0]?.error]);
});

describe('the reasons of a SyncError', () => {
  /** How many reasons errors with these messages and paths come to. */
  const reasons = (
    ...messages: readonly (readonly [collection: string, path: string, message: string])[]
  ) => {
    const errors = messages.map(([collection, path, message]) => ({
      collection,
      error: new ConnectionError(message, { method: 'GET', path }),
    }));
    const json = JSON.parse(JSON.stringify(new SyncError(reportOf(three), { errors }, SENT)));
    return json.errors.map(({ collections }: { collections: string }) => collections);
  };

  test('are one if only the collection, its path, a query, a time or a number of the log differs', () => {
    const folded = reasons(
      [
        'accountAddresses',
        '/account-addresses',
        'GET /account-addresses?_page=3 failed within 20 ms (a1b2c3d4)',
      ],
      ['boms', '/boms', 'GET /boms?_page=12 failed within 30 ms (ffff0000)'],
      // Its path has another name.
      ['invoices', '/sales-documents', 'GET /sales-documents failed within 5000 ms (12345678)'],
    );
    expect(folded).toEqual(['accountAddresses, boms, invoices']);
  });

  test('are several if what happened differs', () => {
    expect(reasons(['a', '/a', 'GET /a was refused'], ['b', '/b', 'GET /b was lost'])).toEqual(['a', 'b']);
  });
});

test('a message begins with the code of its first reason, or its name if that is no code', () => {
  const first = (error: unknown) => new SyncError(reportOf(three), failing(['a'], error), SENT);
  const broken = (code: unknown) => Object.assign(new RangeError('no room'), { code });
  expect(first(broken('ENOSPC')).message).toMatch(/^ENOSPC: The sync/);
  for (const code of ['not a code', 7, undefined])
    expect(first(broken(code)).message).toMatch(/^RangeError: /);
  expect(first('text').message).toMatch(/^error: The sync of acme failed .*: text\. /);
  expect(first(broken(7)).toJSON()).toMatchObject({ errors: [{ name: 'RangeError', code: 7 }] });
});

test('a reason is one line of at most 500 characters with a mark at its end, without what to do', () => {
  expect(reasonOf(lost('a\nb'))).toBe('a b.');
  expect(reasonOf(new Error('x'.repeat(501)))).toBe(`${'x'.repeat(500)}…`);
  expect(reasonOf(new Error('x'.repeat(500)))).toBe(`${'x'.repeat(500)}.`);
});

test.each([
  ['_page=1', 'GET /boms'],
  ['_page=12', 'GET /boms?_page=12'],
  ['id[gt]=1', 'GET /boms?id[gt]=1'],
  [undefined, 'GET /boms'],
])('a request of the query %s is named as %s', (query, name) => {
  expect(requestOf({ method: 'GET', path: '/boms', query })).toBe(name);
});
