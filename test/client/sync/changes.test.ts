import { changes } from 'accounting-data-sdk';
import { describe, expect, test } from 'vitest';
import { caught } from '../../support/caught.ts';
import { addAccounts, Copy, collect, START, setUpSync, stateIn } from './set-up.ts';

const minutes = (n: number) => n * 60_000;

describe('changes', () => {
  test('reads everything the first time, and ends with a batch that advances the watermark', async () => {
    const books = setUpSync();
    addAccounts(books, 25);
    const copy = new Copy();
    const report = await collect(changes(books.client.accounts, books.run), copy.take);

    expect(copy.ids).toEqual(books.sandbox.store.accounts.ids());
    expect(copy.batches.map(({ last }) => last)).toEqual([...copy.batches.slice(1).map(() => false), true]);
    expect(copy.batches.at(-1)).toMatchObject({ collection: 'accounts', records: [], invalid: [] });
    expect(report).toMatchObject({
      collection: 'accounts',
      status: 'done',
      mode: 'full',
      pagination: 'keyset',
      resumed: false,
      records: 25,
      watermark: new Date(START),
      lastFullRead: new Date(START),
    });
    expect(stateIn(books.states)).toMatchObject({
      watermark: START,
      full: START,
      hint: { pageSize: 10, order: 'asc' },
    });
  });

  test('then requests what changed since the watermark less the lookback, in one request if nothing did', async () => {
    const books = setUpSync();
    addAccounts(books, 25);
    await collect(changes(books.client.accounts, books.run));
    books.sandbox.clock.advance(minutes(60));
    books.sandbox.clearLogs();

    const report = await collect(changes(books.client.accounts, books.run));
    expect(books.sandbox.requests.map(({ query }) => query)).toEqual([
      { updatedSince: '2026-01-04T19:58:00-12:00' },
    ]);
    expect(report).toMatchObject({
      mode: 'incremental',
      records: 0,
      watermark: new Date('2026-01-05T09:00:00Z'),
    });
    expect(stateIn(books.states)).toMatchObject({ watermark: '2026-01-05T09:00:00Z', full: START });
  });

  test('rejects a bound on id that is a number, by its name, before it requests anything', async () => {
    const books = setUpSync();
    const options = { ...books.run, id: { gt: 5 } } as never;
    const error = await caught((async () => collect(changes(books.client.accounts, options)))());
    expect(error).toMatchObject({ code: 'invalid_input', argument: 'id.gt' });
    expect(books.sandbox.requests).toEqual([]);
  });

  test('subtracts the lookback of the option', async () => {
    const books = setUpSync();
    await collect(changes(books.client.accounts, books.run));
    await collect(changes(books.client.accounts, { ...books.run, lookbackMs: minutes(30) }));
    expect(books.sandbox.requests.at(-1)?.query).toEqual({ updatedSince: '2026-01-04T19:30:00-12:00' });
  });

  test('delivers what changed and nothing else', async () => {
    const books = setUpSync();
    addAccounts(books, 25);
    await collect(changes(books.client.accounts, books.run));
    books.sandbox.clock.advance(minutes(60));
    books.sandbox.store.accounts.update('3', { name: 'changed' });
    const copy = new Copy();
    await collect(changes(books.client.accounts, books.run), copy.take);
    expect(copy.ids).toEqual(['3']);
  });

  test('ends a first run of an empty collection, after it looked at page 2', async () => {
    const books = setUpSync();
    const copy = new Copy();
    await collect(changes(books.client.accounts, books.run), copy.take);
    expect(copy.batches).toHaveLength(1);
    expect(stateIn(books.states)).toMatchObject({ watermark: START });
    const pages = books.sandbox.requests.map(({ query }) => new URLSearchParams(query).get('_page'));
    expect(pages).toEqual([null, '2']);
  });

  test('rejects cached pages', async () => {
    const books = setUpSync();
    await collect(changes(books.client.accounts, books.run));
    expect(books.sandbox.requests[0]?.headers['cache-control']).toBe('no-cache');
  });

  test('commits a batch when the next one is requested', async () => {
    const books = setUpSync();
    addAccounts(books, 40);
    const seen: (string | undefined)[] = [];
    const checkpoints: string[] = [];
    for await (const batch of changes(books.client.accounts, books.run)) {
      seen.push(books.states.get(batch.key));
      checkpoints.push(batch.checkpoint);
    }
    expect(seen).toEqual([undefined, ...checkpoints.slice(0, -1)]);
    expect(books.states.get('accounting-data-sdk:acme:accounts')).toBe(checkpoints.at(-1));
  });

  test.each(['break', 'throw'])('leaves a batch uncommitted after a %s', async (how) => {
    const books = setUpSync();
    addAccounts(books, 40);
    const leave = async () => {
      for await (const batch of changes(books.client.accounts, books.run)) {
        if (batch.records.length > 0 && how === 'break') break;
        throw new Error('the sink is full');
      }
    };
    await (how === 'throw' ? expect(leave()).rejects.toThrow('the sink is full') : leave());
    expect(books.states.size).toBe(0);
  });

  test('resumes where it was interrupted, with the watermark and the bound that it had', async () => {
    const books = setUpSync();
    addAccounts(books, 40);
    await collect(changes(books.client.accounts, books.run));
    books.sandbox.clock.advance(minutes(60));
    for (const id of books.sandbox.store.accounts.ids())
      books.sandbox.store.accounts.update(id, { name: 'new' });
    const copy = new Copy();
    let batches = 0;
    for await (const batch of changes(books.client.accounts, books.run)) {
      if (++batches === 3) break;
      copy.take(batch);
    }
    books.sandbox.clock.advance(minutes(60));
    books.sandbox.clearLogs();

    const report = await collect(changes(books.client.accounts, books.run), copy.take);
    expect(copy.records.size).toBe(40);
    expect(report).toMatchObject({
      resumed: true,
      mode: 'incremental',
      watermark: new Date('2026-01-05T09:00:00Z'),
    });
    expect(report.records).toBeLessThan(40);
    const [first] = books.sandbox.requests;
    expect(first?.query).toMatchObject({
      updatedSince: '2026-01-04T19:58:00-12:00',
      'id[gt]': expect.any(String),
    });
    expect(stateIn(books.states)).not.toHaveProperty('run');
  });

  test('starts a read by page again at page 1, with the watermark that it had', async () => {
    const books = setUpSync();
    addAccounts(books, 40);
    const options = { ...books.run, pagination: 'page' } as const;
    let batches = 0;
    for await (const _ of changes(books.client.accounts, options)) if (++batches === 3) break;
    books.sandbox.clock.advance(minutes(60));
    books.sandbox.clearLogs();

    const report = await collect(changes(books.client.accounts, options));
    expect(report).toMatchObject({
      resumed: true,
      pagination: 'page',
      records: 40,
      watermark: new Date(START),
    });
    expect(books.sandbox.requests[0]?.query).toEqual({ _page: '1' });
  });

  test('starts again with a new watermark if no checkpoint was written yet', async () => {
    const books = setUpSync();
    addAccounts(books, 40);
    for await (const _ of changes(books.client.accounts, books.run)) break;
    books.sandbox.clock.advance(minutes(60));
    const report = await collect(changes(books.client.accounts, books.run));
    expect(report).toMatchObject({ resumed: false, watermark: new Date('2026-01-05T09:00:00Z') });
  });

  test('reads everything again in mode full, even after an interrupted incremental run', async () => {
    const books = setUpSync();
    addAccounts(books, 40);
    await collect(changes(books.client.accounts, books.run));
    for (const id of books.sandbox.store.accounts.ids())
      books.sandbox.store.accounts.update(id, { name: 'new' });
    let batches = 0;
    for await (const _ of changes(books.client.accounts, books.run)) if (++batches === 2) break;
    expect(stateIn(books.states)).toHaveProperty('run.since');

    const report = await collect(changes(books.client.accounts, { ...books.run, mode: 'full' }));
    expect(report).toMatchObject({ mode: 'full', resumed: false, records: 40 });
  });

  test('ends an interrupted full run before it is incremental again', async () => {
    const books = setUpSync();
    addAccounts(books, 40);
    let batches = 0;
    for await (const _ of changes(books.client.accounts, books.run)) if (++batches === 3) break;
    const report = await collect(changes(books.client.accounts, books.run));
    expect(report).toMatchObject({ mode: 'full', resumed: true, lastFullRead: new Date(START) });
  });

  test('reads by page if ids are not integers, and says so', async () => {
    const books = setUpSync({ ids: { form: 'uuid' } });
    addAccounts(books, 25);
    const copy = new Copy();
    const report = await collect(changes(books.client.accounts, books.run), copy.take);
    expect(report.pagination).toBe('page');
    expect(copy.records.size).toBe(25);
    expect(books.sandbox.count()).toBe(4);
  });

  test.each(['keyset', 'page'] as const)(
    'marks the batch of a resumed run that starts again: by %s',
    async (pagination) => {
      const books = setUpSync();
      addAccounts(books, 40);
      const run = { ...books.run, pagination };
      const seen: boolean[] = [];
      for await (const batch of changes(books.client.accounts, run))
        if (seen.push(batch.restarted) === 3) break;
      const resumed: boolean[] = [];
      await collect(changes(books.client.accounts, run), (batch) => resumed.push(batch.restarted));
      expect(seen).toEqual([false, false, false]);
      expect(resumed).toEqual([pagination === 'page', ...resumed.slice(1).map(() => false)]);
    },
  );

  test('marks the batch that delivers again what came before an id that is not an integer', async () => {
    const books = setUpSync();
    addAccounts(books, 40);
    books.sandbox.store.accounts.insert({ id: 'A-1', name: 'By hand' });
    const delivered: string[] = [];
    const marks: boolean[] = [];
    await collect(changes(books.client.accounts, books.run), ({ records, restarted }) => {
      if (restarted) delivered.length = 0;
      marks.push(restarted);
      delivered.push(...records.map(({ id }) => id));
    });
    expect(marks.filter((mark) => mark)).toHaveLength(1);
    expect(delivered.toSorted()).toEqual(books.sandbox.store.accounts.ids().toSorted());
  });

  test('looks one page ahead while the consumer works', async () => {
    const books = setUpSync();
    addAccounts(books, 40);
    for await (const _ of changes(books.client.accounts, { ...books.run, pagination: 'page' })) {
      await new Promise((resolve) => setTimeout(resolve));
      expect(books.sandbox.count()).toBe(2);
      break;
    }
  });

  test('keeps parts of a collection apart by their prefixes', async () => {
    const books = setUpSync();
    addAccounts(books, 40);
    const part = { ...books.run, prefix: 'low', id: { lte: '20' } };
    const copy = new Copy();
    await collect(changes(books.client.accounts, part), copy.take);
    expect(copy.records.size).toBe(20);
  });

  test('counts records that are older than the bound, and delivers them', async () => {
    const books = setUpSync({ timestampsEverywhere: true });
    await collect(changes(books.client.accounts, books.run));
    books.sandbox.faults.next({
      kind: 'rewrite',
      body: () =>
        JSON.stringify([
          { id: '7', updatedAt: '2020-01-01T00:00:00Z' },
          { id: '8', updatedAt: START },
        ]),
    });
    const report = await collect(changes(books.client.accounts, { ...books.run, pagination: 'page' }));
    expect(report).toMatchObject({ records: 2, staleRecords: 1 });
  });

  test('delivers invalid rows beside the records, and counts them', async () => {
    const books = setUpSync();
    const client = books.client.withOptions({ validation: 'report' });
    books.sandbox.faults.next({ kind: 'rewrite', body: () => JSON.stringify([{ id: '7' }, { id: 8 }]) });
    const copy = new Copy();
    const report = await collect(changes(client.accounts, { ...books.run, pagination: 'page' }), copy.take);
    expect(report).toMatchObject({ records: 1, invalid: 1 });
    expect(copy.batches[0]?.invalid).toHaveLength(1);
  });

  test('stops on the signal with its own reason, and commits what was finished', async () => {
    const books = setUpSync();
    addAccounts(books, 40);
    const controller = new AbortController();
    const reason = new Error('enough');
    let first: string | undefined;
    const run = async () => {
      for await (const batch of changes(books.client.accounts, { ...books.run, signal: controller.signal })) {
        first ??= batch.checkpoint;
        controller.abort(reason);
      }
    };
    await expect(run()).rejects.toBe(reason);
    expect(books.states.get('accounting-data-sdk:acme:accounts')).toBe(first);
  });

  test('reports its checkpoints and its progress', async () => {
    const books = setUpSync();
    addAccounts(books, 25);
    const events: unknown[] = [];
    const progress: unknown[] = [];
    const batches: unknown[] = [];
    await collect(
      changes(books.client.accounts, {
        ...books.run,
        pagination: 'page',
        onCheckpoint: (event) => {
          expect(books.states.has(event.key)).toBe(true);
          events.push(event);
        },
        onProgress: (event) => progress.push(event),
      }),
      (batch) => batches.push(batch),
    );
    const key = 'accounting-data-sdk:acme:accounts';
    expect(events).toEqual(
      [false, false, false, true].map((last) => ({ collection: 'accounts', key, last })),
    );
    expect(progress).toMatchObject([
      { collection: 'accounts', records: 10, pages: 1, pagination: 'page', waiting: false, last: false },
      { records: 20, pages: 2 },
      { records: 25, pages: 3 },
      { records: 25, pages: 3, last: true },
    ]);
  });

  test('says that it waits, and until when', async () => {
    const books = setUpSync();
    books.sandbox.faults.next({ kind: 'status', status: 503 });
    const waits: unknown[] = [];
    await collect(
      changes(books.client.accounts, {
        ...books.run,
        onProgress: (progress) => progress.waiting && waits.push(progress),
      }),
    );
    expect(waits).toEqual([
      expect.objectContaining({ collection: 'accounts', waitingUntil: expect.any(Date), last: false }),
    ]);
  });
});

