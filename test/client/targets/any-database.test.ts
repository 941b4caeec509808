// No statement of a database decides these behaviours, so they are tested in SQLite alone.

import {
  type Client,
  type ClientOptions,
  type CollectionReport,
  forget,
  isAccountingError,
  refresh,
  type SyncReport,
  type SyncTarget,
  sync,
  verify,
} from 'accounting-data-sdk';
import { moneySchema, productSchema } from 'accounting-data-sdk/schemas';
import { createSandbox, type SandboxOptions } from 'accounting-data-sdk/testing';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { caught } from '../../support/caught.ts';
import { loggerOfWarnings } from '../../support/warnings.ts';
import { batch, type Copy, copied, localIds, openSqlite, openTarget, write } from './engines.ts';
import {
  clientOf,
  collections,
  fromTemplate,
  refreshed,
  reportOf,
  run,
  statusOf,
  storedRow,
  synced,
  upstream,
  verified,
} from './set-up.ts';

const ALL_CANDIDATES = { mode: 'full', maxCandidates: Number.POSITIVE_INFINITY } as const;

/** The schema of a field that it leaves out. */
const stripped = z
  .unknown()
  .optional()
  .transform(() => undefined);

describe('a copy', () => {
  const item = z.object({ id: z.string(), name: z.string(), isSaleItem: z.boolean(), remark: stripped });
  test.each<[string, object, object, object]>([
    [
      'all of an invalid record without a schema of the caller',
      {},
      expect.objectContaining({ id: '1', isSaleItem: 'yes', remark: 'private' }),
      expect.objectContaining({ remark: 'private' }),
    ],
    [
      'the fields that a Zod object names',
      { products: item },
      { id: '1', name: 'Odd', isSaleItem: 'yes' },
      { id: '2', name: 'Right', isSaleItem: true },
    ],
    [
      'of an invalid record the id, with another schema',
      { products: item.transform((record) => record) },
      { id: '1' },
      { id: '2', name: 'Right', isSaleItem: true },
    ],
  ])('keeps %s, and counts it, unless validation is throw', async (_, schemas, invalid, valid) => {
    const [sandbox, copy] = [createSandbox({ records: { products: 0 } }), openSqlite()];
    for (const [name, isSaleItem] of [
      ['Odd', 'yes'],
      ['Right', true],
    ])
      sandbox.store.products.insert({ name, isSaleItem, remark: 'private' } as never);
    const read = async (options: object = {}, clientOptions: ClientOptions = {}) => {
      const own = { collections: ['products'], ...options };
      return reportOf(await run(sandbox, copy, own, { schemas, ...clientOptions }), 'products');
    };
    expect(await caught(read({}, { validation: 'throw' }))).toMatchObject({ code: 'sync_failed' });
    expect(await read()).toMatchObject({ status: 'done', records: 1, invalid: 1, added: 2 });
    expect(await storedRow(copy, '1')).toEqual({ body: invalid, invalid: true });
    expect(await storedRow(copy, '2')).toEqual({ body: valid, invalid: false });
    expect(await statusOf(copy, 'products')).toMatchObject({ records: 2, invalid: 1 });

    // Corrected, it is no longer invalid, and a full read does not take it for deleted.
    expect(await read({ mode: 'full' })).toMatchObject({ unchanged: 2, deletions: { candidates: 0 } });
    sandbox.store.products.update('1', { isSaleItem: true });
    await read();
    expect(await statusOf(copy, 'products')).toMatchObject({ invalid: 0 });
  });

  test('corrects whether a record is invalid after the schema has changed, in a full sync and in a refresh', async () => {
    const { sandbox, copy } = await synced({ records: { accounts: 0, products: 0 } });
    sandbox.store.products.insert({ name: 'Oak' });
    const schemas = (length: number) => ({
      products: z.object({ id: z.string(), name: z.string().min(length) }),
    });
    for (const length of [5, 2, 5]) {
      await run(sandbox, copy, { mode: 'full' }, { schemas: schemas(length) });
      expect(await storedRow(copy, '1')).toMatchObject({ body: { name: 'Oak' }, invalid: length > 3 });
    }
    const { products } = clientOf(sandbox, { schemas: schemas(2) });
    const once = () => refresh(products, { tenant: 'acme', target: copy.target, ids: ['1'] });
    expect([await once(), await once()]).toMatchObject([{ changed: 1 }, { unchanged: 1 }]);
    expect(await storedRow(copy, '1')).toMatchObject({ body: { name: 'Oak' }, invalid: false });
  });

  test('is not opened in tables of another shape', async () => {
    const copy = openSqlite();
    await (await openTarget(copy.target)).close?.();
    await copy.query(`DROP TABLE ${copy.tables}record`);
    await copy.query(`CREATE TABLE ${copy.tables}record (id text)`);
    const error = await caught(openTarget(copy.target));
    expect(error).toMatchObject({ code: 'invalid_input', argument: 'target' });
  });

  test.each([Number.NaN, 7n, new Map([['a', 1]]), [undefined]])(
    'has nothing of a batch in which a schema returns what JSON would lose: %s',
    async (value) => {
      const [sandbox, copy] = [createSandbox({ records: { products: 2 } }), openSqlite()];
      const transform = ({ id }: { id: string }) => ({ id, value: id === '1' ? value : 1 });
      const schemas = { products: z.object({ id: z.string() }).transform(transform) };
      const error = await caught(run(sandbox, copy, { collections: ['products'] }, { schemas }));
      expect(isAccountingError(error, 'sync_failed') && error.errors[0]?.error).toMatchObject({
        code: 'invalid_input',
        argument: 'schemas',
        message: expect.stringContaining('record "1" of products'),
      });
      expect(await copied(copy)).toEqual([]);
    },
  );

  test('has the last of two records with one id, and counts it once', async () => {
    const copy = openSqlite();
    const opened = await openTarget(copy.target);
    const twice = batch(['old', 'new'].map((name) => ({ id: '1', name })));
    expect(await opened.onBatch(twice)).toMatchObject({ added: 1, changed: 0, unchanged: 0 });
    await opened.close?.();
    expect(await storedRow(copy, '1')).toMatchObject({ body: { name: 'new' } });
  });
});

