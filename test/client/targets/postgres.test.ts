import type { PGlite } from '@electric-sql/pglite';
import { createClient, type FieldKind, sync, verify } from 'accounting-data-sdk';
import { type PostgresConnection, type PostgresResult, postgresTarget } from 'accounting-data-sdk/targets';
import { createSandbox } from 'accounting-data-sdk/testing';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { caught } from '../../support/caught.ts';
import { loggerOfWarnings } from '../../support/warnings.ts';
import { testCopy } from './copy.ts';
import { batch, newSchema, openPostgres, openTarget, sharedPglite, write } from './engines.ts';
import { testTrust } from './trust.ts';

testCopy('PostgreSQL', openPostgres);
testTrust('PostgreSQL', openPostgres);

let database: PGlite;
beforeAll(async () => {
  database = await sharedPglite();
});

async function opened(schema = newSchema()) {
  return { schema, copy: await openTarget(postgresTarget(database, { schema })) };
}

const rowsOf = async (sql: string) => (await database.query<Record<string, unknown>>(sql)).rows;

/** Works as a role that may write rows, and nothing else. */
async function asWriter(schema: string, work: () => Promise<void>): Promise<void> {
  for (const sql of [
    `CREATE ROLE ${schema}_writer`,
    `GRANT USAGE ON SCHEMA ${schema} TO ${schema}_writer`,
    `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${schema} TO ${schema}_writer`,
    `SET ROLE ${schema}_writer`,
  ])
    await rowsOf(sql);
  try {
    await work();
  } finally {
    await rowsOf('RESET ROLE');
  }
}

/** A copy for which accounts have these fields, and what it warns of. */
async function withKinds(schema: string, fields: Readonly<Record<string, FieldKind>>) {
  const warnings: string[] = [];
  const copy = await openTarget(postgresTarget(database, { schema }), 'acme', {
    collections: ['accounts'],
    fieldsOf: () => fields,
    warn: (text) => void warnings.push(text),
  });
  await copy.store.get('accounting-data-sdk:acme:accounts');
  return { copy, warnings };
}

const failureOf = (work: () => unknown) => caught(Promise.resolve().then(work));

test('a copy in PostgreSQL replaces what it cannot store by U+FFFD, counts it, and logs the id', async () => {
  const schema = newSchema();
  const sandbox = createSandbox({ records: { accounts: 2 } });
  sandbox.store.accounts.update('2', { name: 'a\0b\0', deep: [{ 'x\0': 'half \ud83d of' }] } as never);
  // These only look like it.
  const name = 'a\\u0000b \\\\ud83d 😀 \u{1f600}';
  sandbox.store.accounts.update('1', { name });
  const { logger, warnings } = loggerOfWarnings();
  const client = createClient({ ...sandbox.clientOptions, logger });
  const target = postgresTarget(database, { schema });
  const collections = ['accounts'] as const;
  const report = await sync(client, { tenant: 'acme', target, collections });
  expect(report.collections[0]).toMatchObject({ status: 'done', added: 2, replaced: 1 });
  expect(await rowsOf(`SELECT name, deep FROM ${schema}.accounts ORDER BY id`)).toEqual([
    { name, deep: null },
    { name: 'a\ufffdb\ufffd', deep: '[{"x\ufffd": "half \ufffd of"}]' },
  ]);
  expect(warnings.filter((text) => /Records of accounts .*: "2"\.$/.test(text))).toHaveLength(1);
  expect(await verify(client, { tenant: 'acme', target, collections })).toMatchObject({ equal: true });
});

test.each([
  [{ name: 'a\0b' }],
  [{ name: 'half \ud83d', deep: [['\udc00']] }],
  [{ deep: [{ 'x\0': 1, 'x ': 2 }] }],
  [{ 'k\ud83d': 1, 'k\ue000': 2, k: 5 }],
  [{ 'k\0': 1, 'k\ufffd': 2 }],
  [{ id: 'a\0' }],
  [{ id: 'a\ud83d', name: '\0' }],
])('verify finds no difference in a record that PostgreSQL cannot store as it is: %j', async (fields) => {
  const sandbox = createSandbox({ records: { accounts: 2 } });
  sandbox.store.accounts.insert(fields as never);
  const client = createClient({ ...sandbox.clientOptions, logger: loggerOfWarnings().logger });
  const target = postgresTarget(database, { schema: newSchema() });
  const options = { tenant: 'acme', target, collections: ['accounts'] as const };
  await sync(client, options);
  const [found] = (await verify(client, options)).collections;
  expect(found).toMatchObject({ records: 3, missing: [], different: [], extra: [], changedSince: [] });
});

