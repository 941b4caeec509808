import type { PGlite } from '@electric-sql/pglite';
import { createClient, sync } from 'accounting-data-sdk';
import { type PostgresConnection, postgresTarget } from 'accounting-data-sdk/targets';
import { createSandbox } from 'accounting-data-sdk/testing';
import { beforeAll, expect, test } from 'vitest';
import { caught } from '../../support/caught.ts';
import { testCopy } from './copy.ts';
import { batch, newSchema, openPostgres, sharedPglite } from './engines.ts';

testCopy('PostgreSQL', openPostgres);

let database: PGlite;
beforeAll(async () => {
  database = await sharedPglite();
});

async function opened(schema = newSchema()) {
  return { schema, copy: await postgresTarget(database, { schema }).open('acme') };
}

const rowsOf = async (sql: string) => (await database.query<Record<string, unknown>>(sql)).rows;
const failureOf = (work: () => unknown) => caught(Promise.resolve().then(work));

test('a copy in PostgreSQL rejects a record that it cannot store, names it, and writes nothing of its batch', async () => {
  const { schema, copy } = await opened();
  for (const text of ['a\0b', 'half \ud83d of a pair']) {
    const error = await failureOf(() =>
      copy.onBatch(batch([{ id: '1' }, { id: '42', name: { deep: [text] } }])),
    );
    expect(error).toMatchObject({ code: 'checkpoint' });
    expect(`${error}`).toContain('"42" of accounts');
  }
  expect(await rowsOf(`SELECT * FROM ${schema}.record`)).toEqual([]);
  // These only look like it.
  const name = 'a\\u0000b \\\\ud83d 😀 \u{1f600}';
  await copy.onBatch(batch([{ id: '42', name }]));
  expect(await rowsOf(`SELECT name FROM ${schema}.accounts`)).toEqual([{ name }]);
});

test('a copy in PostgreSQL keeps the types and digits of amounts', async () => {
  const { schema, copy } = await opened();
  await copy.onBatch(batch([{ id: '1', salePrice: '12345678901234567.8901' }], { collection: 'products' }));
  expect(
    await rowsOf(
      `SELECT "salePrice"::text AS price, pg_typeof("salePrice")::text AS type FROM ${schema}.products`,
    ),
  ).toEqual([{ price: '12345678901234567.8901', type: 'numeric' }]);
});

test('a copy in PostgreSQL adds a column without dropping what depends on the view', async () => {
  const { schema, copy } = await opened();
  await copy.onBatch(batch([{ id: '1', name: 'Cash' }], { checkpoint: '{"n":1}' }));
  await rowsOf(`CREATE VIEW ${schema}_mine AS SELECT name FROM ${schema}.accounts`);
  await copy.onBatch(batch([{ id: '2', name: 'Bank', iban: 'NL00' }], { checkpoint: '{"n":2}' }));
  expect(await rowsOf(`SELECT name FROM ${schema}_mine ORDER BY name`)).toEqual([
    { name: 'Bank' },
    { name: 'Cash' },
  ]);
  expect(await rowsOf(`SELECT iban FROM ${schema}.accounts WHERE id = '2'`)).toEqual([{ iban: 'NL00' }]);
});

test('a copy in PostgreSQL replaces a view whose columns have other types', async () => {
  const { schema, copy } = await opened();
  await rowsOf(`CREATE VIEW ${schema}.accounts AS SELECT 1 AS other, 'x' AS id`);
  await copy.onBatch(batch([{ id: '1', name: 'Cash' }]));
  expect(await rowsOf(`SELECT * FROM ${schema}.accounts`)).toEqual([
    { tenant: 'acme', id: '1', name: 'Cash' },
  ]);
});

test('a copy in PostgreSQL does not touch a table under the name of a view', async () => {
  const { schema, copy } = await opened();
  await rowsOf(`CREATE TABLE ${schema}.accounts (mine text)`);
  const error = await failureOf(() => copy.onBatch(batch([{ id: '1', name: 'Cash' }])));
  expect(error).toMatchObject({ code: 'checkpoint' });
  expect(`${error}`).toContain(`${schema}.accounts is not a view`);
  expect(await rowsOf(`SELECT mine FROM ${schema}.accounts`)).toEqual([]);
  expect(await rowsOf(`SELECT * FROM ${schema}.checkpoint`)).toEqual([]);
});