test('a sync that wrote nothing leaves nothing in the database of a tenant', async () => {
  const [sandbox, copy] = [createSandbox({ records: { accounts: 3 } }), openSqlite()];
  const left = () => copy.query(`SELECT tenant FROM ${copy.tables}checkpoint`);
  const wrong = run(sandbox, copy, { tenant: 'bolt' }, { apiKey: 'wrong' });
  expect(await caught(wrong)).toMatchObject({ code: 'sync_failed' });
  expect(await left()).toEqual([]);
  await run(sandbox, copy);
  await caught(run(sandbox, copy, { tenant: 'bolt' }, { apiKey: 'wrong' }));
  expect(new Set((await left()).map(({ tenant }) => tenant))).toEqual(new Set(['acme']));
});

test('a sync that wrote nothing takes the copy from no other that has written meanwhile', async () => {
  const copy = openSqlite();
  const first = await openTarget(copy.unlocked());
  const second = await openTarget(copy.unlocked());
  await first.onBatch(batch([{ id: '1' }]));
  await second.close?.();
  await first.onBatch(batch([{ id: '2' }]));
  await first.close?.();
  expect(await copied(copy)).toHaveLength(2);
});

test('a sync that was opened during another one writes nothing once that one has gone on', async () => {
  const copy = openSqlite();
  const first = await openTarget(copy.unlocked());
  await first.onBatch(batch([{ id: '1' }]));
  const second = await openTarget(copy.unlocked());
  await first.onBatch(batch([{ id: '2' }]));
  const late = caught(Promise.resolve(second.onBatch(batch([{ id: '3' }]))));
  expect(await late).toMatchObject({ code: 'concurrent_run' });
  await second.close?.();
  await first.onBatch(batch([{ id: '4' }]));
  await first.close?.();
  expect(await localIds(copy)).toEqual(['1', '2', '4']);
});

test('a view shows the first 1,500 fields of a collection, 30 of them with an index, and body has all', async () => {
  const copy = openSqlite();
  const names = Array.from({ length: 1_600 }, (_, at) => (at < 40 ? `f${at}Id` : `f${at}`));
  await write(copy, batch([{ id: '1', ...Object.fromEntries(names.map((name) => [name, 'x'])) }]));
  const [row] = await copy.query(`SELECT * FROM ${copy.views}accounts`);
  expect(Object.keys(row ?? {})).toHaveLength(1_503);
  const indexes = await copy.query(`SELECT name FROM sqlite_master WHERE type = 'index' AND name LIKE '%Id'`);
  expect(await copy.query(`SELECT count(*) AS n FROM ${copy.tables}field`)).toEqual([{ n: 1_500 }]);
  expect(indexes).toHaveLength(30);
  expect(Object.keys((await storedRow(copy, '1')).body)).toHaveLength(1_601);
});

test('fields that differ in the case of letters have a column each, and no warning', async () => {
  const [sandbox, copy] = [createSandbox(), openSqlite()];
  sandbox.store.accounts.insert({ vendorId: 'a', VendorId: 'b' } as never);
  const { logger, warnings } = loggerOfWarnings();
  await run(sandbox, copy, {}, { logger });
  const rows = await copy.query(`SELECT "vendorId", "VendorId_2" FROM ${copy.views}accounts`);
  expect([rows.map((row) => ({ ...row })), warnings]).toEqual([[{ vendorId: 'a', VendorId_2: 'b' }], []]);
});