test.each<[string, (rows: readonly object[]) => PostgresResult]>([
  ['pg', (rows) => ({ rows: rows.map((row) => Object.values(row)) })],
  ['postgres.js', (rows) => rows.map((row) => Object.values(row))],
  ['a driver that returns its fields too', (rows) => ({ rows: rows.map(Object.values), fields: [] })],
])('rows as arrays of %s are rejected before anything is written', async (_, result) => {
  const sandbox = createSandbox({ records: { accounts: 2 } });
  const client = createClient(sandbox.clientOptions);
  const schema = newSchema();
  const query = async (text: string, values: string[] = []) =>
    result((await database.query<object>(text, values)).rows);
  const options = { tenant: 'acme', collections: ['accounts'] as const };
  const target = postgresTarget({ query }, { schema });
  const rejected = { code: 'invalid_input', argument: 'connection', retryable: false };
  expect(await caught(sync(client, { ...options, target }))).toMatchObject(rejected);
  expect(sandbox.count()).toBe(0);
  await sync(client, { ...options, target: postgresTarget(database, { schema }) });
  expect(await caught(verify(client, { ...options, target }))).toMatchObject(rejected);
});

test('a copy in PostgreSQL is not stopped by two ids that differ only in what it cannot store', async () => {
  const { schema, copy } = await opened();
  const written = await copy.onBatch(batch([{ id: 'a\0' }, { id: 'b' }, { id: 'a\ufffd', name: 'Last' }]));
  expect(written).toMatchObject({ added: 2, replaced: ['a\0'] });
  expect(await rowsOf(`SELECT id, name FROM ${schema}.accounts ORDER BY id`)).toEqual([
    { id: 'a\ufffd', name: 'Last' },
    { id: 'b', name: null },
  ]);
});

