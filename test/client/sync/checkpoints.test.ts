import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type ChangesOptions,
  ConcurrentRunError,
  changes,
  InvalidInputError,
  memoryStore,
  type Store,
  type SyncToTargetOptions,
  sync,
} from 'accounting-data-sdk';
import { fileStore } from 'accounting-data-sdk/node';
import Keyv from 'keyv';
import { createStorage } from 'unstorage';
import fsDriver from 'unstorage/drivers/fs';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { caught } from '../../support/caught.ts';
import {
  clientOf,
  collect,
  failureOf,
  KEY,
  leaveAtBatch,
  listing,
  nothing,
  readAccounts,
  type SyncSetUp,
  setUpSync,
  stateIn,
  statuses,
  syncAll,
  withAccounts,
} from './set-up.ts';

function storeOver({ states }: SyncSetUp, changed: Partial<Store>): Store {
  return { get: (key) => states.get(key), set: (key, value) => states.set(key, value), ...changed };
}

/** A store with get alone, and a function that writes the checkpoint of a batch. */
function writtenByConsumer({ states }: SyncSetUp) {
  const store: Store = { get: (key) => states.get(key) };
  const commit = ({ key, checkpoint }: { key: string; checkpoint: string }) => states.set(key, checkpoint);
  return { store, commit };
}

