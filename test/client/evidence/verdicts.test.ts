import { memoryStore, type SyncReport, sync, verify } from 'accounting-data-sdk';
import { createSandbox, type SandboxOptions } from 'accounting-data-sdk/testing';
import { describe, expect, test } from 'vitest';
import { openSqlite } from '../targets/engines.ts';
import { reportOf, run, statusOf } from '../targets/set-up.ts';
import { type Hook, type Row, row, rows, serviceOf } from './service.ts';

const tenant = 'acme';

/** A copy of the accounts of a service that lists by `hook` from the second run on, and what then can be done with it. */
async function copyOf(data: Row[], hook: Hook, options: object = {}) {
  let isOdd = false;
  const service = serviceOf({ data: { accounts: data }, hook: (call) => (isOdd ? hook(call) : undefined) });
  const [client, copy] = [service.client(options), openSqlite()];
  const into = { tenant, target: copy.target, collections: ['accounts'] as const };
  await sync(client, into);
  isOdd = true;
  return {
    client,
    into,
    service,
    check: async (more: object = {}) => {
      const { equal, collections } = await verify(client, { ...into, ...more });
      return { equal, ...collections[0] };
    },
    full: async () => {
      const report = await sync(client, { ...into, mode: 'full', maxCandidates: Number.POSITIVE_INFINITY });
      return reportOf(report, 'accounts');
    },
    changes: async () => reportOf(await sync(client, into), 'accounts'),
    status: async () => (await statusOf(copy)).complete,
    ids: async () =>
      (await copy.query(`SELECT id FROM ${copy.tables}record`)).map(({ id }) => String(id)).sort(),
  };
}

const UUID = (n: number) => `${String(n).padStart(8, '0')}-0000-4000-8000-000000000000`;

/** Records that are not listed, but found by their ids. */
const hides =
  (isHidden: (id: number) => boolean): Hook =>
  ({ id, rows, query }) => {
    if (id !== undefined) return undefined;
    const page = Number(query.get('_page') ?? 1);
    return rows.filter((one) => !isHidden(Number(one.id))).slice((page - 1) * 30, page * 30);
  };

describe('a list that hides records', () => {
  test.each([
    ['above 40', (id: number) => id > 40, 20, 19],
    ['at its begin', (id: number) => id <= 3, 3, 3],
    ['here and there', (id: number) => id % 10 === 0, 6, 5],
    ['but one', (id: number) => id !== 7, 59, 58],
  ])(
    '%s is likely complete at best: for verify, for a full sync, and for runs after it',
    async (_, isHidden, hidden, found) => {
      // The copy lacks the last record.
      const data = rows(1, 60);
      const last = data.pop() as Row;
      const { check, full, changes, status } = await copyOf(data, hides(isHidden));
      data.push(last);
      const isLastHidden = isHidden(60);
      expect(hidden - found).toBe(isLastHidden ? 1 : 0);
      const all = { maxCandidates: 60 };
      expect(await check(all)).toMatchObject({
        equal: isLastHidden ? 'likely' : false,
        complete: 'likely',
        evidence: { facts: expect.arrayContaining(['unlisted_record']) },
        missing: isLastHidden ? [] : ['60'],
        unconfirmed: [],
      });
      const report = await full();
      expect(report).toMatchObject({ complete: 'likely', deletions: { repaired: found, deleted: 0 } });
      expect(await status()).toBe('likely');
      expect(await changes()).toMatchObject({ complete: 'likely' });
      expect(await status()).toBe('likely');
    },
  );

  test('is likely too if its records are looked up in several runs that are paused', async () => {
    const { client, into, status, ids } = await copyOf(
      rows(1, 300),
      hides((id) => id > 150),
    );
    const options = { ...into, maxCandidates: Number.POSITIVE_INFINITY, stopAfter: { requests: 30 } };
    let runs = 0;
    for (let paused = true; paused; runs += 1) {
      const report = await sync(client, { ...options, mode: runs === 0 ? 'full' : 'incremental' });
      ({ paused } = report);
      const [one] = report.collections;
      if (!paused) expect(one).toMatchObject({ status: 'done', complete: 'likely' });
    }
    expect(runs).toBeGreaterThan(1);
    expect([await status(), (await ids()).length]).toEqual(['likely', 300]);
  });

  test('is certain again after a full sync to which it shows everything', async () => {
    let isHiding = true;
    const { full, changes, status } = await copyOf(rows(1, 60), (call) =>
      isHiding ? hides((id) => id > 55)(call) : undefined,
    );
    expect(await full()).toMatchObject({ complete: 'likely' });
    isHiding = false;
    expect(await changes()).toMatchObject({ complete: 'likely' });
    expect(await full()).toMatchObject({ complete: 'certain', evidence: { facts: ['whole_intervals'] } });
    expect(await status()).toBe('certain');
  });
});

