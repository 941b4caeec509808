import { inspect } from 'node:util';
import {
  collectionNames,
  createClient,
  isAccountingError,
  memoryStore,
  ReconcileAbortedError,
  reconcile,
  type SyncError,
  type SyncOptions,
  sync,
} from 'accounting-data-sdk';
import { describe, expect, test } from 'vitest';
import { caught } from '../../support/caught.ts';
import { addAccounts, type SyncSetUp, setUpSync } from './set-up.ts';

const nothing = () => undefined;
const BROKEN = { kind: 'status', status: 501, type: 'internal_error' } as const;

/** The error of a sync of these books, with other options. */
async function failed(
  books: SyncSetUp,
  options: Partial<SyncOptions<SyncSetUp['client']>> = {},
): Promise<SyncError> {
  const error = await caught(sync(books.client, { ...books.run, onBatch: nothing, ...options }));
  if (!isAccountingError(error, 'sync_failed')) throw new Error('expected a SyncError', { cause: error });
  return error;
}

/** A client for the same service with another key. */
const clientWith = ({ sandbox }: SyncSetUp, key: keyof SyncSetUp['sandbox']['keys']) =>
  createClient({
    ...sandbox.clientOptions,
    apiKey: sandbox.keys[key],
    retry: { baseDelayMs: 0, maxDelayMs: 0 },
  });

const printed = (error: unknown) => inspect(error, { depth: 10 });
const lines = (text: string) => text.split('\n').length;

