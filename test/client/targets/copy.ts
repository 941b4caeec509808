import { type CollectionReport, forget, isAccountingError } from 'accounting-data-sdk';
import { createSandbox, type Sandbox } from 'accounting-data-sdk/testing';
import { describe, expect, test } from 'vitest';
import { caught } from '../../support/caught.ts';
import { batch, type Copy, copied, openTarget, write } from './engines.ts';
import {
  collections,
  parsed,
  refreshed,
  reportOf,
  run,
  statusOf,
  synced,
  upstream,
  utc,
  verified,
} from './set-up.ts';

/** Values that a view shows as null. */
const none = (...values: readonly unknown[]) => values.map((value) => [value, null] as const);

/** Values of fields of products, each with what the view shows: by kind, and of a field that no schema names. */
const VALUES: Readonly<Record<string, readonly (readonly [value: unknown, shown: unknown])[]>> = {
  updatedAt: [
    ['2026-01-31T12:00:00Z', '2026-01-31T12:00:00.000Z'],
    ['2026-01-31T12:00:00.5+02:00', '2026-01-31T10:00:00.500Z'],
    ['2024-02-29T23:59:59.123456-14:00', '2024-03-01T13:59:59.123Z'],
    ['1000-01-01T00:00:00Z', '1000-01-01T00:00:00.000Z'],
    ['2026-01-31T11:00:00.1234567890Z', '2026-01-31T11:00:00.123Z'],
    ['2026-12-31T23:59:59.99999999999999999+00:00', '2026-12-31T23:59:59.999Z'],
    ['2026-01-31 11:00:00.000999999999 UTC', '2026-01-31T11:00:00.000Z'],
    ['2026-01-31T12:00:00-1230', '2026-02-01T00:30:00.000Z'],
    ['2026-01-31T11:00+05:30', '2026-01-31T05:30:00.000Z'],
    ['2026-01-31t12:00:00z', '2026-01-31T12:00:00.000Z'],
    ['2026-01-31 12:00:00+02', '2026-01-31T10:00:00.000Z'],
    ['2026-01-31 12:00:00.5 +0200', '2026-01-31T10:00:00.500Z'],
    ['2026-01-31T12:00:00.5UTC', '2026-01-31T12:00:00.500Z'],
    ['2026-01-31 12:00 GMT', '2026-01-31T12:00:00.000Z'],
    [1769860800, '2026-01-31T12:00:00.000Z'],
    ['1769860800', '2026-01-31T12:00:00.000Z'],
    [1769860800123, '2026-01-31T12:00:00.123Z'],
    [946728000123, '2000-01-01T12:00:00.123Z'],
    [17698608000, '2530-11-06T00:00:00.000Z'],
    ...none('2026-02-30T12:00:00Z', '1900-02-29T12:00:00Z', '2026-04-31T12:00:00Z', '2026-13-10T12:00:00Z'),
    ...none('0000-01-01T00:00:00Z', '2026-01-31T24:00:00Z', '2026-01-31T12:60:00Z', '2026-01-31T12:00:60Z'),
    ...none('2026-01-31T12:00:00', '2026-01-31T12:00:00+15:00', '2026-01-31T12:00:00.Z', '2026-01-31T12Z'),
    ...none('2026-01-31 12:00:00 CET', '2026-01-31', 'UTC', '', 12345, 1769860800.5, -1769860800, true),
  ],
  salePrice: [
    ['50.0000', 50],
    ['1200', 1200],
    ['-5.5', -5.5],
    ['0', 0],
    ['123456789012345678', 123456789012345680],
    ['1.12345678', 1.12345678],
    ...none(
      '1.2.3',
      '1..5',
      '2026-01-31',
      '1234567890123456789',
      '1.123456789',
      '1.',
      '.5',
      '-',
      '+1',
      '',
      '1e3',
    ),
    ...none(' 1', '1\u0000', 12.5, true),
  ],
  salePriceDecimals: [[2, 2], [-5, -5], ...none(1e20, -1e18, 1.5, '2')],
  stockQuantity: [[1.5, 1.5], ...none('many')],
  isInactive: [[false, false], ...none('no')],
  tags: [[['a'], ['a']], ...none('a')],
  mood: [
    ['text', 'text'],
    [1.5, '1.5'],
    [0.30000000000000004, '0.30000000000000004'],
    [false, 'false'],
    [null, null],
    [['a', null], '["a",null]'],
    [{ a: 1 }, '{"a":1}'],
  ],
  'od"d': [
    [1.5, '1.5'],
    [true, 'true'],
    [{ a: 1 }, '{"a":1}'],
  ],
  // Names another record.
  accountId: [
    ['a1', 'a1'],
    [7, '7'],
    [true, 'true'],
    [null, null],
    [{ a: 1 }, '{"a":1}'],
  ],
};

