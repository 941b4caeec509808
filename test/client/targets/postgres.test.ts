import type { PGlite } from '@electric-sql/pglite';
import { collectionNames, createClient, type FieldKind, sync, verify } from 'accounting-data-sdk';
import { type PostgresConnection, type PostgresResult, postgresTarget } from 'accounting-data-sdk/targets';
import { createSandbox } from 'accounting-data-sdk/testing';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { caught } from '../../support/caught.ts';
import { openPglite } from '../../support/pglite.ts';
import { loggerOfWarnings } from '../../support/warnings.ts';
import { testCopy } from './copy.ts';
import { batch, localIds, newSchema, openPostgres, openTarget, write } from './engines.ts';

testCopy('PostgreSQL', openPostgres);

let database: PGlite;
beforeAll(async () => {
  database = await openPglite();
});

const rowsOf = async (sql: string) => (await database.query<Record<string, unknown>>(sql)).rows;

const failureOf = (work: () => unknown) => caught(Promise.resolve().then(work));

/** A copy that the next sync of accounts opens, for which they have these fields, and what it warns of. */
async function opened(schema = newSchema(), fields: Readonly<Record<string, FieldKind>> = {}) {
  const warnings: string[] = [];
  const copy = await openTarget(postgresTarget(database, { schema }), 'acme', {
    collections: ['accounts'],
    fieldsOf: () => fields,
    warn: (text) => void warnings.push(text),
  });
  /** Writes one account, in a batch of its own. */
  const put = (id: string, record: object) =>
    copy.onBatch(batch([{ id, ...record }], { checkpoint: `{"n":${id}}` }));
  return { schema, copy, put, warnings };
}

/** Works as a role to which these statements give its rights. `*` is the schema. */
async function asRole(schema: string, statements: readonly string[], work: () => Promise<unknown>) {
  for (const sql of [`CREATE ROLE *_role`, ...statements, 'SET ROLE *_role'])
    await database.exec(sql.replaceAll('*', schema));
  try {
    return await work();
  } finally {
    await database.exec('RESET ROLE');
  }
}

/** The rights to write rows, and no other. */
const WRITER = [
  'GRANT USAGE ON SCHEMA * TO *_role',
  'GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA * TO *_role',
];

test('a copy in PostgreSQL replaces what it cannot store by U+FFFD, counts it, logs the id, and verify finds no difference', async () => {
  const schema = newSchema();
  const sandbox = createSandbox({ records: { accounts: 2 } });
  const { accounts } = sandbox.store;
  accounts.update('2', { name: 'a\0b\0', deep: [{ 'x\0': 'half \ud83d of' }] } as never);
  // These only look like it.
  const name = 'a\\u0000b \\\\ud83d 😀 \u{1f600}';
  accounts.update('1', { name });
  const { logger, warnings } = loggerOfWarnings();
  const client = createClient({ ...sandbox.clientOptions, logger });
  const target = postgresTarget(database, { schema });
  const options = { tenant: 'acme', target, collections: ['accounts'] as const };
  const report = await sync(client, options);
  expect(report.collections[0]).toMatchObject({ status: 'done', added: 2, replaced: 1 });
  expect(await rowsOf(`SELECT name, deep FROM ${schema}.accounts ORDER BY id`)).toEqual([
    { name, deep: null },
    { name: 'a\ufffdb\ufffd', deep: '[{"x\ufffd": "half \ufffd of"}]' },
  ]);
  expect(warnings.filter((text) => /Records of accounts .*: "2"\.$/.test(text))).toHaveLength(1);
  for (const fields of [
    { deep: [['\udc00'], { 'x\0': 1, 'x ': 2 }] },
    { 'k\ud83d': 1, 'k\ue000': 2, k: 5 },
    { 'k\0': 1, 'k\ufffd': 2 },
    { id: 'a\0' },
    { id: 'b\ud83d', name: '\0' },
  ])
    accounts.insert(fields as never);
  await sync(client, options);
  expect(await verify(client, options)).toMatchObject({
    collections: [{ missing: [], different: [], extra: [], changedSince: [] }],
  });
});

