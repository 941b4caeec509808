// No statement of a database decides these behaviours, so they are tested in SQLite alone.

import {
  type Client,
  type ClientOptions,
  type CollectionEnd,
  forget,
  isAccountingError,
  memoryStore,
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
import { type Copy, copied, openSqlite } from './engines.ts';
import {
  clientOf,
  collections,
  fromTemplate,
  parsed,
  refreshed,
  reportOf,
  run,
  statusOf,
  storedRow,
  stripped,
  upstream,
  utc,
  verified,
} from './set-up.ts';

/** A copy after a first sync. */
async function synced(options: SandboxOptions) {
  const [sandbox, copy] = [createSandbox(options), openSqlite()];
  await run(sandbox, copy);
  return { sandbox, copy };
}

describe('a copy', () => {
  const odd = { name: 'Odd', isSaleItem: 'yes', salePrice: '5', remark: 'private', secret: 'x' };

  test.each<[string, 'accounts' | 'products', z.ZodType<{ id: string }>, RegExp]>([
    ['removes', 'accounts', z.object({ id: z.string(), code: z.string().optional() }), /^(id|code)$/],
    ['removes', 'products', z.object({ id: z.string(), name: z.string() }), /^(id|name)$/],
    [
      'returns undefined for',
      'products',
      productSchema.extend({ description: stripped, absent: stripped }),
      /^(?!description$|absent$)/,
    ],
  ])('does not hold a field that a schema of the client %s (%#)', async (_, name, schema, kept) => {
    const sandbox = createSandbox({ records: { [name]: 5 } });
    const copy = openSqlite();
    await run(sandbox, copy, { collections: [name] }, { schemas: { [name]: schema } } as ClientOptions);
    const rows = await copy.query(`SELECT body FROM ${copy.tables}record`);
    expect(rows).toHaveLength(5);
    for (const { body } of rows) {
      const fields = Object.keys(parsed(body));
      expect(fields).toEqual(fields.filter((field) => kept.test(field)));
    }
  });

  test('rejects a value of a schema that JSON cannot represent', async () => {
    const copy = openSqlite();
    const accounts = z.object({ id: z.string() }).transform(({ id }) => ({ id, rows: new Map([[id, 1]]) }));
    const sandbox = createSandbox({ records: { accounts: 1 } });
    const error = await caught(run(sandbox, copy, {}, { schemas: { accounts } } as ClientOptions));
    expect(error).toMatchObject({ code: 'sync_failed' });
    expect(`${error}`).toContain('"1" of accounts');
    expect(await copied(copy)).toEqual([]);
  });

  test.each<[string, object, object]>([
    [
      'all of an invalid record without a schema of the caller',
      {},
      { id: '1', name: 'Odd', isSaleItem: 'yes', remark: 'private' },
    ],
    [
      'the fields that a Zod object names',
      {
        products: z.object({ id: z.string(), name: z.string(), isSaleItem: z.boolean(), remark: stripped }),
      },
      { id: '1', name: 'Odd', isSaleItem: 'yes' },
    ],
    [
      'the id with another schema',
      { products: z.object({ id: z.string(), isSaleItem: z.boolean() }).transform((record) => record) },
      { id: '1' },
    ],
  ])('keeps %s, and counts it', async (_, schemas, expected) => {
    const sandbox = createSandbox({ records: { products: 0 } });
    sandbox.store.products.insert(odd as never);
    sandbox.store.products.insert({ name: 'Right', isSaleItem: true });
    const copy = openSqlite();
    const read = async (options = {}) => {
      const report = await run(sandbox, copy, { collections: ['products'], ...options }, {
        schemas,
      } as ClientOptions);
      return reportOf(report, 'products');
    };
    expect(await read()).toMatchObject({
      status: 'done',
      records: 1,
      invalid: 1,
      added: 2,
    });
    const { body, invalid } = await storedRow(copy, '1');
    if (Object.keys(schemas).length === 0) expect(body).toMatchObject(expected);
    else expect(body).toEqual(expected);
    expect(invalid).toBe(true);
    expect(await copy.query(`SELECT "isSaleItem" AS item FROM ${copy.views}products WHERE id = '1'`)).toEqual(
      [{ item: null }],
    );
    const [status] = await copy.query(`SELECT records, invalid FROM ${copy.views}sync_status`);
    expect([Number(status?.records), Number(status?.invalid)]).toEqual([2, 1]);

    // Corrected, it is no longer invalid, and a full read does not take it for deleted.
    expect(await read({ mode: 'full' })).toMatchObject({ unchanged: 2, deletions: { candidates: 0 } });
    sandbox.store.products.update('1', { isSaleItem: true });
    await read();
    const [again] = await copy.query(`SELECT invalid FROM ${copy.views}sync_status`);
    expect(Number(again?.invalid)).toBe(0);
  });

  test('corrects whether a record is invalid in a full sync after the schema has changed', async () => {
    const sandbox = createSandbox({ records: { accounts: 0, products: 0 } });
    sandbox.store.products.insert({ name: 'Oak' });
    const copy = openSqlite();
    for (const length of [5, 2]) {
      const products = z.object({ id: z.string(), name: z.string().min(length) });
      await run(sandbox, copy, { mode: 'full' }, { schemas: { products } });
      expect(await storedRow(copy, '1')).toMatchObject({ body: { name: 'Oak' }, invalid: length > 3 });
    }
  });

  test('is stopped by an invalid record only if the client says validation: throw', async () => {
    const sandbox = createSandbox({ records: { products: 0 } });
    sandbox.store.products.insert(odd as never);
    const copy = openSqlite();
    const error = await caught(run(sandbox, copy, {}, { validation: 'throw' }));
    expect(error).toMatchObject({ code: 'sync_failed' });
  });

  test('removes deleted records in every full run, even if another candidate is archived', async () => {
    const { sandbox, copy } = await synced({ records: { accounts: 100, products: 0 } });
    const archived = { path: /accounts\/50$/, probability: 1 };
    sandbox.faults.add({ kind: 'status', status: 403 }, archived);
    for (const id of ['50', '60', '61']) sandbox.store.accounts.delete(id);
    const first = reportOf(await run(sandbox, copy, { mode: 'full' }), 'accounts');
    expect(first).toMatchObject({ status: 'done', deleted: 2, deletions: { candidates: 3 } });
    sandbox.store.accounts.delete('62');
    const second = reportOf(await run(sandbox, copy, { mode: 'full' }), 'accounts');
    expect(second).toMatchObject({ deleted: 1, deletions: { unconfirmed: [{ id: '50' }] } });
    expect(await copied(copy)).toHaveLength(97);
    expect(await statusOf(copy)).toMatchObject({ last_error: null });
    sandbox.faults.clear();
    await run(sandbox, copy, { mode: 'full' });
    expect(await copied(copy)).toEqual(upstream(sandbox));
  });

  test('keeps a record whose 404 has another form than those of an earlier part, with stopAfter', async () => {
    const { sandbox, copy } = await synced({ records: { accounts: 200, products: 0 } });
    const body = () => JSON.stringify({ type: '/errors/404', title: 'No route' });
    // Fifty records are a part, in the order of their ids as text.
    sandbox.faults.add({ kind: 'rewrite', status: 404, body }, { path: /accounts\/9$/, probability: 1 });
    for (let id = 1; id <= 51; id++) sandbox.store.accounts.delete(String(id));
    const options = { mode: 'full', maxCandidates: 100, stopAfter: { requests: 500 } } as const;
    const report = reportOf(await run(sandbox, copy, options), 'accounts');
    expect(report).toMatchObject({ deleted: 50, deletions: { unconfirmed: [{ id: '9' }] } });
  });

  test('finds deletions in what a first sync, which was paused, had read', async () => {
    const [sandbox, copy] = [
      createSandbox({ records: { accounts: 10, products: 300 }, pageSize: 20 }),
      openSqlite(),
    ];
    const first = await run(sandbox, copy, { concurrency: 1, stopAfter: { requests: 10 } });
    expect(first.collections).toMatchObject([{ status: 'done' }, { status: 'paused' }]);
    sandbox.store.accounts.delete('6');
    let runs = 0;
    for (let paused = true; paused; ) {
      ({ paused } = await run(sandbox, copy, { mode: 'full', stopAfter: { requests: 10 } }));
      expect(++runs).toBeLessThan(40);
    }
    expect(await copied(copy)).toEqual(upstream(sandbox));
  });

  test('finds deletions in an incremental run that ends an interrupted full read', async () => {
    const { sandbox, copy } = await synced({ records: { accounts: 100, products: 0 }, pageSize: 20 });
    sandbox.store.accounts.delete('1');
    const stop = new AbortController();
    const onProgress = ({ pages }: { pages: number }) => pages === 2 && stop.abort(new Error('stop'));
    await caught(run(sandbox, copy, { mode: 'full', signal: stop.signal, onProgress }));
    const report = await run(sandbox, copy);
    expect(reportOf(report, 'accounts')).toMatchObject({
      resumed: true,
      deleted: 1,
      deletions: { deleted: 1 },
    });
    expect(await copied(copy)).toEqual(upstream(sandbox));
  });

  test('has null for a number that JavaScript cannot hold, and counts the record as invalid', async () => {
    const sandbox = createSandbox({ records: { accounts: 3 } });
    const body = (text: string) => text.replaceAll('"id":"2"', '"id":"2","limit":1e400,"codes":[1,-1e400]');
    sandbox.faults.add({ kind: 'rewrite', body });
    const copy = openSqlite();
    const report = await run(sandbox, copy, { collections: ['accounts'] });
    const counts = { status: 'done', records: 2, invalid: 1, added: 3 };
    expect(reportOf(report, 'accounts')).toMatchObject(counts);
    const stored = { body: { limit: null, codes: [1, null] }, invalid: true };
    expect(await storedRow(copy, '2')).toMatchObject(stored);
  });

  test('ignores the marks of an earlier full read', async () => {
    const sandbox = createSandbox({ records: { accounts: 30, products: 0 } });
    const copy = openSqlite();
    await run(sandbox, copy, { mode: 'full' });
    await copy.query(`DELETE FROM ${copy.tables}checkpoint WHERE key NOT LIKE 'company:%'`);
    sandbox.store.accounts.delete('7');
    expect(reportOf(await run(sandbox, copy, { mode: 'full' }), 'accounts')).toMatchObject({ deleted: 1 });
  });

  test('of more than 10,000 records is checked to its end', async () => {
    const sandbox = createSandbox({ records: { accounts: 10_050 }, pageSize: 1_000 });
    const copy = openSqlite();
    await run(sandbox, copy, { collections: ['accounts'] });
    for (const id of ['9999', '10050']) sandbox.store.accounts.delete(id);
    await copy.query(`DELETE FROM ${copy.tables}record WHERE id = '998'`);
    // By its text, 9999 is the last id: on the second page of 10,000.
    const stale = await verified(sandbox, copy, ['accounts']);
    const expected = { records: 10_048, missing: ['998'], extra: ['10050', '9999'], different: [] };
    expect(stale.collections[0]).toMatchObject(expected);
    const report = await run(sandbox, copy, { collections: ['accounts'], mode: 'full' });
    const deletions = { local: 10_049, candidates: 2, deleted: 2 };
    expect(reportOf(report, 'accounts')).toMatchObject({ added: 1, deletions });
  });
});

describe('the views of a copy', () => {
  test('type fields by the first Zod schema that names them, and warn of another', async () => {
    const sandbox = createSandbox({ records: { accounts: 0 } });
    sandbox.store.accounts.insert({
      balance: '12.50',
      active: true,
      rank: 7,
      rate: 0.5,
      seenAt: '2026-01-31T00:00:00Z',
      labels: ['a'],
    } as never);
    sandbox.store.accounts.insert({ balance: '5.00', active: false, rank: 40, rate: 1 } as never);
    const copy = openSqlite();
    const schema = (balance: z.ZodType) =>
      z.looseObject({
        id: z.string(),
        balance: balance.nullish(),
        active: z.boolean().optional(),
        rank: z.number().int().nullable().default(0),
        rate: z.number().optional(),
        seenAt: z.iso.datetime().optional(),
        labels: z.array(z.string()).optional(),
      });
    const accounts = schema(moneySchema);
    await run(sandbox, copy, { collections: ['accounts'] }, { schemas: { accounts } });
    const [row] = await copy.query(
      `SELECT sum(balance) AS balance, max(rank) AS rank, sum(rate) AS rate, max("seenAt") AS seen FROM ${copy.views}accounts`,
    );
    expect([Number(row?.balance), Number(row?.rank), Number(row?.rate), utc(row?.seen)]).toEqual([
      17.5,
      40,
      1.5,
      '2026-01-31T00:00:00.000Z',
    ]);
    expect(await copy.query(`SELECT id FROM ${copy.views}accounts WHERE active`)).toEqual([{ id: '1' }]);

    const { logger, warnings } = loggerOfWarnings();
    const other = { accounts: schema(z.boolean()) };
    await run(
      sandbox,
      copy,
      { collections: ['accounts'], mode: 'full' },
      { schemas: other, logger, validation: 'report' },
    );
    expect(warnings.filter((text) => text.includes('balance of accounts is boolean'))).toHaveLength(1);
    const kinds = await copy.query(`SELECT kind FROM ${copy.tables}field WHERE name = 'balance'`);
    expect(kinds).toEqual([{ kind: 'money' }]);
  });

  test('keep the documented type of a field whose schema has an unknown one, and take that of a pipe', async () => {
    const sandbox = createSandbox({ records: { products: 3 } });
    sandbox.store.products.update('1', { salePrice: '5.00' });
    sandbox.store.products.update('2', { salePrice: '1200.00' });
    sandbox.store.products.update('3', { salePrice: null });
    const copy = openSqlite();
    const products = productSchema.extend({
      salePrice: moneySchema.nullish().transform((price) => price ?? '0'),
      updatedAt: z.string().transform((text) => text),
      stock: z.preprocess((value) => value ?? 7, z.number()),
      seenAt: z.iso.datetime({ local: true }).default('2026-01-31T12:00:00'),
    });
    await run(sandbox, copy, { collections: ['products'] }, { schemas: { products } });
    const rows = await copy.query(
      `SELECT id, "seenAt" FROM ${copy.views}products WHERE "salePrice" > 100 AND stock > 1`,
    );
    expect(rows).toEqual([{ id: '2', seenAt: '2026-01-31T12:00:00' }]);
    const kinds = await copy.query(`SELECT kind FROM ${copy.tables}field WHERE name = 'updatedAt'`);
    expect(kinds).toEqual([{ kind: 'timestamp' }]);
  });

  test.each<[string, string, z.ZodType, string]>([
    ['keep a documented type that says more than the schema', 'salePrice', z.string(), 'money'],
    ['take the type of a schema that contradicts the documented one', 'salePrice', z.boolean(), 'boolean'],
    ['show the dates of a schema as timestamps', 'seenAt', z.date(), 'timestamp'],
  ])('%s', async (_, name, schema, kind) => {
    const copy = openSqlite();
    const products = productSchema.extend({ [name]: schema.nullish() });
    await run(createSandbox({ records: 0 }), copy, {}, { schemas: { products } } as ClientOptions);
    const sql = `SELECT kind FROM ${copy.tables}field WHERE collection = 'products' AND name = '${name}'`;
    expect(await copy.query(sql)).toEqual([{ kind }]);
  });
});

describe('sync_status of a copy', () => {
  test('says that the key of another company was rejected, until a sync succeeds', async () => {
    const { sandbox, copy } = await synced({ records: { accounts: 5, products: 0 } });
    const before = await statusOf(copy);
    const error = await caught(run(sandbox, copy, {}, { apiKey: sandbox.keys.otherCompany }));
    expect(error).toMatchObject({ code: 'invalid_input', argument: 'tenant' });
    const { last_error: lastError, ...rest } = await statusOf(copy);
    expect(lastError).toContain('acme');
    expect({ ...rest, last_error: null }).toEqual(before);
    await run(sandbox, copy);
    expect((await statusOf(copy)).last_error).toBe(null);
  });

  test('does not count a paused run as finished, or its deletions as checked', async () => {
    const { sandbox, copy } = await synced({ records: { accounts: 60, products: 0 }, pageSize: 10 });
    const before = await statusOf(copy);
    const paused = await run(sandbox, copy, { mode: 'full', stopAfter: { requests: 2 } });
    expect(reportOf(paused, 'accounts')).toMatchObject({
      status: 'paused',
      deletions: { skipped: 'paused' },
    });
    const { finished_at: finishedAt, deletions_checked_at: checkedAt } = await statusOf(copy);
    expect([finishedAt, checkedAt]).toEqual([before.finished_at, null]);
  });

  test('keeps the error of a collection that a later run does not reach', async () => {
    const records = { accounts: 5, products: 60, bankFeedAccounts: 5 };
    const sandbox = createSandbox({ records, pageSize: 10 });
    const copy = openSqlite();
    const all = { collections: Object.keys(records), concurrency: 1 };
    sandbox.faults.add({ kind: 'status', status: 500 }, { path: /products|bank/ });
    const failing = run(sandbox, copy, { ...all, maxOutageMs: 0, retry: { maxAttempts: 1 } });
    expect(await caught(failing)).toMatchObject({ code: 'sync_failed' });
    sandbox.faults.clear();
    const paused = await run(sandbox, copy, { ...all, stopAfter: { requests: 2 } });
    expect(paused.collections.map(({ status }) => status)).toEqual(['done', 'paused', 'not_begun']);
    const error = expect.stringContaining('500');
    expect(await statusOf(copy, 'products')).toMatchObject({ last_error: null });
    expect(await statusOf(copy, 'bankFeedAccounts')).toMatchObject({ last_error: error });
    await run(sandbox, copy, all);
    const done = { last_error: null, complete: 'certain' };
    expect(await statusOf(copy, 'bankFeedAccounts')).toMatchObject(done);
  });
});

test('a target of the caller gets what the sync returns', async () => {
  const sandbox = createSandbox({ records: { accounts: 5, products: 5 } });
  let ends: readonly CollectionEnd[] = [];
  const target: SyncTarget = {
    open: () => ({
      store: memoryStore(),
      onBatch: () => undefined,
      onEnd(given) {
        ends = given;
      },
    }),
  };
  const report = await sync(clientOf(sandbox), { tenant: 'acme', target, collections });
  expect(ends.map((end) => end.report)).toEqual(report.collections);
  // The same time, not one of a millisecond later.
  for (const { endedAt } of ends) expect(endedAt).toBe(report.endedAt);
});

describe('verify of a copy', () => {
  test.each<[string, SandboxOptions, object, true | 'likely', 'certain' | 'likely' | undefined]>([
    ['integers', {}, {}, true, 'certain'],
    ['integers in no order', { order: 'none' }, {}, 'likely', 'likely'],
    ['integers by page', {}, { pagination: 'page' }, 'likely', 'likely'],
    ['integers in one response', { paginated: false }, { pagination: 'none' }, true, 'certain'],
    ['UUIDs', { ids: { form: 'uuid' } }, {}, 'likely', 'likely'],
    ['UUIDs on one page', { ids: { form: 'uuid' }, pageSize: 100 }, {}, 'likely', undefined],
    [
      'UUIDs with ties',
      { ids: { form: 'uuid' }, order: 'updated-asc', ties: 'each-page' },
      {},
      'likely',
      'likely',
    ],
  ])('proves that it is equal only if the read was certain: %s', async (_, service, how, equal, complete) => {
    const [sandbox, copy] = [
      createSandbox({ records: { accounts: 65 }, pageSize: 10, ...service }),
      openSqlite(),
    ];
    const options = { tenant: 'acme', target: copy.target, collections: ['accounts'] as const };
    const client = clientOf(sandbox).withOptions(how);
    await sync(client, options);
    const check = () => verify(client, options);
    expect(await check()).toMatchObject({ equal, collections: [{ complete, extra: [], unconfirmed: [] }] });
    await copy.query(`DELETE FROM ${copy.tables}record WHERE id = '${sandbox.store.accounts.ids()[3]}'`);
    sandbox.clock.advance(3_600_000);
    await sync(client, options);
    expect(await check()).toMatchObject({ equal: false, collections: [{ complete }] });
  });

  test.each([1, 2, 5])(
    'names no record as extra that exists, although %i deletions hid it',
    async (count) => {
      const { sandbox, copy } = await synced({ records: { accounts: 65, products: 0 }, pageSize: 10 });
      const [changed = ''] = sandbox.store.accounts.ids().slice(10);
      const run = { tenant: 'acme', target: copy.target, collections: ['accounts'] as const };
      sandbox.clock.advance(3_600_000);
      await sync(clientOf(sandbox), run);
      await copy.query(
        `UPDATE ${copy.tables}record SET body = '{"id":"${changed}"}' WHERE id = '${changed}'`,
      );
      const stop = sandbox.onRequest(({ query }) => {
        if (query._page !== '2') return;
        stop();
        for (const id of sandbox.store.accounts.ids().slice(0, count)) sandbox.store.accounts.delete(id);
      });
      // One of those that are hidden is compared.
      const report = await verify(clientOf(sandbox).withOptions({ pagination: 'page' }), run);
      expect(report).toMatchObject({
        equal: false,
        collections: [{ extra: [], missing: [], different: [changed] }],
      });
    },
  );

  test.each([
    [403, 'likely', [], ['7']],
    [500, 'likely', [], ['7']],
    [undefined, false, ['7'], []],
  ])('asks for an unlisted record by its id: %s', async (status, equal, extra, unconfirmed) => {
    const { sandbox, copy } = await synced({ records: { accounts: 30, products: 0 } });
    sandbox.store.accounts.delete('7');
    if (status !== undefined) {
      sandbox.faults.add({ kind: 'status', status }, { path: /accounts\/7$/, probability: 1 });
    }
    const report = await verify(clientOf(sandbox, { retry: false }), {
      tenant: 'acme',
      target: copy.target,
      collections: ['accounts'],
    });
    expect(report).toMatchObject({ equal, collections: [{ extra, missing: [], complete: 'certain' }] });
    expect(report.collections[0]?.unconfirmed.map(({ id }) => id)).toEqual(unconfirmed);
  });

  test.each([401, 503])(
    'ends with the error of a lookup that concerns the key or the service: %i',
    async (status) => {
      const { sandbox, copy } = await synced({ records: { accounts: 30, products: 0 } });
      sandbox.store.accounts.delete('7');
      sandbox.onRequest(({ path }) => {
        if (path.endsWith('/7')) sandbox.faults.add({ kind: 'status', status }, { probability: 1 });
      });
      sandbox.faults.add({ kind: 'status', status }, { path: /accounts\/7$/, probability: 1 });
      const options = {
        tenant: 'acme',
        target: copy.target,
        collections: ['accounts'] as const,
        maxOutageMs: 0,
      };
      const error = await caught(verify(clientOf(sandbox, { retry: false }), options));
      expect(error).toMatchObject({ status });
    },
  );

  test('counts each record once, although the read starts again', async () => {
    const hidden = Array.from({ length: 25 }, (_, n) => String(60 + n * 3));
    const options = { records: { accounts: 200 }, pageSize: 10, seed: 3, order: 'none' } as const;
    const { sandbox, copy } = await synced({ ...options, hiddenRecords: hidden });
    const [accounts] = (await verified(sandbox, copy, ['accounts'])).collections;
    expect(accounts?.records).toBeLessThanOrEqual(175);
    expect(accounts?.records).toBe((await copied(copy)).length);
  });

  test('does not report a change since the last sync as a difference', async () => {
    const { sandbox, copy } = await synced({ records: { accounts: 30, products: 5 } });
    sandbox.clock.advance(3_600_000);
    await run(sandbox, copy);
    sandbox.store.accounts.update('4', { name: 'Later' });
    const { id } = sandbox.store.accounts.insert({ name: 'New' });
    const report = await verified(sandbox, copy);
    expect(report).toMatchObject({ equal: true });
    expect([...(report.collections[0]?.changedSince ?? [])].sort()).toEqual(['4', id].sort());
  });

  test('compares invalid records too', async () => {
    const sandbox = createSandbox({ records: { accounts: 0, products: 0 } });
    for (const name of ['A', 'B']) sandbox.store.products.insert({ name, isSaleItem: 'yes' } as never);
    const copy = openSqlite();
    await run(sandbox, copy);
    sandbox.clock.advance(3_600_000);
    await run(sandbox, copy);
    expect(await verified(sandbox, copy)).toMatchObject({ equal: true });
    await copy.query(`UPDATE ${copy.tables}record SET body = '{"id":"1"}' WHERE id = '1'`);
    sandbox.store.products.update('2', { name: 'Later' });
    expect((await verified(sandbox, copy, ['products'])).collections).toMatchObject([
      { records: 2, missing: [], different: ['1'], extra: [], changedSince: ['2'] },
    ]);
  });

  test('knows what changed since the last sync by its prefix, less the lookback', async () => {
    const [sandbox, copy] = [createSandbox({ records: { accounts: 3, products: 0 } }), openSqlite()];
    const prefix = 'books';
    await run(sandbox, copy, { prefix });
    sandbox.clock.advance(3_600_000);
    sandbox.store.accounts.update('2', { name: 'Earlier' });
    sandbox.clock.advance(10_000);
    await run(sandbox, copy, { prefix });
    await copy.query(`UPDATE ${copy.tables}record SET body = '{"id":"2"}' WHERE id = '2'`);
    const check = async (options: object) => {
      const own = { tenant: 'acme', target: copy.target, collections: ['accounts'] as const };
      return (await verify(clientOf(sandbox), { ...own, ...options })).collections;
    };
    expect(await check({ prefix })).toMatchObject([{ different: [], changedSince: ['2'] }]);
    for (const options of [{ prefix, lookbackMs: 0 }, {}]) {
      expect(await check(options)).toMatchObject([{ different: ['2'], changedSince: [] }]);
    }
  });
});

test.each([
  ['numeric', 40, 0, 404],
  ['uuid', 10, 0, 404],
  ['numeric', 25, 60, 404],
  ['uuid', 25, 60, 404],
  ['numeric', 15, 0, 503],
  ['uuid', 25, 0, 503],
] as const)(
  'full syncs of a copy with %s ids keep to %i requests as they look up deleted records, %i of them forbidden, each third with a %i first, and end',
  async (form, requests, forbidden, first) => {
    const records = { accounts: 160, products: 1 };
    const { sandbox, copy } = await synced({ records, pageSize: 20, ids: { form } });
    const { accounts } = sandbox.store;
    const deleted = accounts.ids().slice(0, 100);
    for (const [n, id] of deleted.entries()) {
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
    const options = { mode: 'full', collections: ['accounts'], maxCandidates: 100 };
    let report: SyncReport;
    do {
      sandbox.clearLogs();
      report = await run(
        sandbox,
        copy,
        { ...options, stopAfter: { requests } },
        { retry: { baseDelayMs: 0 } },
      );
      sent.push(sandbox.count());
    } while (report.paused && sent.length < 100);
    // By page the list itself cannot be paused.
    expect(Math.max(...sent.slice(form === 'uuid' ? 1 : 0))).toBeLessThanOrEqual(requests);
    expect(report).toMatchObject({ paused: false, collections: [{ status: 'done' }] });
    expect(reportOf(report, 'accounts')?.deletions?.skipped).toBeUndefined();
    const kept = await copy.query(`SELECT id FROM ${copy.tables}record WHERE collection = 'accounts'`);
    expect(kept).toHaveLength(60 + forbidden);
  },
);

describe('refresh of a copy', () => {
  test.each(['member', 'hydra:member'] as const)(
    'equals a sync of a service with JSON-LD: %s',
    async (listBody) => {
      const records = { accounts: 0, products: 3 };
      const { sandbox, copy } = await synced({ records, formats: 'jsonld', listBody });
      sandbox.store.products.update('1', { name: 'Changed' });
      const { id } = sandbox.store.products.insert({ name: 'New' });
      const ids = ['1', '2', id];
      expect(await refreshed(sandbox, copy, ids)).toMatchObject({ added: 1, changed: 1, unchanged: 1 });
      expect(await verified(sandbox, copy)).toMatchObject({ equal: true });
      expect(await refreshed(sandbox, copy, ids)).toMatchObject({ unchanged: 3 });
    },
  );

  test.each(['3F-A', '3f-A', '3F-a'])(
    'writes a record under the id that the service lists: %s',
    async (id) => {
      const { sandbox, copy } = await synced({ records: { accounts: 0, products: 1 } });
      sandbox.store.products.insert({ id: '3f-a', name: 'Desk' });
      const fetch: typeof globalThis.fetch = (input, init) =>
        sandbox.fetch(`${input}`.replace(/products\/3f-a/i, 'products/3f-a'), init);
      expect(await refreshed(sandbox, copy, [id], { fetch })).toMatchObject({ added: 1 });
      expect(await refreshed(sandbox, copy, [id], { fetch })).toMatchObject({ unchanged: 1 });
      await run(sandbox, copy);
      expect(await copied(copy)).toEqual(upstream(sandbox));
    },
  );

  test.each(['2', '02', '2-A', ' 2', 'A-2', '2.0', '0198c0de-0000-7000-8000-000000000002'])(
    'writes no other record that the service returns for the id %j',
    async (id) => {
      const { sandbox, copy } = await synced({ records: { accounts: 0, products: 0 } });
      for (const own of [id, '1']) sandbox.store.products.insert({ id: own, name: own });
      await run(sandbox, copy);
      const before = await copied(copy);
      sandbox.store.products.update('1', { name: 'Changed' });
      const fetch: typeof globalThis.fetch = (input, init) =>
        sandbox.fetch(`${input}`.replace(/products\/[^/?]+/, 'products/1'), init);
      const error = { code: 'unexpected_response', reason: 'wrong_record', recordId: '1' };
      expect(await caught(refreshed(sandbox, copy, [id], { fetch }))).toMatchObject(error);
      expect(await copied(copy)).toEqual(before);
      sandbox.store.products.delete(id);
      expect(await caught(refreshed(sandbox, copy, [id], { fetch }))).toMatchObject(error);
      expect(await copied(copy)).toEqual(before);
    },
  );

  test.each([
    ['1', '2', '3'],
    ['2', '3', '1'],
  ])('removes a deleted record if another one of the call exists: %s, %s, %s', async (...ids) => {
    const { sandbox, copy } = await synced({ records: { accounts: 0, products: 3 } });
    sandbox.store.products.delete('1');
    expect(await refreshed(sandbox, copy, ids)).toMatchObject({ deleted: 1, unchanged: 2 });
  });

  test('removes a deleted record even if the first others of the copy were deleted too', async () => {
    const { sandbox, copy } = await synced({ records: { accounts: 0, products: 120 } });
    const all = sandbox.store.products.all().map(({ id }) => id);
    for (const id of ['55', ...all.toSorted().slice(0, 12)]) sandbox.store.products.delete(id);
    expect(await refreshed(sandbox, copy, ['55'])).toMatchObject({ deleted: 1 });
  });

  test('removes those that get the 404 of most, and throws the 404 of one that has another form', async () => {
    const { sandbox, copy } = await synced({ records: { accounts: 0, products: 5 } });
    for (const id of ['1', '2', '3']) sandbox.store.products.delete(id);
    const body = () => JSON.stringify({ type: '/errors/404', title: 'No route' });
    sandbox.faults.add({ kind: 'rewrite', status: 404, body }, { path: /products\/2$/ });
    const error = await caught(refreshed(sandbox, copy, ['1', '2', '3']));
    expect(error).toMatchObject({ code: 'not_found', path: '/products/2' });
    expect(await copied(copy)).toHaveLength(3);
  });

  test('removes nothing if no record of the copy is found', async () => {
    const { sandbox, copy } = await synced({ records: { accounts: 0, products: 3 } });
    const fetch = async () =>
      new Response(JSON.stringify({ type: '/errors/404', title: 'Not found', status: 404 }), {
        status: 404,
        headers: { 'content-type': 'application/problem+json' },
      });
    const error = await caught(refreshed(sandbox, copy, ['1'], { fetch }));
    expect(error).toMatchObject({ code: 'deletions_aborted' });
    expect(await copied(copy)).toHaveLength(3);
  });
});

test('a sync of a copy with a new key that gets 401 pages only says that the key was rejected', async () => {
  const { sandbox, copy } = await synced({ records: { accounts: 3, products: 3 } });
  const fetch = async () =>
    new Response('<h1>Sign in</h1>', { status: 401, headers: { 'content-type': 'text/html' } });
  const error = await caught(run(sandbox, copy, {}, { apiKey: 'a-new-key-0123456789', fetch }));
  expect(error).toMatchObject({ code: 'sync_failed', cause: { code: 'unauthenticated' } });
});

test('forget and another sync empty a collection whose records are all gone', async () => {
  const { sandbox, copy } = await synced({ records: { accounts: 3, products: 3 } });
  // The marks of this read prove nothing later.
  await run(sandbox, copy, { mode: 'full' });
  for (const { id } of sandbox.store.products.all()) sandbox.store.products.delete(id);
  const error = await caught(run(sandbox, copy, { mode: 'full', maxCandidates: Number.POSITIVE_INFINITY }));
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

test('sync_status and verify of a copy leave out what the key may not read', async () => {
  const sandbox = createSandbox({ records: { accounts: 3, products: 3 } });
  const copy = openSqlite();
  const productsOnly = { apiKey: sandbox.keys.productsOnly };
  await run(sandbox, copy, {}, productsOnly);
  const statuses = () => copy.query(`SELECT collection, last_error FROM ${copy.views}sync_status`);
  expect(await statuses()).toEqual([{ collection: 'products', last_error: null }]);
  const check = (options: ClientOptions) =>
    verify(clientOf(sandbox, options), { tenant: 'acme', target: copy.target, collections });
  expect(await check(productsOnly)).toMatchObject({ equal: true, forbidden: ['accounts'] });
  expect(await check({})).toMatchObject({ equal: false, forbidden: [] });

  // Once the copy has a collection, a key that may not read it is a failure.
  const other = { tenant: 'acme', target: copy.target, collections, sameCompany: true };
  await run(sandbox, copy, other);
  expect(await caught(run(sandbox, copy, other, productsOnly))).toMatchObject({ code: 'sync_failed' });
  const [accounts] = await copy.query(
    `SELECT last_error FROM ${copy.views}sync_status WHERE collection = 'accounts'`,
  );
  expect(accounts?.last_error).toEqual(expect.any(String));
  expect(await caught(check(productsOnly))).toMatchObject({ code: 'scope_required' });
});

/** What became of a company since its copy was made. */
interface Change {
  readonly delete?: readonly string[];
  readonly update?: Readonly<Record<string, unknown>>;
  readonly forgetKey?: boolean;
}

describe('the guard of a copy', () => {
  const records = { accounts: 20, products: 20 };
  const options = ({ target }: Copy) => ({ tenant: 'acme', target, collections });

  test('admits a key to refresh with sameCompany, and remembers it', async () => {
    const { sandbox, copy } = await synced({ records });
    sandbox.otherStore.products.insert({ id: '9', name: 'Other' });
    const { products } = clientOf(sandbox, { apiKey: sandbox.keys.otherCompany });
    const call = { tenant: 'acme', target: copy.target, ids: ['9'] };
    expect(await caught(refresh(products, call))).toMatchObject({ argument: 'tenant' });
    expect(await refresh(products, { ...call, sameCompany: true })).toMatchObject({ changed: 1 });
    await copy.query(`DELETE FROM ${copy.tables}record WHERE id = '9'`);
    expect(await refresh(products, call)).toMatchObject({ added: 1 });
  });

  test('rejects the key of a company whose records have the same ids and were created in the same second', async () => {
    const { sandbox, copy, options, clientWith } = await fromTemplate(openSqlite());
    const { products } = sandbox.otherStore;
    // A field that distinguishes no record may be equal.
    for (const { id, createdAt, unitId } of sandbox.store.products.all()) {
      products.delete(id);
      products.insert({ id, createdAt, unitId, productNumber: `B-${id}`, name: `Product ${id} of bolt` });
    }
    const before = await copied(copy);
    const bolt = clientWith(sandbox.keys.otherCompany);
    for (const call of [
      () => sync(bolt, { ...options, mode: 'full' }),
      () => sync(bolt, { ...options, collections: ['products'] }),
      () => refresh(bolt.products, { tenant: 'acme', target: copy.target, ids: ['1'] }),
      () => verify(bolt, options),
    ]) {
      expect(await caught(call())).toMatchObject({ code: 'invalid_input', argument: 'tenant' });
    }
    expect(await copied(copy)).toEqual(before);
  });

  test.each([
    ['all known products but one were deleted', { delete: ['1', '10', '11', '12'] }],
    ['every product has another price and number', { update: { salePrice: '9.0000', productNumber: 'new' } }],
    ['the copy has no digest', { forgetKey: true }],
  ])('admits a rotated key although %s', async (_, change: Change) => {
    const { sandbox, copy, options, clientWith } = await fromTemplate(openSqlite());
    const { products } = sandbox.store;
    for (const id of change.delete ?? []) products.delete(id);
    for (const { id } of products.all()) products.update(id, change.update ?? {});
    if (change.forgetKey) await copy.query(`DELETE FROM ${copy.tables}checkpoint WHERE key = 'company:acme'`);
    const rotated = clientWith(sandbox.issueKey());
    const lookUps = () => sandbox.count(({ path }) => /products\/\d+$/.test(path));
    sandbox.clearLogs();
    await sync(rotated, { ...options, mode: 'full' });
    expect(lookUps() > 0).toBe(change.forgetKey !== true);
    expect(await copied(copy)).toEqual(upstream(sandbox));
    sandbox.clearLogs();
    await sync(rotated, options);
    expect(lookUps()).toBe(0);
    const [row] = await copy.query(`SELECT value FROM ${copy.tables}checkpoint WHERE key = 'company:acme'`);
    expect((JSON.parse(`${row?.value}`) as { keys: string[] }).keys).toHaveLength(change.forgetKey ? 1 : 2);
    expect(`${row?.value}`).not.toContain(sandbox.keys.full);
  });

  test('does not accept equal records without a timestamp as proof', async () => {
    const sandbox = createSandbox({ records });
    const schemas = { accounts: z.object({ id: z.string() }) };
    const [acme, bolt] = [sandbox.keys.full, sandbox.keys.otherCompany].map((apiKey) =>
      clientOf(sandbox, { apiKey, schemas }),
    ) as [ReturnType<typeof clientOf>, ReturnType<typeof clientOf>];
    const copy = openSqlite();
    const accounts = { ...options(copy), collections: ['accounts'] } as const;
    await sync(acme, accounts);
    expect(await caught(sync(bolt, accounts))).toMatchObject({ argument: 'tenant' });
    await forget({ tenant: 'acme', target: copy.target });
    // A copy without records accepts any key.
    expect(await sync(bolt, accounts)).toMatchObject({ records: sandbox.otherStore.accounts.count });
  });
});

interface Aborted {
  readonly tenant: string;
  readonly target: SyncTarget;
  readonly signal: AbortSignal;
}

describe('an outage of a database', () => {
  const works: Readonly<Record<string, (client: Client, options: Aborted) => Promise<unknown>>> = {
    sync: (client, options) => sync(client, { ...options, collections }),
    verify: (client, options) => verify(client, { ...options, collections }),
    refresh: ({ products }, options) => refresh(products, { ...options, ids: ['1'] }),
    forget: (_, options) => forget(options),
  };
  test.each([
    ...Object.keys(works).map((name) => [name, 'as it opens', /./] as const),
    ['sync', 'at a batch', /^BEGIN/],
    ['verify', 'as it compares', /^SELECT id, CAST/],
    ['refresh', 'as it writes', /^INSERT INTO \S*record/],
    ['forget', 'as it removes', /^DELETE FROM/],
  ] as const)('that outlasts the signal of a %s, %s, rejects with its reason', async (name, _, failing) => {
    const { sandbox, copy } = await synced({ records: { accounts: 3, products: 3 } });
    sandbox.store.products.update('1', { name: 'Changed' });
    const controller = new AbortController();
    const reason = new Error('stopped');
    const target = copy.through((sql) => {
      if (!failing.test(sql.trim())) return;
      setTimeout(() => controller.abort(reason));
      throw Object.assign(new Error('The database failed'), { errcode: 5 });
    });
    const { signal } = controller;
    const work = works[name]?.(clientOf(sandbox), { tenant: 'acme', target, signal });
    expect(await caught(work as Promise<unknown>)).toBe(reason);
  });
});