/** A value of a view, as both databases can return it. */
function like(expected: unknown, value: unknown): unknown {
  if (value === null || expected === null) return value;
  if (typeof expected === 'number') return Number(value);
  if (typeof expected === 'boolean') return Boolean(value);
  if (typeof expected === 'object') return parsed(value);
  return value instanceof Date ? utc(value) : `${value}`.replaceAll(' ', '');
}

const LONG = 'long'.repeat(20);

/** Names of fields that collide, are odd or hostile, and the names of their columns. */
const NAMES = (tables: string): readonly (readonly [field: string, column: string])[] => [
  ['tenant', 'tenant_2'],
  ['ID', 'ID_2'],
  ['Name', 'Name'],
  ['name', 'name_2'],
  ['NAME', 'NAME_3'],
  ['name_2', 'name_2_2'],
  // SQLite would rename these.
  ['true', 'true_2'],
  ['FALSE', 'FALSE_2'],
  ['', '_'],
  ['x\0y', 'x\ufffdy'],
  ...[`id"; DROP TABLE ${tables}record; --`, "it's $1 %s %I", `$accounting$ '; SELECT 1`, 'a"b\\c'].map(
    (name) => [name, name] as const,
  ),
  ['größe.[0]', 'größe.[0]'],
  [`${LONG}1`, LONG.slice(0, 58)],
  [`${LONG}2`, `${LONG.slice(0, 58)}_2`],
  ['😀'.repeat(20), '😀'.repeat(14)],
];

