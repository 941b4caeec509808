import { isAccountingError } from 'accounting-data-sdk';
import { createSandbox } from 'accounting-data-sdk/testing';
import { describe, expect, test } from 'vitest';
import { caught } from '../../support/caught.ts';
import { batch, type Copy, comparable, copied, openTarget, write } from './engines.ts';
import { parsed, run, upstream } from './set-up.ts';

const checkpoints = async ({ query, tables }: Copy) =>
  Object.fromEntries(
    (await query(`SELECT key, value FROM ${tables}checkpoint WHERE key NOT LIKE 'company:%'`)).map(
      ({ key, value }) => [key, value],
    ),
  );

/** What a copy promises, in whatever database it is. */
export function testCopy(engine: string, open: () => Promise<Copy>): void {
  const isPostgres = engine === 'PostgreSQL';
  describe(`a copy in ${engine}`, () => {
    test('has every record, then every change, then no deleted record', async () => {
      const sandbox = createSandbox({ records: { accounts: 70, products: 40 } });
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
    });

    test('has a view with a column for each field, in the order in which they were first seen', async () => {
      const copy = await open();
      await write(copy, batch([{ id: '1', name: 'Cash', code: '1000' }]));
      await write(
        copy,
        batch([{ id: '2', iban: 'NL00', name: 'Bank' }]),
        batch([], { collection: 'bomLines' }),
      );
      const rows = await copy.query(`SELECT * FROM ${copy.views}accounts ORDER BY id`);
      expect(Object.keys(rows[0] ?? {})).toEqual(['tenant', 'id', 'synced_at', 'name', 'code', 'iban']);
      expect(rows.map(({ synced_at: _, ...row }) => Object.values(row))).toEqual([
        ['acme', '1', 'Cash', '1000', null],
        ['acme', '2', 'Bank', null, 'NL00'],
      ]);
      expect(await copy.query(`SELECT * FROM ${copy.views}bom_lines`)).toEqual([]);
    });

    test('types the columns of products, and shows null for a value of another type', async () => {
      const copy = await open();
      const right = { id: '1', isInactive: false, salePriceDecimals: 2, stockQuantity: 1.5, tags: ['a'] };
      const wrong = { id: '2', isInactive: 'no', salePriceDecimals: '2', stockQuantity: 'many', tags: 'a' };
      await write(copy, batch([right, wrong], { collection: 'products' }));
      const [first, second] = await copy.query(`SELECT * FROM ${copy.views}products ORDER BY id`);
      expect([
        Boolean(first?.isInactive),
        Number(first?.salePriceDecimals),
        Number(first?.stockQuantity),
        parsed(first?.tags),
      ]).toEqual([false, 2, 1.5, ['a']]);
      const [total] = await copy.query(`SELECT sum("stockQuantity") AS sum FROM ${copy.views}products`);
      expect(Number(total?.sum)).toBe(1.5);
      expect(second).toMatchObject({
        isInactive: null,
        salePriceDecimals: null,
        stockQuantity: null,
        tags: null,
      });
      const [body] = await copy.query(`SELECT body FROM ${copy.tables}record WHERE id = '2'`);
      expect(parsed(body?.body)).toEqual(wrong);
    });

    test('gives colliding, odd and hostile field names columns of their own', async () => {
      const copy = await open();
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
      await write(copy, batch([{ id: '1', ...values }], { collection: 'boms' }));
      const [row] = await copy.query(`SELECT * FROM ${copy.views}boms`);
      const { tenant, id, synced_at: _, ...columns } = row ?? {};
      expect([tenant, id]).toEqual(['acme', '1']);
      expect(Object.values(columns).sort()).toEqual(Object.values(values).sort());
      expect(columns).toMatchObject({
        tenant_2: 't',
        ID_2: 'upper',
        Name: 'A',
        name_2: 'b',
        NAME_3: 'c',
        name_2_2: 'd',
        [hostile.slice(0, 58)]: 'x',
      });
      expect(await copied(copy)).toHaveLength(1);
    });

    test('shows the first 1,500 fields of a collection, and keeps the others in body', async () => {
      const copy = await open();
      const record = (id: string, from: number, to: number) => {
        const fields = Array.from({ length: to - from }, (_, index) => [`f${from + index}`, `${index}`]);
        return { id, ...Object.fromEntries(fields) };
      };
      await write(copy, batch([record('1', 0, 1_501)]));
      // A later sync meets more fields than a view of SQLite can have.
      await write(copy, batch([record('2', 1_400, 2_100)], { checkpoint: '{"n":2}' }));
      const rows = await copy.query(`SELECT * FROM ${copy.views}accounts ORDER BY id`);
      expect(Object.keys(rows[0] ?? {})).toHaveLength(1_503);
      expect([rows[0]?.f1499, rows[1]?.f1400, rows[1]?.f0]).toEqual(['1499', '0', null]);
      expect(await copied(copy)).toHaveLength(2);
    });

    test.each([
      'TABLE accounts (mine text)',
      'VIEW accounts AS SELECT 1 AS mine',
      'TABLE Accounts (mine text)',
    ])('does not touch what a user created under the name of a view: %s', async (what) => {
      const copy = await open();
      const opened = await openTarget(copy.target);
      await copy.query(`CREATE ${what.replace(/accounts/i, `${copy.views}$&`)}`);
      const error = await caught((async () => opened.onBatch(batch([{ id: '1', name: 'Cash' }])))());
      await opened.close?.();
      expect(error).toMatchObject({ code: 'invalid_input', argument: 'target' });
      const [kind = ''] = what.toLowerCase().split(' ');
      expect(`${error}`.toLowerCase()).toContain(`accounts is a ${kind} that was not created for`);
      expect(`${error}`).toMatch(/pass (viewPrefix|another schema)/);
      expect(await copy.query(`SELECT mine FROM ${copy.views}accounts`)).toHaveLength(
        what.startsWith('VIEW') ? 1 : 0,
      );
      expect(await copied(copy)).toEqual([]);
    });

    test.each([
      'TABLE record (id text)',
      'TABLE record (tenant text, collection text, id text, body text)',
      'TABLE checkpoint (name text)',
      'VIEW field AS SELECT 1 AS name',
    ])('is not opened in tables of another shape: %s', async (what) => {
      const copy = await open();
      await (await openTarget(copy.target)).close?.();
      const [, name = ''] = what.split(' ');
      await copy.query(`DROP TABLE ${copy.tables}${name}${isPostgres ? ' CASCADE' : ''}`);
      await copy.query(`CREATE ${what.replace(name, `${copy.tables}${name}`)}`);
      const error = await caught(openTarget(copy.target));
      expect(error).toMatchObject({ code: 'invalid_input', argument: 'target' });
    });

    test('takes the last of two records with one id', async () => {
      const copy = await open();
      const [old, latest] = ['old', 'new'].map((name) => ({ id: '1', name }));
      await write(copy, batch([old, latest] as never));
      expect(await copied(copy)).toEqual([comparable('accounts', { id: '1', name: 'new' })]);
    });

    test('writes the records and the checkpoint of a batch, or neither', async () => {
      const copy = await open();
      const opened = await openTarget(copy.target);
      await opened.onBatch(batch([{ id: '1' }], { checkpoint: '{"n":1}' }));
      const before = [await copied(copy), await checkpoints(copy)];
      await copy.reject('3');
      const torn = batch([{ id: '2', name: 'Bank' }, { id: '3' }], { checkpoint: '{"n":2}' });
      const error = await caught((async () => opened.onBatch(torn))());
      expect(error).toMatchObject({ code: 'checkpoint', retryable: false, cause: expect.any(Error) });
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
      const opened = await openTarget(copy.target);
      const key = 'accounting-data-sdk:acme:accounts';
      await opened.store.get(key);
      await copy.query(
        `INSERT INTO ${copy.tables}checkpoint (key, tenant, value) VALUES ('${key}', 'acme', '{"other":1}')`,
      );
      const error = await caught((async () => opened.onBatch(batch([{ id: '1' }])))());
      expect(isAccountingError(error, 'concurrent_run')).toBe(true);
      expect(await copied(copy)).toEqual([]);
      await opened.close?.();
    });
  });
}
