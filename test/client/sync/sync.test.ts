import { inspect } from 'node:util';
import { type Client, collectionNames, SyncError, type SyncOptions } from 'accounting-data-sdk';
import { describe, expect, test } from 'vitest';
import {
  clientOf,
  failureOf,
  listing,
  type SyncSetUp,
  setUpSync,
  statuses,
  syncAll,
  withAccounts,
} from './set-up.ts';

const ALL = collectionNames.length;

/** The same service with another key. */
const withKey = (books: SyncSetUp, key: keyof SyncSetUp['sandbox']['keys']): SyncSetUp => ({
  ...books,
  client: clientOf(books.sandbox, { apiKey: books.sandbox.keys[key] }),
});

/** The segments in the order of the requests. */
const segments = ({ sandbox }: SyncSetUp) =>
  sandbox.requests.map(({ path }) => path.replace('/api/public/v1/', ''));

describe('sync', () => {
  test('brings a copy of every collection up to date, and reports each', async () => {
    const books = setUpSync({ records: 300 });
    const copy = new Map<string, string[]>();
    const report = await syncAll(books, {
      onBatch: ({ collection, records }) =>
        copy.set(collection, [...(copy.get(collection) ?? []), ...records.map(({ id }) => id)]),
    });
    expect(report).toMatchObject({ tenant: 'acme', records: 300, paused: false });
    expect(report.collections).toHaveLength(ALL);
    for (const { collection, status, records } of report.collections) {
      const ids = books.sandbox.store[collection as 'accounts'].ids();
      expect([status, records]).toEqual(['done', ids.length]);
      expect(copy.get(collection)?.toSorted()).toEqual(ids.toSorted());
    }
    expect(books.states.size).toBe(ALL);
  });

  test('reads parents before children, in whatever order they are given, and even if the one between is not read', async () => {
    const books = setUpSync({ records: 28 });
    await syncAll(books, { collections: ['bomLines', 'products'] });
    const grandparents = segments(books);
    expect(grandparents.indexOf('bom-lines')).toBeGreaterThan(grandparents.lastIndexOf('products'));

    books.sandbox.clearLogs();
    await syncAll(books, { mode: 'full', collections: [...collectionNames].reverse() });
    const requests = segments(books);
    for (const [parent, child] of [
      ['accounts', 'account-addresses'],
      ['bank-feed-connections', 'bank-feed-accounts'],
      ['products', 'boms'],
      ['boms', 'bom-lines'],
      ['budgets', 'budget-lines'],
    ] as const) {
      expect(requests.indexOf(child), child).toBeGreaterThan(requests.lastIndexOf(parent));
    }
  });

  test('reads a collection that is named twice once, and nothing if none is named', async () => {
    const books = setUpSync({ records: { accounts: 5 } });
    const twice = await syncAll(books, { collections: ['accounts', 'accounts'] });
    expect(twice).toMatchObject({ records: 5, collections: [{ collection: 'accounts', records: 5 }] });
    books.sandbox.clearLogs();
    const none = await syncAll(books, { collections: [] });
    expect(none).toMatchObject({ records: 0, paused: false, complete: undefined, collections: [] });
    expect(books.sandbox.count()).toBe(0);
  });

  test('reads two collections of a level at the same time, and others when one is done', async () => {
    const names = ['accounts', 'products', 'budgets', 'bankFeedConnections', 'bankPayerMemories'] as const;
    const books = setUpSync({ records: Object.fromEntries(names.map((name) => [name, 60])) });
    let [inFlight, most] = [0, 0];
    const client = clientOf(books.sandbox, {
      pagination: 'page',
      fetch: async (...request) => {
        most = Math.max(most, ++inFlight);
        const response = await books.sandbox.fetch(...request);
        await new Promise((resolve) => setTimeout(resolve));
        inFlight--;
        return response;
      },
    });
    await syncAll({ ...books, client }, { collections: names });
    expect(most).toBe(2);
  });
});