/** What the statements of each database decide. All else is tested in SQLite alone: see any-database.test.ts. */
export function testCopy(engine: string, open: () => Promise<Copy>): void {
  describe(`a copy in ${engine}`, () => {
    test('keeps records apart whose ids differ only in what a database cannot store', async () => {
      const sandbox = createSandbox({ records: { accounts: 1 } });
      const ids = ['\ud800', '\udfff', '\ufffd', 'a\0', 'a\ufffd', 'a', '\u{1f4d2}'];
      for (const id of ids) sandbox.store.accounts.insert({ id, name: JSON.stringify(id) } as never);
      const copy = await open();
      const names = async () => {
        const rows = await copy.query(`SELECT name FROM ${copy.views}accounts`);
        return rows.map(({ name }) => name);
      };
      await run(sandbox, copy);
      expect(await names()).toHaveLength(1 + ids.length);
      const sql = `SELECT id FROM ${copy.views}accounts WHERE id = '\u{1f4d2}'`;
      expect(await copy.query(sql)).toHaveLength(1);
      expect((await verified(sandbox, copy)).equal).not.toBe(false);
      sandbox.store.accounts.delete('\udfff');
      await run(sandbox, copy, { mode: 'full' });
      expect(await names()).toEqual(
        expect.arrayContaining(ids.filter((id) => id !== '\udfff').map((id) => JSON.stringify(id))),
      );
    });

    test('has every record of each company, then every change with its time, then no deleted record', async () => {
      const companies = [1, 2].map((seed) =>
        createSandbox({ seed, records: { accounts: 30 * seed, products: 10 }, pageSize: 20 }),
      );
      const [acme, bolt] = companies as [Sandbox, Sandbox];
      const copy = await open();
      await Promise.all([run(bolt, copy, { tenant: 'bolt' }), run(acme, copy)]);
      const sql = `SELECT synced_at FROM ${copy.views}accounts WHERE tenant = 'acme' AND id IN ('1', '7') ORDER BY id`;
      const writtenAt = async () => (await copy.query(sql)).map((row) => utc(row.synced_at) ?? '');
      const [first = '', second = ''] = await writtenAt();
      expect(Math.abs(Date.parse(first) - Date.now())).toBeLessThan(60_000);
      acme.store.accounts.update('7', { name: 'Renamed' });
      acme.store.products.insert({ name: 'Desk', salePrice: '12345678901234567.8901' });
      expect(await run(acme, copy)).toMatchObject({
        records: 2,
        collections: [
          { added: 0, changed: 1 },
          { added: 1, changed: 0 },
        ],
      });
      acme.store.accounts.delete('9');
      const full = reportOf(await run(acme, copy, { mode: 'full' }), 'accounts');
      const deletions = { local: 30, candidates: 1, deleted: 1 };
      expect(full).toMatchObject({ added: 0, changed: 0, unchanged: 29, deletions });
      const [same, later = ''] = await writtenAt();
      expect([same, later > second]).toEqual([first, true]);
      expect(await copied(copy)).toEqual(upstream(acme));
      expect(await copied(copy, 'bolt')).toEqual(upstream(bolt));
      expect(await verified(acme, copy)).toMatchObject({ equal: true });
      const counts = await copy.query(
        `SELECT tenant, records FROM ${copy.views}sync_status WHERE collection = 'accounts' ORDER BY tenant`,
      );
      expect(counts.map(({ tenant, records }) => `${tenant} ${records}`)).toEqual(['acme 29', 'bolt 60']);
    });

    test('says in sync_status how far each collection is', async () => {
      const { sandbox, copy } = await synced({ records: { accounts: 12, products: 3 } }, open);
      expect(await statusOf(copy)).toMatchObject({ deletions_checked_at: null, last_error: null });
      const full = await run(sandbox, copy, { mode: 'full' });
      const { watermark, lastFullRead } = reportOf(full, 'accounts') ?? {};
      const { changes_through, full_read_at, finished_at, deletions_checked_at, ...status } =
        await statusOf(copy);
      expect([changes_through, full_read_at, finished_at, deletions_checked_at].map(utc)).toEqual(
        [watermark, lastFullRead, full.endedAt, full.endedAt].map((time) => time?.toISOString()),
      );
      expect([status.records, status.invalid, status.unreadable_dates].map(Number)).toEqual([12, 0, 0]);
      expect(status).toMatchObject({ collection: 'accounts', complete: 'certain', last_error: null });
    });

    test('has a view with a column for each field, in the order in which they were first seen, whatever their names are', async () => {
      const copy = await open();
      const names = NAMES(copy.tables);
      const values = Object.fromEntries(names.map(([field], at) => [field, `${at}`]));
      await write(copy, batch([{ id: '1', ...values }]));
      await write(copy, batch([{ id: '2', iban: 'NL00' }]), batch([], { collection: 'bomLines' }));
      const [first, second] = await copy.query(`SELECT * FROM ${copy.views}accounts ORDER BY id`);
      const { tenant, id, synced_at: _, ...columns } = first ?? {};
      expect([tenant, id]).toEqual(['acme', '1']);
      expect(Object.entries(columns)).toEqual([
        ...names.map(([, column], at) => [column, `${at}`]),
        ['iban', null],
      ]);
      expect(second).toMatchObject({ iban: 'NL00', Name: null });
      expect(await copy.query(`SELECT * FROM ${copy.views}bom_lines`)).toEqual([]);
      expect(await copied(copy)).toHaveLength(2);
    });

    test('shows each value in the type of its column, and null for a value of another type', async () => {
      const copy = await open();
      const count = Math.max(...Object.values(VALUES).map((values) => values.length));
      const records = Array.from({ length: count }, (_, at) => {
        const fields = Object.entries(VALUES).flatMap(([name, values]) =>
          values[at] === undefined ? [] : [[name, values[at][0]]],
        );
        return { id: `${at}`, ...Object.fromEntries(fields) };
      });
      await write(copy, batch(records, { collection: 'products' }));
      const products = `FROM ${copy.views}products`;
      const rows = new Map((await copy.query(`SELECT * ${products}`)).map((row) => [row.id, row]));
      for (const [name, values] of Object.entries(VALUES)) {
        const shown = values.map(([value, expected], at) => [
          value,
          like(expected, rows.get(`${at}`)?.[name]),
        ]);
        expect([name, shown]).toEqual([name, values]);
      }
      // A comparison reads every row: no value makes it fail.
      const sorted = await copy.query(
        `SELECT id ${products} WHERE "salePrice" BETWEEN 40 AND 2000 AND "updatedAt" > '0001-01-01' ORDER BY "salePrice" DESC`,
      );
      expect(sorted.map(({ id }) => id)).toEqual(['1', '0']);
      const [sums] = await copy.query(
        `SELECT sum("salePrice") AS price, sum("stockQuantity") AS stock ${products} WHERE id < '3' AND length(id) = 1`,
      );
      expect([Number(sums?.price), Number(sums?.stock)]).toEqual([1244.5, 1.5]);
      const [flagged] = await copy.query(
        `SELECT count(id) AS n FROM ${copy.tables}record WHERE unreadable_date`,
      );
      expect(Number(flagged?.n)).toBe(VALUES.updatedAt?.filter(([, shown]) => shown === null).length);
      const bodies = await copy.query(`SELECT body FROM ${copy.tables}record WHERE id = '5'`);
      expect(parsed(bodies[0]?.body)).toEqual(records[5]);
    });

    test('has an index of each field that names other records, which joins and look-ups use', async () => {
      const copy = await open();
      const boms = [{ id: '1', name: 'Desk' }];
      const lines = [{ id: '1', bomId: '1', partId: '5', unitId: 'x', bomIds: '1', Id: '1' }];
      await write(copy, batch(boms, { collection: 'boms' }), batch(lines, { collection: 'bomLines' }));
      const plans = [
        `SELECT l.id FROM ${copy.views}boms AS b CROSS JOIN ${copy.views}bom_lines AS l WHERE l.tenant = b.tenant AND l."bomId" = b.id`,
        `SELECT l.id FROM ${copy.views}boms AS b LEFT JOIN ${copy.views}bom_lines AS l ON l.tenant = b.tenant AND l."bomId" = b.id`,
        `SELECT id FROM ${copy.views}bom_lines WHERE tenant = 'acme' AND "unitId" IN ('x', 'y')`,
      ];
      for (const sql of plans) {
        expect(await copy.query(sql)).toEqual([{ id: '1' }]);
        expect(await copy.planOf(sql)).toMatch(
          /USING INDEX accounting_record_text_\w+Id|using "?record_\w+Id"?/,
        );
      }
    });

    test.each(['TABLE Accounts (mine text)', 'VIEW accounts AS SELECT 1 AS mine'])(
      'does not touch what a user created under the name of a view: %s',
      async (what) => {
        const copy = await open();
        const opened = await openTarget(copy.target);
        await copy.query(`CREATE ${what.replace(/accounts/i, `${copy.views}$&`)}`);
        const error = await caught((async () => opened.onBatch(batch([{ id: '1', name: 'Cash' }])))());
        await opened.close?.();
        expect(error).toMatchObject({ code: 'invalid_input', argument: 'target' });
        const [kind = ''] = what.toLowerCase().split(' ');
        expect(`${error}`.toLowerCase()).toContain(`accounts is a ${kind} that was not created for`);
        expect(`${error}`).toMatch(/pass (viewPrefix|another schema)/);
        await copy.query(`SELECT mine FROM ${copy.views}accounts`);
        expect(await copied(copy)).toEqual([]);
      },
    );

    test('writes the records and the checkpoint of a batch, or neither, and none after another run wrote', async () => {
      const copy = await open();
      const opened = await openTarget(copy.target);
      const checkpoint = async () => {
        const sql = `SELECT value FROM ${copy.tables}checkpoint WHERE key = '${batch([]).key}'`;
        return (await copy.query(sql)).map(({ value }) => value);
      };
      await opened.onBatch(batch([{ id: '1' }], { checkpoint: '{"n":1}' }));
      await copy.reject('3');
      const torn = batch([{ id: '2', name: 'Bank' }, { id: '3' }], { checkpoint: '{"n":2}' });
      const error = await caught((async () => opened.onBatch(torn))());
      expect(error).toMatchObject({ code: 'checkpoint', retryable: false, cause: expect.any(Error) });
      expect([await copied(copy), await checkpoint()]).toMatchObject([{ length: 1 }, ['{"n":1}']]);
      await opened.onBatch(batch([{ id: '2', name: 'Bank' }], { checkpoint: '{"n":2}' }));
      expect(await copy.query(`SELECT name FROM ${copy.views}accounts WHERE id = '2'`)).toEqual([
        { name: 'Bank' },
      ]);

      await copy.query(`UPDATE ${copy.tables}checkpoint SET value = 'of another run' WHERE key = 'run'`);
      const late = await caught((async () => opened.onBatch(batch([{ id: '4' }])))());
      expect(isAccountingError(late, 'concurrent_run')).toBe(true);
      expect([await copied(copy), await checkpoint()]).toMatchObject([{ length: 2 }, ['{"n":2}']]);
      await opened.close?.();
    });
  });

  describe(`syncs of one tenant at once in ${engine}`, () => {
    /** Syncs of a company of which the first `before` have ended, and how each of the others, which begin at once, ends. */
    async function together(before: number, all: readonly object[]) {
      const sandbox = createSandbox({ records: { accounts: 90, products: 90 }, pageSize: 10, seed: 7 });
      const copy = await open();
      for (let n = 0; n < before; n++) {
        await run(sandbox, copy);
        sandbox.clock.advance(60_000);
        for (const { id } of sandbox.store.accounts.all().slice(0, 30))
          sandbox.store.accounts.update(id, { name: `Changed ${n}` });
      }
      const ends = await Promise.allSettled(
        all.map((options) => run(sandbox, { target: copy.unlocked() }, options)),
      );
      const failures = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason as unknown] : []));
      return { sandbox, copy, failures };
    }

    test.each<[string, number, readonly object[], string?]>([
      ['two first ones', 0, [{}, {}]],
      ['two first ones that read in other orders', 0, [{}, { collections: [...collections].toReversed() }]],
      ['two later ones', 1, [{}, {}]],
      ['a full one and one that reads changes', 2, [{ mode: 'full' }, {}]],
      ['three, of which one reads one collection at a time', 1, [{}, { concurrency: 1 }, { mode: 'full' }]],
      ['three of one collection', 0, [{}, {}, {}].map(() => ({ collections: ['products'] })), 'products'],
    ])('of %s one goes on, and the others fail with concurrent_run', async (_, before, all, only) => {
      const { sandbox, copy, failures } = await together(before, all);
      expect(failures).toMatchObject(Array(all.length - 1).fill({ code: 'concurrent_run', retryable: true }));
      const read = upstream(sandbox).filter((text) => !only || text.startsWith(only));
      expect(await copied(copy)).toEqual(read);
      expect(await statusOf(copy, 'products')).toMatchObject({ complete: 'certain', last_error: null });
      expect(await run(sandbox, copy)).toMatchObject({ paused: false });
    });

    test('one that has nothing to write keeps no other from its end', async () => {
      const { sandbox, copy } = await synced({ records: { accounts: 3, products: 3 } }, open);
      const idle = await openTarget(copy.unlocked());
      await run(sandbox, { target: copy.unlocked() });
      await idle.onEnd?.([]);
      await idle.close?.();
      expect(await statusOf(copy, 'products')).toMatchObject({ complete: 'certain' });
    });

    test('one that was overtaken removes nothing, and leaves no error in sync_status', async () => {
      const { sandbox, copy } = await synced({ records: { accounts: 3, products: 3 } }, open);
      const first = await openTarget(copy.unlocked());
      await first.onBatch({ ...batch([{ id: '1' }]), key: 'a state of its own' });
      await run(sandbox, { target: copy.unlocked() }, { mode: 'full' });
      expect(await first.onDelete?.(['1', '2'], 'accounts')).toBe(0);
      const report = { collection: 'accounts', status: 'stopped' } as CollectionReport;
      await first.onEnd?.([{ report, endedAt: new Date(), error: new Error('stopped') }]);
      await first.close?.();
      expect(await statusOf(copy)).toMatchObject({ last_error: null });
      expect(await copied(copy)).toEqual(upstream(sandbox));
    });
  });

  describe(`refresh of a copy in ${engine}`, () => {
    test('writes and removes single records without moving a checkpoint', async () => {
      const { sandbox, copy } = await synced({ records: { accounts: 0, products: 10 } }, open);
      const keys = () =>
        copy.query(`SELECT value FROM ${copy.tables}checkpoint WHERE key LIKE '%:%' ORDER BY key`);
      const before = await keys();
      sandbox.store.products.update('2', { name: 'Renamed' });
      sandbox.store.products.delete('3');
      const { id } = sandbox.store.products.insert({ name: 'New', isSaleItem: 'yes' } as never);
      const report = await refreshed(sandbox, copy, ['1', '2', '3', id, '999']);
      expect(report).toEqual({
        collection: 'products',
        added: 1,
        changed: 1,
        unchanged: 2,
        deleted: 1,
        unconfirmed: [],
      });
      expect(await copied(copy)).toEqual(upstream(sandbox));
      expect(await keys()).toEqual(before);
    });

    type Store = Sandbox['store']['products'];
    test.each<[string, (products: Store) => unknown, (products: Store) => unknown]>([
      ['a new response', (all) => all.update('1', { name: 'A' }), (all) => all.update('1', { name: 'B' })],
      ['an equal response', () => undefined, (all) => all.update('1', { name: 'B' })],
      ['a 404', (all) => all.delete('1'), (all) => all.insert({ id: '1', name: 'Back' })],
    ])('reads a record again if a sync wrote it before %s', async (_, before, change) => {
      const { sandbox, copy } = await synced({ records: { accounts: 0, products: 3 } }, open);
      const { products } = sandbox.store;
      before(products);
      let requests = 0;
      const fetch: typeof globalThis.fetch = async (input, init) => {
        const response = await sandbox.fetch(input, init);
        requests += 1;
        if (requests > 1) return response;
        change(products);
        await run(sandbox, copy);
        return response;
      };
      const report = await refreshed(sandbox, copy, ['1'], { fetch });
      expect(report).toMatchObject({ unchanged: 1, deleted: 0 });
      expect(requests).toBeGreaterThan(1);
      expect(await copied(copy)).toEqual(upstream(sandbox));
    });

    test('of one tenant keeps no record of another from its copy', async () => {
      const copy = await open();
      await write(copy, batch([{ id: '7' }]));
      const refreshing = await openTarget(copy.target, 'acme', { purpose: 'refresh' });
      const [row] = (await refreshing.rows?.('accounts', ['7'])) ?? [];
      expect(await refreshing.replace?.('accounts', '7', undefined, row?.version)).toBe(true);
      await refreshing.close?.();
      const other = await openTarget(copy.target, 'other');
      await other.onBatch(batch([{ id: '7' }]));
      await other.close?.();
      expect([await copied(copy), await copied(copy, 'other')]).toMatchObject([[], { length: 1 }]);
    });

    test('holds against a page that a sync requested before', async () => {
      const { sandbox, copy } = await synced({ records: { accounts: 0, products: 30 } }, open);
      const { products } = sandbox.store;
      let refreshes = 0;
      const fetch: typeof globalThis.fetch = async (input, init) => {
        const response = await sandbox.fetch(input, init);
        // The first request with a bound: the records of the one before are read again.
        if (!`${input}`.includes('/products?id') || ++refreshes > 1) return response;
        expect(await response.clone().json()).toContainEqual(expect.objectContaining({ id: '7' }));
        products.delete('7');
        products.update('8', { name: 'Later' });
        expect(await refreshed(sandbox, copy, ['7', '8'])).toMatchObject({ deleted: 1, changed: 1 });
        expect(await refreshed(sandbox, copy, ['9'])).toMatchObject({ unchanged: 1 });
        return response;
      };
      await run(sandbox, copy, { mode: 'full' }, { fetch });
      expect(await copied(copy)).toHaveLength(29);
      await run(sandbox, copy);
      expect(await verified(sandbox, copy)).toMatchObject({ equal: true });
      // A later run writes the record again if it exists again.
      products.insert({ id: '7', name: 'Back' });
      await run(sandbox, copy);
      expect(await verified(sandbox, copy)).toMatchObject({ equal: true });
    });
  });

  test.each(['full', 'incremental'] as const)(
    `a record that a refresh removed returns to a copy in ${engine} if it exists again: mode %s`,
    async (mode) => {
      const { sandbox, copy } = await synced({ records: { accounts: 0, products: 5 } }, open);
      const { products } = sandbox.store;
      products.delete('1');
      expect(await refreshed(sandbox, copy, ['1'])).toMatchObject({ deleted: 1 });
      const marks = () => copy.query(`SELECT key FROM ${copy.tables}checkpoint WHERE key LIKE 'gone %'`);
      expect(await marks()).toHaveLength(1);
      sandbox.clock.advance(600_000);
      products.insert({ id: '1', name: 'Back' });
      await run(sandbox, copy, { mode });
      expect(await copied(copy)).toEqual(upstream(sandbox));
      expect(await marks()).toEqual([]);
    },
  );

  describe(`forget in ${engine}`, () => {
    test('leaves no row of the tenant in any table, and those of others', async () => {
      const { sandbox, copy } = await synced({ records: { accounts: 5 } }, open);
      for (const tenant of ['other', 'other', 'acme']) await run(sandbox, copy, { tenant, mode: 'full' });
      const tenantsOf = async (table: string) =>
        await copy.query(`SELECT DISTINCT tenant FROM ${copy.tables}${table} ORDER BY tenant`);
      const tables = ['checkpoint', 'record', 'seen', 'status'];
      for (const table of tables)
        expect(await tenantsOf(table), table).toEqual([{ tenant: 'acme' }, { tenant: 'other' }]);
      await forget({ tenant: 'acme', target: copy.target });
      for (const table of tables) expect(await tenantsOf(table), table).toEqual([{ tenant: 'other' }]);
    });

    test('removes nothing if it cannot remove everything', async () => {
      const { sandbox, copy } = await synced({ records: { accounts: 5, products: 5 } }, open);
      await copy.keep();
      const error = await caught(forget({ tenant: 'acme', target: copy.target }));
      expect(error).toMatchObject({ code: 'checkpoint' });
      expect(await copied(copy)).toEqual(upstream(sandbox));
      // Without its checkpoints it would read everything.
      expect(await run(sandbox, copy)).toMatchObject({ records: 0 });
    });
  });
}
