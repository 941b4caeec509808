import {
  type ChangesOptions,
  changes,
  createClient,
  type Page,
  type Paginator,
  type SyncSource,
} from 'accounting-data-sdk';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { caught } from '../../support/caught.ts';
import { settle } from '../../support/scripted-server.ts';
import { addAccounts, collect, START, setUpSync, stateIn } from './set-up.ts';

afterEach(() => vi.useRealTimers());

const minutes = (n: number) => n * 60_000;

describe('a state belongs to', () => {
  const same: readonly (readonly [string, ChangesOptions['id'], ChangesOptions['id']])[] = [
    ['a bound that is undefined', { lte: '20' }, { lte: '20', gt: undefined }],
    ['the order of bounds', { gt: '1', lte: '20' }, { lte: '20', gt: '1' }],
    ['how a range is written', { between: ['1', '20'] }, { between: '1..20' }],
  ];

  test.each(same)('its bounds, whatever %s', async (_, first, second) => {
    const books = setUpSync();
    await collect(changes(books.client.accounts, { ...books.run, id: first }));
    const report = await collect(changes(books.client.accounts, { ...books.run, id: second }));
    expect(report.mode).toBe('incremental');
  });

  test.each([
    ['another bound', { lte: '20' }, { lt: '20' }],
    ['another range', { between: ['1', '20'] }, { between: ['1', '21'] }],
    ['none', { lte: '20' }, undefined],
  ] as const)('its bounds, and not to %s', async (_, first, second) => {
    const books = setUpSync();
    await collect(changes(books.client.accounts, { ...books.run, id: first }));
    const other = collect(changes(books.client.accounts, { ...books.run, id: second }));
    await expect(other).rejects.toMatchObject({ code: 'checkpoint' });
  });

  test('its collection, which a source may name without a segment or an address', async () => {
    const books = setUpSync();
    const list = books.client.accounts.list.bind(books.client.accounts);
    await collect(changes({ list }, { ...books.run, name: 'accounts' }));
    expect((await collect(changes({ list }, { ...books.run, name: 'accounts' }))).mode).toBe('incremental');
    const elsewhere = { list, baseUrl: 'https://elsewhere.example.com' };
    const foreign = collect(changes(elsewhere, { ...books.run, name: 'accounts' }));
    await expect(foreign).rejects.toMatchObject({ code: 'checkpoint' });
    books.states.set('accounting-data-sdk:acme:boms', books.states.values().next().value ?? '');
    const renamed = collect(changes({ list }, { ...books.run, name: 'boms' }));
    await expect(renamed).rejects.toMatchObject({ code: 'checkpoint' });
  });
});

describe('the clock of the service', () => {
  test('that stands still has not gone back', async () => {
    const books = setUpSync();
    await collect(changes(books.client.accounts, books.run));
    const report = await collect(changes(books.client.accounts, books.run));
    expect(report).toMatchObject({ clockWentBack: false, mode: 'incremental' });
  });

  test('does not count as set back if the Date header is hidden and the local clock less a margin is used', async () => {
    vi.useFakeTimers({ now: Date.parse(START) + minutes(1), toFake: ['Date'] });
    const books = setUpSync();
    await collect(changes(books.client.accounts, books.run));
    books.sandbox.faults.next({ kind: 'rewrite', headers: { Date: null } });
    const report = await collect(changes(books.client.accounts, books.run));
    expect(report).toMatchObject({ clockWentBack: false, watermark: new Date('2026-01-05T07:56:00Z') });
  });

  test('that went back does not start a full read again', async () => {
    const books = setUpSync();
    await collect(changes(books.client.accounts, books.run));
    books.sandbox.clock.advance(-minutes(60));
    books.sandbox.clearLogs();
    const report = await collect(changes(books.client.accounts, { ...books.run, mode: 'full' }));
    expect(report).toMatchObject({ clockWentBack: true, mode: 'full' });
    // The first page, and the one behind it.
    expect(books.sandbox.count()).toBe(2);
  });
});