test('a copy in PostgreSQL keeps the digits of amounts, and has types for them and for timestamps', async () => {
  const { schema, copy } = await opened();
  await copy.onBatch(batch([{ id: '1', salePrice: '12345678901234567.8901' }], { collection: 'products' }));
  const sql = `SELECT "salePrice"::text AS price, pg_typeof("salePrice")::text AS type,
    pg_typeof("updatedAt")::text AS time FROM ${schema}.products`;
  expect(await rowsOf(sql)).toEqual([
    { price: '12345678901234567.8901', type: 'numeric', time: 'timestamp with time zone' },
  ]);
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

test('a copy in PostgreSQL compares ids by their bytes, and holds times with a time zone', async () => {
  const { schema } = await opened();
  const columns = await rowsOf(`SELECT column_name AS name, data_type AS type, collation_name AS collation
    FROM information_schema.columns
    WHERE table_schema = '${schema}' AND table_name = 'record' AND column_name IN ('id', 'synced_at') ORDER BY name`);
  expect(columns).toEqual([
    { name: 'id', type: 'text', collation: 'C' },
    { name: 'synced_at', type: 'timestamp with time zone', collation: null },
  ]);
});

/** What the owner of a view can give it, and a query that finds it. `*` is the schema. */
const GIVEN = [
  ['the option check_option', `ALTER VIEW *.accounts SET (check_option = 'local')`, options()],
  ['several options', 'ALTER VIEW *.accounts SET (security_barrier = on, security_invoker = off)', options()],
  [
    'a grant',
    'CREATE ROLE "*_Analyst"; GRANT SELECT ON *.accounts TO "*_Analyst" WITH GRANT OPTION',
    rights(),
  ],
  ['a grant that the owner lost', 'REVOKE DELETE, TRUNCATE ON *.accounts FROM CURRENT_USER', rights()],
  [
    'a grant on a column',
    'CREATE ROLE *_editor; GRANT UPDATE (balance) ON *.accounts TO *_editor',
    `SELECT attname, attacl::text FROM pg_attribute WHERE attrelid = '*.accounts'::regclass AND attacl IS NOT NULL`,
  ],
  [
    'no grant although new tables get one',
    'CREATE ROLE *_new; ALTER DEFAULT PRIVILEGES IN SCHEMA * GRANT SELECT ON TABLES TO *_new',
    rights(),
  ],
  [
    'an owner',
    `CREATE ROLE *_owner; GRANT ALL ON SCHEMA * TO *_owner; GRANT SELECT ON *.record TO *_owner;
      ALTER VIEW *.accounts OWNER TO *_owner`,
    `SELECT pg_get_userbyid(relowner) FROM pg_class WHERE oid = '*.accounts'::regclass`,
  ],
  ['a comment', `COMMENT ON VIEW *.accounts IS 'See the wiki''s page'`, comments('pg_class')],
  ['a comment on a column', `COMMENT ON COLUMN *.accounts.balance IS 'In euros'`, comments('pg_class')],
  [
    'a default of a column',
    `ALTER VIEW *.accounts ALTER id SET DEFAULT '?'`,
    `SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE adrelid = '*.accounts'::regclass`,
  ],
  [
    'a rule with its comment',
    `CREATE RULE "On" AS ON DELETE TO *.accounts DO INSTEAD NOTHING; COMMENT ON RULE "On" ON *.accounts IS 'No deletes'`,
    `SELECT definition, obj_description(oid, 'pg_rewrite') AS comment
      FROM pg_rules JOIN pg_rewrite USING (rulename) WHERE schemaname = '*'`,
  ],
  [
    'a trigger with its comment',
    `CREATE FUNCTION *.ignore() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
      CREATE TRIGGER "Mine" INSTEAD OF UPDATE ON *.accounts FOR EACH ROW EXECUTE FUNCTION *.ignore();
      COMMENT ON TRIGGER "Mine" ON *.accounts IS 'Read only'`,
    `SELECT pg_get_triggerdef(oid), obj_description(oid, 'pg_trigger') AS comment
      FROM pg_trigger WHERE tgrelid = '*.accounts'::regclass`,
  ],
] as const;

function options() {
  return `SELECT reloptions FROM pg_class WHERE oid = '*.accounts'::regclass`;
}

function rights() {
  return `SELECT grantee::regrole::text, privilege_type, is_grantable FROM pg_class,
    aclexplode(coalesce(relacl, acldefault('r', relowner))) WHERE oid = '*.accounts'::regclass ORDER BY 1, 2`;
}

function comments(catalog: string) {
  return `SELECT objsubid, description FROM pg_description
    WHERE classoid = '${catalog}'::regclass AND objoid = '*.accounts'::regclass`;
}

const REPLACEMENTS = [
  ['a record has a new field', { balance: 'string' }, { iban: 'NL00' }],
  ['a column gets another type', { balance: 'money' }, {}],
] as const;

test.each(
  REPLACEMENTS.flatMap(([when, kinds, record]) =>
    GIVEN.map(([what, sql, asked]) => ({ what, when, kinds, record, sql, asked })),
  ),
)('a view in PostgreSQL keeps $what if $when', async ({ kinds, record, sql, asked }) => {
  const { schema, copy } = await opened();
  const inSchema = (text: string) => text.replaceAll('*', schema);
  await copy.onBatch(batch([{ id: '1', balance: '5.00' }], { checkpoint: '{"n":1}' }));
  await database.exec(inSchema(sql));
  const before = await rowsOf(inSchema(asked));
  expect(before).not.toEqual([]);
  const { copy: next, warnings } = await withKinds(schema, kinds);
  await next.onBatch(batch([{ id: '2', balance: '7.00', ...record }], { checkpoint: '{"n":2}' }));
  expect(warnings).toEqual([]);
  const column = Object.keys({ balance: '', ...record }).at(-1);
  const [row] = await rowsOf(`SELECT pg_typeof("${column}")::text AS type FROM ${schema}.accounts`);
  expect(row).toEqual({ type: kinds.balance === 'money' ? 'numeric' : 'text' });
  expect(await rowsOf(inSchema(asked))).toEqual(before);
});

test.each([
  [
    'a view of views',
    'CREATE VIEW *_mine AS SELECT balance FROM *.accounts',
    'DROP VIEW "*"."accounts" CASCADE',
  ],
  [
    'a type of a parameter',
    `CREATE FUNCTION *_f(*.accounts) RETURNS int LANGUAGE sql AS 'SELECT 1'`,
    'CASCADE',
  ],
  ['a default of another type', `ALTER VIEW *.accounts ALTER balance SET DEFAULT '0'`, 'default expression'],
  [
    'another name of a column',
    'ALTER VIEW *.accounts RENAME balance TO saldo',
    'column "saldo" does not exist',
  ],
])('a view in PostgreSQL stays as it is, with a warning, if it would lose %s', async (_, sql, warning) => {
  const { schema, copy } = await opened();
  const inSchema = (text: string) => text.replaceAll('*', schema);
  await copy.onBatch(batch([{ id: '1', balance: '5.00' }], { checkpoint: '{"n":1}' }));
  await database.exec(inSchema(sql));
  const definition = () => rowsOf(inSchema(`SELECT pg_get_viewdef('*.accounts') AS sql`));
  const before = await definition();
  const { copy: next, warnings } = await withKinds(schema, { balance: 'money' });
  await next.onBatch(batch([{ id: '2', balance: '7.00' }], { checkpoint: '{"n":2}' }));
  expect(warnings).toEqual([expect.stringContaining(inSchema(warning))]);
  expect(await definition()).toEqual(before);
  expect(await rowsOf(`SELECT id FROM ${schema}.record`)).toHaveLength(2);
});

test('a copy in PostgreSQL needs no right to create anything once the tables and views exist', async () => {
  const { schema, copy } = await opened();
  await copy.onBatch(batch([{ id: '1', name: 'Cash' }], { checkpoint: '{"n":1}' }));
  await asWriter(schema, async () => {
    const { copy: again } = await opened(schema);
    await again.store.get('accounting-data-sdk:acme:accounts');
    await again.onBatch(batch([{ id: '2', name: 'Bank' }], { checkpoint: '{"n":2}' }));
  });
  expect(await rowsOf(`SELECT id FROM ${schema}.record ORDER BY id`)).toEqual([{ id: '1' }, { id: '2' }]);
});

test('a role that owns the schema makes the first copy without the right to create schemas', async () => {
  const schema = newSchema();
  await database.exec(`CREATE ROLE ${schema}_owner; CREATE SCHEMA ${schema} AUTHORIZATION ${schema}_owner`);
  await database.exec(`SET ROLE ${schema}_owner`);
  onTestFinished(async () => void (await database.exec('RESET ROLE')));
  const { copy } = await opened(schema);
  await copy.onBatch(batch([{ id: '1', name: 'Cash', accountId: '2' }]));
  expect(await rowsOf(`SELECT name FROM ${schema}.accounts`)).toEqual([{ name: 'Cash' }]);
});

test.each([
  ['', 'CREATE on the database postgres'],
  ['CREATE SCHEMA *', 'USAGE on the schema *, CREATE on the schema *'],
  ['CREATE SCHEMA *; GRANT USAGE ON SCHEMA * TO *_role', 'CREATE on the schema *'],
])('a copy in PostgreSQL names the role and the right that the first sync lacks: %j', async (sql, lacked) => {
  const schema = newSchema();
  const inSchema = (text: string) => text.replaceAll('*', schema);
  await database.exec(`CREATE ROLE ${schema}_role`);
  await database.exec(inSchema(sql));
  await database.exec(`SET ROLE ${schema}_role`);
  onTestFinished(async () => void (await database.exec('RESET ROLE')));
  const error = await failureOf(() => opened(schema));
  expect(error).toMatchObject({ code: 'invalid_input', argument: 'target' });
  expect(`${error}`).toContain(inSchema(`permission denied`));
  expect(`${error}`).toContain(inSchema(`: the role *_role lacks ${lacked}`));
  expect(`${error}`).toContain('Grant what is missing');
});

test.each([
  ['INSERT ON *.record', 'INSERT on the table *.record'],
  ['SELECT, UPDATE ON *.checkpoint', 'SELECT, UPDATE on the table *.checkpoint'],
  ['ALL ON *.field', 'DELETE, INSERT, SELECT, UPDATE on the table *.field'],
  [
    'INSERT ON ALL TABLES IN SCHEMA *',
    'INSERT on the tables *.checkpoint, *.field, *.record, *.seen, *.status. ',
  ],
])('a copy in PostgreSQL names the role and the right that a later sync lacks: %s', async (right, lacked) => {
  const { schema, copy } = await opened();
  const inSchema = (text: string) => text.replaceAll('*', schema);
  await copy.onBatch(batch([{ id: '1', name: 'Cash' }], { checkpoint: '{"n":1}' }));
  await asWriter(schema, async () => {
    await database.exec(inSchema(`RESET ROLE; REVOKE ${right} FROM *_writer; SET ROLE *_writer`));
    const error = await failureOf(async () => {
      const { copy: next } = await opened(schema);
      await next.store.get('accounting-data-sdk:acme:accounts');
      await next.onBatch(batch([{ id: '2', mood: 'new' }], { checkpoint: '{"n":2}' }));
    });
    expect(error).toMatchObject({ retryable: false });
    const sorted = `${error}`.replace(
      /lacks (.*) on the/,
      (_, list: string) => `lacks ${list.split(', ').sort().join(', ')} on the`,
    );
    expect(sorted).toContain(inSchema(`the role *_writer lacks ${lacked}`));
  });
});

test.each(['LATIN1', 'SQL_ASCII', 'WIN1252'])(
  'a copy in PostgreSQL is not created in a database of the encoding %s',
  async (encoding) => {
    const schema = newSchema();
    const connection: PostgresConnection = {
      query: (text, values) => {
        const sql = text.replaceAll(/decode\('([^']+)', 'base64'\)/g, (_, code: string) => {
          const inner = Buffer.from(code, 'base64')
            .toString()
            .replaceAll('getdatabaseencoding()', `''${encoding}''`);
          return `decode('${Buffer.from(inner).toString('base64')}', 'base64')`;
        });
        return database.query(sql, values);
      },
    };
    const error = await failureOf(() => openTarget(postgresTarget(connection, { schema })));
    expect(`${error}`).toContain(`the database is in ${encoding}, which cannot hold every record`);
    expect(`${error}`).toContain("Create a database with ENCODING 'UTF8'.");
    expect(await rowsOf(`SELECT to_regnamespace('${schema}') AS found`)).toEqual([{ found: null }]);
  },
);