test('postgresTarget takes a connection that resolves to an array of rows, but no rows that are arrays', async () => {
  const schema = newSchema();
  const sandbox = createSandbox({ records: { accounts: 2 } });
  const syncOver = (result: (rows: readonly object[]) => PostgresResult) => {
    const query: PostgresConnection['query'] = async (text, values) =>
      result((await database.query<object>(text, values)).rows);
    return sync(createClient(sandbox.clientOptions), {
      tenant: 'acme',
      target: postgresTarget({ query }, { schema }),
    });
  };
  const asArrays = (rows: readonly object[]) => rows.map((row) => Object.values(row));
  for (const result of [asArrays, (rows: readonly object[]) => ({ rows: asArrays(rows) })]) {
    const error = await caught(syncOver(result));
    expect(error).toMatchObject({ code: 'invalid_input', argument: 'connection', retryable: false });
  }
  expect(sandbox.count()).toBe(0);
  await syncOver((rows) => rows);
  expect(await localIds({ target: postgresTarget(database, { schema }) })).toEqual(['1', '2']);
});

test('postgresTarget takes every row of a result that begins with empty places, as one of postgres.js does after a lost connection', async () => {
  const schema = newSchema();
  const sandbox = createSandbox({ records: { accounts: 40, products: 40 }, pageSize: 10 });
  const query: PostgresConnection['query'] = async (text, values) => {
    const { rows } = await database.query<object>(text, values);
    const result: object[] = [];
    for (const [at, row] of rows.entries()) result[at + 2] = row;
    return result;
  };
  const target = postgresTarget({ query }, { schema });
  const run = {
    tenant: 'acme',
    target,
    collections: ['accounts', 'products'] as const,
    mode: 'full',
  } as const;
  const client = createClient(sandbox.clientOptions);
  expect(await sync(client, run)).toMatchObject({ records: 80 });
  sandbox.store.accounts.delete('7');
  expect(await sync(client, run)).toMatchObject({
    collections: [
      { added: 0, deleted: 1 },
      { added: 0, deleted: 0 },
    ],
  });
  const { tenant, collections } = run;
  expect(await verify(client, { tenant, collections, target })).toMatchObject({ equal: true });
});

/** An error of PGlite in the forms of query builders and of other drivers. */
const FORMS: readonly (readonly [name: string, of: (error: Error & { code: string }) => unknown])[] = [
  ['Drizzle', (cause) => new Error(`Failed query: select secret\nparams: secret`, { cause })],
  [
    'Bun',
    ({ message, code }) =>
      Object.assign(new Error(message), { code: 'ERR_POSTGRES_SERVER_ERROR', errno: code }),
  ],
  [
    'Sequelize',
    (error) => Object.assign(new Error('secret'), { name: 'DatabaseError', parent: error, original: error }),
  ],
  ['TypeORM', (error) => Object.assign(new Error('secret'), { query: 'secret', driverError: error })],
  [
    'Prisma',
    ({ message, code }) => Object.assign(new Error('secret'), { code: 'P2010', meta: { code, message } }),
  ],
  ['a wrapper of a wrapper', (cause) => new Error('secret', { cause: new Error('secret', { cause }) })],
];

test.each(FORMS)(
  'a copy in PostgreSQL is created with the errors of %s, and says what the database said',
  async (_, of) => {
    const schema = newSchema();
    let denied = false;
    const connection: PostgresConnection = {
      async query(text, values) {
        try {
          if (denied) await database.query('SELECT * FROM nowhere');
          return await database.query(text, values);
        } catch (error) {
          throw of(error as Error & { code: string });
        }
      },
    };
    const target = postgresTarget(connection, { schema });
    await write({ target }, batch([{ id: '1', name: 'Cash', accountId: '7' }]));
    expect(await rowsOf(`SELECT name FROM ${schema}.accounts`)).toEqual([{ name: 'Cash' }]);
    const copy = await openTarget(target);
    denied = true;
    const error = await failureOf(() => copy.onBatch(batch([{ id: '2' }])));
    expect(error).toMatchObject({ code: 'checkpoint', retryable: false });
    expect(`${error}`).toContain('relation "nowhere" does not exist');
    expect(`${error}`).not.toContain('secret');
  },
);

const long = (bytes: number) => 'x'.repeat(bytes);
const uuids = Array.from({ length: 120 }, () => crypto.randomUUID());

