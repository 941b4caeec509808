import { DatabaseSync } from 'node:sqlite';
import {
  type Batch,
  type Client,
  createClient,
  forget,
  type OpenTarget,
  refresh,
  type SyncTarget,
  sync,
  type TargetContext,
  verify,
} from 'accounting-data-sdk';
import { sqliteTarget } from 'accounting-data-sdk/targets';
import { expect, onTestFinished, test, vi } from 'vitest';
import * as z from 'zod';
import { caught } from '../../support/caught.ts';
import { advance, startVirtualClock, stopVirtualClock } from '../../support/virtual-clock.ts';
import { failureOf, setUpSync } from './set-up.ts';

/** A target that keeps one collection in memory, and says what was called. */
function memoryTarget(more: Partial<OpenTarget> = {}) {
  const calls: string[] = [];
  const copy = new Map<string, unknown>();
  const states = new Map<string, string>();
  const batches: Batch<{ id: string }>[] = [];
  const opened: OpenTarget = {
    store: { get: (key) => states.get(key) },
    onBatch(batch) {
      batches.push(batch);
      for (const [at, { id }] of batch.records.entries()) copy.set(id, batch.rows[at]);
      states.set(batch.key, batch.checkpoint);
    },
    localIds(collection) {
      calls.push(`localIds ${collection}`);
      return copy.keys();
    },
    onDelete(ids, collection) {
      calls.push(`onDelete ${collection}`);
      for (const id of ids) copy.delete(id);
    },
    close: () => void calls.push('close'),
    ...more,
  };
  const target: SyncTarget = {
    open(tenant) {
      calls.push(`open ${tenant}`);
      return opened;
    },
  };
  return { target, calls, copy, batches };
}

test('a target takes the records and the state of its tenant, and is closed', async () => {
  const { client, sandbox } = setUpSync({ records: { accounts: 25 } });
  const { accounts } = sandbox.store;
  const { target, calls, copy, batches } = memoryTarget();
  const options = { tenant: 'acme', target, collections: ['accounts'] as const };
  await sync(client, options);
  accounts.delete('1');
  expect((await sync(client, options)).records).toBe(0);
  expect(calls).toEqual(['open acme', 'close', 'open acme', 'close']);
  expect(copy.size).toBe(25);
  const modes = batches.map(({ tenant, mode, last }) => `${tenant} ${mode} ${last}`);
  expect(modes.slice(-3)).toEqual(['acme full false', 'acme full true', 'acme incremental true']);

  // Its ids are read only in mode full.
  calls.length = 0;
  const report = await sync(client, { ...options, mode: 'full', maxCandidates: 3 });
  expect(report.collections[0]?.deletions).toMatchObject({ local: 25, deleted: 1 });
  expect(calls).toEqual(['open acme', 'localIds accounts', 'onDelete accounts', 'close']);
  expect([...copy.values()]).toEqual(accounts.all());
});

test('the rows of a batch are what the service sent, at the positions of the records, without invalid ones', async () => {
  const { sandbox } = setUpSync({ records: { accounts: 12 } });
  const bad = sandbox.store.accounts.ids()[3] ?? '';
  const client = createClient({
    ...sandbox.clientOptions,
    validation: 'report',
    schemas: {
      accounts: z
        .looseObject({ id: z.string() })
        .refine(({ id }) => id !== bad)
        .transform(({ id }) => ({ id, changed: true })),
    },
  });
  const { target, batches } = memoryTarget();
  await sync(client, { tenant: 'acme', target, collections: ['accounts'] });
  const sent = sandbox.store.accounts.all().filter(({ id }) => id !== bad);
  expect(batches.flatMap(({ rows }) => rows)).toEqual(sent);
  expect(batches.flatMap(({ records }) => records)).toEqual(sent.map(({ id }) => ({ id, changed: true })));
});