describe('a run', () => {
  test('aborts the page requested ahead when its consumer leaves', async () => {
    const books = setUpSync();
    addAccounts(books, 40);
    const aborted: unknown[] = [];
    const client = createClient({
      ...books.sandbox.clientOptions,
      fetch: async (url, init) => {
        if (books.sandbox.count() === 0) return await books.sandbox.fetch(url, init);
        return await new Promise((_, reject) => {
          init?.signal?.addEventListener('abort', () => {
            aborted.push(url);
            reject(init.signal?.reason);
          });
        });
      },
    });
    for await (const _ of changes(client.accounts, { ...books.run, pagination: 'page' })) {
      await settle();
      break;
    }
    expect(aborted).toHaveLength(1);
  });

  test('sends and reads nothing if its signal has already fired', async () => {
    const books = setUpSync();
    const reads: string[] = [];
    const store = { get: (key: string) => void reads.push(key) };
    const run = changes(books.client.accounts, {
      ...books.run,
      store,
      signal: AbortSignal.abort('enough'),
    });
    expect(await caught(collect(run))).toBe('enough');
    expect(books.sandbox.count()).toBe(0);
    expect(reads).toEqual([]);
  });

  test('passes a page without rows over, and advances nothing without any response', async () => {
    const books = setUpSync();
    const page = (ids: readonly string[]): Page<{ id: string }> => ({
      rows: ids.map((id) => ({ id })),
      records: ids.map((id) => ({ id })),
      invalid: [],
      rateLimit: undefined,
      serverTime: undefined,
      first: { serverTime: new Date(START), requestedAt: new Date(0), durationMs: 0 },
      pagination: 'custom',
      complete: undefined,
      repeated: 0,
      restarted: false,
      ids,
      requestedAt: new Date(0),
      durationMs: 0,
      hint: undefined,
      resumeToken: undefined,
    });
    const source = (responses: readonly Page<{ id: string }>[]): SyncSource<{ id: string }> => ({
      list: () => {
        const pages = async function* () {
          yield* responses;
        };
        return { pages } as unknown as Paginator<{ id: string }>;
      },
    });
    const options = { ...books.run, name: 'accounts' };
    const none = await collect(changes(source([]), options));
    expect(none).toMatchObject({ status: 'done', watermark: undefined, records: 0 });
    expect(stateIn(books.states)).not.toHaveProperty('watermark');

    const sizes: number[] = [];
    const some = changes(source([page(['1']), page([]), page(['2', '3'])]), options);
    const report = await collect(some, ({ records }) => sizes.push(records.length));
    expect(sizes).toEqual([1, 2, 0]);
    expect(report).toMatchObject({ records: 3, pages: 2, pagination: 'custom', watermark: new Date(START) });

    const later = await collect(changes(source([]), options));
    expect(later).toMatchObject({ status: 'done', watermark: new Date(START) });
  });

  test('delivers a page in which every row is invalid', async () => {
    const books = setUpSync();
    const client = books.client.withOptions({ validation: 'report' });
    books.sandbox.faults.next({ kind: 'rewrite', body: () => JSON.stringify([{ id: 7 }, { id: 8 }]) });
    const counts: number[][] = [];
    const run = changes(client.accounts, { ...books.run, pagination: 'page' });
    await collect(run, ({ records, invalid }) => counts.push([records.length, invalid.length]));
    expect(counts).toEqual([
      [0, 2],
      [0, 0],
    ]);
  });

  test('passes on what the run before found out, and with the bounds of the caller', async () => {
    const books = setUpSync();
    addAccounts(books, 40);
    const seen: unknown[] = [];
    const { accounts } = books.client;
    const source: SyncSource<{ id: string }> = {
      list: (query, options) => {
        seen.push([query, options.hint?.pageSize, options.resumeFrom, options.prefetch]);
        return accounts.list(query, options);
      },
    };
    const options = { ...books.run, name: 'accounts', id: { lte: '30' } };
    await collect(changes(source, options));
    await collect(changes(source, options));
    expect(seen).toEqual([
      [{ id: { lte: '30' } }, undefined, undefined, 0],
      [{ updatedSince: '2026-01-04T19:58:00-12:00', id: { lte: '30' } }, 10, undefined, 0],
    ]);
  });
});