test.each<[string, unknown]>([
  ['a token', long(2_800)],
  ['100 kB', long(100_000)],
  ['120 UUIDs', uuids.join(',')],
  ['a list of 120 UUIDs', uuids],
  ['an object', { lines: uuids.map((id) => ({ id, amount: '1.00' })) }],
  ['text of several bytes a character', 'é'.repeat(700)],
])(
  'a copy in PostgreSQL has a field that names other records with %s, and warns once that it has no index',
  async (_, value) => {
    const { schema, copy, put, warnings } = await opened();
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    const shown = async (id: string) => {
      const [row] =
        await rowsOf(`SELECT "groupId" AS shown, body -> 'groupId' AS stored FROM ${schema}.accounts
      JOIN ${schema}.record USING (tenant, id) WHERE id = '${id}'`);
      return row;
    };
    await put('1', { groupId: 'g1', ownerId: 'o1' });
    expect(await rowsOf(`SELECT id FROM ${schema}.accounts WHERE "groupId" = 'g1'`)).toEqual([{ id: '1' }]);
    await put('2', { groupId: value, ownerId: 'o2' });
    await put('3', { groupId: value, name: text, [`field ${long(3_000)}`]: 'x' });
    for (const id of ['2', '3']) {
      const row = await shown(id);
      expect(row?.stored).toEqual(value);
      expect(typeof value === 'string' ? row?.shown : JSON.parse(`${row?.shown}`)).toEqual(value);
    }
    expect(await shown('1')).toEqual({ shown: 'g1', stored: 'g1' });
    expect(warnings).toEqual([
      expect.stringMatching(/^groupId of accounts has texts that are too long for an index/),
    ]);
    await copy.close?.();

    // A later run knows it, and another new field changes nothing of it.
    const next = await opened(schema, { groupId: 'string' });
    await next.put('4', { groupId: value, iban: 'NL00' });
    expect(next.warnings).toEqual([]);
    expect((await shown('4'))?.stored).toEqual(value);
    const plan = await database.query(
      `EXPLAIN SELECT 1 FROM ${schema}.accounts WHERE tenant = 'acme' AND "ownerId" = 'o1'`,
    );
    expect(JSON.stringify(plan.rows)).toContain('record_ownerId');
  },
);

test('a copy in PostgreSQL shows long texts of a field that names other records, also if a schema names the field', async () => {
  const { schema, put } = await opened(undefined, { groupId: 'string' });
  await put('1', { groupId: 'g1' });
  await put('2', { groupId: long(2_800) });
  const lengths = await rowsOf(`SELECT length("groupId") AS length FROM ${schema}.accounts ORDER BY id`);
  expect(lengths).toEqual([{ length: 2 }, { length: 2_800 }]);
});

test('a copy in PostgreSQL has the last of two records of a batch with one id', async () => {
  const { schema, copy } = await opened();
  const twice = batch(['old', 'new'].map((name) => ({ id: '1', name })));
  expect(await copy.onBatch(twice)).toMatchObject({ added: 1, changed: 0, unchanged: 0 });
  expect(await rowsOf(`SELECT name FROM ${schema}.accounts`)).toEqual([{ name: 'new' }]);
  await copy.close?.();
});

test('a copy in PostgreSQL has an index for the first 30 fields that name other records', async () => {
  const { schema, put } = await opened();
  await put('1', Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`f${at}Id`, 'x'])));
  const indexes = await rowsOf(
    `SELECT indexname FROM pg_indexes WHERE schemaname = '${schema}' AND indexname ~ 'Id$'`,
  );
  expect(indexes).toHaveLength(30);
  // With another kind of an early one, the next gets an index, and no column changes.
  const { put: putNext, warnings } = await opened(schema, { f0Id: 'integer' });
  await putNext('2', { f41Id: 'x' });
  expect(warnings).toEqual([expect.stringMatching(/^f0Id of accounts has a type now/)]);
  expect(await rowsOf(`SELECT "f0Id", "f41Id" FROM ${schema}.accounts ORDER BY id`)).toEqual([
    { f0Id: 'x', f41Id: null },
    { f0Id: null, f41Id: 'x' },
  ]);
});