describe('a collection that fails', () => {
  test('ends alone: its children and all others are read', async () => {
    const books = setUpSync({ records: 28 });
    books.sandbox.faults.add({ kind: 'status', status: 400 }, { collection: 'accounts', times: 9 });
    const error = await failureOf(syncAll(books));
    expect(error).toBeInstanceOf(SyncError);
    expect(error.errors).toMatchObject([{ collection: 'accounts', error: { code: 'malformed_request' } }]);
    expect(error.cause).toBe(error.errors[0]?.error);
    const failed = error.report.collections.filter(({ status }) => status !== 'done');
    expect(failed).toMatchObject([{ collection: 'accounts', status: 'failed', watermark: undefined }]);
  });

  test.each([
    [403, 'forbidden', ['forbidden', 'done']],
    [403, 'scope_required', ['forbidden', 'done']],
    [403, 'not_found', ['failed', 'done']],
    [401, 'unauthenticated', ['failed', 'stopped']],
  ] as const)('with %i %s at its second page leaves these statuses: %j', async (status, type, expected) => {
    const books = setUpSync({ records: { accounts: 30, accountAddresses: 5 } });
    books.sandbox.faults.add({ kind: 'status', status, type }, { collection: 'accounts', skip: 1, times: 9 });
    const collections = ['accounts', 'accountAddresses'] as const;
    const { report } = await failureOf(syncAll(listing(books, { pagination: 'page' }), { collections }));
    expect(statuses(report)).toEqual(expected);
    expect(report.collections[0]?.records).toBe(10);
  });

  test('because of a record without the documented shape names it, and advises batch.invalid', async () => {
    const books = setUpSync({ records: { products: 5 } });
    books.sandbox.store.products.update('4', { isSaleItem: 'yes' as never });
    const { errors } = await failureOf(syncAll(books, { collections: ['products'] }));
    expect(errors[0]?.error).toMatchObject({
      message: expect.stringMatching(/record "4" does not have the documented shape \(isSaleItem: /),
      hint: expect.stringMatching(/validation: 'report'.*batch\.invalid/),
    });
  });
});

describe('a sync whose `onBatch` throws', () => {
  test('fails for that collection alone, and the next sync delivers the batch that was not committed', async () => {
    const books = withAccounts(60);
    const taken = new Set<string>();
    let batches = 0;
    const onBatch = ({ collection, records }: { collection: string; records: readonly { id: string }[] }) => {
      if (collection !== 'accounts') return;
      if (++batches === 3) throw new Error('the sink is full');
      for (const { id } of records) taken.add(id);
    };
    const { errors, report } = await failureOf(syncAll(books, { onBatch }));
    expect(errors).toMatchObject([{ collection: 'accounts', error: { message: 'the sink is full' } }]);
    expect(statuses(report).filter((status) => status === 'done')).toHaveLength(ALL - 1);
    const { collections } = await syncAll(books, { onBatch });
    expect(taken.size).toBe(60);
    expect(collections).toContainEqual(expect.objectContaining({ collection: 'accounts', resumed: true }));
  });

  test('stops no other collection because of a 401 or 403 of another service', async () => {
    const books = setUpSync({ records: { accounts: 25, budgets: 5, accountAddresses: 5 } });
    const { sandbox: other } = setUpSync();
    const target = (key: 'revoked' | 'readOnly') => clientOf(other, { apiKey: other.keys[key] }).products;
    const run = syncAll(books, {
      collections: ['accounts', 'budgets', 'accountAddresses'],
      concurrency: 1,
      onBatch: async ({ collection }) => {
        if (collection === 'accounts') await target('revoked').create({ name: 'copied' });
        if (collection === 'budgets') await target('readOnly').create({ name: 'copied' });
      },
    });
    const { errors, report } = await failureOf(run);
    const codes = errors.map(({ error }) => (error as { code?: unknown }).code);
    expect(new Set(codes)).toEqual(new Set(['scope_required', 'unauthenticated']));
    expect(statuses(report)).toEqual(['failed', 'failed', 'done']);
  });

  test('commits nothing if it returns an array of promises of which one rejects', async () => {
    const books = listing(withAccounts(3), { pagination: 'page' });
    const saved: string[] = [];
    const save = async ({ id }: { id: string }) => {
      // The last one ends after the one that fails.
      await new Promise((resolve) => setTimeout(resolve, id === '3' ? 5 : 0));
      if (id === '2') throw new Error('the sink is full');
      saved.push(id);
    };
    const onBatch = ({ records }: { records: readonly { id: string }[] }) => records.map(save);
    const { errors } = await failureOf(syncAll(books, { collections: ['accounts'], onBatch }));
    expect(errors).toMatchObject([{ error: { message: 'the sink is full' } }]);
    expect([saved, books.states.size]).toEqual([['1', '3'], 0]);
  });
});

describe('a SyncError', () => {
  const collections = ['accounts', 'products', 'budgets'] as const;

  test('shows once the reason that all collections share, even if its times and ids differ', async () => {
    const books = setUpSync();
    let n = 10;
    const body = () => {
      n += 1;
      const detail = `Incident 0b6f3c1e-8d7a-4c55-9a10-${n}0000000000, down since 2026-01-31T12:00:${n}Z, locked for 9${n} ms, see req_4711${n}.`;
      return JSON.stringify({ type: 'internal_error', detail });
    };
    books.sandbox.faults.add({ kind: 'rewrite', status: 501, body }, { times: Number.POSITIVE_INFINITY });
    const error = await failureOf(syncAll(books));
    expect(error.message).toMatch(
      new RegExp(`^unknown_problem: The sync of acme .*${ALL} of ${ALL} collections.* returned 501`),
    );
    expect(error.message).not.toContain('other reason');
    expect(error).toMatchObject({ stopped: undefined, causeCode: 'unknown_problem' });
    const names = error.errors.map(({ collection }) => collection);
    expect(names).toHaveLength(ALL);
    expect(JSON.parse(JSON.stringify(error)).errors).toEqual([
      {
        collections: names.join(', '),
        name: 'UnknownApiError',
        code: 'unknown_problem',
        message: expect.stringContaining('returned 501'),
      },
    ]);
    // At the depth of console.log, too.
    for (const name of names) expect(inspect(error)).toContain(name);
  });

  test.each<[string, (books: SyncSetUp) => Promise<unknown>, string]>([
    ['may not be read', async () => undefined, 'scope_required'],
    [
      'have a state of another tenant',
      async ({ states }) => {
        for (const name of collectionNames)
          states.set(
            `accounting-data-sdk:acme:${name}`,
            states.get(`accounting-data-sdk:other:${name}`) ?? '',
          );
      },
      'checkpoint',
    ],
  ])('shows one reason for collections that %s, although each has its own name', async (_, prepare, code) => {
    const books = setUpSync({ records: 300 });
    await syncAll(books, { tenant: 'other' });
    await prepare(books);
    const key = code === 'checkpoint' ? books : withKey(books, 'productsOnly');
    const { causeCode, errors, message } = await failureOf(syncAll(key, { onForbidden: 'fail' }));
    expect([causeCode, errors.length > ALL - 2]).toEqual([code, true]);
    expect(message).not.toContain('other reason');
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
      const error = await failureOf(syncAll(books, { collections }));
      const { message, retryable, causeCode, errors, report } = error;
      expect(errors.map(({ error }) => error)).toMatchObject([{ status: first }, { status: second }]);
      expect([retryable, causeCode]).toEqual([true, undefined]);
      // That is of paused collections alone.
      expect(report).toMatchObject({ paused: false, lastFailure: undefined });
      expect(message).toMatch(/2 of 3 collections .accounts, budgets.*1 other reason/);
    },
  );

  type Faults = Parameters<SyncSetUp['sandbox']['faults']['add']>;
  test.each<[string, string, Faults, Partial<SyncOptions<Client>>?]>([
    [
      'applied',
      'a page was read',
      [
        { kind: 'status', status: 500 },
        { skip: 2, times: 99 },
      ],
    ],
    [
      'applied',
      'a consumer threw',
      [{ kind: 'status', status: 500 }, { skip: 999 }],
      {
        onBatch: () => {
          throw new Error('no');
        },
      },
    ],
    ['unknown', 'every response was a 503', [{ kind: 'status', status: 503 }, { times: 99 }]],
    [
      'unknown',
      'a response was lost, others were 403',
      [{ kind: 'lost-response', committed: true }, { times: 1 }],
      { onForbidden: 'fail' },
    ],
    ['rejected', 'every response was a 400', [{ kind: 'status', status: 400 }, { times: 99 }]],
    [
      'not_sent',
      'the store could not be read',
      [{ kind: 'status', status: 500 }, { skip: 999 }],
      {
        store: {
          get: () => {
            throw new Error('no');
          },
        },
      },
    ],
  ])(
    'has the outcome of all its calls, %s, and their attempts: %s',
    async (outcome, _, fault, options = {}) => {
      const books = setUpSync({ records: { accounts: 30 } });
      books.sandbox.faults.add(...fault);
      if (options.onForbidden) books.sandbox.faults.add({ kind: 'status', status: 403 }, { times: 99 });
      const error = await failureOf(syncAll(books, { collections, ...options }));
      expect(error).toMatchObject({ outcome, attempts: books.sandbox.count() });
      expect(error.attempts > 0).toBe(outcome !== 'not_sent');
      expect(JSON.parse(JSON.stringify(error))).toMatchObject({ outcome, attempts: error.attempts });
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
    const message = expect.stringContaining('1 of 2 was done');
    expect(await failureOf(run)).toMatchObject({ retryable: false, message });
  });

  test('shows each reason with its collections and its cause, even if `onBatch` throws no error', async () => {
    const books = setUpSync({ records: { accounts: 5, products: 5 } });
    const onBatch = ({ collection }: { collection: string }) => {
      if (collection === 'budgets') throw 'a string';
      const cause = new Error(`cannot open ${collection}.db`);
      throw Object.assign(new Error(`no table ${collection}`, { cause }), { code: '42P01' });
    };
    const error = await failureOf(syncAll(books, { collections, onBatch }));
    expect(error.message).toMatch(/^42P01: The sync of acme failed/);
    for (const text of [inspect(error, { depth: 10 }), inspect(error), JSON.stringify(error)]) {
      for (const part of ['no table accounts', 'cannot open accounts.db', 'cannot open products.db'])
        expect(text).toContain(part);
    }
    const { errors } = JSON.parse(JSON.stringify(error));
    expect(errors).toContainEqual({ collections: 'budgets', message: 'a string' });
  });
});

describe('a sync whose key may not read every collection', () => {
  test('reads what it may, succeeds, and reports the rest', async () => {
    const books = withKey(setUpSync({ records: 28 }), 'productsOnly');
    for (let run = 0; run < 2; run++) {
      const { collections, records, complete } = await syncAll(books);
      expect(complete).toBe('certain');
      const forbidden = collections.filter(({ status }) => status === 'forbidden');
      expect(forbidden).toHaveLength(ALL - 1);
      const [products] = collections.filter((each) => !forbidden.includes(each));
      expect(products).toMatchObject({ collection: 'products', status: 'done' });
      if (run === 0) expect(records).toBe(books.sandbox.store.products.count);
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
      expect(message).not.toContain('has lost a right');
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