describe('verify', () => {
  test('requests records that are not listed up to maxCandidates, some at a time, and leaves the others unconfirmed', async () => {
    const { check, service } = await copyOf(
      rows(1, 310),
      hides((id) => id > 10),
    );
    const lookUps = () => service.log.filter((line) => /accounts\/\d/.test(line)).length;
    expect(await check()).toMatchObject({ equal: 'likely', complete: 'likely', extra: [], missing: [] });
    expect(lookUps()).toBe(50);
    const { unconfirmed } = await check({ maxCandidates: 20 });
    expect(lookUps()).toBe(70);
    expect(unconfirmed).toHaveLength(280);
    expect(String(unconfirmed?.[0]?.error)).toContain(
      '300 records of the copy were not listed, and maxCandidates is 20',
    );
    expect(await check({ maxCandidates: Number.POSITIVE_INFINITY })).toMatchObject({ unconfirmed: [] });
  });

  test.each([
    ['whose records all exist', 10, undefined, 'likely', 0],
    ['whose records do not exist', 10, 'gone', false, 10],
    ['that has no record either', 0, undefined, true, 0],
  ] as const)('of a list without records and a copy %s', async (_, count, gone, equal, extra) => {
    const data = rows(1, count);
    const { check } = await copyOf(data, ({ id }) => (id === undefined ? [] : undefined));
    if (gone) data.splice(0);
    const found = await check();
    expect(found).toMatchObject({ equal, complete: count > 0 ? 'likely' : 'certain' });
    expect(found.extra).toHaveLength(extra);
  });
});

describe('sync_status.complete', () => {
  const HIDDEN = { hiddenRecords: 0.2, records: { accounts: 120, products: 0 } } as const;

  test.each<[string, SandboxOptions]>([
    ['by date, newest first', { ...HIDDEN, order: 'updated-desc' }],
    ['in no order', { ...HIDDEN, order: 'none' }],
    ['by page, because ids are UUIDs', { records: { accounts: 120, products: 0 }, ids: { form: 'uuid' } }],
    [
      'by date, of one page',
      { hiddenRecords: 0.2, records: { accounts: 20, products: 0 }, order: 'updated-desc' },
    ],
  ])('of a list %s stays likely in runs without changes', async (_, options) => {
    const [sandbox, copy] = [createSandbox(options), openSqlite()];
    for (const mode of ['incremental', 'incremental', 'incremental', 'full', 'incremental'] as const) {
      const report = reportOf(
        await run(sandbox, copy, { mode, maxCandidates: Number.POSITIVE_INFINITY }),
        'accounts',
      );
      expect(report, mode).toMatchObject({ complete: 'likely' });
      expect((await statusOf(copy)).complete, mode).toBe('likely');
    }
  });

  test('weakens with what an incremental run meets, also if that run is resumed', async () => {
    const data = rows(1, 90, () => ({ updatedAt: '2099-01-01T00:00:00Z' }));
    let isShuffled = true;
    const { changes, full, status, client, into } = await copyOf(data, ({ id, rows, query }) => {
      if (id !== undefined || !isShuffled) return undefined;
      const page = Number(query.get('_page') ?? 1);
      return rows
        .toSorted((a, b) => ((Number(a.id) * 7) % 91) - ((Number(b.id) * 7) % 91))
        .slice((page - 1) * 30, page * 30);
    });
    expect(await status()).toBe('certain');
    const paused = await sync(client, { ...into, stopAfter: { requests: 3 } });
    expect(paused).toMatchObject({ paused: true, complete: 'likely' });
    expect(await status()).toBe('certain');
    isShuffled = false;
    expect(await changes()).toMatchObject({ status: 'done', resumed: true, complete: 'likely' });
    data.splice(0, 90, ...rows(1, 90));
    expect(await changes()).toMatchObject({ records: 0, complete: 'likely' });
    expect(await status()).toBe('likely');
    expect(await full()).toMatchObject({ complete: 'certain' });
    expect(await status()).toBe('certain');
  });
});