describe('the deletions of a copy', () => {
  test('are found in what runs read that were paused, were interrupted, or lost their state', async () => {
    const [sandbox, copy] = [
      createSandbox({ records: { accounts: 50, products: 100 }, pageSize: 10 }),
      openSqlite(),
    ];
    const { accounts } = sandbox.store;
    const stopAfter = { requests: 16 };
    const first = await run(sandbox, copy, { concurrency: 1, stopAfter });
    expect(first.collections).toMatchObject([{ status: 'done' }, { status: 'paused' }]);
    accounts.delete('6');
    let runs = 0;
    for (let paused = true; paused; ) {
      ({ paused } = await run(sandbox, copy, { mode: 'full', stopAfter }));
      expect(++runs).toBeLessThan(20);
    }
    expect(await copied(copy)).toEqual(upstream(sandbox));

    accounts.delete('1');
    accounts.insert({ id: '6', name: 'Back' });
    const stop = new AbortController();
    const onProgress = ({ pages }: { pages: number }) => pages === 2 && stop.abort(new Error('stop'));
    const own = { collections: ['accounts'] };
    await caught(run(sandbox, copy, { ...own, mode: 'full', signal: stop.signal, onProgress }));
    // An incremental run ends what the full one began, and counts the records from before it.
    expect(reportOf(await run(sandbox, copy, own), 'accounts')).toMatchObject({
      resumed: true,
      deleted: 1,
      deletions: { local: 49 },
    });

    // The marks of a read stay when its state is deleted.
    await copy.query(`DELETE FROM ${copy.tables}checkpoint WHERE key NOT LIKE 'company:%'`);
    accounts.delete('7');
    expect(reportOf(await run(sandbox, copy, { mode: 'full' }), 'accounts')).toMatchObject({ deleted: 1 });
    expect(await copied(copy)).toEqual(upstream(sandbox));
  });

  test('are counted to the end of more than 10,000 records', async () => {
    const { sandbox, copy } = await synced({ records: { accounts: 3, products: 0 } });
    await copy.query(`WITH RECURSIVE n (id) AS (SELECT 100 UNION ALL SELECT id + 1 FROM n WHERE id < 10299)
      INSERT INTO ${copy.tables}record SELECT tenant, collection, n.id, body, invalid, unreadable_date, synced_at
      FROM n, ${copy.tables}record AS r WHERE r.id = '1'`);
    const error = await caught(run(sandbox, copy, { mode: 'full', collections: ['accounts'] }));
    expect(`${error}`).toContain('10200 of 10203 local records were not found');
    expect(await localIds(copy)).toHaveLength(10_203);
  });

  test('of a collection whose records are all gone are aborted, and forget and another sync empty it', async () => {
    const { sandbox, copy } = await synced({ records: { accounts: 3, products: 3 } });
    // The marks of this read prove nothing later.
    await run(sandbox, copy, { mode: 'full' });
    for (const { id } of sandbox.store.products.all()) sandbox.store.products.delete(id);
    const error = await caught(run(sandbox, copy, ALL_CANDIDATES));
    expect(isAccountingError(error, 'sync_failed') && error.errors[0]?.error).toMatchObject({
      code: 'deletions_aborted',
      reason: 'empty_read',
      hint: expect.stringContaining('with forget, and sync again'),
    });
    expect(await copied(copy)).toHaveLength(6);
    await forget({ tenant: 'acme', target: copy.target });
    await run(sandbox, copy);
    expect(await copied(copy)).toEqual(upstream(sandbox));
  });

  test.each([
    ['numeric', 30, 0, 404],
    ['uuid', 25, 60, 404],
    ['uuid', 25, 0, 503],
  ] as const)(
    'are looked up by full syncs of %s ids that keep to %i requests, %i of them forbidden, each third with a %i first, and end',
    async (form, requests, forbidden, first) => {
      const records = { accounts: 110, products: 1 };
      const { sandbox, copy } = await synced({ records, pageSize: 20, ids: { form } });
      const { accounts } = sandbox.store;
      for (const [n, id] of accounts.ids().slice(0, 70).entries()) {
        accounts.delete(id);
        const path = RegExp(`/${id}$`);
        if (n < forbidden) {
          sandbox.faults.add({ kind: 'status', status: 403, type: 'forbidden' }, { path, times: 99 });
        }
        if (n % 3 === 0 && first !== 404) {
          sandbox.faults.add({ kind: 'status', status: first }, { path, times: 1 });
        }
      }
      const sent: number[] = [];
      const options = { ...ALL_CANDIDATES, collections: ['accounts'], stopAfter: { requests } };
      const left = async () =>
        (await copy.query(`SELECT id FROM ${copy.tables}record WHERE collection = 'accounts'`)).length;
      let report: SyncReport;
      do {
        sandbox.clearLogs();
        report = await run(sandbox, copy, options, { retry: { baseDelayMs: 0 } });
        sent.push(sandbox.count());
      } while ((await left()) > 40 + forbidden && sent.length < 100);
      // By page the list itself cannot be paused.
      expect(Math.max(...sent.slice(form === 'uuid' ? 1 : 0))).toBeLessThanOrEqual(requests);
      expect(await left()).toBe(40 + forbidden);
      // A handful of runs, unless most of what they request is forbidden.
      expect(sent.length).toBeLessThanOrEqual(forbidden === 0 ? 10 : 60);
      // What a run leaves is left to the next full read.
      for (let runs = 0; report.paused; runs += 1) {
        expect(runs).toBeLessThan(3);
        report = await run(sandbox, copy, options, { retry: { baseDelayMs: 0 } });
      }
      expect(reportOf(report, 'accounts')).toMatchObject({
        status: 'done',
        deletions: { skipped: forbidden > requests ? 'paused' : undefined },
      });
    },
  );
});