test('postgresTarget rejects tables of another shape when it opens', async () => {
  const schema = newSchema();
  await rowsOf(`CREATE SCHEMA ${schema}`);
  await rowsOf(`CREATE TABLE ${schema}.record (id text)`);
  expect(await failureOf(() => opened(schema))).toMatchObject({ code: 'invalid_input', argument: 'target' });
});

test('a copy in PostgreSQL needs no right to create anything once the tables and views exist', async () => {
  const { schema, copy } = await opened();
  await copy.onBatch(batch([{ id: '1', name: 'Cash' }], { checkpoint: '{"n":1}' }));
  await rowsOf(`CREATE ROLE ${schema}_writer`);
  await rowsOf(`GRANT USAGE ON SCHEMA ${schema} TO ${schema}_writer`);
  await rowsOf(`GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${schema} TO ${schema}_writer`);
  await rowsOf(`SET ROLE ${schema}_writer`);
  try {
    const { copy: again } = await opened(schema);
    await again.store.get('accounting-data-sdk:acme:accounts');
    await again.onBatch(batch([{ id: '2', name: 'Bank' }], { checkpoint: '{"n":2}' }));
  } finally {
    await rowsOf('RESET ROLE');
  }
  expect(await rowsOf(`SELECT id FROM ${schema}.record ORDER BY id`)).toEqual([{ id: '1' }, { id: '2' }]);
});

test('a connection that is lost in a batch costs no record, whether the batch was committed or not', async () => {
  const sandbox = createSandbox({ records: { accounts: 120 }, pageSize: 20 });
  const client = createClient(sandbox.clientOptions);
  const schema = newSchema();
  let writes = 0;
  const losing = (isCommitted: boolean): PostgresConnection => ({
    async query(text, values) {
      const isLost = text.includes('INSERT INTO') && values !== undefined && ++writes === 3;
      if (isLost && isCommitted) await database.query(text, values);
      if (isLost) throw Object.assign(new Error('Connection terminated unexpectedly'), { code: '08006' });
      return database.query(text, values);
    },
  });
  for (const isCommitted of [false, true]) {
    writes = 0;
    const target = postgresTarget(losing(isCommitted), { schema });
    const error = await caught(
      sync(client, { tenant: 'acme', target, collections: ['accounts'], mode: 'full' }),
    );
    expect(error).toMatchObject({ code: 'sync_failed' });
    expect(`${error}`).toContain('Connection terminated unexpectedly');
  }
  const report = await sync(client, {
    tenant: 'acme',
    target: postgresTarget(database, { schema }),
    collections: ['accounts'],
  });
  expect(report.records).toBeGreaterThan(0);
  const rows = await rowsOf(`SELECT body FROM ${schema}.record ORDER BY id::int`);
  expect(rows.map(({ body }) => body)).toEqual(sandbox.store.accounts.all());
});

test('postgresTarget takes a connection that resolves to an array of rows', async () => {
  const schema = newSchema();
  const connection: PostgresConnection = {
    query: async (text, values) => (await database.query(text, values)).rows,
  };
  const copy = await postgresTarget(connection, { schema }).open('acme');
  await copy.onBatch(batch([{ id: '1' }]));
  const ids: string[] = [];
  for await (const id of copy.localIds('accounts')) ids.push(id);
  expect(ids).toEqual(['1']);
});

test.each([
  ['connection', () => postgresTarget({} as never)],
  ['schema', () => postgresTarget(database, { schema: 'a"b' })],
  ['prefix', () => postgresTarget(database, { prefix: 'a' } as never)],
])('postgresTarget rejects an invalid %s', async (argument, create) => {
  expect(await failureOf(create)).toMatchObject({ code: 'invalid_input', argument });
});