describe('an id that changes its case', () => {
  /** The service lists ids in capitals, and finds them in any case. */
  const capitals: Hook = ({ id, rows, query, segment }) => {
    if (segment !== 'accounts') return undefined;
    const shown = rows.map((one) => ({ ...one, id: one.id.toUpperCase() }));
    if (id === undefined) return Number(query.get('_page') ?? 1) === 1 ? shown : [];
    const found = shown.find((one) => one.id === id.toUpperCase());
    return found && Response.json(found);
  };

  test.each([
    ['all of them', ['a-1', 'b-2', 'c-3', 'd-4']],
    ['one of them', ['a-1', 'B-2', 'C-3', 'D-4']],
    ['UUIDs', [1, 2, 3].map((n) => UUID(n).replace('4000', 'abcd'))],
  ])('is one record in the copy after a full sync: %s', async (_, ids) => {
    const {
      check,
      full,
      ids: kept,
    } = await copyOf(
      ids.map((id) => row(id)),
      capitals,
    );
    const old = ids.filter((id) => id !== id.toUpperCase());
    expect(await check()).toMatchObject({
      equal: false,
      extra: old,
      missing: old.map((id) => id.toUpperCase()),
      evidence: { facts: expect.not.arrayContaining(['unlisted_record']) },
    });
    expect(await full()).toMatchObject({
      deletions: { candidates: old.length, deleted: old.length, repaired: 0 },
    });
    expect(await kept()).toEqual(ids.map((id) => id.toUpperCase()).sort());
    expect((await check()).extra).toEqual([]);
  });

  test('and is not listed is written under its new id, and the read is likely', async () => {
    const isUnlisted = ({ id }: { id: string }) => id === 'A-1';
    const { full, ids } = await copyOf(
      ['a-1', 'b-2'].map((id) => row(id)),
      (call) => {
        const response = capitals(call);
        return Array.isArray(response) ? response.filter((one) => !isUnlisted(one)) : response;
      },
    );
    expect(await full()).toMatchObject({ complete: 'likely', deletions: { deleted: 2, repaired: 1 } });
    expect(await ids()).toEqual(['A-1', 'B-2']);
  });

  test('is one record for functions too', async () => {
    const service = serviceOf({ data: { accounts: ['a-1', 'b-2'].map((id) => row(id)) }, hook: capitals });
    const copy = new Map<string, object>([
      ['a-1', {}],
      ['b-2', {}],
    ]);
    const report: SyncReport = await sync(service.client(), {
      tenant,
      collections: ['accounts'],
      mode: 'full',
      store: memoryStore(),
      maxCandidates: Number.POSITIVE_INFINITY,
      localIds: () => copy.keys(),
      onBatch: ({ records }) => {
        for (const record of records) copy.set(record.id, record);
      },
      onDelete: (ids) => {
        for (const id of ids) copy.delete(id);
      },
    });
    expect([...copy.keys()]).toEqual(['A-1', 'B-2']);
    expect(reportOf(report, 'accounts')).toMatchObject({ deletions: { deleted: 2, repaired: 0 } });
    expect(report.collections[0]?.evidence.facts).not.toContain('unlisted_record');
  });
});
