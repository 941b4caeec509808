import { changes, FilterIgnoredError, type Logger, memoryStore, sync } from 'accounting-data-sdk';
import { expect, test, vi } from 'vitest';
import { caught } from '../support/caught.ts';
import { jsonResponse, scriptedClient, scriptedFetch } from '../support/scripted-fetch.ts';

const SINCE = '2026-11-28';
const [OLD, WITHIN_ZONES, NEW] = ['2026-01-05T00:00:00Z', '2026-11-26T22:30:00Z', '2026-11-28T09:00:00Z'];

/** A client of a service that ignores `updatedSince` and lists these rows in pages of 30. */
function serving(updatedAt: readonly unknown[]) {
  const rows = updatedAt.map((time, n) => ({ id: String(n + 1), updatedAt: time }));
  const warn = vi.fn();
  const fetch = scriptedFetch(({ url: { searchParams } }) => {
    const bound = (name: string, other: number) => Number(searchParams.get(`id[${name}]`) ?? other);
    const inRange = rows.filter(
      ({ id }) =>
        +id > bound('gt', 0) && +id >= bound('gte', 0) && +id <= bound('lte', 1e9) && +id < bound('lt', 1e9),
    );
    const page = Number(searchParams.get('_page') ?? 1);
    return jsonResponse(inRange.slice((page - 1) * 30, page * 30));
  });
  const logger: Logger = { debug: () => {}, info: () => {}, warn };
  return { client: scriptedClient(fetch, { logger }), warn };
}

const times = (...groups: readonly (readonly [number, unknown])[]) =>
  groups.flatMap(([count, time]) => Array.from({ length: count }, () => time));

test.each([
  ['many pages', times([300, OLD])],
  ['two pages', times([60, OLD], [1, NEW])],
  ['one page', times([7, OLD])],
  ['one record', times([1, OLD])],
])('a list whose rows are all older than updatedSince fails before it delivers one: %s', async (_, rows) => {
  for (const pagination of ['keyset', 'page'] as const) {
    const { client } = serving(rows);
    const delivered: string[] = [];
    const reading = async () => {
      for await (const { id } of client.accounts.list({ updatedSince: SINCE }, { pagination }))
        delivered.push(id);
    };
    const error = await caught(reading());
    expect(error).toBeInstanceOf(FilterIgnoredError);
    expect(String(error)).toContain('more than a day older than updatedSince');
    expect(delivered).toEqual([]);
  }
});

test.each([
  ['some are older', times([10, OLD], [30, NEW]), 1],
  ['some are older on the second page', times([30, NEW], [30, OLD]), 1],
  ['the second page is newer', times([30, OLD], [30, NEW]), 1],
  ['they are as old as time zones explain', times([60, WITHIN_ZONES]), 0],
  ['they show no time', times([60, undefined]), 0],
  ['they show another form of it', times([60, 'yesterday']), 0],
])('a list with updatedSince delivers all rows if %s', async (_, rows, warnings) => {
  const { client, warn } = serving(rows);
  const list = client.accounts.list({ updatedSince: SINCE }, { pagination: 'page' });
  expect(await list.toArray({ limit: 999 })).toHaveLength(rows.length);
  expect(warn.mock.calls.filter(([text]) => String(text).includes('older than updatedSince'))).toHaveLength(
    warnings,
  );
});

test('first() and a list without updatedSince are not judged', async () => {
  const { client } = serving(times([40, OLD]));
  expect(await client.accounts.list({ updatedSince: SINCE }).first()).toMatchObject({ id: '1' });
  expect(await client.accounts.list().toArray({ limit: 99 })).toHaveLength(40);
});

test('sync and changes read on where updatedSince is ignored, and warn once', async () => {
  const { client, warn } = serving(times([70, OLD]));
  const ofSync = {
    tenant: 'acme',
    store: memoryStore(),
    collections: ['accounts'],
    onBatch: () => {},
  } as const;
  await sync(client, ofSync);
  expect(warn).not.toHaveBeenCalled();
  expect(await sync(client, ofSync)).toMatchObject({ records: 70 });
  expect(warn).toHaveBeenCalledOnce();
  const store = memoryStore();
  for (let run = 0; run < 2; run += 1) {
    let records = 0;
    for await (const batch of changes(client.accounts, { tenant: 'acme', store }))
      records += batch.records.length;
    expect(records).toBe(70);
  }
  expect(warn).toHaveBeenCalledTimes(2);
});
