import { DatabaseSync } from 'node:sqlite';
import {
  type ClientOptions,
  createClient,
  forget,
  refresh,
  type SyncReport,
  sync,
  verify,
} from 'accounting-data-sdk';
import { type DatabaseTarget, postgresTarget, sqliteTarget } from 'accounting-data-sdk/targets';
import { createSandbox } from 'accounting-data-sdk/testing';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { brief } from '../../support/brief.ts';
import { openPglite } from '../../support/pglite.ts';
import { withoutChance } from '../../support/without-chance.ts';
import { newSchema } from './engines.ts';

type Row = Readonly<Record<string, unknown>>;

/** A database, and what a person sees in it. */
interface Database {
  readonly target: DatabaseTarget;
  query(sql: string): Promise<readonly Row[]>;
  /** What the database says of tables, views and indexes. */
  schema(): Promise<readonly string[]>;
  readonly tables: string;
  readonly views: string;
  /** What differs in each run of the test. */
  plain(text: string): string;
}

/** The beginning of each statement that was sent. */
const said = (sql: string) =>
  sql
    .replace(/^\/\*.*?\*\/ /, '')
    .replaceAll(/\s+/g, ' ')
    .trim()
    .slice(0, 90);

function openSqlite(sent: string[]): Database {
  const database = new DatabaseSync(':memory:');
  const query = async (sql: string) => database.prepare(sql).all() as Row[];
  const target = sqliteTarget(
    {
      exec: (sql) => {
        sent.push(said(sql));
        database.exec(sql);
      },
      prepare: (sql) => {
        const statement = database.prepare(sql);
        const all = statement.all.bind(statement);
        const run = statement.run.bind(statement);
        return Object.assign(statement, {
          all: (...values: string[]) => {
            sent.push(said(sql));
            return all(...values);
          },
          run: (...values: string[]) => {
            sent.push(said(sql));
            return run(...values);
          },
        }) as never;
      },
      close: () => {},
    },
    { tablePrefix: 'books_', viewPrefix: 'v_' },
  );
  return {
    target,
    query,
    tables: 'books_',
    views: 'v_',
    schema: async () =>
      (await query('SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name')).map(
        ({ sql }) => `${sql}`,
      ),
    plain: (text) => text,
  };
}

async function openPostgres(sent: string[]): Promise<Database> {
  const database = await openPglite();
  const schema = newSchema();
  const query = async (sql: string) => (await database.query<Row>(sql)).rows;
  // Before a statement is cut.
  const brief = (sql: string) => said(sql.replaceAll(schema, 'books'));
  const connection = {
    query: (sql: string, values: unknown[]) => {
      const block = /^(?:\/\*.*?\*\/ )?DO \$accounting\$/.test(sql);
      const inner = [...sql.matchAll(/decode\('([^']+)'/g)].map(([, text = '']) =>
        Buffer.from(text, 'base64').toString(),
      );
      sent.push(...(block ? inner.map((one) => `in a block: ${brief(one)}`) : [brief(sql)]));
      return database.query<Row>(sql, values);
    },
  };
  return {
    target: postgresTarget(connection as never, { schema }),
    query,
    tables: `${schema}.`,
    views: `${schema}.`,
    schema: async () =>
      (
        await query(`SELECT format('table %s (%s)', relname, (SELECT string_agg(concat_ws(' ', attname, format_type(atttypid, atttypmod), CASE WHEN attnotnull THEN 'NOT NULL' END), ', ' ORDER BY attnum) FROM pg_attribute WHERE attrelid = c.oid AND attnum > 0)) AS sql
          FROM pg_class AS c WHERE relnamespace = '${schema}'::regnamespace AND relkind = 'r' ORDER BY 1`)
      )
        .concat(
          await query(`SELECT indexdef AS sql FROM pg_indexes WHERE schemaname = '${schema}' ORDER BY 1`),
        )
        .concat(
          await query(
            `SELECT format('view %s AS %s', viewname, definition) AS sql FROM pg_views WHERE schemaname = '${schema}' ORDER BY viewname`,
          ),
        )
        .map(({ sql }) => `${sql}`),
    plain: (text) => text.replaceAll(schema, 'books'),
  };
}

