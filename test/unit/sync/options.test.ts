import { changes } from 'accounting-data-sdk';
import { describe, expect, test } from 'vitest';
import { type RunOptions, resolveListOptions, resolveRunOptions } from '../../../src/sync/options.ts';
import { OutageClock } from '../../../src/sync/outage-clock.ts';
import { type ReconcileOptions, resolveReconcileOptions } from '../../../src/sync/reconcile-options.ts';
import { nameOf } from '../../../src/sync/source.ts';
import { memoryStore } from '../../../src/sync/store.ts';
import { collect, openBooks } from '../../client/sync/books.ts';

const store = memoryStore();
const list = {
  pagination: 'keyset',
  prefetch: 0,
  afterLastPage: undefined,
  timeoutMs: undefined,
  deadlineMs: Number.POSITIVE_INFINITY,
  maxWaitMs: Number.POSITIVE_INFINITY,
  retry: undefined,
  headers: { 'cache-control': 'no-cache' },
};

describe('a run', () => {
  test('takes the time that it takes, and asks for no cached page, unless told otherwise', () => {
    expect(resolveRunOptions({ store, tenant: 'acme' })).toEqual({
      store,
      tenant: 'acme',
      prefix: 'accounting-data-sdk',
      mode: 'incremental',
      lookbackMs: 120_000,
      updatedSince: undefined,
      serviceTimeZone: undefined,
      maxOutageMs: 120_000,
      signal: undefined,
      onProgress: undefined,
      list,
    });
  });

  test('does as it is told', () => {
    const { signal } = new AbortController();
    const onProgress = () => undefined;
    const call = { timeoutMs: 1, deadlineMs: 2, maxWaitMs: 3, retry: { maxAttempts: 1 } };
    const headers = { 'Cache-Control': 'max-age=60', 'X-Trace': '1' };
    const run = {
      store,
      tenant: 'acme',
      prefix: 'mine',
      mode: 'full',
      lookbackMs: 0,
      serviceTimeZone: 'Asia/Kolkata',
      maxOutageMs: 4,
      signal,
      onProgress,
    } as const;
    const more = {
      updatedSince: '2026-01-05',
      pagination: 'page',
      afterLastPage: 'not_found',
      headers,
    } as const;
    expect(resolveRunOptions({ ...run, ...call, ...more })).toEqual({
      ...run,
      updatedSince: '2026-01-05T00:00:00Z',
      list: {
        ...call,
        pagination: 'page',
        prefetch: 0,
        afterLastPage: 'not_found',
        headers: { 'cache-control': 'max-age=60', 'x-trace': '1' },
      },
    });
  });

  test('takes a retry that names some of its settings: it was a TypeError before anything was sent', async () => {
    const books = openBooks();
    books.sandbox.faults.add({ kind: 'status', status: 503 }, { times: 9 });
    const failing = collect(
      changes(books.client.accounts, { ...books.run, maxOutageMs: 0, retry: { maxAttempts: 2 } }),
    );
    await expect(failing).rejects.toMatchObject({ status: 503, attempts: 2 });
    expect(books.sandbox.count()).toBe(2);
  });

  test('takes a cursor of the caller', () => {
    const pagination = { first: {}, next: () => undefined };
    expect(resolveListOptions({ pagination }).pagination).toBe(pagination);
  });

  test.each([
    [{ store: undefined }, 'store: must have a method get'],
    [{ store: null }, 'store: must have a method get'],
    [{ store: { get: 'no' } }, 'store: must have a method get'],
    [{ mode: 'all' }, "mode: must be 'incremental' or 'full'"],
    [{ mode: null }, "mode: must be 'incremental' or 'full'"],
    [{ lookbackMs: '5' }, 'lookbackMs: must be a number of milliseconds, at least 0'],
    [{ lookbackMs: -1 }, 'lookbackMs: must be a number of milliseconds, at least 0'],
    [{ lookbackMs: Number.POSITIVE_INFINITY }, 'lookbackMs: must be a number of milliseconds, at least 0'],
    [{ pagination: null }, "pagination: must be 'keyset', 'page' or a cursor { first, next }"],
    [{ pagination: 'custom' }, "pagination: must be 'keyset', 'page' or a cursor { first, next }"],
    [{ pagination: { next: 1 } }, "pagination: must be 'keyset', 'page' or a cursor { first, next }"],
    [{ retry: { maxAttempts: 0 } }, 'retry.maxAttempts: must be a whole number of at least 1'],
    [{ maxWaitMs: -1 }, 'maxWaitMs: must be a number of milliseconds, at least 0'],
  ])('refuses %j in words', (wrong, message) => {
    const options = { store, tenant: 'acme', ...wrong } as unknown as RunOptions;
    expect(() => resolveRunOptions(options)).toThrow(expect.objectContaining({ message: `${message}.` }));
  });
});

describe('a reconcile', () => {
  const options = { localIds: () => [], onDelete: () => undefined };

  test('asks for two candidates at a time and hands 500 over, unless told otherwise', () => {
    const resolved = resolveReconcileOptions(options);
    expect(resolved).toEqual({
      ...options,
      onRepair: expect.any(Function),
      maxCandidates: undefined,
      batchSize: 500,
      concurrency: 2,
      signal: undefined,
      outage: expect.any(OutageClock),
      list,
    });
    expect(resolved.onRepair([])).toBeUndefined();
  });

  test('does as it is told', () => {
    const { signal } = new AbortController();
    const told = { onRepair: () => 1, maxCandidates: 0, batchSize: 1, concurrency: 1, signal };
    expect(resolveReconcileOptions({ ...options, ...told })).toMatchObject(told);
  });

  test.each([
    [{ localIds: ['1'] }, 'localIds: must be a function'],
    [{ onDelete: undefined }, 'onDelete: must be a function'],
    [{ onRepair: 'yes' }, 'onRepair: must be a function'],
    [{ maxCandidates: -1 }, 'maxCandidates: must be a number of at least 0'],
    [{ maxCandidates: '5' }, 'maxCandidates: must be a number of at least 0'],
    [{ maxCandidates: Number.NaN }, 'maxCandidates: must be a number of at least 0'],
    [{ batchSize: 0 }, 'batchSize: must be a whole number of at least 1'],
    [{ batchSize: 1.5 }, 'batchSize: must be a whole number of at least 1'],
    [{ concurrency: '2' }, 'concurrency: must be a whole number of at least 1'],
  ])('refuses %j in words', (wrong, message) => {
    const wronged = { ...options, ...wrong } as unknown as ReconcileOptions<{ id: string }>;
    expect(() => resolveReconcileOptions(wronged)).toThrow(
      expect.objectContaining({ message: `${message}.` }),
    );
  });
});

describe('a collection', () => {
  const listed = { list: () => undefined as never };

  test('is called as it is told, or after its segment', () => {
    expect(nameOf({ ...listed, segment: 'bom-lines' }, undefined)).toBe('bomLines');
    expect(nameOf({ ...listed, segment: 'bom-lines' }, 'lines')).toBe('lines');
    expect(nameOf(listed, 'mine')).toBe('mine');
  });

  test.each([
    [undefined, 'collection: must be a collection of a client, such as client.accounts'],
    [null, 'collection: must be a collection of a client, such as client.accounts'],
    [{ list: [] }, 'collection: must be a collection of a client, such as client.accounts'],
    [listed, 'name: is missing: this collection has no segment'],
  ])('is not %j', (source, message) => {
    expect(() => nameOf(source as never, undefined)).toThrow(
      expect.objectContaining({ message: `${message}.` }),
    );
  });
});