describe('the message of a SyncError', () => {
  test('counts the collections that failed and gives the one reason that they share', async () => {
    const books = setUpSync();
    books.sandbox.faults.add(BROKEN, { times: Number.POSITIVE_INFINITY });
    const error = await failed(books);
    expect(error.message).toMatch(
      /^The sync of acme failed for (\d+) of \1 collections: GET \/\w[\w-]* returned 501 \(internal_error\)/,
    );
    expect(error.message).not.toContain('other reason');
    expect(error.errors).toHaveLength(collectionNames.length);
  });

  test('names the collections if they are few, and counts the other reasons', async () => {
    const books = setUpSync();
    books.sandbox.faults.add({ ...BROKEN, status: 500 }, { collection: 'accounts', times: 99 });
    books.sandbox.faults.add({ kind: 'status', status: 400 }, { collection: 'budgets', times: 99 });
    const { message, retryable } = await failed(books, { collections: ['accounts', 'products', 'budgets'] });
    expect(retryable).toBe(true);
    expect(message).toMatch(/^The sync of acme failed for 2 of 3 collections \(accounts, budgets\): GET \//);
    expect(message).toContain('1 other reason: see errors');
  });

  test('says that all collections stopped if the key was revoked', async () => {
    const books = setUpSync({ records: 280 });
    const client = clientWith(books, 'revoked');
    const { message } = await failed({ ...books, client }, { concurrency: 1 });
    expect(message).toContain(
      `the service rejected the API key, so all ${collectionNames.length} collections stopped: GET /`,
    );
    expect(message).toContain('returned 401');
  });

  test('says how many were done before the key was revoked', async () => {
    const books = setUpSync({ records: { accounts: 5, accountAddresses: 5 } });
    const onBatch = ({ collection, last }: { collection: string; last: boolean }) => {
      if (collection === 'accounts' && last) books.sandbox.revokeKey(books.sandbox.keys.full);
    };
    const { message, retryable } = await failed(books, {
      collections: ['accounts', 'accountAddresses'],
      onBatch,
    });
    expect(retryable).toBe(false);
    expect(message).toContain('so all other collections stopped (1 of 2 was done)');
  });

  test('says that all collections stopped if the service is down', async () => {
    const books = setUpSync();
    books.sandbox.faults.add({ kind: 'status', status: 503 }, { times: Number.POSITIVE_INFINITY });
    const { message } = await failed(books, { maxOutageMs: 0, concurrency: 1 });
    expect(message).toContain(
      `the service was down for longer than maxOutageMs, so all ${collectionNames.length} collections stopped`,
    );
  });

  test('shows what a consumer throws that is not an error', async () => {
    const onBatch = () => {
      throw 'the disk is full';
    };
    const error = await failed(setUpSync(), { collections: ['accounts'], onBatch });
    expect(error.message).toContain('(accounts): the disk is full.');
    expect(JSON.parse(JSON.stringify(error)).errors).toEqual([
      { collections: 'accounts', message: 'the disk is full' },
    ]);
  });

  test('ends in one punctuation mark', async () => {
    const books = setUpSync();
    const messages = ['the sink is full', 'the sink is full.'].map(async (text) => {
      const onBatch = () => {
        throw new Error(text);
      };
      return (await failed(books, { store: new Map(), collections: ['accounts'], onBatch })).message;
    });
    const [without, one] = await Promise.all(messages);
    expect(without).toBe(one);
    expect(one).toContain('collections (accounts): the sink is full. What was committed');
  });
});

describe('a SyncError on a screen', () => {
  test('of fourteen collections that are down has at most forty lines, with the cause', async () => {
    const books = setUpSync();
    const client = createClient({
      ...books.sandbox.clientOptions,
      retry: { maxAttempts: 1 },
      fetch: () => {
        throw Object.assign(new TypeError('the tunnel is closed'), { code: 'ETUNNEL' });
      },
    });
    const error = await failed({ ...books, client }, { maxOutageMs: 0 });
    expect(lines(printed(error))).toBeLessThanOrEqual(40);
    for (const text of [printed(error), inspect(error), JSON.stringify(error)]) {
      expect(text).toContain('ETUNNEL');
      expect(text).toContain('the tunnel is closed');
      for (const { collection } of error.report.collections) expect(text).toContain(collection);
    }
  });

  test('of fourteen collections with one reason shows the reason once', async () => {
    const books = setUpSync();
    books.sandbox.faults.add(BROKEN, { times: Number.POSITIVE_INFINITY });
    const error = await failed(books);
    expect(lines(printed(error))).toBeLessThanOrEqual(40);
    const { errors } = JSON.parse(JSON.stringify(error));
    expect(errors).toEqual([
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

  test('shows each reason with its collections and its cause', async () => {
    const books = setUpSync({ records: { accounts: 5, products: 5 } });
    const onBatch = ({ collection }: { collection: string }) => {
      throw new Error(`no table ${collection}`, { cause: new Error(`cannot open ${collection}.db`) });
    };
    const error = await failed(books, { collections: ['accounts', 'products'], onBatch });
    for (const text of [printed(error), inspect(error), JSON.stringify(error)]) {
      for (const name of ['accounts', 'products']) {
        expect(text).toContain(`no table ${name}`);
        expect(text).toContain(`cannot open ${name}.db`);
      }
    }
  });
});

describe('a sync whose key may not read every collection', () => {
  const limited = (books: SyncSetUp) => ({
    ...books,
    client: clientWith(books, 'productsOnly'),
  });

  test('reads what it may, succeeds, and reports the rest', async () => {
    const books = limited(setUpSync({ records: 280 }));
    for (let run = 0; run < 2; run++) {
      const report = await sync(books.client, { ...books.run, onBatch: nothing });
      const status = Object.fromEntries(report.collections.map((each) => [each.collection, each.status]));
      expect(status).toMatchObject({ products: 'done', accounts: 'forbidden', bomLines: 'forbidden' });
      expect(report.collections.filter((each) => each.status === 'forbidden')).toHaveLength(
        collectionNames.length - 1,
      );
      if (run === 0) expect(report.records).toBe(books.sandbox.store.products.count);
    }
    expect([...books.states.keys()]).toEqual(['accounting-data-sdk:acme:products']);
  });

  test("fails with onForbidden: 'fail'", async () => {
    const error = await failed(limited(setUpSync({ records: 280 })), { onForbidden: 'fail' });
    expect(error.errors).toHaveLength(collectionNames.length - 1);
    expect(error.message).toContain(
      `failed for ${collectionNames.length - 1} of ${collectionNames.length} collections`,
    );
    expect(error.message).toContain('returned 403 (scope_required)');
  });

  test.each(['report', 'fail'] as const)(
    'fails if every collection is forbidden, with %s',
    async (onForbidden) => {
      const books = setUpSync({ records: 28 });
      const client = clientWith(books, 'forbidden');
      const error = await failed({ ...books, client }, { onForbidden });
      expect(error.errors).toHaveLength(collectionNames.length);
      expect(error.report.collections.every(({ status }) => status === 'forbidden')).toBe(true);
      expect(error.message).toContain('returned 403 (forbidden)');
    },
  );

  test('fails for a collection that this tenant could read before, and for no other', async () => {
    const books = setUpSync({ records: { accounts: 5, products: 5, budgets: 5 } });
    await sync(books.client, { ...books.run, collections: ['accounts', 'products'], onBatch: nothing });
    const collections = ['accounts', 'products', 'budgets'] as const;
    const error = await failed(limited(books), { collections });
    expect(error.errors).toMatchObject([{ collection: 'accounts', error: { code: 'scope_required' } }]);
    expect(error.report.collections.map(({ status }) => status)).toEqual(['forbidden', 'done', 'forbidden']);
    expect(error.message).toContain('This tenant could read accounts before');

    // Another tenant of the same store could not.
    const other = { ...limited(books).run, tenant: 'other', collections, onBatch: nothing };
    await expect(sync(limited(books).client, other)).resolves.toMatchObject({ records: 5 });
  });

  test('with a failure of another collection lists that one alone among the errors', async () => {
    const books = limited(setUpSync({ records: 28 }));
    books.sandbox.faults.add({ kind: 'status', status: 400 }, { collection: 'products', times: 9 });
    const error = await failed(books);
    expect(error.errors.map(({ collection }) => collection)).toEqual(['products']);
  });

  test('fails if the consumer itself throws a 403', async () => {
    const books = setUpSync({ records: { accounts: 5, products: 5 } });
    const forbidden = await caught(clientWith(books, 'forbidden').accounts.get('1'));
    const onBatch = ({ collection }: { collection: string }) => {
      if (collection === 'accounts') throw forbidden;
    };
    const error = await failed(books, { collections: ['accounts', 'products'], onBatch });
    expect(error.report.collections.map(({ status }) => status)).toEqual(['failed', 'done']);
  });

  test('rejects any other value of onForbidden', async () => {
    const books = setUpSync();
    const options = { ...books.run, onBatch: nothing, onForbidden: 'ignore' as 'report' };
    await expect(sync(books.client, options)).rejects.toMatchObject({
      code: 'invalid_input',
      message: "onForbidden: must be 'report' or 'fail'.",
    });
    expect(books.sandbox.count()).toBe(0);
  });
});

describe('a ReconcileAbortedError', () => {
  test('says what happened, with the counts and the limit', async () => {
    const books = setUpSync({ pageSize: 100 });
    addAccounts(books, 510);
    const { accounts } = books.sandbox.store;
    const ids = accounts.ids();
    for (let id = 1; id <= 53; id++) accounts.delete(String(id));
    const error = await caught(reconcile(books.client.accounts, { localIds: () => ids, onDelete: nothing }));
    if (!isAccountingError(error, 'reconcile_aborted')) throw new Error('unexpected', { cause: error });
    expect(error).toBeInstanceOf(ReconcileAbortedError);
    expect(error.message).toContain(
      '53 of 510 local records were not found upstream; maxCandidates is 51; nothing was deleted',
    );
    expect(error.message).toContain('accounts');
    expect(error).toMatchObject({
      reason: 'too_many_candidates',
      maxCandidates: 51,
      retryable: false,
      report: { collection: 'accounts', local: 510, seen: 457, candidates: 53, deleted: 0, repaired: 0 },
    });
    expect(error.cause).toBeUndefined();
    for (const text of [printed(error), JSON.stringify(error)]) {
      expect(text).toContain('reconcile_aborted');
      expect(text).toContain('510');
    }
    expect(lines(printed(error))).toBeLessThanOrEqual(40);
  });

  test('says that no local record was found if the key may be that of another company', async () => {
    const books = setUpSync({ otherRecords: { accounts: 40 } });
    addAccounts(books, 10);
    const client = clientWith(books, 'otherCompany');
    const error = await caught(
      reconcile(client.accounts, { localIds: () => ['1001', '1002'], onDelete: nothing }),
    );
    expect(error).toMatchObject({ code: 'reconcile_aborted', reason: 'few_local_ids_seen' });
    expect((error as Error).message).toMatch(
      /0 of 2 local records were found upstream, and (\d+) of the \1 records there are not in the local copy; nothing was deleted\. .*key/,
    );
  });

  test('is not an error of a sync', async () => {
    const books = setUpSync();
    const error = await caught(
      reconcile(books.client.accounts, { localIds: () => ['1'], onDelete: nothing }),
    );
    expect(isAccountingError(error, 'sync_failed')).toBe(false);
    expect(error).toMatchObject({ code: 'reconcile_aborted', reason: 'empty_read' });
  });
});

test('a sync with a store that only reads fails for a right that was revoked', async () => {
  const books = setUpSync({ records: { accounts: 5, products: 5 } });
  const states = memoryStore();
  const collections = ['accounts', 'products'] as const;
  const options = {
    tenant: 'acme',
    store: { get: (key: string) => states.get(key) },
    collections,
    onBatch: ({ key, checkpoint }: { key: string; checkpoint: string }) => states.set(key, checkpoint),
  };
  await sync(books.client, options);
  const client = clientWith(books, 'productsOnly');
  const error = await caught(sync(client, options));
  expect(error).toMatchObject({ code: 'sync_failed', errors: [{ collection: 'accounts' }] });
});
