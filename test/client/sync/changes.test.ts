import { type ChangesOptions, changes } from 'accounting-data-sdk';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { noResponse } from '../../support/scripted-fetch.ts';
import { settle } from '../../support/scripted-server.ts';
import {
  Copy,
  clientOf,
  HOUR_MS,
  KEY,
  leaveAtBatch,
  listing,
  readAccounts,
  START,
  setUpSync,
  stateIn,
  withAccounts,
} from './set-up.ts';

const oneHourLater = new Date('2026-01-05T09:00:00Z');

describe('what changes delivers', () => {
  test('is everything the first time, and a last batch that advances the watermark', async () => {
    const books = withAccounts(25);
    const copy = new Copy();
    const report = await readAccounts(books, {}, copy.take);

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
  });

  test('is then what changed since the watermark less the lookback, in one request if nothing did', async () => {
    const books = withAccounts(25);
    await readAccounts(books);
    books.sandbox.clock.advance(HOUR_MS);
    books.sandbox.clearLogs();
    expect(await readAccounts(books)).toMatchObject({
      mode: 'incremental',
      records: 0,
      watermark: oneHourLater,
    });
    expect(books.sandbox.requests.map(({ query }) => query)).toEqual([
      { _page: '1', updatedSince: '2026-01-04T19:58:00-12:00' },
    ]);
    expect(books.sandbox.requests[0]?.headers['cache-control']).toBe('no-cache');
    expect(stateIn(books.states)).toMatchObject({ watermark: '2026-01-05T09:00:00Z', full: START });
  });

  describe('once an hour begins an hour and two minutes before the last run that did so', () => {
    const minutes = (count: number) => count * (HOUR_MS / 60);
    /** The bounds of a run at each of these minutes after the first one, in minutes. */
    async function boundsAt(times: readonly number[], options?: Partial<ChangesOptions>) {
      const books = setUpSync();
      const bounds: number[] = [];
      for (const time of [0, ...times]) {
        books.sandbox.clock.set(Date.parse(START) + minutes(time));
        books.sandbox.clearLogs();
        await readAccounts(books, options);
        const sent = books.sandbox.requests.at(-1)?.query.updatedSince;
        if (sent !== undefined) bounds.push((Date.parse(sent) - Date.parse(START)) / minutes(1));
      }
      return bounds;
    }

    test.each([
      ['a loop', [20, 40, 59, 60, 80, 119, 120], [-2, 18, 38, -62, 58, 78, -2]],
      ['runs by the hour', [60, 120, 180], [-2, -62, 118]],
      ['after a pause', [10, 1440], [-2, -62]],
    ])('%s: after %j minutes at %j', async (_, times, bounds) => {
      expect(await boundsAt(times)).toEqual(bounds);
    });

    test('or at the lookback, if that is earlier', async () => {
      expect(await boundsAt([30, 60], { lookbackMs: minutes(120) })).toEqual([-120, -90]);
    });
  });

  test('is everything again in mode full, even after an interrupted incremental run', async () => {
    const books = withAccounts(40);
    const { accounts } = books.sandbox.store;
    await readAccounts(books);
    for (const id of accounts.ids()) accounts.update(id, { name: 'new' });
    await leaveAtBatch(2, books);
    expect(stateIn(books.states)).toHaveProperty('run.since');
    expect(await readAccounts(books, { mode: 'full' })).toMatchObject({
      mode: 'full',
      resumed: false,
      records: 40,
    });
  });

  test('is a part of a collection under a prefix of its own, within its bounds', async () => {
    const books = withAccounts(40);
    const part = { prefix: 'low', id: { lte: '20' } };
    expect(await readAccounts(books, part)).toMatchObject({ records: 20 });
    expect([...books.states.keys()]).toEqual(['low:acme:accounts']);
  });

  test('includes records that are older than updatedSince, as a service that ignores it sends them', async () => {
    const books = setUpSync({ timestampsEverywhere: true });
    await readAccounts(books);
    const rows = [
      { id: '7', updatedAt: '2020-01-01T00:00:00Z' },
      { id: '8', updatedAt: START },
    ];
    books.sandbox.faults.next({ kind: 'rewrite', body: () => JSON.stringify(rows) });
    expect(await readAccounts(listing(books, { pagination: 'page' }))).toMatchObject({ records: 2 });
  });

  test('includes the invalid rows of a page, and counts them', async () => {
    const books = setUpSync();
    const accounts = z.looseObject({ id: z.string(), name: z.string() });
    const client = clientOf(books.sandbox, {
      schemas: { accounts },
      validation: 'report',
      pagination: 'page',
    });
    const rows = [{ id: '7', name: 'Cash' }, { id: '8' }];
    books.sandbox.faults.next({ kind: 'rewrite', body: () => JSON.stringify(rows) });
    const copy = new Copy();
    const report = await readAccounts({ ...books, client }, {}, copy.take);
    expect(report).toMatchObject({ status: 'done', records: 1, invalid: 1 });
    expect(copy.batches.map((batch) => batch.invalid.length)).toEqual([1, 0]);
  });
});

