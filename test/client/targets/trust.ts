import {
  forget,
  isAccountingError,
  type OpenTarget,
  refresh,
  type SyncTarget,
  sync,
  verify,
} from 'accounting-data-sdk';
import { createSandbox, type Sandbox, type SandboxOptions } from 'accounting-data-sdk/testing';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { caught } from '../../support/caught.ts';
import { loggerOfWarnings } from '../../support/warnings.ts';
import { batch, type Copy, copied, openTarget, write } from './engines.ts';
import {
  clientOf,
  fromTemplate,
  refreshed,
  reportOf,
  run,
  statusOf,
  storedRow,
  upstream,
  utc,
  verified,
} from './set-up.ts';

/** Timestamps, and how a view shows them in UTC. */
const TIMESTAMPS: readonly (readonly [unknown, string | null])[] = [
  ['2026-01-31T12:00:00Z', '2026-01-31T12:00:00.000Z'],
  ['2026-01-31T12:00:00.5+02:00', '2026-01-31T10:00:00.500Z'],
  ['2024-02-29T23:59:59.123456-14:00', '2024-03-01T13:59:59.123Z'],
  ['2000-02-29T00:00:00Z', '2000-02-29T00:00:00.000Z'],
  ['1000-01-01T00:00:00Z', '1000-01-01T00:00:00.000Z'],
  ['2026-01-31T12:00:00+0000', '2026-01-31T12:00:00.000Z'],
  ['2026-01-31T12:00:00+0100', '2026-01-31T11:00:00.000Z'],
  ['2026-01-31T12:00:00-1230', '2026-02-01T00:30:00.000Z'],
  ['2026-01-31T11:00Z', '2026-01-31T11:00:00.000Z'],
  ['2026-01-31T11:00+05:30', '2026-01-31T05:30:00.000Z'],
  ['2026-01-31T12:00:00.123+0000', '2026-01-31T12:00:00.123Z'],
  ['2026-01-31t12:00:00z', '2026-01-31T12:00:00.000Z'],
  ['2026-01-31 12:00:00Z', '2026-01-31T12:00:00.000Z'],
  ['2026-01-31 12:00:00+02', '2026-01-31T10:00:00.000Z'],
  ['2026-01-31 12:00:00.5 +0200', '2026-01-31T10:00:00.500Z'],
  ['2026-01-31T12:00:00 Z', '2026-01-31T12:00:00.000Z'],
  ['2026-01-31 12:00:00 UTC', '2026-01-31T12:00:00.000Z'],
  ['2026-01-31T12:00:00.5UTC', '2026-01-31T12:00:00.500Z'],
  ['2026-01-31 12:00 GMT', '2026-01-31T12:00:00.000Z'],
  [1769860800, '2026-01-31T12:00:00.000Z'],
  ['1769860800', '2026-01-31T12:00:00.000Z'],
  [1769860800123, '2026-01-31T12:00:00.123Z'],
  ...[
    '2026-02-30T12:00:00Z',
    '2026-01-31 12:00:00 CET',
    'UTC',
    '1900-02-29T12:00:00Z',
    '2026-04-31T12:00:00Z',
    '2026-13-10T12:00:00Z',
    '2026-01-32T12:00:00Z',
    '0000-01-01T00:00:00Z',
    '2026-01-31T24:00:00Z',
    '2026-01-31T12:60:00Z',
    '2026-01-31T12:00:60Z',
    '2026-01-31T12:00:00',
    '2026-01-31T12:00:00+15:00',
    '2026-01-31T12:00:00.Z',
    '2026-01-31T12:00:00 +1500',
    '2026-01-31T12:00:00+24:00',
    '2026-01-31T12Z',
    '2026-01-31T12:00:00  Z',
    '17698608001230',
    12345,
    1769860800.5,
    -1769860800,
    true,
    '2026-01-31T12:00:00.1234567890Z',
    ' 2026-01-31T12:00:00Z',
    '2026-01-31',
    'Z',
    '',
  ].map((text) => [text, null] as const),
];

