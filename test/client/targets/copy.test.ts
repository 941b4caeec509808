import { createClient, isAccountingError, SyncError, sync } from 'accounting-data-sdk';
import { createSandbox, type Sandbox } from 'accounting-data-sdk/testing';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { caught } from '../../support/caught.ts';
import { batch, type Copy, comparable, copied, engines } from './support/engines.ts';

const names = ['accounts', 'products', 'bankFeedAccounts'] as const;

function upstream({ store }: Sandbox): readonly string[] {
  return names.flatMap((name) => store[name].all().map((record) => comparable(name, record))).sort();
}

const run = (sandbox: Sandbox, copy: Copy, options: object = {}) =>
  sync(createClient(sandbox.clientOptions), {
    tenant: 'acme',
    target: copy.target,
    collections: names,
    ...options,
  });

const checkpoints = async ({ query, tables }: Copy) =>
  Object.fromEntries(
    (await query(`SELECT key, value FROM ${tables}checkpoint`)).map(({ key, value }) => [key, value]),
  );

describe.each(engines)('a copy in $name', ({ open }) => {
  test('has every record, then every change, then no deleted record', async () => {
    const sandbox = createSandbox({ records: { accounts: 130, products: 70, bankFeedAccounts: 3 }, seed: 4 });
    const copy = await open();
    await run(sandbox, copy);
    expect(await copied(copy)).toEqual(upstream(sandbox));

    sandbox.store.accounts.update('7', { name: 'Renamed' });
    sandbox.store.products.insert({ name: 'Desk', salePrice: '12345678901234567.8901' });
    expect(await run(sandbox, copy)).toMatchObject({ records: 2 });
    expect(await copied(copy)).toEqual(upstream(sandbox));

    sandbox.store.accounts.delete('9');
    await run(sandbox, copy, { mode: 'full' });
    expect(await copied(copy)).toEqual(upstream(sandbox));
    expect(await copied(copy)).not.toContain(expect.stringContaining('"id":"9"'));
  });

  test('resumes where an interrupted sync stopped', async () => {
    const sandbox = createSandbox({ records: { accounts: 200 }, pageSize: 20 });
    const copy = await open();
    const stop = new AbortController();
    const onProgress = ({ pages }: { pages: number }) => pages === 3 && stop.abort(new Error('stop'));
    await caught(run(sandbox, copy, { signal: stop.signal, onProgress }));
    const kept = (await copied(copy)).length;
    expect(kept).toBeGreaterThan(0);
    expect(kept).toBeLessThan(200);

    expect(await run(sandbox, copy)).toMatchObject({ records: 200 - kept });
    expect(await copied(copy)).toEqual(upstream(sandbox));
  });

  test('keeps several companies apart', async () => {
    const [acme, bolt] = [createSandbox({ records: 20, seed: 1 }), createSandbox({ records: 30, seed: 2 })];
    const copy = await open();
    await Promise.all([run(acme, copy), run(bolt, copy, { tenant: 'bolt' })]);
    expect(await copied(copy, 'acme')).toEqual(upstream(acme));
    expect(await copied(copy, 'bolt')).toEqual(upstream(bolt));

    bolt.store.accounts.delete('3');
    await run(bolt, copy, { tenant: 'bolt', mode: 'full' });
    expect(await copied(copy, 'acme')).toEqual(upstream(acme));
    expect(await copied(copy, 'bolt')).toEqual(upstream(bolt));
    const counted = await copy.query(
      `SELECT tenant, count(*) AS count FROM ${copy.views}accounts GROUP BY tenant ORDER BY tenant`,
    );
    expect(counted.map(({ tenant, count }) => [tenant, Number(count)])).toEqual([
      ['acme', acme.store.accounts.count],
      ['bolt', bolt.store.accounts.count],
    ]);
  });

  test('has a view with a column for each field, in the order in which they were first seen', async () => {
    const sandbox = createSandbox({ records: 0 });
    const copy = await open();
    sandbox.store.accounts.insert({ name: 'Cash', code: '1000' });
    await run(sandbox, copy);
    expect(await copy.query(`SELECT * FROM ${copy.views}accounts`)).toEqual([
      expect.objectContaining({ tenant: 'acme', id: '1', name: 'Cash', code: '1000' }),
    ]);

    sandbox.store.accounts.insert({ name: 'Bank', iban: 'NL00' });
    await run(sandbox, copy);
    const rows = await copy.query(`SELECT * FROM ${copy.views}accounts ORDER BY id`);
    const columns = Object.keys(rows[0] ?? {});
    expect(columns.slice(0, 2)).toEqual(['tenant', 'id']);
    expect(columns.indexOf('iban')).toBe(columns.length - 1);
    expect(rows.map(({ name, code, iban }) => [name, code, iban])).toEqual([
      ['Cash', '1000', null],
      ['Bank', null, 'NL00'],
    ]);
    // A field that no record has any more keeps its column.
    await run(sandbox, copy, { mode: 'full' });
    expect(await copy.query(`SELECT * FROM ${copy.views}bank_feed_accounts`)).toEqual([]);
  });

  test('types the columns of products, and shows null for a value of another type', async () => {
    const copy = await open();
    const opened = await copy.target.open('acme');
    const right = {
      id: '1',
      name: 'Desk',
      salePrice: '129.0000',
      isInactive: false,
      salePriceDecimals: 2,
      stockQuantity: 1.5,
      tags: ['a'],
    };
    const wrong = {
      id: '2',
      name: 'Chair',
      salePrice: 12.5,
      isInactive: 'no',
      salePriceDecimals: '2',
      stockQuantity: 'many',
      tags: 'a',
      saleRrpPrice: '1,50',
    };
    await opened.onBatch(batch([right, wrong], { collection: 'products' }));
    await opened.close?.();
    const [first, second] = await copy.query(`SELECT * FROM ${copy.views}products ORDER BY id`);
    const of = ({ salePrice, isInactive, salePriceDecimals, stockQuantity, tags }: typeof right) => [
      String(salePrice),
      Boolean(isInactive),
      Number(salePriceDecimals),
      Number(stockQuantity),
      typeof tags === 'string' ? JSON.parse(tags) : tags,
    ];
    expect(of(first as never)).toEqual(['129.0000', false, 2, 1.5, ['a']]);
    expect(second).toMatchObject({
      name: 'Chair',
      salePrice: null,
      saleRrpPrice: null,
      isInactive: null,
      salePriceDecimals: null,
      stockQuantity: null,
      tags: null,
    });
    const [body] = await copy.query(`SELECT body FROM ${copy.tables}record WHERE id = '2'`);
    expect(body?.body).toEqual(copy.tables === 'accounting_' ? JSON.stringify(wrong) : wrong);
  });

  test('gives colliding, odd and hostile field names columns of their own', async () => {
    const copy = await open();
    const opened = await copy.target.open('acme');
    const hostile = `id"; DROP TABLE ${copy.tables}record; --`;
    const values: Record<string, string> = {
      tenant: 't',
      ID: 'upper',
      Name: 'A',
      name: 'b',
      NAME: 'c',
      name_2: 'd',
      [hostile]: 'x',
      "it's $1 %s %I": 'quote',
      "$accounting$ '; SELECT 1": 'dollar',
      'a"b\\c': 'both',
      'größe.[0]': 'path',
      '123': 'digits',
      [`${'long'.repeat(20)}1`]: 'first',
      [`${'long'.repeat(20)}2`]: 'second',
    };
    await opened.onBatch(batch([{ id: '1', ...values }], { collection: 'boms' }));
    await opened.close?.();
    const [row] = await copy.query(`SELECT * FROM ${copy.views}boms`);
    const { tenant, id, ...columns } = row ?? {};
    expect([tenant, id]).toEqual(['acme', '1']);
    expect(Object.values(columns).sort()).toEqual(Object.values(values).sort());
    expect(columns).toMatchObject({
      tenant_2: 't',
      ID_2: 'upper',
      Name: 'A',
      name_2: 'b',
      NAME_3: 'c',
      name_2_2: 'd',
      [copy.tables === 'accounting_' ? hostile : hostile.slice(0, 58)]: 'x',
    });
    expect(await copied(copy)).toHaveLength(1);
  });

  test('shows the first 1,500 fields of a collection, and keeps the others in body', async () => {
    const copy = await open();
    const opened = await copy.target.open('acme');
    const record = (id: string, from: number, to: number) => ({
      id,
      ...Object.fromEntries(
        Array.from({ length: to - from }, (_, index) => [`f${from + index}`, `${index}`]),
      ),
    });
    await opened.onBatch(batch([record('1', 0, 500)], { checkpoint: '{"a":1}' }));
    await opened.onBatch(batch([record('2', 400, 1600)], { checkpoint: '{"a":2}' }));
    await opened.onBatch(batch([record('3', 1700, 1800)], { checkpoint: '{"a":3}' }));
    await opened.close?.();
    const rows = await copy.query(`SELECT * FROM ${copy.views}accounts ORDER BY id`);
    expect(Object.keys(rows[0] ?? {})).toHaveLength(1502);
    expect([rows[0]?.f499, rows[1]?.f1499, rows[2]?.f0]).toEqual(['499', '1099', null]);
    expect(await copied(copy)).toHaveLength(3);
  });

  test('takes the last of two records with one id', async () => {
    const copy = await open();
    const opened = await copy.target.open('acme');
    await opened.onBatch(
      batch([
        { id: '1', name: 'old' },
        { id: '1', name: 'new' },
      ]),
    );
    await opened.close?.();
    expect(await copied(copy)).toEqual([comparable('accounts', { id: '1', name: 'new' })]);
  });

  test('writes the records and the checkpoint of a batch, or neither', async () => {
    const copy = await open();
    const opened = await copy.target.open('acme');
    await opened.onBatch(batch([{ id: '1' }], { checkpoint: '{"n":1}' }));
    const before = [await copied(copy), await checkpoints(copy)];
    await copy.reject('3');
    const torn = batch([{ id: '2', name: 'Bank' }, { id: '3' }], { checkpoint: '{"n":2}' });
    const error = await caught(Promise.resolve().then(() => opened.onBatch(torn)));
    expect(error).toMatchObject({ code: 'checkpoint', retryable: true });
    expect((error as Error).cause).toBeInstanceOf(Error);
    expect([await copied(copy), await checkpoints(copy)]).toEqual(before);
    await opened.onBatch(batch([{ id: '2', name: 'Bank' }], { checkpoint: '{"n":2}' }));
    await opened.close?.();
    expect(await copied(copy)).toHaveLength(2);
    expect(await copy.query(`SELECT name FROM ${copy.views}accounts WHERE id = '2'`)).toEqual([
      { name: 'Bank' },
    ]);
  });

  test('rejects a batch after another run has written the checkpoint', async () => {
    const copy = await open();
    const opened = await copy.target.open('acme');
    const key = 'accounting-data-sdk:acme:accounts';
    await opened.store.get(key);
    await copy.query(`INSERT INTO ${copy.tables}checkpoint (key, value) VALUES ('${key}', '{"other":1}')`);
    const error = await caught(Promise.resolve().then(() => opened.onBatch(batch([{ id: '1' }]))));
    expect(isAccountingError(error, 'concurrent_run')).toBe(true);
    expect(await copied(copy)).toEqual([]);
    await opened.close?.();
  });

  test('does not hold what a schema of the client removes', async () => {
    const sandbox = createSandbox({ records: { accounts: 5 } });
    const copy = await open();
    const client = createClient({
      ...sandbox.clientOptions,
      schemas: { accounts: z.object({ id: z.string(), code: z.string().optional() }) },
    });
    await sync(client, { tenant: 'acme', target: copy.target, collections: ['accounts'] });
    const rows = await copy.query(`SELECT body FROM ${copy.tables}record`);
    expect(rows).toHaveLength(5);
    for (const { body } of rows) {
      const names = Object.keys(typeof body === 'string' ? JSON.parse(body) : (body as object));
      expect(names.filter((name) => name !== 'id' && name !== 'code')).toEqual([]);
    }
  });

  test('does not hold a field of products for which a schema returns undefined', async () => {
    const sandbox = createSandbox({ records: { products: 5 } });
    const copy = await open();
    const stripped = z
      .unknown()
      .optional()
      .transform(() => undefined);
    const schemas = { products: z.object({ id: z.string(), description: stripped, absent: stripped }) };
    const client = createClient({ ...sandbox.clientOptions, schemas });
    await sync(client, { tenant: 'acme', target: copy.target, collections: ['products'] });
    const rows = await copy.query(`SELECT body FROM ${copy.tables}record`);
    expect(rows).toHaveLength(5);
    for (const { body } of rows) {
      const names = Object.keys(typeof body === 'string' ? JSON.parse(body) : (body as object));
      expect(names).toContain('name');
      expect(names).not.toContain('description');
    }
  });

  test('rejects a value of a schema that JSON cannot represent', async () => {
    const sandbox = createSandbox({ records: { accounts: 1 } });
    const copy = await open();
    const client = createClient({
      ...sandbox.clientOptions,
      schemas: {
        accounts: z.object({ id: z.string() }).transform(({ id }) => ({ id, rows: new Map([[id, 1]]) })),
      },
    });
    const error = await caught(
      sync(client, { tenant: 'acme', target: copy.target, collections: ['accounts'] }),
    );
    expect(error).toBeInstanceOf(SyncError);
    expect(`${error}`).toContain('"1" of accounts');
    expect(await copied(copy)).toEqual([]);
  });

  test('leaves out invalid rows under validation: report, and counts them', async () => {
    const sandbox = createSandbox({ records: { accounts: 10 } });
    const copy = await open();
    const client = createClient({
      ...sandbox.clientOptions,
      validation: 'report',
      schemas: { accounts: z.looseObject({ id: z.string().refine((id) => id !== '4') }) },
    });
    const report = await sync(client, { tenant: 'acme', target: copy.target, collections: ['accounts'] });
    expect(report.collections[0]).toMatchObject({ records: 9, invalid: 1 });
    expect(await copied(copy)).toHaveLength(9);
  });
});
