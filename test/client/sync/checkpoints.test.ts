import { changes, createClient, type Store, sync } from 'accounting-data-sdk';
import Keyv from 'keyv';
import { describe, expect, test } from 'vitest';
import { addAccounts, Copy, collect, type SyncSetUp, setUpSync, stateIn } from './set-up.ts';

const KEY = 'accounting-data-sdk:acme:accounts';

function storeOver({ states }: SyncSetUp, changed: Partial<Store>): Store {
  return { get: (key) => states.get(key), set: (key, value) => states.set(key, value), ...changed };
}

describe('a checkpoint is rejected', () => {
  test.each(['', 'nonsense', '{"v":1}', '{"v":9}'])('if the store has %j', async (stored) => {
    const books = setUpSync();
    books.states.set(KEY, stored);
    await expect(collect(changes(books.client.accounts, books.run))).rejects.toMatchObject({
      code: 'checkpoint',
    });
    expect(books.sandbox.count()).toBe(0);
    expect(books.states.get(KEY)).toBe(stored);
  });

  test('if it belongs to another tenant, base URL or collection', async () => {
    const books = setUpSync();
    await collect(changes(books.client.accounts, books.run));
    const state = books.states.get(KEY) ?? '';
    const other = setUpSync();
    other.states.set(KEY, state);
    await expect(collect(changes(other.client.accounts, other.run))).rejects.toMatchObject({
      code: 'checkpoint',
    });
    books.states.set('accounting-data-sdk:other:accounts', state);
    const foreign = changes(books.client.accounts, { ...books.run, tenant: 'other' });
    await expect(collect(foreign)).rejects.toMatchObject({ code: 'checkpoint' });
    const misnamed = changes(books.client.boms, { ...books.run, name: 'accounts' });
    await expect(collect(misnamed)).rejects.toMatchObject({ code: 'checkpoint' });
  });

  test('if it belongs elsewhere, and the error says what to do', async () => {
    const books = setUpSync();
    await collect(changes(books.client.accounts, books.run));
    const part = changes(books.client.accounts, { ...books.run, id: { gt: '5' } });
    await expect(collect(part)).rejects.toThrow(
      `The state under ${KEY} belongs to another base URL, tenant, collection or set of filters. Pass a prefix of its own for this one, or delete the state to read everything again.`,
    );
  });

  test('if its token is damaged', async () => {
    const books = setUpSync();
    addAccounts(books, 40);
    let batches = 0;
    for await (const _ of changes(books.client.accounts, books.run)) if (++batches === 3) break;
    const state = stateIn(books.states) as { run: { token: string } };
    state.run.token = `${state.run.token.slice(0, -4)}AAAA`;
    books.states.set(KEY, JSON.stringify(state));
    await expect(collect(changes(books.client.accounts, books.run))).rejects.toMatchObject({
      code: 'checkpoint',
    });
  });
});

