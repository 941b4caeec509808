import { type ChangesOptions, changes, type Store } from 'accounting-data-sdk';
import Keyv from 'keyv';
import { describe, expect, test } from 'vitest';
import { caught } from '../../support/caught.ts';
import {
  addAccounts,
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

describe('a stored state is rejected', () => {
  test.each([
    '',
    'nonsense',
    '[]',
    '42',
    'null',
    '{"v":1}',
    '{"v":9}',
    '{"v":1,"scope":"s","by":"b","offset":9999}',
  ])('and kept as it is if it is %j', async (stored) => {
    const books = setUpSync();
    books.states.set(KEY, stored);
    const error = await caught(readAccounts(books));
    expect(error).toMatchObject({ code: 'checkpoint', message: expect.stringContaining(KEY) });
    // The state is not quoted.
    expect(`${error}`).not.toContain('nonsense');
    expect(books.sandbox.count()).toBe(0);
    expect(books.states.get(KEY)).toBe(stored);
  });

  test('if its token is damaged', async () => {
    const books = withAccounts(40);
    await leaveAtBatch(3, books);
    const state = stateIn(books.states) as { run: { token: string } };
    state.run.token = `${state.run.token.slice(0, -4)}AAAA`;
    books.states.set(KEY, JSON.stringify(state));
    await expect(readAccounts(books)).rejects.toMatchObject({ code: 'checkpoint' });
  });

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
      expect(await caught(run)).toMatchObject({
        code: 'checkpoint',
        message: expect.stringContaining('belongs to another'),
      });
    }
  });

  test.each<[ChangesOptions['id'], ChangesOptions['id'], boolean]>([
    [{ lte: '20' }, { lte: '20', gt: undefined }, true],
    [{ gt: '1', lte: '20' }, { lte: '20', gt: '1' }, true],
    [{ between: ['1', '20'] }, { between: '1..20' }, true],
    [{ lte: '20' }, { lt: '20' }, false],
    [{ between: ['1', '20'] }, { between: ['1', '21'] }, false],
    [{ lte: '20' }, undefined, false],
  ])('if its bounds on id are others: %j, then %j are the same: %s', async (first, second, isSame) => {
    const books = setUpSync();
    await readAccounts(books, { id: first });
    const run = readAccounts(books, { id: second });
    if (isSame) expect(await run).toMatchObject({ mode: 'incremental' });
    else expect(await caught(run)).toMatchObject({ code: 'checkpoint' });
  });
});

describe('a store fails the run with a CheckpointError', () => {
  const down = () => {
    throw new Error('down');
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
    ['rejects a write', { set: async () => down() }, isDown, /written.* down/],
    ['throws at once', { set: down }, isDown, /written.* down/],
    ['throws what is no error', { get: () => Promise.reject('down!!') }, { cause: 'down!!' }, /down!/],
    ['throws nothing', { get: () => Promise.reject(null) }, { cause: null }, /other than an error/],
    ['resolves to false', { set: async () => false }, {}, /returned false/],
    ['swallows its own errors, as Keyv does', swallowing(), {}, /returned false/],
    ['loses a write', { set: nothing }, {}, /lost the value/],
  ])('if it %s', async (_, changed, facts, message) => {
    const books = setUpSync();
    const store = changed instanceof Keyv ? changed : storeOver(books, changed);
    const error = await caught(readAccounts(books, { store }));
    expect(error).toMatchObject({ code: 'checkpoint', message: expect.stringMatching(message), ...facts });
  });

  test.each(['page', 'keyset'] as const)(
    'if it goes back in the middle of a run by %s to what it had before, or loses it',
    async (pagination) => {
      const books = listing(withAccounts(40), { pagination });
      await readAccounts(books);
      const before = books.states.get(KEY) ?? '';
      for (const damage of [() => books.states.delete(KEY), () => books.states.set(KEY, before)]) {
        books.states.set(KEY, before);
        let batches = 0;
        const run = readAccounts(books, { mode: 'full' }, () => ++batches === 2 && damage());
        await expect(run).rejects.toMatchObject({
          code: 'checkpoint',
          message: expect.stringContaining('lost the value'),
        });
        expect(batches).toBe(2);
      }
    },
  );

  test('unless it cannot be read after the last checkpoint was written', async () => {
    const books = setUpSync();
    let isWritten = false;
    const store = storeOver(books, {
      get: (key) => (isWritten ? down() : books.states.get(key)),
      set: (key, value) => {
        books.states.set(key, value);
        isWritten = !('run' in JSON.parse(value));
      },
    });
    await expect(readAccounts(books, { store })).resolves.toMatchObject({ status: 'done' });
  });
});