describe('changes rejects', () => {
  const books = setUpSync();
  test.each([
    ['store', { store: {} }],
    ['tenant', { tenant: 'a company' }],
    ['prefix', { prefix: '' }],
    // Only undefined means the default.
    ['prefix', { prefix: null as unknown as string }],
    ['mode', { mode: 'some' }],
    ['pagination', { pagination: 'certified' as 'keyset' }],
    ['lookbackMs', { lookbackMs: -1 }],
    ['lookbackMs', { lookbackMs: Number.NaN }],
    ['timeoutMs', { timeoutMs: 0 }],
    ['signal', { signal: {} }],
    ['headers.x-auth-token', { headers: { 'X-Auth-Token': 'k' } }],
    ['updatedSince', { updatedSince: 'yesterday' }],
    ['updatedSince', { updatedSince: '2026-02-30' }],
    ['updatedSince', { updatedSince: '2026-01-05T08:00:00' }],
    ['updatedSince', { updatedSince: new Date(Number.NaN) }],
    ['updatedSince', { updatedSince: new Date('+010000-01-01T00:00:00Z') }],
    ['updatedSince', { updatedSince: new Date('-000001-12-31T00:00:00Z') }],
    ['updatedSince', { updatedSince: 2026 }],
    ['name', { name: 'no:colon' }],
  ])('a wrong %s at once', (argument, wrong) => {
    expect(() => changes(books.client.accounts, { ...books.run, ...(wrong as object) })).toThrow(
      expect.objectContaining({ code: 'invalid_input', argument }),
    );
    expect(books.sandbox.count()).toBe(0);
  });

  test('what is not a collection, and one without a name', () => {
    expect(() => changes({} as never, books.run)).toThrow(
      expect.objectContaining({ argument: 'collection' }),
    );
    const nameless = { list: () => books.client.accounts.list() };
    expect(() => changes(nameless, books.run)).toThrow(expect.objectContaining({ argument: 'name' }));
    expect(() => changes(nameless, { ...books.run, name: 'accounts' })).not.toThrow();
  });
});