describe('a batch of changes', () => {
  test('is committed when the next one is requested', async () => {
    const books = withAccounts(40);
    const seen: (string | undefined)[] = [];
    const checkpoints: string[] = [];
    await readAccounts(books, {}, ({ key, checkpoint }) => {
      seen.push(books.states.get(key));
      checkpoints.push(checkpoint);
    });
    expect(seen).toEqual([undefined, ...checkpoints.slice(0, -1)]);
    expect(books.states.get(KEY)).toBe(checkpoints.at(-1));
  });

  test('stays uncommitted if the loop over `changes` breaks or throws, and the next run starts again', async () => {
    const books = withAccounts(40);
    await leaveAtBatch(1, books);
    const throwing = readAccounts(books, {}, () => {
      throw new Error('the sink is full');
    });
    await expect(throwing).rejects.toThrow('the sink is full');
    expect(books.states.size).toBe(0);
    books.sandbox.clock.advance(HOUR_MS);
    expect(await readAccounts(books)).toMatchObject({ resumed: false, watermark: oneHourLater });
  });

  test('is followed by a request for the next page, which is aborted if the loop ends', async () => {
    const books = withAccounts(40);
    let aborted = 0;
    const client = clientOf(books.sandbox, {
      pagination: 'page',
      fetch: async (url, init) => {
        if (books.sandbox.count() === 0) return await books.sandbox.fetch(url, init);
        return await noResponse(init.signal, () => aborted++);
      },
    });
    for await (const _ of changes(client.accounts, books.run)) {
      await settle();
      break;
    }
    expect(aborted).toBe(1);
  });

  test('is reported with its checkpoint and the progress of the run', async () => {
    const books = withAccounts(25);
    const events: unknown[] = [];
    const progress: unknown[] = [];
    await readAccounts(listing(books, { pagination: 'page' }), {
      onCheckpoint: ({ collection, key, last }) => events.push([collection, books.states.has(key), last]),
      onProgress: (event) => progress.push(event),
    });
    expect(events).toEqual([false, false, false, true].map((last) => ['accounts', true, last]));
    expect(progress).toMatchObject([
      { collection: 'accounts', records: 10, pages: 1, pagination: 'page', waiting: false, last: false },
      { records: 20, pages: 2 },
      { records: 25, pages: 3 },
      { records: 25, pages: 3, last: true },
    ]);
  });
});

describe('a run that was interrupted', () => {
  test.each(['keyset', 'page'] as const)(
    'is ended in its mode and with its watermark, and by page starts again with a batch that says so: by %s',
    async (pagination) => {
      const books = listing(withAccounts(40), { pagination });
      const marks: boolean[] = [];
      await leaveAtBatch(3, books, {}, ({ restarted }) => marks.push(restarted));
      expect(marks).toEqual([false, false]);
      books.sandbox.clock.advance(HOUR_MS);
      books.sandbox.clearLogs();
      marks.length = 0;
      const report = await readAccounts(books, {}, ({ restarted }) => marks.push(restarted));
      const watermark = new Date(START);
      expect(report).toMatchObject({
        resumed: true,
        mode: 'full',
        pagination,
        watermark,
        lastFullRead: watermark,
      });
      expect(marks).toEqual([pagination === 'page', ...marks.slice(1).map(() => false)]);
      if (pagination === 'page') expect(books.sandbox.requests[0]?.query).toEqual({ _page: '1' });
      expect(report.records === 40).toBe(pagination === 'page');
    },
  );
});