test('a checkpoint that is equal to the one before, as by page, is not written again', async () => {
  const books = withAccounts(40);
  const written: string[] = [];
  const set = (key: string, value: string) => {
    written.push(value);
    books.states.set(key, value);
  };
  await readAccounts(listing(books, { pagination: 'page' }), { store: storeOver(books, { set }) });
  expect(written).toHaveLength(2);
});

describe('a run fails with concurrent_run if another run of the collection', () => {
  const concurrent = { code: 'concurrent_run', retryable: true };

  test('began after it', async () => {
    const books = withAccounts(40);
    let batches = 0;
    const first = readAccounts(books, {}, async () => {
      if (++batches === 2) await readAccounts(books);
    });
    await expect(first).rejects.toMatchObject({
      ...concurrent,
      message: expect.stringMatching(new RegExp(`${KEY}.*mode: 'full'`)),
    });
    expect(stateIn(books.states)).not.toHaveProperty('run');
  });

  test.each(['set', 'get alone'])(
    'began and ended before its first checkpoint: store with %s',
    async (kind) => {
      const books = withAccounts(40);
      const store = kind === 'set' ? books.states : writtenByConsumer(books).store;
      const first = changes(books.client.accounts, { ...books.run, store });
      await first.next();
      await readAccounts(books);
      await expect(first.next()).rejects.toMatchObject(concurrent);
    },
  );

  test('wrote right after its last checkpoint', async () => {
    const books = setUpSync();
    const set = (key: string, value: string) => {
      books.states.set(key, value.replace(/"by":"[\w-]+"/, '"by":"another"'));
    };
    await expect(readAccounts(books, { store: storeOver(books, { set }) })).rejects.toMatchObject(concurrent);
  });

  test.each([
    ['changes', 'get alone'],
    ['sync', 'get alone'],
    ['changes', 'set'],
    ['sync', 'set'],
  ])('wrote while a page was on its way, which is not delivered: %s, store with %s', async (by, kind) => {
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
    const options = {
      store: kind === 'set' ? books.states : store,
      onProgress: () => committed(),
    } as const;
    const take = (batch: { key: string; checkpoint: string }) => {
      taken += 1;
      commit(batch);
    };
    const other = { ...books, client };
    const error =
      by === 'sync'
        ? (await failureOf(syncAll(other, { ...options, collections: ['accounts'], onBatch: take }))).cause
        : await caught(readAccounts(other, options, take));
    expect(error).toMatchObject(concurrent);
    expect(taken).toBe(1);
    expect(stateIn(books.states).by).toBe('another');
  });
});

describe('with a store that has get alone `onBatch`', () => {
  test('writes the checkpoints, and the run resumes from them', async () => {
    const books = withAccounts(40);
    const events: unknown[] = [];
    const { store, commit } = writtenByConsumer(books);
    const options = { store, onCheckpoint: (event: unknown) => events.push(event) };
    await leaveAtBatch(3, books, options, commit);
    expect(await readAccounts(books, options, commit)).toMatchObject({ resumed: true, status: 'done' });
    expect(stateIn(books.states)).not.toHaveProperty('run');
    expect(events).toEqual([]);
  });

  test('may leave out checkpoints, but not the last', async () => {
    const books = withAccounts(40);
    const { store, commit } = writtenByConsumer(books);
    let batches = 0;
    await readAccounts(books, { store }, (batch) => (++batches % 2 === 0 || batch.last) && commit(batch));
    await expect(readAccounts(books, { store })).rejects.toMatchObject({
      code: 'checkpoint',
      message: expect.stringMatching(/was not written.*including the last one/),
    });
  });
});

describe('the state', () => {
  test('stays under 1 kB with the longest of everything', async () => {
    const books = setUpSync({ timestampsEverywhere: true });
    for (let n = 0; n < 60; n++) {
      books.sandbox.store.accounts.insert({ id: String(10n ** 38n + BigInt(n) * 10n ** 36n) });
    }
    const options = { tenant: 't'.repeat(100), prefix: 'p'.repeat(100) };
    const sizes: number[] = [];
    for (const mode of ['full', 'incremental'] as const) {
      await readAccounts(books, { ...options, mode }, ({ checkpoint }) => sizes.push(checkpoint.length));
    }
    expect(sizes.length).toBeGreaterThan(6);
    expect(Math.max(...sizes)).toBeLessThan(1000);
  });

  test('shows neither key nor query', async () => {
    const books = setUpSync();
    addAccounts(books, 5);
    await readAccounts(books, { id: { gt: '123456' } });
    const [state = ''] = books.states.values();
    expect(state).not.toContain(books.sandbox.keys.full);
    expect(state).not.toContain('123456');
  });
});