test('a copy in PostgreSQL keeps the digits of amounts, has types for them and for times, and compares ids by their bytes', async () => {
  const { schema, copy } = await opened();
  const product = { id: '1', salePrice: '12345678901234567.8901', updatedAt: '2026-01-31T12:00:00.1234567Z' };
  await copy.onBatch(batch([product], { collection: 'products' }));
  const sql = `SELECT "salePrice"::text AS price, pg_typeof("salePrice")::text AS type,
    pg_typeof("updatedAt")::text AS time, to_char("updatedAt", 'US') AS micros, pg_typeof(synced_at)::text AS synced,
    (SELECT collation_name FROM information_schema.columns
      WHERE table_schema = '${schema}' AND table_name = 'record' AND column_name = 'id') AS collation
    FROM ${schema}.products`;
  const time = 'timestamp with time zone';
  expect(await rowsOf(sql)).toEqual([
    {
      price: '12345678901234567.8901',
      type: 'numeric',
      time,
      micros: '123456',
      synced: time,
      collation: 'C',
    },
  ]);
  // A schema that says no more than that it is a string.
  const accounts = await opened(undefined, { createdAt: 'string', name: 'string' });
  await accounts.put('1', { createdAt: '2026-01-31T12:00:00Z', name: 'Desk' });
  const types = 'pg_typeof("createdAt")::text AS created, pg_typeof(name)::text AS name';
  expect(await rowsOf(`SELECT ${types} FROM ${accounts.schema}.accounts`)).toEqual([
    { created: time, name: 'text' },
  ]);
});

test('a copy in PostgreSQL shows the first 1,500 fields of a collection, and keeps the others in body', async () => {
  const { schema, copy } = await opened();
  const fields = Array.from({ length: 1_600 }, (_, index) => [`f${index}`, `${index}`]);
  await copy.onBatch(batch([{ id: '1', ...Object.fromEntries(fields) }]));
  const [row] = await rowsOf(`SELECT * FROM ${schema}.accounts`);
  expect(Object.keys(row ?? {})).toHaveLength(1_503);
  expect(await rowsOf(`SELECT body ->> 'f1599' AS last FROM ${schema}.record`)).toEqual([{ last: '1599' }]);
});

const OPTIONS = `SELECT reloptions FROM pg_class WHERE oid = '*.accounts'::regclass`;
const RIGHTS = `SELECT grantee::regrole::text, privilege_type, is_grantable FROM pg_class,
  aclexplode(coalesce(relacl, acldefault('r', relowner))) WHERE oid = '*.accounts'::regclass ORDER BY 1, 2`;
const COMMENTS = `SELECT objsubid, description FROM pg_description
  WHERE classoid = 'pg_class'::regclass AND objoid = '*.accounts'::regclass ORDER BY 1`;

/** What the owner of a view can give it, and a query that finds it. `*` is the schema. */
const GIVEN: readonly (readonly [what: string, sql: string, asked: string])[] = [
  [
    'options',
    `ALTER VIEW *.accounts SET (check_option = 'local', security_barrier = on, security_invoker = off)`,
    OPTIONS,
  ],
  ['a grant', 'CREATE ROLE "*_Analyst"; GRANT SELECT ON *.accounts TO "*_Analyst" WITH GRANT OPTION', RIGHTS],
  ['a grant that the owner lost', 'REVOKE DELETE, TRUNCATE ON *.accounts FROM CURRENT_USER', RIGHTS],
  [
    'a grant on a column',
    'CREATE ROLE *_editor; GRANT UPDATE (balance) ON *.accounts TO *_editor',
    `SELECT attname, attacl::text FROM pg_attribute WHERE attrelid = '*.accounts'::regclass AND attacl IS NOT NULL`,
  ],
  [
    'no grant although new tables get one',
    'CREATE ROLE *_new; ALTER DEFAULT PRIVILEGES IN SCHEMA * GRANT SELECT ON TABLES TO *_new',
    RIGHTS,
  ],
  ['a comment', `COMMENT ON VIEW *.accounts IS 'See the wiki''s page'`, COMMENTS],
  ['a comment on a column', `COMMENT ON COLUMN *.accounts.balance IS 'In euros'`, COMMENTS],
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
  // Last: it changes what the others show.
  [
    'an owner',
    `CREATE ROLE *_owner; GRANT ALL ON SCHEMA * TO *_owner; GRANT SELECT ON *.record TO *_owner;
      ALTER VIEW *.accounts OWNER TO *_owner`,
    `SELECT pg_get_userbyid(relowner) FROM pg_class WHERE oid = '*.accounts'::regclass`,
  ],
];