describe('a store that fails', () => {
  test.each([
    ['reading', 'read', { get: () => Promise.reject(new Error('down')) }],
    ['writing', 'written', { set: () => Promise.reject(new Error('down')) }],
    [
      'at once',
      'written',
      {
        set: () => {
          throw new Error('down');
        },
      },
    ],
  ])('%s is a CheckpointError with its cause', async (_, what, changed) => {
    const books = setUpSync();
    const run = changes(books.client.accounts, { ...books.run, store: storeOver(books, changed) });
    await expect(collect(run)).rejects.toMatchObject({
      code: 'checkpoint',
      message: `The state under ${KEY} could not be ${what}: the store threw Error: down. Check the store, then run this again.`,
      retryable: true,
      cause: expect.objectContaining({ message: 'down' }),
    });
  });

  test.each([
    [undefined, 'something other than an error', undefined],
    [null, 'something other than an error', 'a thrown null'],
    [7, 'something other than an error', 'a thrown number'],
    ['down!!', 'down', 'down!!'],
  ])(
    'that throws %j, which is not an error, names no cause that is not there',
    async (thrown, text, printed) => {
      const books = setUpSync();
      const store = storeOver(books, { get: () => Promise.reject(thrown) });
      const error = await collect(changes(books.client.accounts, { ...books.run, store })).catch((e) => e);
      expect(error).toMatchObject({ code: 'checkpoint', cause: thrown });
      expect(JSON.parse(JSON.stringify(error)).cause).toBe(printed);
      expect(error.message).toMatch(
        new RegExp(`: the store threw ${text}[.!] Check the store, then run this again\\.$`),
      );
    },
  );

  test('by resolving to false is noticed', async () => {
    const books = setUpSync();
    const store = storeOver(books, { set: async () => false });
    await expect(collect(changes(books.client.accounts, { ...books.run, store }))).rejects.toMatchObject({
      code: 'checkpoint',
      message: `The state under ${KEY} could not be written: the store returned false. Check the store, then run this again.`,
    });
  });

  test('in the adapter of Keyv, which swallows it, is noticed', async () => {
    const books = setUpSync();
    const adapter = new Map();
    adapter.set = () => {
      throw new Error('down');
    };
    const store = new Keyv({ store: adapter });
    store.on('error', () => undefined);
    await expect(collect(changes(books.client.accounts, { ...books.run, store }))).rejects.toMatchObject({
      code: 'checkpoint',
    });
  });

  test.each([0, 1])('by losing a write without an error is noticed after %i runs', async (runs) => {
    const books = setUpSync();
    for (let run = 0; run < runs; run++) await collect(changes(books.client.accounts, books.run));
    const store = storeOver(books, { set: () => undefined });
    await expect(collect(changes(books.client.accounts, { ...books.run, store }))).rejects.toMatchObject({
      code: 'checkpoint',
      message: `The store did not return what was written under ${KEY}: it lost the value, or hid an error. Check the store, then run this again.`,
    });
  });
});

describe('a store', () => {
  test('is written once if all checkpoints of a run are equal, as by page', async () => {
    const books = setUpSync();
    addAccounts(books, 40);
    const written: string[] = [];
    const set = (key: string, value: string) => {
      written.push(value);
      books.states.set(key, value);
    };
    await collect(
      changes(books.client.accounts, { ...books.run, pagination: 'page', store: storeOver(books, { set }) }),
    );
    expect(written).toHaveLength(2);
    expect(new Set(written).size).toBe(2);
  });

  test('is read at the beginning, before and after each batch and at the end, and not more often', async () => {
    const books = setUpSync();
    addAccounts(books, 40);
    let reads = 0;
    const get = (key: string) => {
      reads++;
      return books.states.get(key);
    };
    let batches = 0;
    const run = changes(books.client.accounts, { ...books.run, store: storeOver(books, { get }) });
    await collect(run, () => batches++);
    expect(reads).toBe(1 + 2 * batches + 1);
  });

  test('gets the name of each run, which is unique', async () => {
    const names = new Set<unknown>();
    for (let run = 0; run < 50; run++) {
      const books = setUpSync();
      await collect(changes(books.client.accounts, books.run));
      names.add(stateIn(books.states).by);
    }
    expect(names.size).toBe(50);
    for (const name of names) expect(name).toMatch(/^[0-9a-z]{2,14}$/);
  });
});

test('a store that cannot be read after the last checkpoint was written fails no collection', async () => {
  const books = setUpSync();
  let isWritten = false;
  const store = storeOver(books, {
    get: (key) => {
      if (isWritten) throw new Error('down');
      return books.states.get(key);
    },
    set: (key, value) => {
      books.states.set(key, value);
      isWritten = !('run' in JSON.parse(value));
    },
  });
  await expect(collect(changes(books.client.accounts, { ...books.run, store }))).resolves.toMatchObject({
    status: 'done',
  });
});