test('a role that may not replace a view writes the records, and each sync warns once what to run until the owner has run one', async () => {
  const schema = newSchema();
  const sandbox = createSandbox({ records: { accounts: 30 }, pageSize: 10 });
  const { logger, warnings } = loggerOfWarnings();
  const client = createClient({ ...sandbox.clientOptions, logger });
  const run = (mode?: 'full') =>
    sync(client, {
      tenant: 'acme',
      mode,
      target: postgresTarget(database, { schema }),
      collections: ['accounts'],
    });
  await run();
  await asWriter(schema, async () => {
    sandbox.store.accounts.update('1', { mood: 'new 1' } as never);
    expect((await run()).collections[0]).toMatchObject({ changed: 1 });
    // Each page has another new field.
    for (const id of ['2', '12', '22']) {
      sandbox.store.accounts.update(id, { mood: `new ${id}`, [`field${id}`]: id } as never);
    }
    expect((await run('full')).collections[0]).toMatchObject({ changed: 3 });
  });
  const rows = await rowsOf(
    `SELECT body ->> 'mood' AS mood FROM ${schema}.record WHERE body ? 'mood' ORDER BY id`,
  );
  expect(rows.map(({ mood }) => mood)).toEqual(['new 1', 'new 12', 'new 2', 'new 22']);
  expect(warnings).toHaveLength(2);
  for (const text of warnings) {
    expect(text).toContain('The view accounts could not be replaced');
    expect(text).toContain(`Run a sync once as the owner of the schema ${schema}.`);
  }
  await run();
  expect(warnings).toHaveLength(2);
  expect(await rowsOf(`SELECT mood, field22 FROM ${schema}.accounts WHERE id = '22'`)).toEqual([
    { mood: 'new 22', field22: '22' },
  ]);
});