test.each<[string, Readonly<Record<string, FieldKind>>, readonly RegExp[]]>([
  ['a record has a new field', { balance: 'string' }, []],
  [
    'a column gets another type, which it does not get',
    { balance: 'money' },
    [
      /^balance of accounts has a type now, but the view accounts keeps text.* DROP VIEW "\w+"\."accounts" CASCADE, then a sync, then GRANT SELECT ON "\w+"\."accounts" TO/,
    ],
  ],
])(
  'a view in PostgreSQL keeps what its owner gave it, and what depends on it, if %s',
  async (_, kinds, expected) => {
    const { schema, put } = await opened();
    const inSchema = (text: string) => text.replaceAll('*', schema);
    await put('1', { balance: '5.00' });
    const given = async () => {
      const all: [string, unknown][] = [];
      for (const [what, , asked] of GIVEN) all.push([what, await rowsOf(inSchema(asked))]);
      return all;
    };
    const plain = await given();
    for (const [, sql] of GIVEN) await database.exec(inSchema(sql));
    await database.exec(inSchema('CREATE VIEW *_mine AS SELECT balance FROM *.accounts'));
    const before = await given();
    for (const [index, one] of before.entries()) expect(one).not.toEqual(plain[index]);
    const { put: putNext, warnings } = await opened(schema, kinds);
    await putNext('2', { balance: '7.00', iban: 'NL00' });
    expect(warnings).toEqual(expected.map((text) => expect.stringMatching(text)));
    expect(await given()).toEqual(before);
    // The new column stands behind the old ones.
    expect(
      Object.entries((await rowsOf(`SELECT * FROM ${schema}.accounts WHERE id = '2'`))[0] ?? {}),
    ).toEqual(
      expect.arrayContaining([
        ['balance', '7.00'],
        ['iban', 'NL00'],
      ]),
    );
  },
);

test('a view in PostgreSQL with a column of an older type is not replaced again by each sync, and gets the type when it is dropped', async () => {
  const { schema, put } = await opened();
  const kinds = { balance: 'money', openedAt: 'timestamp' } as const;
  await put('1', { balance: '5.00', openedAt: '2026-01-31T12:00:00Z', accountId: '7' });
  const types = async () => {
    const sql = `SELECT pg_typeof(balance)::text AS balance, pg_typeof("openedAt")::text AS opened,
      pg_typeof("accountId")::text AS id FROM ${schema}.accounts LIMIT 1`;
    return (await rowsOf(sql))[0];
  };
  const sent: string[] = [];
  const connection: PostgresConnection = {
    query(text, values) {
      sent.push(text);
      return database.query(text, values);
    },
  };
  const sync = async (id: string, accountId: FieldKind = 'string', hasMore = false) => {
    const warnings: string[] = [];
    const copy = await openTarget(postgresTarget(connection, { schema }), 'acme', {
      collections: ['accounts'],
      fieldsOf: () => ({ ...kinds, accountId }),
      warn: (text) => void warnings.push(text),
    });
    for (const each of [id, `${id}0`])
      await copy.onBatch(
        batch([{ id: each, balance: '6.00', ...(hasMore && { [`f${each}`]: 'x' }) }], {
          checkpoint: `{"n":${each}}`,
        }),
      );
    return warnings;
  };
  const old = { balance: 'text', opened: 'text', id: 'text' };
  const warning = /^balance, openedAt of accounts have types now/;
  for (const id of ['2', '3']) {
    sent.length = 0;
    expect(await sync(id)).toEqual([expect.stringMatching(warning)]);
    expect(await types()).toEqual(old);
    // The first sets the kind of accountId, whose column is text anyway.
    expect(sent.filter((text) => text.includes('DO $accounting$'))).toHaveLength(id === '2' ? 1 : 0);
  }
  // Each batch has another field.
  expect(await sync('3', 'string', true)).toEqual([expect.stringMatching(warning)]);
  await database.exec(`DROP VIEW ${schema}.accounts`);
  expect(await sync('4')).toEqual([]);
  expect(await types()).toEqual({ balance: 'numeric', opened: 'timestamp with time zone', id: 'text' });
});

