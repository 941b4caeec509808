import { existsSync, openAsBlob } from 'node:fs';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import type { PostgresConnection } from 'accounting-data-sdk/targets';
import pg from 'pg';
import { type ConstructorOptions, fromPglite } from 'pg-boss';

type QueueDatabase = NonNullable<ConstructorOptions['db']>;

/** An empty database: of its own on the server of DATABASE_URL, otherwise PGlite. */
export interface Database {
  readonly connection: PostgresConnection;
  /** For `startQueue`. */
  readonly queue: ConstructorOptions;
  /** What the queue has sent. */
  readonly statements: string[];
  /** For another process; undefined with PGlite. */
  readonly url: string | undefined;
  query<Row>(text: string): Promise<readonly Row[]>;
  close(): Promise<void>;
}

export async function createDatabase(): Promise<Database> {
  const { DATABASE_URL } = process.env;
  return DATABASE_URL === undefined ? await createPglite() : await createPostgres(DATABASE_URL);
}

const CACHE = join(import.meta.dirname, '../node_modules/.cache');

/** Creating the files of an empty database takes most of the time of a start, so they are kept for the next one. */
async function startPglite(): Promise<PGlite> {
  const file = join(CACHE, 'pglite.tar');
  if (existsSync(file)) return await PGlite.create({ loadDataDir: await openAsBlob(file) });
  const database = await PGlite.create();
  const files = await database.dumpDataDir('none');
  await mkdir(CACHE, { recursive: true });
  // Another test may do the same at the same time.
  const own = `${file}.${process.pid}`;
  await writeFile(own, files.stream());
  await rename(own, file);
  return database;
}

async function createPglite(): Promise<Database> {
  const database = await startPglite();
  const connection = { query: (text: string, values?: string[]) => database.query(text, values) };
  const opened = opening(connection, fromPglite(database), () => database.close());
  return { ...opened, queue: { ...opened.queue, backend: 'pglite' }, url: undefined };
}

async function createPostgres(server: string): Promise<Database> {
  const name = `pg_boss_example_${process.pid}_${Math.floor(Math.random() * 1e9)}`;
  const admin = new pg.Client({ connectionString: server });
  await admin.connect();
  await admin.query(`CREATE DATABASE ${name}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  const pool = new pg.Pool({ connectionString: url.href, max: 6 });
  pool.on('error', () => {});
  const queue: QueueDatabase = { executeSql: (text, values) => pool.query(text, values) };
  const close = async () => {
    await pool.end();
    await admin.query(`DROP DATABASE ${name} WITH (FORCE)`);
    await admin.end();
  };
  return { ...opening(pool, queue, close), url: url.href };
}

function opening(connection: PostgresConnection, db: QueueDatabase, close: () => Promise<void>) {
  const statements: string[] = [];
  const executeSql = db.executeSql.bind(db);
  db.executeSql = async (text, values) => {
    statements.push(text);
    return await executeSql(text, values);
  };
  const query = async <Row>(text: string) => {
    const result = await connection.query(text);
    return ('rows' in result ? result.rows : result) as readonly Row[];
  };
  return { connection, queue: { db }, statements, query, close };
}