test('a connection that is lost in a batch costs no record, whether the batch was committed or not', async () => {
  const sandbox = createSandbox({ records: { accounts: 120 }, pageSize: 20 });
  const client = createClient(sandbox.clientOptions);
  const schema = newSchema();
  let writes = 0;
  const losing = (isCommitted: boolean): PostgresConnection => ({
    async query(text, values) {
      const isLost = text.includes('jsonb_array_elements') && text.includes('moved') && ++writes === 3;
      if (isLost && isCommitted) await database.query(text, values);
      if (isLost) throw Object.assign(new Error('Connection terminated unexpectedly'), { code: '08006' });
      return database.query(text, values);
    },
  });
  for (const isCommitted of [false, true]) {
    writes = 0;
    const target = postgresTarget(losing(isCommitted), { schema });
    const options = { tenant: 'acme', collections: ['accounts'], mode: 'full' } as const;
    const report = await sync(client, { ...options, target });
    expect([report.records, writes > 3]).toEqual([120, true]);
  }
  const rows = await rowsOf(`SELECT body FROM ${schema}.record ORDER BY id::int`);
  expect(rows.map(({ body }) => body)).toEqual(sandbox.store.accounts.all());
});

test.each([{ stopAfter: { ms: 60_000 } }, {}])(
  'a sync without changes sends one request for each collection, and at most 20 queries (%j)',
  async (options) => {
    const sandbox = createSandbox({ records: 3 });
    const client = createClient(sandbox.clientOptions);
    const queries: string[] = [];
    const connection: PostgresConnection = {
      async query(text, values) {
        queries.push(text);
        return await database.query(text, values);
      },
    };
    const target = postgresTarget(connection, { schema: newSchema() });
    await sync(client, { tenant: 'acme', target });
    sandbox.clock.advance(3_600_000);
    queries.length = 0;
    const requests = sandbox.count();
    const report = await sync(client, { tenant: 'acme', target, ...options });
    expect(report).toMatchObject({ records: 0, paused: false });
    expect(report.collections).toHaveLength(14);
    expect(sandbox.count() - requests).toBe(14);
    expect(queries.length, queries.join('\n\n')).toBeLessThanOrEqual(20);
    expect(queries.filter((text) => /^SELECT key, value\b/.test(text))).toHaveLength(1);
  },
);