test('a view in PostgreSQL stays as it is, with a warning that says what to run, if its owner renamed a column', async () => {
  const { schema, put } = await opened();
  const inSchema = (text: string) => text.replaceAll('*', schema);
  await put('1', { balance: '5.00' });
  await database.exec(inSchema('ALTER VIEW *.accounts RENAME balance TO saldo'));
  const definition = () => rowsOf(inSchema(`SELECT pg_get_viewdef('*.accounts') AS sql`));
  const before = await definition();
  const { put: putNext, warnings } = await opened(schema);
  await putNext('2', { balance: '7.00', iban: 'NL00' });
  expect(warnings).toEqual([
    expect.stringMatching(
      /The view accounts could not be replaced.*saldo.* DROP VIEW "\w+"\."accounts" CASCADE/,
    ),
  ]);
  expect(await definition()).toEqual(before);
  expect(await rowsOf(`SELECT id FROM ${schema}.record`)).toHaveLength(2);
});

test('a target in PostgreSQL has the tenants of its schema, sorted, none before the first sync, and an error if it is away', async () => {
  const schema = newSchema();
  const target = postgresTarget(database, { schema });
  expect(await target.tenants()).toEqual([]);
  for (const tenant of ['bolt', 'acme']) await openTarget(target, tenant);
  expect(await target.tenants()).toEqual(['acme', 'bolt']);
  const away = async () => Promise.reject(Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }));
  expect(await caught(postgresTarget({ query: away }).tenants())).toMatchObject({
    code: 'checkpoint',
    retryable: true,
  });
});

test('a copy in PostgreSQL works on after its schema was renamed', async () => {
  const { schema, put } = await opened();
  await put('1', { balance: '5.00' });
  await database.exec(`ALTER SCHEMA ${schema} RENAME TO ${schema}_renamed`);
  const { put: putNext, warnings } = await opened(`${schema}_renamed`);
  await putNext('2', { iban: 'NL00', accountId: '1' });
  expect(warnings).toEqual([]);
  const sql = `SELECT id, balance, iban FROM ${schema}_renamed.accounts ORDER BY id`;
  expect(await rowsOf(sql)).toEqual([
    { id: '1', balance: '5.00', iban: null },
    { id: '2', balance: null, iban: 'NL00' },
  ]);
});

test('a role that owns the schema makes the first copy without the right to create schemas', async () => {
  const schema = newSchema();
  await asRole(schema, ['CREATE SCHEMA * AUTHORIZATION *_role'], async () => {
    const { put } = await opened(schema);
    await put('1', { name: 'Cash', accountId: '2' });
  });
  expect(await rowsOf(`SELECT name FROM ${schema}.accounts`)).toEqual([{ name: 'Cash' }]);
});

test.each([
  ['first', [], 'CREATE on the database postgres'],
  ['first', ['CREATE SCHEMA *', 'GRANT USAGE ON SCHEMA * TO *_role'], 'CREATE on the schema *'],
  [
    'later',
    [...WRITER, 'REVOKE ALL ON *.field FROM *_role'],
    'DELETE, INSERT, SELECT, UPDATE on the table *.field',
  ],
  [
    'later',
    [...WRITER, 'REVOKE INSERT ON ALL TABLES IN SCHEMA * FROM *_role'],
    'INSERT on the tables *.checkpoint, *.field, *.record, *.seen, *.status. ',
  ],
])(
  'a copy in PostgreSQL names the role and the right that a %s sync lacks: after %j',
  async (run, sql, lacked) => {
    const schema = newSchema();
    if (run === 'later') await (await opened(schema)).put('1', { name: 'Cash' });
    const error = await asRole(schema, sql, () =>
      failureOf(async () => {
        const { put } = await opened(schema);
        await put('2', { mood: 'new' });
      }),
    );
    expect(error).toMatchObject({ retryable: false });
    expect(`${error}`).toContain('permission denied');
    // The rights on one table come in any order.
    const sorted = `${error}`.replace(
      /lacks ([A-Z, ]+) on/,
      (_, list: string) => `lacks ${list.split(', ').sort().join(', ')} on`,
    );
    expect(sorted).toContain(`the role ${schema}_role lacks ${lacked.replaceAll('*', schema)}`);
    if (run === 'first') expect(`${error}`).toContain('Grant what is missing');
  },
);