test.each<[string, (folder: string) => Store]>([
  ['a Map', () => new Map<string, string>()],
  ['memoryStore', () => memoryStore()],
  ['fileStore', (folder) => fileStore(folder)],
  ['Keyv', () => new Keyv()],
  ['unstorage in files', (folder) => createStorage({ driver: fsDriver({ base: folder }) })],
])('%s keeps a run that is interrupted, ended and followed by another', async (_, open) => {
  const folder = await mkdtemp(join(tmpdir(), 'stores-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const store = open(folder);
  const books = withAccounts(40);
  await leaveAtBatch(3, books, { store });
  const rest = await readAccounts(books, { store });
  expect(rest).toMatchObject({ resumed: true, status: 'done' });
  expect(rest.records).toBeLessThan(40);
  expect(await readAccounts(books, { store })).toMatchObject({ mode: 'incremental', records: 0 });
});

describe('a stored state is rejected', () => {
  test('and kept as it is if it is damaged', async () => {
    const books = withAccounts(40);
    await leaveAtBatch(3, books);
    const state = stateIn(books.states) as { run: { token: string } };
    state.run.token = `${state.run.token.slice(0, -4)}AAAA`;
    for (const stored of ['', 'nonsense', JSON.stringify(state)]) {
      books.sandbox.clearLogs();
      books.states.set(KEY, stored);
      const error = await caught(readAccounts(books));
      expect(error).toMatchObject({ code: 'checkpoint' });
      // The state is not quoted.
      expect(`${error}`).not.toContain('nonsense');
      expect([books.sandbox.count(), books.states.get(KEY)]).toEqual([0, stored]);
    }
  });

  test.each([undefined, { requests: 50 }])(
    'by its own collection alone: the others are read, with the limit %j',
    async (stopAfter) => {
      const books = setUpSync({ records: { accounts: 5, products: 5 } });
      books.states.set(KEY, 'nonsense');
      const collections = ['accounts', 'products'] as const;
      const { errors, report } = await failureOf(syncAll(books, { collections, stopAfter }));
      expect(errors).toMatchObject([{ collection: 'accounts', error: { code: 'checkpoint' } }]);
      expect(report.collections).toMatchObject([
        { status: 'failed', records: 0 },
        { status: 'done', records: 5 },
      ]);
    },
  );

  test('if it belongs to another base URL, tenant or collection', async () => {
    const books = setUpSync();
    await readAccounts(books);
    const state = books.states.get(KEY) ?? '';
    const other = setUpSync();
    other.states.set(KEY, state);
    books.states.set('accounting-data-sdk:other:accounts', state);
    for (const run of [
      readAccounts(other),
      readAccounts(books, { tenant: 'other' }),
      collect(changes(books.client.boms, { ...books.run, name: 'accounts' })),
    ]) {
      const message = expect.stringContaining('belongs to another');
      expect(await caught(run)).toMatchObject({ code: 'checkpoint', message });
    }
  });

  test.each<[ChangesOptions['id'], ChangesOptions['id'], boolean]>([
    [{ gt: '1', lte: '20' }, { lte: '20', gt: '1' }, true],
    [{ between: ['1', '20'] }, { between: '1..20' }, true],
    [{ lte: '20' }, undefined, false],
  ])('if its bounds on id are others: %j, then %j are the same: %s', async (first, second, isSame) => {
    const books = setUpSync();
    await readAccounts(books, { id: first });
    const run = readAccounts(books, { id: second });
    if (isSame) expect(await run).toMatchObject({ mode: 'incremental' });
    else expect(await caught(run)).toMatchObject({ code: 'checkpoint' });
  });
});

test('a full run with other parameters of the lists begins again: it resumes nothing that was read by the old ones', async () => {
  const books = withAccounts(90);
  await leaveAtBatch(8, listing(books, { parameters: { status: 'open' } }), { mode: 'full' });
  expect(stateIn(books.states)).toMatchObject({ run: { token: expect.any(String) } });
  for (const parameters of [{ status: 'all' }, {}]) {
    const changed = listing(books, { parameters });
    expect(await caught(readAccounts(changed))).toMatchObject({ code: 'checkpoint' });
    expect(await readAccounts(changed, { mode: 'full' })).toMatchObject({ resumed: false, records: 90 });
    // Those that changed since then.
    expect(await readAccounts(changed)).toMatchObject({ mode: 'incremental', records: 0 });
  }
});

test('a full run with other parameters leaves out no collection that one with a limit has read by the old ones', async () => {
  const books = setUpSync({ records: { accounts: 5, products: 200 } });
  const options = { mode: 'full', collections: ['accounts', 'products'], concurrency: 1 } as const;
  const first = await syncAll(books, { ...options, stopAfter: { requests: 6 } });
  expect(statuses(first)).toEqual(['done', 'paused']);
  const changed = listing(books, { parameters: { status: 'all' } });
  const second = await syncAll(changed, { ...options, stopAfter: { requests: 1_000 } });
  expect(second.collections.map(({ records }) => records)).toEqual([5, 200]);
  // Nor does its report name the full read by the old ones as the last one.
  const again = listing(books, { parameters: { status: 'open' } });
  const third = await syncAll(again, { ...options, stopAfter: { requests: 1 } });
  expect(second.collections[0]?.lastFullRead).toBeInstanceOf(Date);
  expect(third.collections[0]).toMatchObject({ status: 'paused', lastFullRead: undefined });
});

describe('a store fails the run with a CheckpointError', () => {
  const down = () => {
    throw new Error('down');
  };
  const forever = () => {
    throw new InvalidInputError('store', 'must be mended');
  };
  const swallowing = () => {
    const adapter = new Map();
    adapter.set = down;
    const store = new Keyv({ store: adapter });
    store.on('error', nothing);
    return store;
  };

  const isDown = { retryable: true, cause: { message: 'down' } };
  test.each<[string, Store | Partial<Store>, object, RegExp]>([
    ['rejects a read', { get: async () => down() }, isDown, /read.* down/],
    ['throws at a write', { set: down }, isDown, /written.* down/],
    [
      'throws what no repetition mends',
      { get: forever },
      { retryable: false },
      /read.*store: must be mended/,
    ],
    ['swallows its own errors, as Keyv does', swallowing(), {}, /returned false/],
    ['loses a write', { set: nothing }, {}, /lost the value/],
  ])('if it %s', async (_, changed, facts, message) => {
    const books = setUpSync();
    const store = changed instanceof Keyv ? changed : storeOver(books, changed);
    const error = await caught(readAccounts(books, { store }));
    expect(error).toMatchObject({ code: 'checkpoint', message: expect.stringMatching(message), ...facts });
  });

  test('unless it has taken the last checkpoint, and only cannot be read again', async () => {
    const books = withAccounts(5);
    let isLast = false;
    const set = (key: string, value: string) => books.states.set(key, value);
    const get = (key: string) =>
      isLast && books.states.get(key) !== before ? down() : books.states.get(key);
    let before: string | undefined;
    const report = await readAccounts(books, { store: { get, set } }, ({ last }) => {
      isLast = last;
      before = books.states.get(KEY);
    });
    expect(report).toMatchObject({ status: 'done', watermark: expect.any(Date) });
  });

  test('if it has get alone and cannot be read after the last checkpoint, of which nothing else shows that it was written', async () => {
    const books = withAccounts(5);
    const { store, commit } = writtenByConsumer(books);
    let isLast = false;
    const get = (key: string) => (isLast ? down() : store.get(key));
    const run = readAccounts(books, { store: { get } }, async (batch) => {
      await commit(batch);
      isLast = batch.last;
    });
    expect(await caught(run)).toMatchObject({ code: 'checkpoint', ...isDown });
  });

  test('if it goes back in the middle of a run to what it had before, or loses it', async () => {
    const books = withAccounts(40);
    await readAccounts(books);
    const before = books.states.get(KEY) ?? '';
    for (const damage of [() => books.states.delete(KEY), () => books.states.set(KEY, before)]) {
      books.states.set(KEY, before);
      let batches = 0;
      const run = readAccounts(books, { mode: 'full' }, () => ++batches === 2 && damage());
      const message = expect.stringContaining('lost the value');
      await expect(run).rejects.toMatchObject({ code: 'checkpoint', message });
      expect(batches).toBe(2);
    }
  });
});

describe('a run fails with concurrent_run if another run of the collection', () => {
  const concurrent = { code: 'concurrent_run', retryable: true };

  test('began after it', async () => {
    const books = withAccounts(40);
    let batches = 0;
    const first = readAccounts(books, {}, async () => {
      if (++batches === 2) await readAccounts(books);
    });
    const message = expect.stringMatching(new RegExp(`${KEY}.*mode: 'full'`));
    await expect(first).rejects.toMatchObject({ ...concurrent, message });
    expect(stateIn(books.states)).not.toHaveProperty('run');
  });

  test('began and ended before its first checkpoint', async () => {
    const books = withAccounts(40);
    const first = changes(books.client.accounts, books.run);
    await first.next();
    await readAccounts(books);
    await expect(first.next()).rejects.toMatchObject(concurrent);
  });

  test('wrote right after its last checkpoint', async () => {
    const books = setUpSync();
    const set = (key: string, value: string) => {
      books.states.set(key, value.replace(/"by":"[\w-]+"/, '"by":"another"'));
    };
    await expect(readAccounts(books, { store: storeOver(books, { set }) })).rejects.toMatchObject(concurrent);
  });

  test.each(['a sync', 'changes'])(
    'wrote while a page was on its way, which %s does not deliver',
    async (kind) => {
      const books = withAccounts(60);
      let taken = 0;
      const { promise: firstCommit, resolve: committed } = Promise.withResolvers<void>();
      const client = clientOf(books.sandbox, {
        pagination: 'page',
        fetch: async (...request) => {
          const response = await books.sandbox.fetch(...request);
          if (books.sandbox.count() === 1) return response;
          await firstCommit;
          books.states.set(KEY, (books.states.get(KEY) ?? '').replace(/"by":"[\w-]+"/, '"by":"another"'));
          return response;
        },
      });
      const { store, commit } = writtenByConsumer(books);
      const onBatch = (batch: { key: string; checkpoint: string }) => {
        taken += 1;
        commit(batch);
      };
      const options = { collections: ['accounts'], store, onProgress: () => committed(), onBatch } as const;
      const run =
        kind === 'changes'
          ? readAccounts({ ...books, client }, { store, onProgress: () => committed() }, onBatch)
          : syncAll({ ...books, client }, options).catch((error: unknown) => {
              throw (error as Error).cause;
            });
      expect(await caught(run)).toMatchObject(concurrent);
      expect([taken, stateIn(books.states).by]).toEqual([1, 'another']);
    },
  );
});

test.each([
  ['stops with a ConcurrentRunError of its target', true],
  [
    'fails with a ConcurrentRunError of a function of the caller as its cause, because it may be of another run',
    false,
  ],
])('a sync %s', async (_, isTarget) => {
  const { client } = setUpSync();
  const lost = new ConcurrentRunError('Another run writes.');
  const onBatch = () => {
    throw lost;
  };
  const into = isTarget
    ? { target: { open: () => ({ store: memoryStore(), onBatch }) } }
    : { store: memoryStore(), onBatch };
  const error = await caught(sync(client, { tenant: 'acme', ...into } as SyncToTargetOptions<'accounts'>));
  if (isTarget) expect(error).toBe(lost);
  else expect(error).toMatchObject({ code: 'sync_failed', cause: lost });
});

test('a run without a point to resume at writes its checkpoint once before its end', async () => {
  const books = listing(withAccounts(45), { pagination: 'page' });
  const set = vi.fn((key: string, value: string) => books.states.set(key, value));
  await readAccounts(books, { store: storeOver(books, { set }) });
  expect(set).toHaveBeenCalledTimes(2);
});

test('with a store that has get alone the consumer may leave out checkpoints, but not the last', async () => {
  const books = withAccounts(40);
  const { store, commit } = writtenByConsumer(books);
  await leaveAtBatch(3, books, { store }, commit);
  let batches = 0;
  const take = (batch: { key: string; checkpoint: string; last: boolean }) =>
    (++batches % 2 === 0 || batch.last) && commit(batch);
  const onCheckpoint = vi.fn();
  const rest = await readAccounts(books, { store, onCheckpoint }, take);
  expect(rest).toMatchObject({ resumed: true, status: 'done' });
  // It is the consumer who knows when it is written.
  expect(onCheckpoint).not.toHaveBeenCalled();
  await expect(readAccounts(books, { store })).rejects.toMatchObject({
    code: 'checkpoint',
    message: expect.stringMatching(/was not written.*including the last one/),
  });
});

test('the state stays under 1 kB with the longest of everything, and shows neither key nor query', async () => {
  const books = setUpSync({ timestampsEverywhere: true });
  for (let n = 0; n < 60; n++) {
    books.sandbox.store.accounts.insert({ id: String(10n ** 38n + BigInt(n) * 10n ** 36n) });
  }
  const options = { tenant: 't'.repeat(100), prefix: 'p'.repeat(100), id: { gt: '123456' } };
  const states: string[] = [];
  for (const mode of ['full', 'incremental'] as const) {
    await readAccounts(books, { ...options, mode }, ({ checkpoint }) => states.push(checkpoint));
  }
  expect(states.length).toBeGreaterThan(6);
  for (const state of states) {
    expect(state.length).toBeLessThan(1000);
    expect(state).not.toMatch(new RegExp(`123456|${books.sandbox.keys.full}`));
  }
});