test('a copy in PostgreSQL can have a table of records in partitions', async () => {
  const schema = newSchema();
  await rowsOf(`CREATE SCHEMA ${schema}`);
  await rowsOf(
    `CREATE TABLE ${schema}.record (tenant text COLLATE "C" NOT NULL, collection text COLLATE "C" NOT NULL,
      id text COLLATE "C" NOT NULL, body jsonb NOT NULL, invalid boolean NOT NULL, unreadable_date boolean NOT NULL, synced_at timestamptz NOT NULL,
      PRIMARY KEY (collection, tenant, id)) PARTITION BY HASH (tenant)`,
  );
  for (const part of [0, 1]) {
    await rowsOf(
      `CREATE TABLE ${schema}.record_${part} PARTITION OF ${schema}.record FOR VALUES WITH (MODULUS 2, REMAINDER ${part})`,
    );
  }
  const target = postgresTarget(database, { schema });
  const collections = ['accounts'] as const;
  // One of them in each part.
  for (const tenant of ['acme', 'bolt', 'cube']) {
    const sandbox = createSandbox({ records: { accounts: 10 } });
    const client = createClient(sandbox.clientOptions);
    const first = await sync(client, { tenant, target, collections });
    expect(first.collections[0]).toMatchObject({ added: 10, changed: 0, unchanged: 0 });
    sandbox.store.accounts.update('3', { name: 'Renamed' });
    sandbox.store.accounts.insert({ name: 'New' });
    sandbox.store.accounts.delete('4');
    const full = await sync(client, { tenant, target, collections, mode: 'full' });
    expect(full.collections[0]).toMatchObject({ added: 1, changed: 1, unchanged: 8, deleted: 1 });
    expect(await verify(client, { tenant, target, collections })).toMatchObject({ equal: true });
  }
  const parts = await rowsOf(`SELECT DISTINCT CAST(tableoid AS text) FROM ${schema}.record`);
  expect(parts).toHaveLength(2);
});

test('a copy in PostgreSQL needs no standard_conforming_strings', async () => {
  const copy = await openPostgres();
  await database.query('SET standard_conforming_strings = off');
  onTestFinished(async () => void (await database.query('RESET standard_conforming_strings')));
  await write(copy, batch([{ id: '1', 'x\\': 'yes' }]));
  expect(await copy.query(`SELECT "x\\" AS x FROM ${copy.views}accounts`)).toEqual([{ x: 'yes' }]);
});

test('postgresTarget takes a connection that resolves to an array of rows', async () => {
  const schema = newSchema();
  const connection: PostgresConnection = {
    query: async (text, values) => (await database.query(text, values)).rows,
  };
  const copy = await openTarget(postgresTarget(connection, { schema }));
  await copy.onBatch(batch([{ id: '1' }]));
  const ids: string[] = [];
  for await (const id of copy.localIds?.('accounts') ?? []) ids.push(id);
  expect(ids).toEqual(['1']);
});

test.each([
  ['connection', () => postgresTarget({} as never)],
  ['schema', () => postgresTarget(database, { schema: 'a"b' })],
  ['prefix', () => postgresTarget(database, { prefix: 'a' } as never)],
])('postgresTarget rejects an invalid %s', async (argument, create) => {
  expect(await failureOf(create)).toMatchObject({ code: 'invalid_input', argument });
});
