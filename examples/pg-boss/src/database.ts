import { PGlite } from '@electric-sql/pglite';
import pg from 'pg';
import { type ConstructorOptions, fromPglite } from 'pg-boss';

/** What PGlite and a connection of `pg` have in common. */
export interface Sql {
  query<Row>(text: string, values?: unknown[]): Promise<{ rows: Row[] }>;
}

/** A database that holds both the queue and the copies. */
export interface Database extends Sql {
  /** Everything in it is committed together, or not at all. */
  transaction<Result>(work: (sql: Sql) => Promise<Result>): Promise<Result>;
  /** For pg-boss: its way to the same database. */
  readonly queue: ConstructorOptions;
  close(): Promise<void>;
}

/** PostgreSQL under a URL, or without one PGlite, which is PostgreSQL in this process and ends with it. */
export async function openDatabase(url: string | undefined): Promise<Database> {
  return url === undefined ? openPglite() : openPostgres(url);
}

async function openPglite(): Promise<Database> {
  const pglite = await PGlite.create();
  return {
    query: (text, values) => pglite.query(text, values),
    transaction: (work) =>
      pglite.transaction((tx) => work({ query: (text, values) => tx.query(text, values) })),
    queue: { db: fromPglite(pglite), backend: 'pglite' },
    close: () => pglite.close(),
  };
}

function openPostgres(connectionString: string): Database {
  const pool = new pg.Pool({ connectionString });
  // A connection that breaks while idle is replaced by the next query.
  pool.on('error', (error) => console.error(error.message));
  const on = (connection: pg.Pool | pg.PoolClient): Sql => ({
    query: async <Row>(text: string, values?: unknown[]) => {
      const { rows } = await connection.query(text, values);
      return { rows: rows as Row[] };
    },
  });
  return {
    ...on(pool),
    async transaction(work) {
      const connection = await pool.connect();
      let broken = false;
      try {
        await connection.query('begin');
        const result = await work(on(connection));
        await connection.query('commit');
        return result;
      } catch (error) {
        await connection.query('rollback').catch(() => {
          broken = true;
        });
        throw error;
      } finally {
        connection.release(broken);
      }
    },
    queue: { connectionString },
    close: () => pool.end(),
  };
}