test.each(['onBatch', 'localIds', 'onDelete'] as const)(
  'a target is closed after a failure in %s, which is what the sync rejects with, or after an abort',
  async (method) => {
    const { client, sandbox } = setUpSync({ records: { accounts: 25 } });
    const { target } = memoryTarget();
    const options = { tenant: 'acme', collections: ['accounts'] as const, mode: 'full' as const };
    await sync(client, { ...options, target });
    sandbox.store.accounts.delete(sandbox.store.accounts.ids()[0] ?? '');
    const close = vi.fn(() => {
      throw new Error('and so is the file');
    });
    const controller = new AbortController();
    const onEnd = vi.fn(() => {
      throw new Error('nor can the end be noted');
    });
    const failing = (fail: () => void): SyncTarget => ({
      open: async (...args) => ({ ...(await target.open(...args)), [method]: fail, onEnd, close }),
    });
    const locked = failing(() => {
      throw new Error('the table is locked');
    });
    const { message } = await failureOf(sync(client, { ...options, target: locked }));
    expect(message).toContain('the table is locked');
    const aborting = failing(() => controller.abort(new Error('stopped')));
    const aborted = sync(client, { ...options, target: aborting, signal: controller.signal });
    await expect(aborted).rejects.toThrow('stopped');
    expect(close).toHaveBeenCalledTimes(2);
    // An abort is no result to note.
    const failed = { report: expect.objectContaining({ collection: 'accounts', status: 'failed' }) };
    const error = expect.objectContaining({ message: 'the table is locked' });
    expect(onEnd.mock.calls).toEqual([[[{ ...failed, endedAt: expect.any(Date), error }]]]);
  },
);

const marks = { count: async () => ({ records: 0, marked: 0 }), async *unmarked() {} };
const complete: Partial<OpenTarget> = {
  rows: async () => [],
  replace: async () => true,
  forget: async () => {},
};

type Call = (client: Client, options: { tenant: string; target: SyncTarget }) => Promise<unknown>;
const refreshOne: Call = ({ products }, options) => refresh(products, { ...options, ids: ['1'] });

test.each<[string, keyof OpenTarget, Call, object?]>([
  ['sync in mode full', 'localIds', (client, options) => sync(client, { ...options, mode: 'full' })],
  ['a target with marks', 'onDelete', sync, { marks }],
  ['verify', 'rows', verify],
  ['refresh', 'replace', refreshOne],
  ['refresh', 'localIds', refreshOne],
  ['forget', 'forget', (_, options) => forget(options)],
])(
  '%s rejects a target without %s by the name of the method, and sends nothing',
  async (purpose, method, call, more) => {
    const { client, sandbox } = setUpSync({ records: { products: 3 } });
    const { target, calls } = memoryTarget({ ...complete, ...more, [method]: undefined });
    const error = await caught(call(client, { tenant: 'acme', target }));
    expect(error).toMatchObject({ code: 'invalid_input', argument: 'target', retryable: false });
    expect(`${error}`).toContain(`lacks the method ${method}, which ${purpose} needs`);
    expect([sandbox.count(), calls]).toEqual([0, ['open acme', 'close']]);
  },
);

test.each([
  ['target', { onBatch: undefined }],
  ['target', { onBatch: 'INSERT' }],
  ['target.store', { store: {} }],
  ['target.store', { store: undefined }],
])(
  'an opened target whose %s cannot be used is rejected before the first request: %j',
  async (argument, more) => {
    const { client, sandbox } = setUpSync({ records: { products: 3 } });
    const { target, calls } = memoryTarget(more as never);
    const error = await caught(sync(client, { tenant: 'acme', target, collections: ['products'] }));
    expect(error).toMatchObject({ code: 'invalid_input', argument, retryable: false });
    expect([sandbox.count(), calls]).toEqual([0, ['open acme', 'close']]);
  },
);

// A database may return the ids of a numeric column as numbers.
test.each([7, '', undefined])(
  'ids of a copy that are not those of records, such as %j, end a sync and verify, and nothing is deleted',
  async (id) => {
    const { client } = setUpSync({ records: { products: 3 } });
    const all = { tenant: 'acme', collections: ['products'] as const, mode: 'full' as const };
    const badIds = { ...complete, localIds: () => [id] as never };
    const badMarks = { ...complete, marks: { ...marks, unmarked: () => [id] as never } };
    for (const [argument, bad] of Object.entries({ localIds: badIds, 'marks.unmarked': badMarks })) {
      const { target, calls } = memoryTarget(bad);
      const rejected = { code: 'invalid_input', argument: `target.${argument}`, retryable: false };
      const { errors } = await failureOf(sync(client, { ...all, target }));
      expect(errors).toMatchObject([{ collection: 'products', error: rejected }]);
      if (bad === badIds)
        expect(await caught(verify(client, { tenant: 'acme', target }))).toMatchObject(rejected);
      expect(calls).not.toContain('onDelete products');
    }
  },
);

