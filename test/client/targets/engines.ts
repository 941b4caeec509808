import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Batch, OpenTarget, SyncTarget, TargetContext } from 'accounting-data-sdk';
import {
  type DatabaseTarget,
  postgresTarget,
  type SqliteDatabase,
  type SqliteStatement,
  sqliteTarget,
} from 'accounting-data-sdk/targets';
import { onTestFinished } from 'vitest';
import { openPglite } from '../../support/pglite.ts';

type Row = Readonly<Record<string, unknown>>;

/** A database for one test. */
export interface Copy {
  readonly target: DatabaseTarget;
  /** Another target of the same tables, which no lock file keeps from them. */
  unlocked(): SyncTarget;
  /** The prefix of a table or view in a statement. */
  readonly tables: string;
  readonly views: string;
  query(sql: string): Promise<readonly Row[]>;
  /** How a query of a large copy would be executed. */
  planOf(sql: string): Promise<string>;
  /** Makes the database reject records with this id. */
  reject(id: string): Promise<unknown>;
  /** Makes the database reject the removal of any record. */
  keep(): Promise<unknown>;
}

export function temporaryFile(name = 'books.sqlite'): string {
  const folder = mkdtempSync(join(tmpdir(), 'target-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return join(folder, name);
}

interface SqliteCopy extends Copy {
  readonly file: string;
  /** The failure of a statement while the database is away. */
  readonly away: object;
  /** A target whose statements run through `before`, which may throw. */
  through(before: (sql: string) => void): DatabaseTarget;
}

export function openSqlite(file = temporaryFile()): SqliteCopy {
  const query = async (sql: string) => {
    using database = new DatabaseSync(file);
    return database.prepare(sql).all() as Row[];
  };
  return {
    file,
    target: sqliteTarget(file),
    unlocked() {
      const database = new DatabaseSync(file);
      onTestFinished(() => database.close());
      return sqliteTarget(database);
    },
    away: { errcode: 5 },
    through: (before) => sqliteTarget(failingSqlite(new DatabaseSync(file), before)),
    tables: 'accounting_',
    views: '',
    query,
    planOf: async (sql) => JSON.stringify(await query(`EXPLAIN QUERY PLAN ${sql}`)),
    reject: (id) =>
      query(
        `CREATE TRIGGER reject BEFORE INSERT ON accounting_record WHEN new.id = '${id}'
          BEGIN SELECT raise(ABORT, 'rejected'); END`,
      ),
    keep: () =>
      query(
        `CREATE TRIGGER keep BEFORE DELETE ON accounting_record BEGIN SELECT raise(ABORT, 'rejected'); END`,
      ),
  };
}

let schemas = 0;

export function newSchema(): string {
  schemas += 1;
  return `books_${schemas}`;
}

export async function openPostgres(): Promise<Copy> {
  const database = await openPglite();
  const schema = newSchema();
  return {
    target: postgresTarget(database, { schema }),
    unlocked: () => postgresTarget(database, { schema }),
    tables: `${schema}.`,
    views: `${schema}.`,
    query: async (sql) => (await database.query<Row>(sql)).rows,
    async planOf(sql) {
      await database.exec(
        'BEGIN; SET LOCAL enable_seqscan = off; SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off',
      );
      const plan = await database.query(`EXPLAIN ${sql}`);
      await database.exec('ROLLBACK');
      return plan.rows.map((row) => Object.values(row as object)).join('\n');
    },
    reject: (id) => database.query(`ALTER TABLE ${schema}.record ADD CHECK (id <> '${id}')`),
    keep: () =>
      database.exec(
        `CREATE TABLE ${schema}.kept (LIKE ${schema}.record,
          FOREIGN KEY (collection, tenant, id) REFERENCES ${schema}.record);
        INSERT INTO ${schema}.kept SELECT * FROM ${schema}.record`,
      ),
  };
}

/** Every record of a copy, in a form that can be compared. */
export async function copied({ query, tables }: Copy, tenant = 'acme'): Promise<readonly string[]> {
  const rows = await query(`SELECT tenant, collection, id, body FROM ${tables}record`);
  return rows
    .filter((row) => row.tenant === tenant)
    .map(({ collection, body }) => {
      return comparable(`${collection}`, (typeof body === 'string' ? JSON.parse(body) : body) as Row);
    })
    .sort();
}

/** jsonb sorts the names of an object. */
export function comparable(collection: string, record: object): string {
  return `${collection} ${JSON.stringify(Object.fromEntries(Object.entries(record).sort()))}`;
}

/** Opens a target as a sync does. */
export async function openTarget(
  target: SyncTarget,
  tenant = 'acme',
  more: Partial<TargetContext> = {},
): Promise<OpenTarget> {
  const context = { purpose: 'sync', collections: [], signal: undefined, maxOutageMs: 10_000 } as const;
  return await target.open(tenant, {
    ...context,
    fieldsOf: () => ({}),
    warn: () => {},
    waits: () => {},
    ...more,
  });
}

/** Writes batches as one sync does. */
export async function write(
  { target }: Pick<Copy, 'target'>,
  ...batches: readonly Batch<{ id: string }>[]
): Promise<void> {
  const opened = await openTarget(target);
  for (const each of batches) {
    await opened.store.get(each.key);
    await opened.onBatch(each);
  }
  await opened.close?.();
}

/** The ids of the accounts of a copy, as a sync reads them. */
export async function localIds({ target }: Pick<Copy, 'target'>): Promise<readonly string[]> {
  const opened = await openTarget(target);
  const ids: string[] = [];
  for await (const id of opened.localIds?.('accounts') ?? []) ids.push(id);
  await opened.close?.();
  return ids;
}

/** A batch as a sync delivers it. */
export function batch(
  records: readonly { readonly id: string; readonly [field: string]: unknown }[],
  { collection = 'accounts', checkpoint = '{}' } = {},
): Batch<{ id: string }> {
  return {
    tenant: 'acme',
    mode: 'full',
    collection,
    records: records as readonly { id: string }[],
    rows: records,
    invalid: [],
    restarted: false,
    key: `accounting-data-sdk:acme:${collection}`,
    checkpoint,
    last: false,
  };
}

function failingSqlite(database: DatabaseSync, before: (sql: string) => void): SqliteDatabase {
  return {
    exec(sql) {
      before(sql);
      database.exec(sql);
    },
    prepare(sql) {
      const statement = database.prepare(sql);
      const all = statement.all.bind(statement) as SqliteStatement['all'];
      return Object.assign(statement as SqliteStatement, {
        all: (...values: Parameters<typeof all>) => {
          before(sql);
          return all(...values);
        },
      });
    },
    close: () => database.close(),
  };
}
