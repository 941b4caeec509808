import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import {
  type CollectionName,
  isAccountingError,
  type SyncProgress,
  type SyncReport,
  type SyncTarget,
  sync,
} from 'accounting-data-sdk';
import { type PostgresConnection, postgresTarget, sqliteTarget } from 'accounting-data-sdk/targets';
import { checkCompany } from '../company.ts';
import { type ConnectFlags, connect } from '../connect.ts';
import { CommandFailure, EXIT, failureOf, noReadAccess } from '../errors.ts';
import type { Io } from '../io.ts';

/** What `pull --to` needs to know. */
export interface DatabaseFlags extends ConnectFlags {
  /** The file of SQLite, or `postgres`. */
  readonly to: string;
  readonly tenant?: string | undefined;
  readonly full?: true | undefined;
  readonly sameCompany?: true | undefined;
  readonly pagination: 'keyset' | 'page';
  readonly maxOutage: number;
}

/** A database, as far as the command uses it itself. */
interface Database {
  readonly target: SyncTarget;
  /** The companies whose copies it holds. */
  tenants(): Promise<readonly string[]>;
  /** Writes into the table of checkpoints, which exists. */
  set(key: string, value: string): unknown;
  close(): Promise<void>;
}

/** Brings a copy in a database up to date. Runs the public `sync` with a target. */
export async function pullIntoDatabase(
  names: readonly CollectionName[] | undefined,
  flags: DatabaseFlags,
  io: Io,
): Promise<void> {
  const database = await open(flags.to, io);
  try {
    const tenant = flags.tenant ?? (await onlyTenant(database, flags.to));
    let waiting = '';
    const counts = new Map<string, SyncProgress>();
    const show = () => flags.quiet || io.status?.(`${statusOf(counts)}${waiting}`);
    const { client, keyDigest } = await connect(io, flags);
    const company = { tenant, keyDigest, sameCompany: flags.sameCompany ?? false };
    const report = await sync(client.withOptions({ validation: 'off' }), {
      tenant,
      target: ofCompany(database, company),
      collections: names,
      mode: flags.full ? 'full' : 'incremental',
      pagination: flags.pagination,
      maxOutageMs: flags.maxOutage,
      signal: io.signal,
      onProgress: (progress) => {
        counts.set(progress.collection, progress);
        waiting = progress.waiting ? '; waiting' : '';
        show();
      },
    }).finally(() => io.status?.(undefined));
    if (!flags.quiet) logReport(report, flags.to, io);
    if (report.collections.every(({ status }) => status === 'forbidden')) throw noReadAccess();
  } catch (error) {
    throw asFailure(error, io.signal);
  } finally {
    await database.close();
  }
}

/** The target, which rejects the API key of another company before anything is sent. */
function ofCompany({ target, set }: Database, company: Parameters<typeof checkCompany>[1]): SyncTarget {
  return {
    async open(tenant) {
      const opened = await target.open(tenant);
      try {
        const { store } = opened;
        const remember = await checkCompany({ get: (key) => store.get(key), set }, company);
        return {
          store,
          // Not before: only a key that could read belongs to the company.
          onBatch: async (batch) => {
            await remember();
            await opened.onBatch(batch);
          },
          localIds: (collection) => opened.localIds(collection),
          onDelete: (ids, collection) => opened.onDelete(ids, collection),
          close: () => opened.close?.(),
        };
      } catch (error) {
        await opened.close?.();
        throw error;
      }
    },
  };
}

async function onlyTenant(database: Database, to: string): Promise<string> {
  const [first, ...others] = await database.tenants();
  if (first !== undefined && others.length === 0) return first;
  const held = first === undefined ? 'holds no company yet' : `holds ${others.length + 1} companies`;
  throw new CommandFailure(`${to} ${held}.`, {
    advice: 'Name the company with --tenant: a label of your choice, such as --tenant acme.',
    exitCode: EXIT.usage,
  });
}

function open(to: string, io: Io): Promise<Database> | Database {
  return to === 'postgres' ? openPostgres(io) : openSqlite(resolve(io.cwd ?? '.', to));
}

/** The label in the keys of checkpoints: `accounting-data-sdk:<tenant>:<collection>`. */
function tenantsIn(rows: readonly unknown[]): readonly string[] {
  const labels = (rows as { key: string }[]).map(({ key }) => key.split(':').at(-2) ?? '');
  return [...new Set(labels)];
}

function openSqlite(file: string): Database {
  return {
    target: sqliteTarget(file),
    async tenants() {
      if (!existsSync(file)) return [];
      const { DatabaseSync } = await import('node:sqlite');
      const database = new DatabaseSync(file);
      try {
        const exists = database.prepare(`SELECT 1 FROM sqlite_master WHERE name = 'accounting_checkpoint'`);
        if (exists.get() === undefined) return [];
        return tenantsIn(database.prepare('SELECT key FROM accounting_checkpoint').all());
      } catch (error) {
        throw new CommandFailure(`${file} cannot be opened: ${(error as Error).message}.`, {
          advice: 'Name a database of SQLite, or a file that does not exist.',
          exitCode: EXIT.file,
        });
      } finally {
        database.close();
      }
    },
    async set(key, value) {
      const { DatabaseSync } = await import('node:sqlite');
      const database = new DatabaseSync(file);
      try {
        database.exec('PRAGMA busy_timeout = 10000');
        database
          .prepare('INSERT OR REPLACE INTO accounting_checkpoint (key, value) VALUES (?, ?)')
          .run(key, value);
      } finally {
        database.close();
      }
    },
    close: async () => {},
  };
}