const record = {
  number: '1000',
  groupId: 'g1',
  balance: '12.5000',
  isOpen: true,
  level: 3,
  rate: 0.5,
  tags: ['a', 'b'],
  address: { city: 'Delft' },
  updatedAt: '2026-01-30T10:00:00Z',
  createdAt: '2025-01-30T10:00:00.123456789+02:00',
};

const fields = z.object({
  id: z.string(),
  balance: z.string().nullish(),
  level: z.number().int().nullish(),
  never: z.boolean().nullish(),
});

async function play(open: (sent: string[]) => Database | Promise<Database>): Promise<string> {
  const sent: string[] = [];
  const lines: string[] = [];
  const say = (line: string) => void lines.push(`  ${line}`);
  const database = await open(sent);
  const { target, tables, views } = database;
  const sandbox = createSandbox({ pageSize: 2, clock: '2026-01-31T12:00:00Z', records: {} });
  const { accounts } = sandbox.store;
  for (const more of [{}, { balance: '-0.01', level: null }, { groupId: null, tags: [] }])
    accounts.insert({ ...record, ...more } as never);

  const clientOf = (options: ClientOptions = {}) =>
    createClient({
      ...sandbox.clientOptions,
      logger: { debug: () => {}, info: () => {}, warn: (text: unknown) => say(`warn: ${text}`) } as never,
      ...options,
    });
  const reported = ({ startedAt: _, endedAt: __, collections, ...report }: SyncReport) => {
    say(`report ${brief(report)}`);
    for (const { evidence: ___, ...one } of collections) say(`  ${brief(one)}`);
  };
  const synced = async (options: object = {}, client = clientOf()) =>
    reported(await sync(client, { target, tenant: 'acme', collections: ['accounts'], ...options }));
  const failing = (work: () => Promise<unknown>) => () => work().catch((error: unknown) => say(brief(error)));

  const statements = () => {
    const counted = new Map<string, number>();
    for (const one of sent.splice(0)) counted.set(one, (counted.get(one) ?? 0) + 1);
    for (const [one, count] of counted) say(`sent ${one}${count > 1 ? ` ×${count}` : ''}`);
  };
  const rows = async () => {
    for (const name of ['record', 'seen', 'checkpoint', 'field', 'status']) {
      const found = await database.query(`SELECT * FROM ${tables}${name}`);
      const texts = found.map(({ synced_at: _, finished_at, value, ...row }) =>
        JSON.stringify({
          ...row,
          ...(value === undefined ? {} : { value: `${value}`.startsWith('{') ? '{…}' : '…' }),
          ...(finished_at === undefined ? {} : { finished_at: finished_at === null ? null : 'then' }),
        }),
      );
      for (const text of texts.sort()) say(`${name} ${text}`);
    }
    await shown();
  };
  const shown = async () => {
    for (const { synced_at: _, ...row } of await database.query(
      `SELECT * FROM ${views}accounts ORDER BY tenant, id`,
    ))
      say(`accounts ${JSON.stringify(row)}`);
    for (const { finished_at, ...row } of await database.query(
      `SELECT * FROM ${views}sync_status ORDER BY tenant`,
    ))
      say(`sync_status ${JSON.stringify(row)}${finished_at === null ? '' : ' finished'}`);
  };

  const steps: Readonly<Record<string, () => unknown>> = {
    'verify without a copy': failing(() => verify(clientOf(), { target, tenant: 'acme' })),
    'its tenants': async () => say(brief(await target.tenants())),
    'the first run': () => synced(),
    'its statements': statements,
    'what is there': rows,
    'what it looks like': async () => {
      for (const one of await database.schema()) say(one.replaceAll(/\n\s*/g, '\n    '));
    },
    'nothing new': () => synced(),
    'its own statements': statements,
    'a new field, a long text, a date that is none, and what cannot be stored': () => {
      accounts.update('1', {
        added: { deep: [1] },
        groupId: 'x'.repeat(1_200),
        updatedAt: '31-01-2026',
      } as never);
      accounts.update('2', { name: 'a\0b\ud800', balance: 'unknown', level: 7.5 } as never);
    },
    'in full': () => synced({ mode: 'full' }),
    'the statements of that': statements,
    'what it shows': shown,
    'a schema': () => synced({ mode: 'full' }, clientOf({ schemas: { accounts: fields } as never })),
    'what it shows by that': shown,
    'another company': () =>
      synced({ tenant: 'beta', mode: 'full' }, clientOf({ apiKey: sandbox.keys.otherCompany })),
    'a deleted record and a new one': () => {
      accounts.delete('3');
      accounts.insert({ number: '1003' } as never);
    },
    'stopped at its second batch': failing(async () => {
      const stop = new AbortController();
      let batches = 0;
      const onProgress = () => {
        if (++batches === 1) stop.abort(new Error('stopped'));
      };
      await synced({ mode: 'full', signal: stop.signal, onProgress });
    }),
    'its marks': async () => {
      for (const row of await database.query(`SELECT id FROM ${tables}seen ORDER BY id`))
        say(JSON.stringify(row));
    },
    'and to the end': () => synced({ mode: 'full' }),
    'the statements of both': statements,
    'a refresh': async () => {
      accounts.update('1', { number: '1000-1' } as never);
      accounts.delete('2');
      say(brief(await refresh(clientOf().accounts, { target, tenant: 'acme', ids: ['1', '2', '4', '9'] })));
    },
    'the statements of a refresh': statements,
    'a comparison': async () => {
      const { collections, equal } = await verify(clientOf(), {
        target,
        tenant: 'acme',
        collections: ['accounts'],
      });
      say(`equal ${equal}`);
      for (const { evidence: _, ...one } of collections) say(brief(one));
    },
    'the statements of a comparison': statements,
    'a service that fails': async () => {
      sandbox.faults.add({ kind: 'status', status: 400 });
      await failing(() => synced())();
      sandbox.faults.clear();
    },
    'both tenants': async () => say(brief(await target.tenants())),
    'the status of both': shown,
    'a view of the user': async () => {
      await database.query(`CREATE VIEW ${views}boms AS SELECT 1 AS one`);
      await failing(() => synced({ collections: ['boms'] }))();
      await failing(async () => {
        sandbox.store.boms.insert({} as never);
        await synced({ collections: ['boms'] });
      })();
    },
    'forget one': async () => say(brief(await forget({ target, tenant: 'acme' }))),
    'and again': async () => say(brief(await forget({ target, tenant: 'acme' }))),
    'the statements of it': statements,
    'what is left': rows,
  };
  for (const [title, step] of Object.entries(steps)) {
    lines.push(title);
    if (!title.includes('statements')) sent.length = 0;
    await step();
  }
  return withoutChance(database.plain(lines.join('\n')))
    .replaceAll(/failed after \d+ ms/g, 'failed after 0 ms')
    .replaceAll(/("deletions_checked_at":)"[^"]+"/g, '$1"then"')
    .replaceAll('x'.repeat(1_200), 'x…')
    .replaceAll(/"read":\d+/g, '"read":0')
    .replaceAll(/accounting-data-sdk \d[\w.-]* for/g, 'accounting-data-sdk VERSION for');
}

test.each([
  ['SQLite', openSqlite],
  ['PostgreSQL', openPostgres],
])('a copy in %s has the tables, rows and statements that are recorded', async (name, open) => {
  await expect(`${await play(open)}\n`).toMatchFileSnapshot(`./recorded/${name}.txt`);
});