describe('a store that goes back to what it had before', () => {
  test.each(['page', 'keyset'] as const)('is noticed in the middle of a run: %s', async (pagination) => {
    const books = setUpSync();
    addAccounts(books, 40);
    await collect(changes(books.client.accounts, books.run));
    const before = books.states.get(KEY) ?? '';
    let batches = 0;
    const run = collect(changes(books.client.accounts, { ...books.run, mode: 'full', pagination }), () => {
      if (++batches === 2) books.states.set(KEY, before);
    });
    await expect(run).rejects.toMatchObject({
      code: 'checkpoint',
      message: expect.stringContaining('lost the value'),
    });
    expect(batches).toBe(2);
    expect(books.states.get(KEY)).toBe(before);
  });
});

describe('a store that loses what it had before', () => {
  test('is reported, and not as another run', async () => {
    const books = setUpSync();
    addAccounts(books, 40);
    await collect(changes(books.client.accounts, books.run));
    const run = changes(books.client.accounts, { ...books.run, mode: 'full' });
    await expect(collect(run, () => books.states.delete(KEY))).rejects.toMatchObject({
      code: 'checkpoint',
      message: expect.stringContaining('lost the value'),
    });
  });
});

describe('a run of the same collection as another', () => {
  test('fails with concurrent_run when the other began after it', async () => {
    const books = setUpSync();
    addAccounts(books, 40);
    let batches = 0;
    const first = async () => {
      for await (const _ of changes(books.client.accounts, books.run)) {
        if (++batches === 2) await collect(changes(books.client.accounts, books.run));
      }
    };
    await expect(first()).rejects.toMatchObject({
      code: 'concurrent_run',
      message: expect.stringMatching(new RegExp(`${KEY}.*mode: 'full'`)),
      retryable: true,
    });
    expect(stateIn(books.states)).not.toHaveProperty('run');
  });

  test('fails with concurrent_run at its first checkpoint when the other began and ended meanwhile', async () => {
    const books = setUpSync();
    addAccounts(books, 40);
    const copy = new Copy();
    const first = changes(books.client.accounts, books.run);
    copy.take((await first.next()).value as never);
    await collect(changes(books.client.accounts, books.run));
    await expect(first.next()).rejects.toMatchObject({ code: 'concurrent_run' });
  });

  test('fails with concurrent_run when the other wrote right after its last checkpoint', async () => {
    const books = setUpSync();
    const set = (key: string, value: string) => {
      books.states.set(key, value.replace(/"by":"\w+"/, '"by":"another"'));
    };
    const run = changes(books.client.accounts, { ...books.run, store: storeOver(books, { set }) });
    await expect(collect(run)).rejects.toMatchObject({ code: 'concurrent_run' });
  });

  test('fails with concurrent_run when the other took over from it', async () => {
    const books = setUpSync();
    addAccounts(books, 60);
    const paused = changes(books.client.accounts, books.run);
    await paused.next();
    await paused.next();
    await paused.next();
    let batches = 0;
    for await (const _ of changes(books.client.accounts, books.run)) if (++batches === 2) break;
    await expect(paused.next()).rejects.toMatchObject({ code: 'concurrent_run' });
  });
});