const AMOUNTS: readonly (readonly [unknown, number | null])[] = [
  ['50.0000', 50],
  ['1200', 1200],
  ['-5.5', -5.5],
  ['0', 0],
  ['123456789012345678', 123456789012345680],
  ['1.12345678', 1.12345678],
  ...[
    '1.2.3',
    '2026-01-31',
    '123456789012345678901234567890',
    '1.123456789',
    '1.',
    '.5',
    '-',
    '+1',
    '',
    '1e3',
    ' 1',
    '1\u0000',
    12.5,
    true,
  ].map((value) => [value, null] as const),
];

/** What makes a copy one that people can query, trust and leave. */
export function testTrust(engine: string, open: () => Promise<Copy>): void {
  const isPostgres = engine === 'PostgreSQL';
  const synced = async (options: SandboxOptions) => {
    const [sandbox, copy] = [createSandbox(options), await open()];
    await run(sandbox, copy);
    return { sandbox, copy };
  };

  describe(`the views of a copy in ${engine}`, () => {
    test('have every documented column after the first sync, even without a record', async () => {
      const copy = await open();
      await run(createSandbox({ records: 0 }), copy);
      const sql = `SELECT name, "salePrice", "isSaleItem", tags, "updatedAt", synced_at FROM ${copy.views}products`;
      expect(await copy.query(sql)).toEqual([]);
      expect(await copy.query(`SELECT count(ean) AS n FROM ${copy.views}products`)).toEqual([{ n: 0 }]);
    });

    test('show the timestamps that exist, in UTC, and null for all else', async () => {
      const copy = await open();
      await write(copy, batch(TIMESTAMPS.map(([updatedAt], id) => ({ id: `${id}`, updatedAt }))));
      const rows = await copy.query(
        `SELECT id, "updatedAt" FROM ${copy.views}accounts WHERE "updatedAt" IS NULL OR "updatedAt" >= '0001-01-01'`,
      );
      const shown = Object.fromEntries(rows.map(({ id, updatedAt }) => [id, utc(updatedAt)]));
      const moments = TIMESTAMPS.flatMap(([, expected], id) =>
        expected === null ? [] : [[`${id}`, expected]],
      );
      expect(shown).toEqual({
        ...Object.fromEntries(TIMESTAMPS.map((_, id) => [`${id}`, null])),
        ...Object.fromEntries(moments),
      });
      const [flagged] = await copy.query(
        `SELECT count(id) AS n FROM ${copy.tables}record WHERE unreadable_date AND collection = 'accounts'`,
      );
      expect(Number(flagged?.n)).toBe(TIMESTAMPS.length - moments.length);
    });

    test('count the records with a date that is no moment, and each sync warns of one', async () => {
      const { logger, warnings } = loggerOfWarnings();
      const sandbox = createSandbox({
        records: { accounts: 30, products: 3 },
        pageSize: 10,
        timestampsEverywhere: true,
      });
      const copy = await open();
      const body = (text: string) =>
        text.replaceAll(/("id":"(?:[2-5]|25)",.*?"updatedAt":")([^"T]*)T([^"]*?)(?:\.\d+)?Z"/g, '$1$2 $3"');
      sandbox.faults.add({ kind: 'rewrite', body }, { collection: 'accounts' });
      await run(sandbox, copy, {}, { logger });
      expect(
        [await statusOf(copy), await statusOf(copy, 'products')].map((row) => Number(row.unreadable_dates)),
      ).toEqual([5, 0]);
      const dates = warnings.filter((text) => text.includes('is no moment'));
      expect(dates).toEqual([
        expect.stringMatching(
          /updatedAt of accounts is no moment in some records, such as "\S+ [\d:]+": .*unreadable_dates/,
        ),
      ]);
      sandbox.faults.clear();
      sandbox.store.accounts.update('3', { name: 'Readable' });
      await run(sandbox, copy, { mode: 'full' }, { logger });
      expect(Number((await statusOf(copy)).unreadable_dates)).toBe(0);
      expect(warnings.filter((text) => text.includes('is no moment'))).toHaveLength(1);
    });

    test('compare, sort and add amounts as numbers, and show null for anything else', async () => {
      const copy = await open();
      const records = AMOUNTS.map(([salePrice], index) => ({ id: `${index}`, salePrice }));
      await write(copy, batch(records, { collection: 'products' }));
      const rows = await copy.query(`SELECT id, "salePrice" AS price FROM ${copy.views}products`);
      const shown = Object.fromEntries(
        rows.map(({ id, price }) => [id, price === null ? null : Number(price)]),
      );
      expect(shown).toEqual(Object.fromEntries(AMOUNTS.map(([, expected], id) => [id, expected])));
      const more = `FROM ${copy.views}products WHERE id <> '4' AND`;
      const above = await copy.query(`SELECT id ${more} "salePrice" > 40 ORDER BY "salePrice" DESC`);
      expect(above.map(({ id }) => id)).toEqual(['1', '0']);
      const [sums] = await copy.query(
        `SELECT max("salePrice") AS most, sum("salePrice") AS total ${more} "salePrice" <> 1.12345678`,
      );
      expect([Number(sums?.most), Number(sums?.total)]).toEqual([1200, 1244.5]);
    });

    test('show the fields that no schema names as text, in whatever JSON type they come', async () => {
      const copy = await open();
      const values = ['text', 1.5, 12, true, false, null, ['a', null], { a: 1 }, 0.30000000000000004, ''];
      await write(copy, batch(values.map((value, index) => ({ id: `${index}`, value, 'od"d': value }))));
      const rows = await copy.query(`SELECT value, "od""d" AS odd FROM ${copy.views}accounts ORDER BY id`);
      const compact = (text: unknown) => (typeof text === 'string' ? text.replaceAll(' ', '') : text);
      const shown = ['text', '1.5', '12', 'true', 'false', null, '["a",null]', '{"a":1}'];
      expect(rows.map(({ value }) => compact(value))).toEqual([...shown, '0.30000000000000004', '']);
      expect(rows.map(({ odd }) => compact(odd)).slice(0, 8)).toEqual(shown);
    });

    test('show fields that name other records as text, whatever their kind and type are', async () => {
      const copy = await open();
      const values = ['a1', 7, null, true, { a: 1 }, ''];
      const records = values.map((accountId, index) => {
        return { id: `${index}`, accountId, AccountId: accountId, account_id: accountId, unitId: accountId };
      });
      await write(copy, batch(records, { collection: 'products' }));
      const rows = await copy.query(`SELECT * FROM ${copy.views}products ORDER BY id`);
      const compact = (text: unknown) => (typeof text === 'string' ? text.replaceAll(' ', '') : text);
      for (const name of ['accountId', 'AccountId_2', 'account_id', 'unitId']) {
        expect([name, rows.map((row) => compact(row[name]))]).toEqual([
          name,
          ['a1', '7', null, 'true', '{"a":1}', ''],
        ]);
      }
    });

    test('have an index of each field that names other records, which joins and look-ups use', async () => {
      const copy = await open();
      const boms = [{ id: '1', name: 'Desk' }];
      const lines = [{ id: '1', bomId: '1', partId: '5', unitId: 'x', bomIds: '1', Id: '1' }];
      await write(copy, batch(boms, { collection: 'boms' }), batch(lines, { collection: 'bomLines' }));
      const plans = [
        `SELECT l.id FROM ${copy.views}boms AS b CROSS JOIN ${copy.views}bom_lines AS l WHERE l.tenant = b.tenant AND l."bomId" = b.id`,
        `SELECT l.id FROM ${copy.views}boms AS b LEFT JOIN ${copy.views}bom_lines AS l ON l.tenant = b.tenant AND l."bomId" = b.id`,
        `SELECT id FROM ${copy.views}bom_lines WHERE "partId" = '5' AND tenant = 'acme'`,
        `SELECT id FROM ${copy.views}bom_lines WHERE tenant = 'acme' AND "unitId" IN ('x', 'y')`,
      ];
      for (const sql of plans) {
        expect(await copy.query(sql)).toEqual([{ id: '1' }]);
        expect(await copy.planOf(sql)).toMatch(
          /USING INDEX accounting_record_text_\w+Id|using "?record_\w+Id"?/,
        );
      }
    });

    test('show integers of up to 18 digits, and null for longer ones', async () => {
      const copy = await open();
      const records = [2, -5, 1e20, -1e18, 1.5].map((salePriceDecimals, index) => {
        return { id: `${index}`, salePriceDecimals };
      });
      await write(copy, batch(records, { collection: 'products' }));
      const rows = await copy.query(`SELECT "salePriceDecimals" AS n FROM ${copy.views}products ORDER BY id`);
      expect(rows.map(({ n }) => n)).toEqual([2, -5, null, null, null]);
    });

    test('give names that a database renames a suffix, and a name with NUL its place', async () => {
      const copy = await open();
      await write(copy, batch([{ id: '1', true: 'a', FALSE: 'b', 'x\0y': 'c', synced_at: 'd', '': 'e' }]));
      const [row] = await copy.query(`SELECT * FROM ${copy.views}accounts`);
      const { tenant: _, synced_at: __, ...fields } = row ?? {};
      expect(fields).toEqual({
        id: '1',
        true_2: 'a',
        FALSE_2: 'b',
        'x\ufffdy': 'c',
        synced_at_2: 'd',
        _: 'e',
      });
      expect(Object.keys(fields)).toEqual(['id', 'true_2', 'FALSE_2', 'x\ufffdy', 'synced_at_2', '_']);
    });

    test('say when a row was last written, not when it was last seen', async () => {
      const { sandbox, copy } = await synced({ records: { accounts: 2, products: 0 } });
      const times = async () =>
        (await copy.query(`SELECT synced_at FROM ${copy.views}accounts ORDER BY id`)).map((row) =>
          utc(row.synced_at),
        );
      const before = await times();
      expect(Math.abs(Date.parse(before[0] ?? '') - Date.now())).toBeLessThan(60_000);
      await new Promise((resolve) => setTimeout(resolve, 5));
      sandbox.store.accounts.update('2', { name: 'Renamed' });
      const report = await run(sandbox, copy, { mode: 'full' });
      expect(reportOf(report, 'accounts')).toMatchObject({ added: 0, changed: 1, unchanged: 1 });
      const after = await times();
      expect([after[0] === before[0], (after[1] ?? '') > (before[1] ?? '')]).toEqual([true, true]);
    });
  });

  describe(`sync_status of a copy in ${engine}`, () => {
    test('says how far each collection is, and why the last run failed', async () => {
      const sandbox = createSandbox({ records: { accounts: 12, products: 3 } });
      const copy = await open();
      const report = await run(sandbox, copy);
      const status = await statusOf(copy);
      expect(Object.keys(status)).toEqual([
        'tenant',
        'collection',
        'records',
        'changes_through',
        'finished_at',
        'full_read_at',
        'deletions_checked_at',
        'invalid',
        'unreadable_dates',
        'complete',
        'last_error',
      ]);
      const accounts = reportOf(report, 'accounts');
      expect(status).toMatchObject({
        tenant: 'acme',
        complete: 'certain',
        last_error: null,
        deletions_checked_at: null,
      });
      expect([Number(status.records), Number(status.invalid)]).toEqual([12, 0]);
      expect(utc(status.changes_through)).toBe(accounts?.watermark?.toISOString());
      expect(utc(status.full_read_at)).toBe(accounts?.lastFullRead?.toISOString());
      expect(utc(status.finished_at)).toBe(report.endedAt.toISOString());

      const full = await run(sandbox, copy, { mode: 'full' });
      expect(utc((await statusOf(copy)).deletions_checked_at)).toBe(full.endedAt.toISOString());

      sandbox.faults.add({ kind: 'status', status: 500 });
      const error = await caught(run(sandbox, copy, { maxOutageMs: 0, retry: { maxAttempts: 1 } }));
      expect(error).toMatchObject({ code: 'sync_failed' });
      const failed = await statusOf(copy);
      expect(failed.last_error).toContain('500');
      expect(utc(failed.finished_at)).toBe(full.endedAt.toISOString());
      sandbox.faults.clear();
      await run(sandbox, copy);
      expect((await statusOf(copy)).last_error).toBe(null);
    });
  });

  describe(`a copy in ${engine}`, () => {
    test('keeps several companies apart, and checks each for deletions', async () => {
      const [acme, bolt] = [
        createSandbox({ records: { accounts: 20 }, seed: 1 }),
        createSandbox({ records: { accounts: 60 }, seed: 2 }),
      ];
      const copy = await open();
      await Promise.all([
        run(bolt, copy, { tenant: 'bolt', mode: 'full' }),
        run(acme, copy, { mode: 'full' }),
      ]);
      acme.store.accounts.delete('3');
      const report = reportOf(await run(acme, copy, { mode: 'full' }), 'accounts');
      expect(report?.deletions).toMatchObject({ local: 20, candidates: 1, deleted: 1 });
      expect(await copied(copy, 'acme')).toEqual(upstream(acme));
      expect(await copied(copy, 'bolt')).toEqual(upstream(bolt));
      const counted = await copy.query(
        `SELECT tenant, count(*) AS count FROM ${copy.views}accounts GROUP BY tenant ORDER BY tenant`,
      );
      expect(counted.map(({ tenant, count }) => [tenant, Number(count)])).toEqual([
        ['acme', 19],
        ['bolt', 60],
      ]);
      const status = `SELECT tenant, records FROM ${copy.views}sync_status WHERE collection = 'accounts' ORDER BY tenant`;
      expect((await copy.query(status)).map(({ tenant, records }) => [tenant, Number(records)])).toEqual([
        ['acme', 19],
        ['bolt', 60],
      ]);
      expect(await verified(acme, copy)).toMatchObject({ equal: true });
    });
  });

  describe(`verify of a copy in ${engine}`, () => {
    test('names what is missing, different and extra, and writes nothing', async () => {
      const { sandbox, copy } = await synced({ records: { accounts: 60, products: 5 } });
      const check = () => verified(sandbox, copy);
      expect(await check()).toMatchObject({ equal: true });
      // Upstream, but not since the watermark less the lookback: the copy is wrong.
      sandbox.clock.advance(3_600_000);
      await run(sandbox, copy);
      const body = isPostgres ? `jsonb_set(body, '{name}', '"Wrong"')` : `json_set(body, '$.name', 'Wrong')`;
      await copy.query(`DELETE FROM ${copy.tables}record WHERE collection = 'accounts' AND id = '5'`);
      await copy.query(
        `UPDATE ${copy.tables}record SET body = ${body} WHERE collection = 'accounts' AND id = '6'`,
      );
      sandbox.store.accounts.delete('7');
      const before = await copied(copy);
      const report = await check();
      expect(report.equal).toBe(false);
      expect(report.collections).toMatchObject([
        {
          collection: 'accounts',
          records: 59,
          missing: ['5'],
          different: ['6'],
          extra: ['7'],
          changedSince: [],
        },
        { collection: 'products', missing: [], different: [], extra: [] },
      ]);
      expect(await copied(copy)).toEqual(before);
      expect(await caught(verify(clientOf(sandbox), { tenant: 'acme' } as never))).toMatchObject({
        argument: 'target',
      });
    });
  });

  describe(`refresh of a copy in ${engine}`, () => {
    /** Makes a change that a sync writes while the first response is under way. */
    const synchronized = (sandbox: Sandbox, copy: Copy, change: () => unknown) => {
      let requests = 0;
      const fetch: typeof globalThis.fetch = async (input, init) => {
        const response = await sandbox.fetch(input, init);
        requests += 1;
        if (requests > 1) return response;
        change();
        await run(sandbox, copy);
        return response;
      };
      return { fetch, requests: () => requests };
    };

    test('writes and removes single records without moving a checkpoint', async () => {
      const { sandbox, copy } = await synced({ records: { accounts: 0, products: 10 } });
      const keys = () =>
        copy.query(`SELECT value FROM ${copy.tables}checkpoint WHERE key LIKE '%:%' ORDER BY key`);
      const before = await keys();
      sandbox.store.products.update('2', { name: 'Renamed' });
      sandbox.store.products.delete('3');
      const { id } = sandbox.store.products.insert({ name: 'New', isSaleItem: 'yes' } as never);
      const report = await refreshed(sandbox, copy, ['1', '2', '3', id, '999']);
      expect(report).toEqual({ collection: 'products', added: 1, changed: 1, unchanged: 2, deleted: 1 });
      expect(await copied(copy)).toEqual(upstream(sandbox));
      expect(await keys()).toEqual(before);
    });

    test('corrects whether a record is invalid after the schema has changed', async () => {
      const sandbox = createSandbox({ records: { accounts: 0, products: 0 } });
      sandbox.store.products.insert({ name: 'Oak' });
      const copy = await open();
      const schema = (length: number) => ({
        products: z.object({ id: z.string(), name: z.string().min(length) }),
      });
      await run(sandbox, copy, {}, { schemas: schema(5) });
      expect(await storedRow(copy, '1')).toMatchObject({ body: { name: 'Oak' }, invalid: true });
      const { products } = clientOf(sandbox, { schemas: schema(2) });
      const refreshed = () => refresh(products, { tenant: 'acme', target: copy.target, ids: ['1'] });
      expect([await refreshed(), await refreshed()]).toMatchObject([{ changed: 1 }, { unchanged: 1 }]);
      expect(await storedRow(copy, '1')).toMatchObject({ body: { name: 'Oak' }, invalid: false });
    });

    test.each(['a new', 'an equal'])(
      'reads a record again if a sync wrote it before %s response',
      async (which) => {
        const { sandbox, copy } = await synced({ records: { accounts: 0, products: 3 } });
        if (which === 'a new') sandbox.store.products.update('1', { name: 'First' });
        const { fetch, requests } = synchronized(sandbox, copy, () =>
          sandbox.store.products.update('1', { name: 'Second' }),
        );
        const report = await refreshed(sandbox, copy, ['1'], { fetch });
        expect([requests(), report.unchanged]).toEqual([2, 1]);
        expect(await copied(copy)).toEqual(upstream(sandbox));
      },
    );

    test('does not remove a record that a sync wrote after it was not found', async () => {
      const { sandbox, copy } = await synced({ records: { accounts: 0, products: 3 } });
      sandbox.store.products.delete('1');
      const { fetch } = synchronized(sandbox, copy, () =>
        sandbox.store.products.insert({ id: '1', name: 'Back' }),
      );
      const report = await refreshed(sandbox, copy, ['1'], { fetch });
      expect(report).toMatchObject({ deleted: 0, unchanged: 1 });
      expect(await copied(copy)).toEqual(upstream(sandbox));
    });

    test.each(['full', 'incremental'] as const)(
      'holds against a page that a sync in mode %s requested before',
      async (mode) => {
        const { sandbox, copy } = await synced({ records: { accounts: 0, products: 30 } });
        sandbox.clock.advance(3_600_000);
        for (const id of ['7', '8']) sandbox.store.products.update(id, { name: 'Changed' });
        let refreshes = 0;
        const target: SyncTarget = {
          open: async (...args) => {
            const opened = await copy.target.open(...args);
            const onBatch: OpenTarget['onBatch'] = async (given) => {
              if (given.records.some(({ id }) => id === '7') && ++refreshes === 1) {
                sandbox.store.products.delete('7');
                sandbox.store.products.update('8', { name: 'Later' });
                const report = await refreshed(sandbox, copy, ['7', '8']);
                expect(report).toMatchObject({ deleted: 1, changed: 1 });
              }
              return await opened.onBatch(given);
            };
            return new Proxy(opened, {
              get: (_, name) => {
                if (name === 'onBatch') return onBatch;
                const value: unknown = Reflect.get(opened, name);
                return typeof value === 'function' ? value.bind(opened) : value;
              },
            });
          },
        };
        const ids = async () =>
          (await copy.query(`SELECT id FROM ${copy.views}products WHERE id IN ('7', '8')`)).map(
            ({ id }) => id,
          );
        await run(sandbox, { ...copy, target }, { mode });
        expect([refreshes, await ids()]).toEqual([1, ['8']]);
        await run(sandbox, copy);
        expect(await verified(sandbox, copy)).toMatchObject({ equal: true });
        // A later run writes the record again if it exists again.
        sandbox.store.products.insert({ id: '7', name: 'Back' });
        await run(sandbox, copy, { mode });
        expect(await verified(sandbox, copy)).toMatchObject({ equal: true });
      },
    );
  });

  describe(`a row of a copy in ${engine}`, () => {
    const row = { body: { id: '1', name: 'Late' }, invalid: false };

    test('that was removed or forgotten meanwhile is not written back', async () => {
      const copy = await open();
      const opened = await openTarget(copy.target);
      await opened.onBatch(batch([{ id: '1', name: 'First' }]));
      const [before] = (await opened.rows?.('accounts', ['1'])) ?? [];
      await copy.query(`DELETE FROM ${copy.tables}record`);
      expect(await opened.replace?.('accounts', '1', row, before?.version)).toBe(false);
      await copy.query(`DELETE FROM ${copy.tables}checkpoint`);
      expect(await opened.replace?.('accounts', '1', row, undefined)).toBe(false);
      expect(await copied(copy)).toEqual([]);
      await opened.close?.();
    });

    test('does not remove the company that another run stored meanwhile', async () => {
      const copy = await open();
      const opened = await openTarget(copy.target);
      expect(await opened.company?.get()).toBe(undefined);
      await copy.query(`INSERT INTO ${copy.tables}checkpoint VALUES ('acme', 'company:acme', 'key')`);
      await opened.onBatch(batch([{ id: '1', name: 'First' }]));
      const sql = `SELECT value FROM ${copy.tables}checkpoint WHERE key = 'company:acme'`;
      expect(await copy.query(sql)).toEqual([{ value: 'key' }]);
      await opened.close?.();
    });
  });

  describe(`forget in ${engine}`, () => {
    test('removes one company whole, and the next sync reads it again', async () => {
      const sandbox = createSandbox({ records: { accounts: 5, products: 5 } });
      const copy = await open();
      for (const tenant of ['acme', 'Acme', 'a_me']) {
        await run(sandbox, copy, { tenant, mode: 'full', prefix: tenant === 'acme' ? 'x:acme' : 'x:acme:y' });
      }
      await forget({ tenant: 'acme', target: copy.target });
      for (const table of ['record', 'seen', 'checkpoint', 'status']) {
        const tenants = await copy.query(`SELECT DISTINCT tenant FROM ${copy.tables}${table}`);
        expect(tenants.map(({ tenant }) => tenant).sort()).toEqual(['Acme', 'a_me']);
      }
      expect(await run(sandbox, copy)).toMatchObject({ records: 10 });
      expect(await copied(copy)).toEqual(upstream(sandbox));
    });

    test('removes nothing if it cannot remove everything', async () => {
      const { sandbox, copy } = await synced({ records: { accounts: 5, products: 5 } });
      await copy.keep();
      expect(await caught(forget({ tenant: 'acme', target: copy.target }))).toMatchObject({
        code: 'checkpoint',
      });
      expect(await copied(copy)).toEqual(upstream(sandbox));
      // Without its checkpoints it would read everything.
      expect(await run(sandbox, copy)).toMatchObject({ records: 0 });
    });

    test('during a sync of the tenant ends one of them with concurrent_run, and leaves no part of the company', async () => {
      const sandbox = createSandbox({ records: { accounts: 100, products: 0 }, pageSize: 20 });
      const copy = await open();
      let forgotten: Promise<unknown> | undefined;
      const onProgress = ({ pages }: { pages: number }) => {
        if (pages === 2)
          forgotten ??= forget({ tenant: 'acme', target: copy.target }).catch((error) => error);
      };
      const synced = await run(sandbox, copy, { onProgress }).catch((error) => error);
      const failure =
        [await forgotten].find((ended) => typeof ended !== 'boolean') ??
        (synced.errors?.[0]?.error as unknown);
      expect(isAccountingError(failure, 'concurrent_run')).toBe(true);
      const left = await copied(copy);
      expect(left.length === 0 || left.length === 100).toBe(true);
      for (const table of left.length === 0 ? ['seen', 'checkpoint', 'status'] : []) {
        expect(await copy.query(`SELECT tenant FROM ${copy.tables}${table}`)).toEqual([]);
      }
    });
  });

  test(`forget and refresh of a copy in ${engine} do not take an unknown tenant for a success`, async () => {
    const sandbox = createSandbox({ records: { accounts: 5, products: 5 } });
    const copy = await open();
    await run(sandbox, copy);
    const options = { tenant: 'acmee', target: copy.target };
    expect(await forget(options)).toBe(false);
    const error = await caught(refresh(clientOf(sandbox).products, { ...options, ids: ['1'] }));
    expect(error).toMatchObject({ code: 'invalid_input', argument: 'tenant' });
    expect(await copied(copy, 'acmee')).toEqual([]);
    expect(await copied(copy)).toEqual(upstream(sandbox));
    expect(await forget({ ...options, tenant: 'acme' })).toBe(true);
  });

  test(`the guard of a copy in ${engine} rejects the key of another company before anything is read, written or remembered`, async () => {
    const { sandbox, copy, options, clientWith } = await fromTemplate(await open());
    const bolt = clientWith(sandbox.keys.otherCompany);
    const company = () => copy.query(`SELECT value FROM ${copy.tables}checkpoint WHERE key = 'company:acme'`);
    const before = [await copied(copy), await company()];
    const lookUp = { tenant: 'acme', target: copy.target, ids: ['1'] };
    sandbox.clearLogs();
    for (const call of [
      () => sync(bolt, options),
      () => sync(bolt, { ...options, mode: 'full' }),
      () => sync(bolt, { ...options, collections: ['accounts'] }),
      () => refresh(bolt.products, lookUp),
      () => verify(bolt, options),
    ]) {
      const error = await caught(call());
      expect(error).toMatchObject({ code: 'invalid_input', argument: 'tenant' });
      expect(`${error}`).toContain('acme was written with another API key');
      expect(`${error}`).toMatch(/products \d+ was created at another time/);
    }
    expect(sandbox.count(({ path }) => !/products\/\d+$/.test(path))).toBe(0);
    expect([await copied(copy), await company()]).toEqual(before);
    expect(await verify(bolt, { ...options, sameCompany: true })).toMatchObject({ tenant: 'acme' });
    expect(await company()).toEqual(before[1]);
    const all = { mode: 'full', maxCandidates: Number.POSITIVE_INFINITY } as const;
    await sync(bolt, { ...options, ...all, sameCompany: true });
    // Once is enough.
    expect(await sync(bolt, options)).toMatchObject({ paused: false });
    expect(await copied(copy)).toEqual(upstream({ ...sandbox, store: sandbox.otherStore }));
  });
}