test('a copy in PostgreSQL is not created in a database of another encoding than UTF8', async () => {
  const schema = newSchema();
  const connection: PostgresConnection = {
    query: (text, values) => {
      const sql = text.replaceAll(/decode\('([^']+)', 'base64'\)/g, (_, code: string) => {
        const inner = atob(code).replaceAll('getdatabaseencoding()', `''LATIN1''`);
        return `decode('${btoa(inner)}', 'base64')`;
      });
      return database.query(sql, values);
    },
  };
  const error = await failureOf(() => openTarget(postgresTarget(connection, { schema })));
  expect(`${error}`).toContain('the database is in LATIN1, which cannot hold every record');
  expect(`${error}`).toContain("Create a database with ENCODING 'UTF8'.");
  expect(await rowsOf(`SELECT to_regnamespace('${schema}') AS found`)).toEqual([{ found: null }]);
});

test('a role that may only write rows writes them, and each sync warns once what to run until the owner has run one', async () => {
  const schema = newSchema();
  const sandbox = createSandbox({ records: { accounts: 30 }, pageSize: 10 });
  const { logger, warnings } = loggerOfWarnings();
  const client = createClient({ ...sandbox.clientOptions, logger });
  const target = postgresTarget(database, { schema });
  const run = async (mode?: 'full') =>
    (await sync(client, { tenant: 'acme', mode, target, collections: ['accounts'] })).collections[0];
  await run();
  await asRole(schema, WRITER, async () => {
    // Without a new field it needs no other right.
    sandbox.store.accounts.update('1', { name: 'New' });
    expect(await run()).toMatchObject({ changed: 1 });
    expect(warnings).toEqual([]);
    // Each page has another new field.
    for (const id of ['2', '12', '22']) {
      sandbox.store.accounts.update(id, { mood: `new ${id}`, [`field${id}`]: id } as never);
    }
    expect(await run('full')).toMatchObject({ changed: 3 });
  });
  expect(warnings).toHaveLength(1);
  expect(warnings[0]).toContain('The view accounts could not be replaced');
  expect(warnings[0]).toContain(`Run a sync once as the owner of the schema ${schema}.`);
  await run();
  expect(warnings).toHaveLength(1);
  expect(
    await rowsOf(`SELECT mood, field22 FROM ${schema}.accounts WHERE mood IS NOT NULL ORDER BY id`),
  ).toEqual([
    { mood: 'new 12', field22: null },
    { mood: 'new 2', field22: null },
    { mood: 'new 22', field22: '22' },
  ]);
});

test('a connection that is lost in a batch costs no record, whether the batch was committed or not', async () => {
  const sandbox = createSandbox({ records: { accounts: 80 }, pageSize: 20 });
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
    expect([report.records, writes > 3]).toEqual([80, true]);
  }
  const rows = await rowsOf(`SELECT body FROM ${schema}.record ORDER BY id::int`);
  expect(rows.map(({ body }) => body)).toEqual(sandbox.store.accounts.all());
});

// As the guide to running at scale says.
test('a sync without changes sends one request for each collection, and 20 statements', async () => {
  const sandbox = createSandbox({ records: 3 });
  const client = createClient(sandbox.clientOptions);
  const statements: string[] = [];
  const query = (text: string, values?: string[]) => {
    statements.push(text);
    return database.query(text, values);
  };
  const options = { tenant: 'acme', target: postgresTarget({ query }, { schema: newSchema() }) };
  await sync(client, options);
  sandbox.clock.advance(3_600_000);
  sandbox.clearLogs();
  statements.length = 0;
  const report = await sync(client, options);
  expect(report).toMatchObject({
    records: 0,
    paused: false,
    collections: { length: collectionNames.length },
  });
  expect(sandbox.count()).toBe(collectionNames.length);
  expect(statements.length, statements.join('\n\n')).toBe(20);
});

test('a copy in PostgreSQL needs no standard_conforming_strings', async () => {
  const copy = await openPostgres();
  await database.query('SET standard_conforming_strings = off');
  onTestFinished(async () => void (await database.query('RESET standard_conforming_strings')));
  await write(copy, batch([{ id: '1', 'x\\': 'yes' }]));
  expect(await copy.query(`SELECT "x\\" AS x FROM ${copy.views}accounts`)).toEqual([{ x: 'yes' }]);
});

test.each([
  ['connection', () => postgresTarget({} as never)],
  ['schema', () => postgresTarget(database, { schema: 'a"b' })],
])('postgresTarget rejects an invalid %s', async (argument, create) => {
  expect(await failureOf(create)).toMatchObject({ code: 'invalid_input', argument });
});