describe('a store with get alone', () => {
  test('leaves the checkpoints to the consumer', async () => {
    const books = setUpSync();
    addAccounts(books, 40);
    const events: unknown[] = [];
    const onCheckpoint = (event: unknown) => events.push(event);
    const store = { get: (key: string) => books.states.get(key) };
    const commit = ({ key, checkpoint }: { key: string; checkpoint: string }) =>
      books.states.set(key, checkpoint);
    let batches = 0;
    for await (const batch of changes(books.client.accounts, { ...books.run, store, onCheckpoint })) {
      if (++batches === 3) break;
      commit(batch);
    }
    const report = await collect(
      changes(books.client.accounts, { ...books.run, store, onCheckpoint }),
      commit,
    );
    expect(report).toMatchObject({ resumed: true, status: 'done' });
    expect(stateIn(books.states)).not.toHaveProperty('run');
    expect(events).toEqual([]);
  });

  test('may be written after some batches only, but must be after the last', async () => {
    const books = setUpSync();
    addAccounts(books, 40);
    const store = { get: (key: string) => books.states.get(key) };
    let batches = 0;
    await collect(changes(books.client.accounts, { ...books.run, store }), ({ key, checkpoint, last }) => {
      if (++batches % 2 === 0 || last) books.states.set(key, checkpoint);
    });
    const forgetful = changes(books.client.accounts, { ...books.run, store });
    await expect(collect(forgetful)).rejects.toMatchObject({
      code: 'checkpoint',
      message: `The last checkpoint under ${KEY} was not written. A store without set leaves that to the consumer: write batch.checkpoint of every batch, including the last one, which has no records.`,
    });
  });

  test('notices another run as well', async () => {
    const books = setUpSync();
    addAccounts(books, 40);
    const store = { get: (key: string) => books.states.get(key) };
    const first = changes(books.client.accounts, { ...books.run, store });
    await first.next();
    await collect(changes(books.client.accounts, books.run));
    await expect(first.next()).rejects.toMatchObject({ code: 'concurrent_run' });
  });

  test.each([
    ['changes', 'get alone'],
    ['sync', 'get alone'],
    ['changes', 'set'],
    ['sync', 'set'],
  ])(
    'notices that another run has written while a page was on its way: %s, store with %s',
    async (by, kind) => {
      const books = setUpSync();
      addAccounts(books, 60);
      let taken = 0;
      let committed = () => {};
      const firstCommit = new Promise<void>((resolve) => {
        committed = resolve;
      });
      const client = createClient({
        ...books.sandbox.clientOptions,
        fetch: async (...request) => {
          const response = await books.sandbox.fetch(...request);
          if (books.sandbox.count() === 1) return response;
          await firstCommit;
          books.states.set(KEY, (books.states.get(KEY) ?? '').replace(/"by":"\w+"/, '"by":"another"'));
          return response;
        },
      });
      const options = {
        ...books.run,
        store: kind === 'set' ? books.states : { get: (key: string) => books.states.get(key) },
        pagination: 'page',
        onProgress: () => committed(),
      } as const;
      const take = ({ key, checkpoint }: { key: string; checkpoint: string }) => {
        taken += 1;
        books.states.set(key, checkpoint);
      };
      const run =
        by === 'sync'
          ? sync(client, { ...options, collections: ['accounts'], onBatch: take }).catch((error) => {
              throw error.cause;
            })
          : collect(changes(client.accounts, options), take);
      await expect(run).rejects.toMatchObject({ code: 'concurrent_run' });
      expect(taken).toBe(1);
      expect(stateIn(books.states).by).toBe('another');
    },
  );
});

describe('the state', () => {
  test('stays under 1 kB with the longest of everything', async () => {
    const books = setUpSync({ timestampsEverywhere: true });
    for (let n = 0; n < 60; n++) {
      books.sandbox.store.accounts.insert({ id: String(10n ** 38n + BigInt(n) * 10n ** 36n) });
    }
    const options = { ...books.run, tenant: 't'.repeat(100), prefix: 'p'.repeat(100) };
    const sizes: number[] = [];
    for (const mode of ['full', 'incremental'] as const) {
      await collect(changes(books.client.accounts, { ...options, mode }), ({ checkpoint }) => {
        sizes.push(checkpoint.length);
      });
    }
    expect(sizes.length).toBeGreaterThan(6);
    expect(Math.max(...sizes)).toBeLessThan(1000);
  });

  test('shows neither key nor query', async () => {
    const books = setUpSync();
    await collect(changes(books.client.accounts, { ...books.run, id: { gt: '123456' } }));
    const [state = ''] = books.states.values();
    expect(state).not.toContain(books.sandbox.keys.full);
    expect(state).not.toContain('123456');
  });
});