describe('the views of a copy', () => {
  test('have the columns that are documented even without a record, and the type of the first Zod schema that names a field', async () => {
    const [sandbox, copy] = [createSandbox({ records: 0 }), openSqlite()];
    const { logger, warnings } = loggerOfWarnings();
    const read = (balance: z.ZodType) => {
      const accounts = z.looseObject({ id: z.string(), balance: balance.nullish() });
      const options = { schemas: { accounts }, logger, validation: 'report' } as const;
      return run(sandbox, copy, { mode: 'full' }, options);
    };
    for (const balance of ['12.50', '5.00']) sandbox.store.accounts.insert({ balance } as never);
    const types = `SELECT DISTINCT typeof(balance) AS type FROM ${copy.views}accounts`;
    await run(sandbox, copy);
    expect(await copy.query(types)).toEqual([{ type: 'text' }]);
    await read(moneySchema);
    expect(await copy.query(types)).toEqual([{ type: 'real' }]);
    const sum = `SELECT sum(balance) AS balance FROM ${copy.views}accounts`;
    expect(await copy.query(sum)).toEqual([{ balance: 17.5 }]);
    const documented = `SELECT name, "salePrice", "isSaleItem", tags, "updatedAt", synced_at FROM ${copy.views}products`;
    expect(await copy.query(documented)).toEqual([]);

    await read(z.boolean());
    expect(warnings.filter((text) => text.includes('balance of accounts is boolean'))).toHaveLength(1);
    expect(await copy.query(sum)).toEqual([{ balance: 17.5 }]);
  });

  test('give a column the documented type, unless the schema contradicts it, or that of the schema', async () => {
    const copy = openSqlite();
    const kinds: readonly (readonly [name: string, schema: z.ZodType, kind: string])[] = [
      ['salePrice', z.string().nullish(), 'money'],
      ['saleRrpPrice', z.boolean().nullish(), 'boolean'],
      ['active', z.boolean().optional(), 'boolean'],
      ['rank', z.number().int().nullable().default(0), 'integer'],
      ['soldAt', z.iso.datetime().optional(), 'timestamp'],
      ['stock', z.preprocess((value) => value ?? 7, z.number()), 'number'],
      // Local times are text.
      ['seenAt', z.iso.datetime({ local: true }).default('2026-01-31T12:00'), 'string'],
    ];
    const fields = Object.fromEntries(kinds.map(([name, schema]) => [name, schema]));
    const schemas = { products: productSchema.extend(fields) } as ClientOptions['schemas'];
    await run(createSandbox({ records: 0 }), copy, {}, { schemas });
    const sql = `SELECT name, kind FROM ${copy.tables}field WHERE collection = 'products'`;
    const found = (await copy.query(sql)).map((row) => [row.name, row.kind]);
    expect(Object.fromEntries(found)).toMatchObject(
      Object.fromEntries(kinds.map(([name, , kind]) => [name, kind])),
    );
  });

  test('show no date that is no moment: sync_status counts its record, and each sync warns of one', async () => {
    const { logger, warnings } = loggerOfWarnings();
    const options = { records: { accounts: 30, products: 3 }, pageSize: 10, timestampsEverywhere: true };
    const [sandbox, copy] = [createSandbox(options), openSqlite()];
    const body = (text: string) =>
      text.replaceAll(/("id":"(?:[2-5]|25)",.*?"updatedAt":")([^"T]*)T([^"]*?)(?:\.\d+)?Z"/g, '$1$2 $3"');
    sandbox.faults.add({ kind: 'rewrite', body }, { collection: 'accounts' });
    const unreadable = async (name?: string) => (await statusOf(copy, name)).unreadable_dates;
    await run(sandbox, copy, {}, { logger });
    expect([await unreadable(), await unreadable('products')]).toEqual([5, 0]);
    const dates = () => warnings.filter((text) => text.includes('is no moment'));
    const text =
      /updatedAt of accounts is no moment in some records, such as "\S+ [\d:]+": .*unreadable_dates/;
    expect(dates()).toEqual([expect.stringMatching(text)]);
    sandbox.faults.clear();
    await run(sandbox, copy, { mode: 'full' }, { logger });
    expect([await unreadable(), dates().length]).toEqual([0, 1]);
  });
});

describe('sync_status of a copy', () => {
  test('does not take the place of a view of the user', async () => {
    const copy = openSqlite();
    await copy.query('CREATE VIEW sync_status AS SELECT 1 AS mine');
    const error = await caught(openTarget(copy.target));
    expect(error).toMatchObject({ code: 'invalid_input', argument: 'target' });
    expect(`${error}`).toContain('sync_status is a view that was not created for accounting_record');
    expect(await copy.query('SELECT mine FROM sync_status')).toEqual([{ mine: 1 }]);
  });

  test('has an error even if what was thrown says nothing', async () => {
    const copy = openSqlite();
    const opened = await openTarget(copy.target);
    await opened.onBatch(batch([{ id: '1' }]));
    const report = { collection: 'accounts', status: 'failed' } as CollectionReport;
    await opened.onEnd?.([{ report, endedAt: new Date(), error: {} }]);
    await opened.close?.();
    expect(await statusOf(copy)).toMatchObject({ last_error: 'unknown', finished_at: null });
  });

  test('keeps the error of a collection that a later run does not reach, and does not count a paused one as finished', async () => {
    const records = { accounts: 5, products: 60, bankFeedAccounts: 5 };
    const [sandbox, copy] = [createSandbox({ records, pageSize: 10 }), openSqlite()];
    const all = { collections: Object.keys(records), concurrency: 1 };
    sandbox.faults.add({ kind: 'status', status: 500 }, { path: /products|bank/ });
    const failing = run(sandbox, copy, { ...all, maxOutageMs: 0 }, { retry: false });
    expect(await caught(failing)).toMatchObject({ code: 'sync_failed' });
    sandbox.faults.clear();
    const paused = await run(sandbox, copy, { ...all, mode: 'full', stopAfter: { requests: 6 } });
    expect(paused.collections.map(({ status }) => status)).toEqual(['done', 'paused', 'not_begun']);
    expect(reportOf(paused, 'products')).toMatchObject({ deletions: { skipped: 'paused' } });
    const none = { last_error: null, finished_at: null, deletions_checked_at: null };
    expect(await statusOf(copy, 'products')).toMatchObject(none);
    expect(await statusOf(copy, 'bankFeedAccounts')).toMatchObject({
      last_error: expect.stringContaining('500'),
    });
  });

  test('and verify leave out what the key may not read, until the copy has it', async () => {
    const [sandbox, copy] = [createSandbox({ records: { accounts: 3, products: 3 } }), openSqlite()];
    const productsOnly = { apiKey: sandbox.keys.productsOnly };
    await run(sandbox, copy, {}, productsOnly);
    const statuses = () => copy.query(`SELECT collection, last_error FROM ${copy.views}sync_status`);
    expect(await statuses()).toEqual([{ collection: 'products', last_error: null }]);
    const check = (options: ClientOptions) =>
      verify(clientOf(sandbox, options), { tenant: 'acme', target: copy.target, collections });
    expect(await check(productsOnly)).toMatchObject({ equal: true, forbidden: ['accounts'] });
    expect(await check({})).toMatchObject({ equal: false, forbidden: [] });
    const ofNothing = { tenant: 'acme', target: copy.target, collections: ['accounts'] } as const;
    const nothing = verify(clientOf(sandbox, productsOnly), ofNothing);
    expect(await caught(nothing)).toMatchObject({ code: 'scope_required' });

    const sameCompany = { sameCompany: true };
    await run(sandbox, copy, sameCompany);
    const error = await caught(run(sandbox, copy, sameCompany, productsOnly));
    expect(error).toMatchObject({ code: 'sync_failed' });
    expect((await statusOf(copy)).last_error).toEqual(expect.any(String));
    expect(await caught(check(productsOnly))).toMatchObject({ code: 'scope_required' });
  });
});

describe('verify of a copy', () => {
  const options = ({ target }: Copy) => ({ tenant: 'acme', target, collections: ['accounts'] as const });

  /** A copy of accounts whose last sync began an hour after they were written. */
  async function settled(service: SandboxOptions = {}) {
    const { sandbox, copy } = await synced({
      records: { accounts: 30, products: 0 },
      pageSize: 10,
      ...service,
    });
    const { accounts } = sandbox.store;
    sandbox.clock.advance(3_600_000);
    await run(sandbox, copy);
    return { sandbox, copy, accounts };
  }

  /** Makes the copy of a record wrong. */
  const spoil = (copy: Copy, id: string) =>
    copy.query(`UPDATE ${copy.tables}record SET body = '{"id":"${id}"}' WHERE id = '${id}'`);

  test('names what is missing, different and extra, not what changed since the last sync, and writes nothing', async () => {
    const { sandbox, copy, accounts } = await settled();
    const { products } = sandbox.store;
    // Invalid, now and after a change.
    for (const id of ['1', '2']) products.insert({ id, name: 5 } as never);
    await run(sandbox, copy);
    sandbox.clock.advance(3_600_000);
    await run(sandbox, copy);
    expect(await verified(sandbox, copy)).toMatchObject({ equal: true });
    accounts.update('4', { name: 'Later' });
    products.update('2', { name: 6 } as never);
    const { id } = accounts.insert({ name: 'New' });
    const changedSince = expect.arrayContaining(['4', id]);
    expect(await verified(sandbox, copy)).toMatchObject({
      equal: true,
      collections: [{ changedSince }, { changedSince: ['2'] }],
    });
    await copy.query(`DELETE FROM ${copy.tables}record WHERE collection = 'accounts' AND id = '5'`);
    await spoil(copy, '6');
    accounts.delete('7');
    const before = await copied(copy);
    expect(await verified(sandbox, copy)).toMatchObject({
      equal: false,
      collections: [
        { collection: 'accounts', records: 30, missing: ['5'], different: ['6'], extra: ['7'], changedSince },
        { collection: 'products', missing: [], different: [], extra: [] },
      ],
    });
    expect(await copied(copy)).toEqual(before);
    // A full sync repairs what is wrong.
    await run(sandbox, copy, { mode: 'full' });
    expect(await verified(sandbox, copy)).toMatchObject({ equal: true });
  });

  test('knows what changed since the last sync by its prefix, less the lookback', async () => {
    const { sandbox, copy } = await synced({ records: { accounts: 3, products: 0 } });
    const prefix = 'books';
    await run(sandbox, copy, { prefix });
    sandbox.clock.advance(3_600_000);
    sandbox.store.accounts.update('2', { name: 'Earlier' });
    sandbox.clock.advance(10_000);
    await run(sandbox, copy, { prefix });
    await spoil(copy, '2');
    const check = async (more: object) =>
      (await verify(clientOf(sandbox), { ...options(copy), ...more })).collections;
    expect(await check({ prefix })).toMatchObject([{ different: [], changedSince: ['2'] }]);
    expect(await check({ prefix, lookbackMs: 0 })).toMatchObject([{ different: ['2'], changedSince: [] }]);
  });

  test.each<[string, SandboxOptions, ClientOptions, true | 'likely', 'certain' | 'likely' | undefined]>([
    ['integers by page', {}, { pagination: 'page' }, 'likely', 'likely'],
    ['integers in one response', { paginated: false }, { pagination: 'none' }, true, 'certain'],
    ['UUIDs on one page', { ids: { form: 'uuid' }, pageSize: 100 }, {}, 'likely', undefined],
  ])('proves that it is equal only if the read was certain: %s', async (_, service, how, equal, complete) => {
    const [sandbox, copy] = [
      createSandbox({ records: { accounts: 35 }, pageSize: 10, ...service }),
      openSqlite(),
    ];
    const client = clientOf(sandbox, how);
    await sync(client, options(copy));
    const collections = [{ collection: 'accounts', records: 35, complete, extra: [], unconfirmed: [] }];
    const report = await verify(client, options(copy));
    expect(report).toMatchObject({ tenant: 'acme', equal, forbidden: [], collections });
    expect(report.endedAt.getTime()).toBeGreaterThanOrEqual(report.startedAt.getTime());
  });

  test('names no record as extra that exists, although deletions hid it', async () => {
    const { sandbox, copy, accounts } = await settled();
    await spoil(copy, '22');
    const stop = sandbox.onRequest(({ query }) => {
      if (query._page !== '2') return;
      stop();
      for (const id of ['1', '2']) accounts.delete(id);
    });
    // One of those that are hidden is compared.
    const report = await verify(clientOf(sandbox, { pagination: 'page' }), options(copy));
    const found = { extra: [], missing: [], different: ['22'] };
    expect(report).toMatchObject({ equal: false, collections: [found] });
  });

  test('requests as many unlisted records at a time as concurrency says', async () => {
    const { sandbox, copy, accounts } = await settled();
    for (const id of ['5', '6', '7', '8']) accounts.delete(id);
    let [open, most] = [0, 0];
    const fetch: typeof globalThis.fetch = async (input, init) => {
      if (!/accounts\/./.test(`${input}`)) return await sandbox.fetch(input, init);
      most = Math.max(most, ++open);
      // All that are sent at a time are by then.
      for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
      open -= 1;
      return await sandbox.fetch(input, init);
    };
    await verify(clientOf(sandbox, { fetch }), { ...options(copy), concurrency: 3 });
    expect(most).toBe(3);
  });

  test('takes an unlisted record for unconfirmed if a request for it shows neither', async () => {
    const { sandbox, copy, accounts } = await settled();
    accounts.delete('7');
    sandbox.faults.add({ kind: 'status', status: 403 }, { path: /accounts\/7$/, probability: 1 });
    const unconfirmed = [{ id: '7' }];
    expect(await verify(clientOf(sandbox), options(copy))).toMatchObject({
      equal: 'likely',
      collections: [{ extra: [], missing: [], complete: 'certain', unconfirmed }],
    });
  });

  test.each([401, 503])(
    'ends with the error of a lookup that concerns the key or the service: %i',
    async (status) => {
      const { sandbox, copy, accounts } = await settled();
      accounts.delete('7');
      const path = /accounts\/7$/;
      sandbox.onRequest((request) => {
        if (path.test(request.path)) sandbox.faults.add({ kind: 'status', status }, { probability: 1 });
      });
      sandbox.faults.add({ kind: 'status', status }, { path, probability: 1 });
      const client = clientOf(sandbox, { retry: false });
      const error = await caught(verify(client, { ...options(copy), maxOutageMs: 0 }));
      expect(error).toMatchObject({ status });
    },
  );
});

test.each([
  ['of one row is a number', (text: string) => text.replaceAll('"id":"5"', '"id":5'), 39],
  ['of every row is empty', (text: string) => text.replaceAll(/"id":"\d+"/g, '"id":""'), 0],
])('a copy is neither complete nor equal if the id %s', async (_, body, kept) => {
  const [sandbox, copy] = [
    createSandbox({ records: { accounts: 40, products: 3 }, pageSize: 10 }),
    openSqlite(),
  ];
  sandbox.faults.add({ kind: 'rewrite', body }, { path: /\/accounts$/, probability: 1 });
  for (const mode of ['incremental', 'full']) {
    const error = { reason: 'unreadable_id' };
    expect(await caught(run(sandbox, copy, { mode }))).toMatchObject({ errors: [{ error }] });
    expect(await copied(copy)).toHaveLength(kept + 3);
    const unknown = { changes_through: null, finished_at: null, deletions_checked_at: null, complete: null };
    expect(await statusOf(copy)).toMatchObject({
      ...unknown,
      last_error: expect.stringContaining('cannot be read'),
    });
  }
  expect(await verified(sandbox, copy)).toMatchObject({ equal: false, collections: [{ records: kept }, {}] });
  sandbox.faults.clear();
  await run(sandbox, copy);
  expect(await verified(sandbox, copy)).toMatchObject({ equal: true });
});

describe('refresh of a copy', () => {
  test('equals a sync of a service with JSON-LD', async () => {
    const service = { formats: 'jsonld', listBody: 'hydra:member' } as const;
    const { sandbox, copy } = await synced({ records: { accounts: 0, products: 3 }, ...service });
    sandbox.store.products.update('1', { name: 'Changed' });
    const { id } = sandbox.store.products.insert({ name: 'New' });
    const ids = ['1', '2', id];
    expect(await refreshed(sandbox, copy, ids)).toMatchObject({ added: 1, changed: 1, unchanged: 1 });
    expect(await verified(sandbox, copy)).toMatchObject({ equal: true });
    expect(await refreshed(sandbox, copy, ids)).toMatchObject({ unchanged: 3 });
  });

  test('writes a record under the id that the service lists', async () => {
    const { sandbox, copy } = await synced({ records: { accounts: 0, products: 1 } });
    sandbox.store.products.insert({ id: '3f-a', name: 'Desk' });
    const fetch: typeof globalThis.fetch = (input, init) =>
      sandbox.fetch(`${input}`.replace(/products\/3f-a/i, 'products/3f-a'), init);
    expect(await refreshed(sandbox, copy, ['3F-A'], { fetch })).toMatchObject({ added: 1 });
    expect(await refreshed(sandbox, copy, ['3F-A'], { fetch })).toMatchObject({ unchanged: 1 });
    await run(sandbox, copy);
    expect(await copied(copy)).toEqual(upstream(sandbox));
    // One that the copy has from the time when the service had it in another case.
    await copy.query(`UPDATE ${copy.tables}record SET id = '3F-a' WHERE id = '3f-a'`);
    const requested: string[] = [];
    const counting: typeof fetch = (input, init) => {
      requested.push(`${input}`.replace(/.*products./, ''));
      return fetch(input, init);
    };
    const again = await refreshed(sandbox, copy, ['3F-a'], { fetch: counting });
    expect(again).toMatchObject({ added: 1, deleted: 1, unchanged: 0 });
    expect(await copied(copy)).toEqual(upstream(sandbox));
    // The record is written before its other row is removed.
    expect(requested.slice(-3)).toEqual(['3F-a', '3f-a', '3F-a']);
    // A service that does not find the id that it writes shows no deletion.
    await copy.query(`UPDATE ${copy.tables}record SET id = '3F-a' WHERE id = '3f-a'`);
    const onlyAs: typeof fetch = (input, init) =>
      `${input}`.endsWith('3f-a') ? sandbox.fetch(`${input}-none`, init) : fetch(input, init);
    expect(await refreshed(sandbox, copy, ['3F-a'], { fetch: onlyAs })).toMatchObject({ deleted: 0 });
  });

  test.each(['2', '2-A'])('writes no other record that the service returns for the id %j', async (id) => {
    const { sandbox, copy } = await synced({ records: { accounts: 0, products: 0 } });
    for (const own of [id, '1']) sandbox.store.products.insert({ id: own, name: own });
    await run(sandbox, copy);
    const before = await copied(copy);
    sandbox.store.products.update('1', { name: 'Changed' });
    const fetch: typeof globalThis.fetch = (input, init) =>
      sandbox.fetch(`${input}`.replace(/products\/[^/?]+/, 'products/1'), init);
    const error = await caught(refreshed(sandbox, copy, [id], { fetch }));
    expect(error).toMatchObject({ code: 'unexpected_response', reason: 'wrong_record', recordId: '1' });
    expect(await copied(copy)).toEqual(before);
  });

  test('is of the collection that its name says', async () => {
    const [sandbox, copy] = [createSandbox({ records: { products: 1 } }), openSqlite()];
    await write(copy, batch([{ id: '1', name: 'Old' }], { collection: 'goods' }));
    const call = { tenant: 'acme', target: copy.target, ids: ['1'], name: 'goods' };
    const report = await refresh(clientOf(sandbox).products, call);
    expect(report).toMatchObject({ collection: 'goods', added: 0, changed: 1 });
  });

  test('fails when another run has written a record each of ten times before it was read again', async () => {
    const { sandbox, copy } = await synced({ records: { accounts: 0, products: 1 } });
    let requests = 0;
    const fetch: typeof globalThis.fetch = async (input, init) => {
      requests += 1;
      await copy.query(`UPDATE ${copy.tables}record SET synced_at = 'run ${requests}'`);
      return await sandbox.fetch(input, init);
    };
    const error = await caught(refreshed(sandbox, copy, ['1'], { fetch }));
    expect(error).toMatchObject({
      code: 'concurrent_run',
      message: expect.stringContaining('"1" of products 10 times'),
    });
    expect(requests).toBe(10);
  });

  test('removes a deleted record even if the first others of the copy were deleted too', async () => {
    const { sandbox, copy } = await synced({ records: { accounts: 0, products: 120 } });
    const ids = sandbox.store.products.ids();
    for (const id of ['55', ...ids.toSorted().slice(0, 12)]) sandbox.store.products.delete(id);
    expect(await refreshed(sandbox, copy, ['55'])).toMatchObject({ deleted: 1 });
  });

  test('removes a deleted record if the other records of the copy are in the same call', async () => {
    const { sandbox, copy } = await synced({ records: { accounts: 0, products: 3 } });
    sandbox.store.products.delete('1');
    const report = await refreshed(sandbox, copy, ['2', '3', '1']);
    expect(report).toMatchObject({ deleted: 1, unchanged: 2 });
  });

  test('removes nothing if no record of the copy is found', async () => {
    const { sandbox, copy } = await synced({ records: { accounts: 0, products: 3 } });
    for (const id of sandbox.store.products.ids()) sandbox.store.products.delete(id);
    const error = await caught(refreshed(sandbox, copy, ['1']));
    expect(error).toMatchObject({ code: 'deletions_aborted' });
    expect(await copied(copy)).toHaveLength(3);
    // A record that the copy does not have shows nothing of those that it has.
    const { id } = sandbox.store.products.insert({ name: 'New' });
    const beside = await caught(refreshed(sandbox, copy, [id, '1']));
    expect(beside).toMatchObject({ code: 'deletions_aborted', reason: 'first_record_not_found' });
    expect(await copied(copy)).toHaveLength(4);
  });

  test('and forget do not take an unknown tenant for a success', async () => {
    const { sandbox, copy } = await synced({ records: { accounts: 5, products: 5 } });
    // Neither the case of letters nor a wildcard of LIKE makes it another tenant.
    const unknown = { tenant: 'AC_E', target: copy.target };
    expect(await forget(unknown)).toBe(false);
    const error = await caught(refresh(clientOf(sandbox).products, { ...unknown, ids: ['1'] }));
    expect(error).toMatchObject({ code: 'invalid_input', argument: 'tenant' });
    expect(await copied(copy, 'AC_E')).toEqual([]);
    expect(await copied(copy)).toEqual(upstream(sandbox));
    expect(await forget({ ...unknown, tenant: 'acme' })).toBe(true);
  });
});

test('a row of a copy that was removed or forgotten meanwhile is not written back', async () => {
  const copy = openSqlite();
  const row = { body: { id: '1', name: 'Late' }, invalid: false };
  const opened = await openTarget(copy.target);
  await opened.onBatch(batch([{ id: '1', name: 'First' }]));
  const [before] = (await opened.rows?.('accounts', ['1'])) ?? [];
  await copy.query(`DELETE FROM ${copy.tables}record`);
  expect(await opened.replace?.('accounts', '1', row, before?.version)).toBe(false);
  const refreshing = await openTarget(copy.target, 'acme', { purpose: 'refresh' });
  await copy.query(`DELETE FROM ${copy.tables}checkpoint`);
  const remembered = caught(Promise.resolve(refreshing.company?.set('key')));
  expect(await remembered).toMatchObject({ code: 'concurrent_run' });
  await refreshing.close?.();
  expect(await opened.replace?.('accounts', '1', row, undefined)).toBe(false);
  expect(await copied(copy)).toEqual([]);
  await opened.close?.();
});

describe('the guard of a copy', () => {
  const company = (copy: Copy) =>
    copy.query(`SELECT value FROM ${copy.tables}checkpoint WHERE key = 'company:acme'`);

  test.each([
    ['whose records have the same ids and were created at another time', 0],
    ['of whose records only one was created at the same moment', 1],
  ])(
    'rejects the key of a company %s, before anything is read, written or remembered',
    async (_, isEqual) => {
      const { sandbox, copy, options, clientWith } = await fromTemplate(openSqlite());
      const { products } = sandbox.otherStore;
      for (const record of sandbox.store.products.all().slice(0, isEqual)) {
        products.delete(record.id);
        products.insert({ ...record });
      }
      const bolt = clientWith(sandbox.keys.otherCompany);
      const before = [await copied(copy), await company(copy)];
      sandbox.clearLogs();
      for (const call of [
        () => sync(bolt, { ...options, mode: 'full' }),
        () => sync(bolt, { ...options, collections: ['accounts'] }),
        () => refresh(bolt.products, { tenant: 'acme', target: copy.target, ids: ['1'] }),
        () => verify(bolt, options),
      ]) {
        const error = await caught(call());
        expect(error).toMatchObject({ code: 'invalid_input', argument: 'tenant' });
        expect(`${error}`).toMatch(/acme was written with another API key.*Nothing was written\./);
        expect(`${error}`).toMatch(/products \d+ was created at another time/);
      }
      expect(sandbox.count(({ path }) => !/products\/\d+$/.test(path))).toBe(0);
      expect([await copied(copy), await company(copy)]).toEqual(before);
      expect((await statusOf(copy)).last_error).toContain('acme');
      // Not even by a verify that accepts it.
      await verify(bolt, { ...options, sameCompany: true });
      expect(await company(copy)).toEqual(before[1]);
      await sync(bolt, { ...options, ...ALL_CANDIDATES, sameCompany: true });
      // Once is enough.
      expect(await sync(bolt, options)).toMatchObject({ paused: false });
      expect(await copied(copy)).toEqual(upstream({ store: sandbox.otherStore }));
      expect((await statusOf(copy)).last_error).toBe(null);
    },
  );

  test('admits a key to refresh with sameCompany, and remembers it', async () => {
    const { sandbox, copy } = await synced({ records: { accounts: 0, products: 20 } });
    sandbox.otherStore.products.insert({ id: '9', name: 'Other' });
    const { products } = clientOf(sandbox, { apiKey: sandbox.keys.otherCompany });
    const call = { tenant: 'acme', target: copy.target, ids: ['9'] };
    expect(await refresh(products, { ...call, sameCompany: true })).toMatchObject({ changed: 1 });
    expect(await refresh(products, call)).toMatchObject({ unchanged: 1 });
  });

  test.each<[string, { gone?: readonly string[]; update?: Record<string, unknown>; forgetKey?: true }]>([
    ['all known products but one were deleted', { gone: ['1', '10', '11', '12'] }],
    ['every product has another price and number', { update: { salePrice: '9.0000', productNumber: 'new' } }],
    ['the copy has no digest', { forgetKey: true }],
  ])('admits a rotated key although %s', async (_, { gone = [], update = {}, forgetKey }) => {
    const { sandbox, copy, options, clientWith } = await fromTemplate(openSqlite());
    const { products } = sandbox.store;
    for (const id of gone) products.delete(id);
    for (const id of products.ids()) products.update(id, update);
    if (forgetKey) await copy.query(`DELETE FROM ${copy.tables}checkpoint WHERE key = 'company:acme'`);
    const rotated = clientWith(sandbox.issueKey());
    const lookUps = () => sandbox.count(({ path }) => /products\/\d+$/.test(path));
    sandbox.clearLogs();
    await sync(rotated, { ...options, mode: 'full' });
    expect(lookUps() > 0).toBe(forgetKey !== true);
    expect(await copied(copy)).toEqual(upstream(sandbox));
    sandbox.clearLogs();
    await sync(rotated, options);
    expect(lookUps()).toBe(0);
    const [row] = await company(copy);
    expect((JSON.parse(`${row?.value}`) as { keys: string[] }).keys).toHaveLength(forgetKey ? 1 : 2);
    expect(`${row?.value}`).not.toContain(sandbox.keys.full);
  });

  test('does not accept equal records without a timestamp as proof, but any key for a copy without records', async () => {
    const sandbox = createSandbox({ records: { accounts: 20, products: 20 } });
    const schemas = { accounts: z.object({ id: z.string() }) };
    const copy = openSqlite();
    const options = { tenant: 'acme', target: copy.target, collections: ['accounts'] } as const;
    const syncAs = (apiKey: string) => sync(clientOf(sandbox, { apiKey, schemas }), options);
    await syncAs(sandbox.keys.full);
    expect(await caught(syncAs(sandbox.keys.otherCompany))).toMatchObject({ argument: 'tenant' });
    await forget({ tenant: 'acme', target: copy.target });
    await syncAs(sandbox.keys.otherCompany);
  });

  test('of which a new key gets 401 pages only says that the key was rejected', async () => {
    const { sandbox, copy } = await synced({ records: { accounts: 3, products: 3 } });
    const fetch = async () =>
      new Response('<h1>Sign in</h1>', { status: 401, headers: { 'content-type': 'text/html' } });
    const error = await caught(run(sandbox, copy, {}, { apiKey: 'a-new-key-0123456789', fetch }));
    expect(error).toMatchObject({ code: 'sync_failed', cause: { code: 'unauthenticated' } });
  });
});

type Work = (
  client: Client,
  options: { tenant: string; target: SyncTarget; signal: AbortSignal },
) => Promise<unknown>;

test.each<[string, string, RegExp, Work]>([
  ['sync', 'at a batch', /^BEGIN/, (client, options) => sync(client, { ...options, collections })],
  ['forget', 'as it removes', /^DELETE FROM/, (_, options) => forget(options)],
])(
  'an outage of a database that outlasts the signal of a %s, %s, rejects with its reason',
  async (_, __, failing, work) => {
    const { sandbox, copy } = await synced({ records: { accounts: 3, products: 3 } });
    const controller = new AbortController();
    const reason = new Error('stopped');
    const target = copy.through((sql) => {
      if (!failing.test(sql.trim())) return;
      setTimeout(() => controller.abort(reason));
      throw Object.assign(new Error('The database failed'), copy.away);
    });
    const { signal } = controller;
    expect(await caught(work(clientOf(sandbox), { tenant: 'acme', target, signal }))).toBe(reason);
  },
);