interface Pg {
  readonly Pool: new (options: {
    connectionString: string;
  }) => PostgresConnection & {
    on(event: 'error', listener: () => void): unknown;
    end(): Promise<void>;
  };
}

async function openPostgres(io: Io): Promise<Database> {
  const { DATABASE_URL: connectionString } = io.env;
  if (!connectionString) {
    throw new CommandFailure('No database is configured.', {
      advice:
        'Set DATABASE_URL. An argument is not accepted: other users of this machine could see the password.',
      exitCode: EXIT.usage,
    });
  }
  const pool = new (loadPg(io).Pool)({ connectionString });
  // A connection that breaks while it is idle is replaced by the next query.
  pool.on('error', () => {});
  return {
    target: postgresTarget(pool),
    async tenants() {
      try {
        const found = await pool.query(`SELECT to_regclass('accounting.checkpoint') IS NOT NULL AS found`);
        if ((rowsIn(found)[0] as { found: boolean }).found !== true) return [];
        return tenantsIn(rowsIn(await pool.query('SELECT key FROM accounting.checkpoint')));
      } catch (error) {
        throw new CommandFailure(
          `The database of DATABASE_URL cannot be used: ${(error as Error).message}.`,
          {
            advice: 'Check the address, the password and the rights.',
            exitCode: EXIT.file,
          },
        );
      }
    },
    set: (key, value) =>
      pool.query(
        `INSERT INTO accounting.checkpoint (key, value) VALUES ($1, $2)
          ON CONFLICT (key) DO UPDATE SET value = excluded.value`,
        [key, value],
      ),
    close: () => pool.end(),
  };
}

function rowsIn(result: Awaited<ReturnType<PostgresConnection['query']>>): readonly unknown[] {
  return 'rows' in result ? result.rows : result;
}

/** `pg` of the project in whose folder the command runs, or beside this package. It is no dependency. */
function loadPg(io: Io): Pg {
  for (const from of [resolve(io.cwd ?? '.', 'package.json'), import.meta.url]) {
    try {
      return createRequire(from)('pg') as Pg;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') throw error;
    }
  }
  throw new CommandFailure('The package pg is not installed.', {
    advice: 'Run "npm install pg" in this folder, then the same command again.',
    exitCode: EXIT.file,
  });
}

const number = (value: number) => value.toLocaleString('en-US');

function statusOf(counts: ReadonlyMap<string, SyncProgress>): string {
  const all = [...counts.values()];
  const current = all.filter(({ last }) => !last).at(-1);
  const records = all.reduce((sum, progress) => sum + progress.records, 0);
  return `${current?.collection ?? ''}: ${number(records)} records in all`;
}

function logReport({ collections, records, tenant }: SyncReport, to: string, { log }: Io): void {
  for (const { collection, status, records: count, deletions, complete } of collections) {
    if (status === 'forbidden') log(`This key may not read ${collection}.`);
    const { deleted = 0, skipped } = deletions ?? {};
    const parts = [count > 0 && `${number(count)} read`, deleted > 0 && `${number(deleted)} deleted`];
    const done = parts.filter((part) => part !== false).join(', ');
    if (done !== '') log(`${collection}: ${done}`);
    if (skipped === 'resumed') {
      log(
        `${collection}: this run resumed an interrupted one, so deletions were not looked for. Run it again.`,
      );
    }
    if (complete === 'likely') {
      log(
        `Warning: the service does not list ${collection} in the order of ids, or hides records. A record may be missing.`,
      );
    }
  }
  log(`${number(records)} record${records === 1 ? '' : 's'} of ${tenant} written to ${to}: complete.`);
}

/** What ended the command, with the exit code of its first reason. */
function asFailure(error: unknown, signal: AbortSignal): unknown {
  if (signal.aborted && error === signal.reason) return error;
  if (isAccountingError(error) && error.cause instanceof CommandFailure) return error.cause;
  if (isAccountingError(error, 'invalid_input') && error.argument === 'target') {
    return new CommandFailure(error.message, {
      advice: 'Name a database that only this package writes to, or a file that does not exist.',
      exitCode: EXIT.file,
    });
  }
  const first = isAccountingError(error, 'sync_failed') ? failureOf(error.errors[0]?.error) : undefined;
  if (first === undefined) return error;
  return new CommandFailure((error as Error).message, {
    advice: `${first.advice ?? ''} Run the same command to resume.`.trim(),
    exitCode: first.exitCode,
  });
}
