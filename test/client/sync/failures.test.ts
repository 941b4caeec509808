import { inspect } from 'node:util';
import { collectionNames, sync } from 'accounting-data-sdk';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { clientOf, failureOf, type SyncSetUp, setUpSync, statuses, syncAll } from './set-up.ts';

const BROKEN = { kind: 'status', status: 501, type: 'internal_error' } as const;
const ALL = collectionNames.length;

/** The same service with another key. */
const withKey = (books: SyncSetUp, key: keyof SyncSetUp['sandbox']['keys']): SyncSetUp => ({
  ...books,
  client: clientOf(books.sandbox, { apiKey: books.sandbox.keys[key] }),
});

test.each([
  ['the documented shape', undefined, /record "4" does not have the documented shape \(isSaleItem: /],
  [
    'a schema of the caller',
    z.object({ id: z.string(), name: z.number() }),
    /record "1" does not match the schema/,
  ],
])(
  'a sync with onBatch names a record without %s, and advises batch.invalid',
  async (_, products, message) => {
    const { sandbox } = setUpSync({ records: { products: 5 } });
    sandbox.store.products.update('4', { isSaleItem: 'yes' as never });
    const client = clientOf(sandbox, { schemas: { products } });
    const collections = ['products'] as const;
    const run = sync(client, { tenant: 'acme', collections, store: new Map(), onBatch: () => undefined });
    const { errors } = await failureOf(run);
    expect(errors[0]?.error).toMatchObject({
      message: expect.stringMatching(message),
      hint: expect.stringMatching(/validation: 'report'.*batch\.invalid/),
    });
  },
);

describe('a SyncError', () => {
  test('counts the collections that failed and shows the one reason that they share once', async () => {
    const books = setUpSync();
    books.sandbox.faults.add(BROKEN, { times: Number.POSITIVE_INFINITY });
    const error = await failureOf(syncAll(books));
    expect(error.message).toMatch(
      new RegExp(`^unknown_problem: The sync of acme .*${ALL} of ${ALL} collections.* returned 501`),
    );
    expect(error).toMatchObject({
      stopped: undefined,
      causeCode: 'unknown_problem',
      errors: { length: ALL },
    });
    expect(JSON.parse(JSON.stringify(error)).errors).toEqual([
      {
        collections: error.errors.map(({ collection }) => collection).join(', '),
        name: 'UnknownApiError',
        code: 'unknown_problem',
        message: expect.stringContaining('returned 501'),
      },
    ]);
    // At the depth of console.log, too.
    for (const { collection } of error.errors) expect(inspect(error)).toContain(collection);
  });

  test.each<[what: string, detail: (index: number) => string]>([
    ['a UUID', (index) => `Incident 0b6f3c1e-8d7a-4c55-9a10-${String(index).padStart(12, '0')}.`],
    ['a timestamp', (index) => `Down since 2026-01-31T12:00:${10 + index}Z.`],
    ['a time', (index) => `Locked for ${900 + index} ms.`],
    ['the id of a request', (index) => `See req_${4_711_000 + index}.`],
  ])('shows a reason once that differs in each collection by %s', async (_, detail) => {
    const books = setUpSync();
    let index = 0;
    const body = () => {
      index += 1;
      return JSON.stringify({ type: 'internal_error', detail: detail(index) });
    };
    books.sandbox.faults.add({ kind: 'rewrite', status: 501, body });
    const error = await failureOf(syncAll(books));
    expect(error.errors).toHaveLength(ALL);
    expect(error.message).not.toContain('other reason');
    expect(JSON.parse(JSON.stringify(error)).errors).toHaveLength(1);
  });

  test.each([
    [500, 400],
    [400, 500],
  ])(
    'names the collections if they are few, counts the other reasons, and is retryable if one of them is: %i, %i',
    async (first, second) => {
      const books = setUpSync();
      books.sandbox.faults.add({ kind: 'status', status: first }, { collection: 'accounts', times: 99 });
      books.sandbox.faults.add({ kind: 'status', status: second }, { collection: 'budgets', times: 99 });
      const collections = ['accounts', 'products', 'budgets'] as const;
      const { message, retryable, causeCode, errors } = await failureOf(syncAll(books, { collections }));
      expect(errors.map(({ error }) => error)).toMatchObject([{ status: first }, { status: second }]);
      expect([retryable, causeCode]).toEqual([true, undefined]);
      expect(message).toMatch(/2 of 3 collections .accounts, budgets.*1 other reason/);
    },
  );

  test('says that the key was rejected, and how many collections were done before', async () => {
    const books = setUpSync({ records: { accounts: 5, accountAddresses: 5 } });
    const atOnce = await failureOf(syncAll(withKey(books, 'revoked'), { concurrency: 1 }));
    expect(atOnce.message).toMatch(
      new RegExp(`^unauthenticated: The sync of acme .*API key.* all ${ALL} collections stopped`),
    );
    expect(atOnce).toMatchObject({ stopped: 'key_rejected', causeCode: 'unauthenticated' });
    expect(atOnce.errors).toMatchObject([{ error: { code: 'unauthenticated' } }]);
    expect(statuses(atOnce.report).toSorted()).toEqual(['failed', ...Array(ALL - 1).fill('stopped')]);

    const run = syncAll(books, {
      collections: ['accounts', 'accountAddresses'],
      onBatch: ({ collection, last }) => {
        if (collection === 'accounts' && last) books.sandbox.revokeKey(books.sandbox.keys.full);
      },
    });
    const error = await failureOf(run);
    expect(error).toMatchObject({ retryable: false, message: expect.stringContaining('1 of 2 was done') });
  });

  test('shows each reason with its collections and its cause, even if `onBatch` throws no error', async () => {
    const books = setUpSync({ records: { accounts: 5, products: 5 } });
    const onBatch = ({ collection }: { collection: string }) => {
      if (collection === 'budgets') throw 'a string';
      throw new Error(`no table ${collection}`, { cause: new Error(`cannot open ${collection}.db`) });
    };
    const error = await failureOf(
      syncAll(books, { collections: ['accounts', 'products', 'budgets'], onBatch }),
    );
    for (const text of [inspect(error, { depth: 10 }), inspect(error), JSON.stringify(error)]) {
      for (const part of ['no table accounts', 'cannot open accounts.db', 'cannot open products.db'])
        expect(text).toContain(part);
    }
    expect(error.causeCode).toBeUndefined();
    const { errors } = JSON.parse(JSON.stringify(error));
    expect(errors).toContainEqual({ collections: 'budgets', message: 'a string' });
  });

  test.each([
    [Object.assign(new Error('invalid byte sequence'), { code: '22P05' }), '22P05'],
    [new TypeError('no such table'), 'TypeError'],
    ['a string', 'error'],
  ])('begins with the code of the first error: %s', async (thrown, code) => {
    const books = setUpSync({ records: { accounts: 5 } });
    const onBatch = () => {
      throw thrown;
    };
    const { message } = await failureOf(syncAll(books, { collections: ['accounts'], onBatch }));
    expect(message.split(': The sync of acme failed')[0]).toBe(code);
  });

  test('of a service that is down fits on a screen, with the cause', async () => {
    const books = setUpSync();
    const client = clientOf(books.sandbox, {
      retry: { maxAttempts: 1 },
      fetch: () => {
        throw Object.assign(new TypeError('the tunnel is closed'), { code: 'ETUNNEL' });
      },
    });
    const error = await failureOf(syncAll({ ...books, client }, { maxOutageMs: 0 }));
    expect(error).toMatchObject({ stopped: 'outage', causeCode: 'connection_failed' });
    expect(inspect(error, { depth: 10 }).split('\n').length).toBeLessThanOrEqual(40);
    for (const text of [inspect(error), JSON.stringify(error)]) {
      expect(text).toContain('ETUNNEL');
      expect(text).toContain('the tunnel is closed');
      for (const { collection } of error.report.collections) expect(text).toContain(collection);
    }
  });
});

describe('a sync whose key may not read every collection', () => {
  test('reads what it may, succeeds, and reports the rest', async () => {
    const books = withKey(setUpSync({ records: 28 }), 'productsOnly');
    for (let run = 0; run < 2; run++) {
      const report = await syncAll(books);
      const status = Object.fromEntries(report.collections.map((each) => [each.collection, each.status]));
      expect(status).toMatchObject({ products: 'done', accounts: 'forbidden', bomLines: 'forbidden' });
      expect(statuses(report).filter((each) => each === 'forbidden')).toHaveLength(ALL - 1);
      if (run === 0) expect(report.records).toBe(books.sandbox.store.products.count);
    }
    expect([...books.states.keys()]).toEqual(['accounting-data-sdk:acme:products']);
  });

  test.each([
    ['forbidden', 'report', ALL],
    ['productsOnly', 'fail', ALL - 1],
  ] as const)(
    "fails with the key %s and onForbidden: '%s' for %i collections",
    async (key, onForbidden, count) => {
      const books = withKey(setUpSync({ records: 28 }), key);
      const { errors, message, report } = await failureOf(syncAll(books, { onForbidden }));
      expect(errors).toHaveLength(count);
      expect(message).toContain(`${count} of ${ALL} collections`);
      expect(statuses(report).filter((status) => status === 'forbidden')).toHaveLength(count);
    },
  );

  test('fails for a collection that this tenant could read before, and for no other', async () => {
    const books = setUpSync({ records: { accounts: 5, products: 5, budgets: 5 } });
    await syncAll(books, { collections: ['accounts', 'products'] });
    const limited = withKey(books, 'productsOnly');
    const options = { collections: ['accounts', 'products', 'budgets'] } as const;
    const { errors, message, report } = await failureOf(syncAll(limited, options));
    expect(errors).toMatchObject([{ collection: 'accounts', error: { code: 'scope_required' } }]);
    expect(statuses(report)).toEqual(['forbidden', 'done', 'forbidden']);
    expect(message).toContain('could read accounts before');
    await expect(syncAll(limited, { ...options, tenant: 'other' })).resolves.toMatchObject({ records: 5 });
  });

  test('lists the failure of another collection alone among the errors', async () => {
    const books = withKey(setUpSync({ records: 28 }), 'productsOnly');
    books.sandbox.faults.add({ kind: 'status', status: 400 }, { collection: 'products', times: 9 });
    const error = await failureOf(syncAll(books));
    expect(error.errors.map(({ collection }) => collection)).toEqual(['products']);
  });
});