test('a target that opens only after the abort is closed too', async () => {
  startVirtualClock();
  onTestFinished(stopVirtualClock);
  const { client } = setUpSync();
  const controller = new AbortController();
  const opening = Promise.withResolvers<OpenTarget>();
  const target: SyncTarget = { open: () => opening.promise };
  const failed = caught(sync(client, { tenant: 'acme', target, signal: controller.signal }));
  controller.abort(new Error('stopped'));
  // How long a sync waits for work that ignores the signal.
  await advance(1_000);
  expect(await failed).toMatchObject({ message: 'stopped' });
  const closed = new Promise<void>((resolve) => {
    opening.resolve({ ...({} as OpenTarget), close: resolve });
  });
  await closed;
});

test.each([
  ['open', { open: () => Promise.reject(new Error('is no database')) }, /opened.*is no database/],
  [
    'close',
    {
      open: async (tenant: string, context: TargetContext) => ({
        ...(await memoryTarget().target.open(tenant, context)),
        close: () => Promise.reject(new Error('lost the connection')),
      }),
    },
    /closed.*lost the connection/,
  ],
] as const)('what %s of a target throws is the cause of a CheckpointError', async (_, target, message) => {
  const { client } = setUpSync();
  const error = await caught(sync(client, { tenant: 'acme', target, collections: ['accounts'] }));
  expect(error).toMatchObject({
    code: 'checkpoint',
    retryable: true,
    message: expect.stringMatching(message),
    cause: expect.any(Error),
  });
});

test('no two methods of a target run at once, even while the ids are read that a full read has not listed', async () => {
  const { client, sandbox } = setUpSync({ records: { accounts: 45, products: 45 } });
  let running = '';
  const overlaps: string[] = [];
  async function* slowly(name: string, work: () => Iterable<unknown> | AsyncIterable<unknown>) {
    if (running !== '') overlaps.push(`${name} during ${running}`);
    running = name;
    for await (const value of work()) {
      await new Promise(setImmediate);
      yield value;
    }
    running = '';
  }
  const alone = async (name: string, work: () => unknown) => {
    let result: unknown;
    for await (result of slowly(name, () => [work()]));
    return result;
  };
  const observed = <T extends object>(of: T): T =>
    new Proxy(of, {
      get(_, name) {
        const member: unknown = Reflect.get(of, name);
        if (typeof member === 'object' && member !== null) return observed(member);
        if (typeof member !== 'function') return member;
        return (...args: unknown[]) =>
          (name === 'unmarked' ? slowly : alone)(String(name), () => member.apply(of, args));
      },
    });
  const inner = sqliteTarget(new DatabaseSync(':memory:'));
  const target: SyncTarget = { open: async (...args) => observed(await inner.open(...args)) };
  const collections = ['accounts', 'products'] as const;
  const options = { tenant: 'acme', target, collections };
  await sync(client, options);
  for (const name of collections) {
    for (const id of sandbox.store[name].ids().slice(0, 9)) sandbox.store[name].delete(id);
  }
  const report = await sync(client, { ...options, mode: 'full' });
  expect(report.collections.map(({ deletions }) => deletions?.deleted)).toEqual([9, 9]);
  expect(overlaps).toEqual([]);
});

test('a target gets what the sync returns', async () => {
  const { client } = setUpSync({ records: { accounts: 5 } });
  const onEnd = vi.fn();
  const { collections, endedAt } = await sync(client, {
    tenant: 'acme',
    target: memoryTarget({ onEnd }).target,
  });
  // The same time, not one of a millisecond later.
  const ends = collections.map((report) => ({ report, endedAt, error: undefined }));
  expect(onEnd.mock.calls).toEqual([[ends]]);
});
