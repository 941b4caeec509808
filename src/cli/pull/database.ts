import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import {
  type ClientOptions,
  type CollectionName,
  forget,
  isAccountingError,
  type SyncReport,
  type SyncTarget,
  sync,
  type UnconfirmedDeletion,
  type VerifyReport,
  verify,
} from 'accounting-data-sdk';
import {
  type DatabaseTarget,
  type PostgresConnection,
  postgresTarget,
  sqliteTarget,
} from 'accounting-data-sdk/targets';
import { oneLine } from '../../internal/text.ts';
import { type ConnectFlags, connect } from '../connect.ts';
import {
  anotherKey,
  CommandFailure,
  EXIT,
  FIND_OUT_IDS,
  failureOf,
  isDenied,
  messageOf,
  noReadAccess,
} from '../errors.ts';
import { importFile, readFileOf } from '../import-file.ts';
import type { CommandIo } from '../io.ts';
import { counted, numberOf } from '../numbers.ts';
import { endOf, PullProgress } from './progress.ts';

/** What `pull --to` needs to know. */
export interface DatabaseFlags extends ConnectFlags {
  /** The file of SQLite, or `postgres`. */
  readonly to: string;
  readonly tenant?: string;
  readonly full?: true;
  readonly maxCandidates?: number;
  readonly sameCompany?: true;
  readonly verify?: true;
  readonly forget?: true;
  readonly yes?: true;
  readonly json?: true;
  /** A file of `discover --out`. */
  readonly schemas?: string;
  readonly pagination?: 'keyset' | 'page' | 'none' | 'link';
  readonly maxOutage: number;
}

/** So many ids are named in a line. */
const MOST_IDS = 5;

/** A database, as far as the command uses it itself. */
interface Database {
  readonly target: DatabaseTarget;
  close?(): Promise<void>;
}

/** Brings a copy in a database up to date. Runs the public `sync` with a target. */
export async function pullIntoDatabase(
  name: CollectionName | undefined,
  flags: DatabaseFlags,
  io: CommandIo,
): Promise<void> {
  const database: Database =
    flags.to === 'postgres' ? openPostgres(io) : { target: sqliteTarget(resolve(io.cwd ?? '.', flags.to)) };
  const progress = new PullProgress(io);
  try {
    const tenant = flags.tenant ?? (await onlyTenant(database, flags.to));
    if (flags.forget) {
      await confirmForget(tenant, flags, io);
      const found = await forget({ tenant, target: database.target, signal: io.signal });
      if (!found) {
        throw new CommandFailure(`Nothing of ${tenant} is in ${flags.to}.`, {
          advice: 'Check --tenant.',
          exitCode: EXIT.usage,
        });
      }
      io.note(`${tenant} was removed from ${flags.to}.`);
      return;
    }
    const schemas = flags.schemas === undefined ? {} : await schemasIn(resolve(io.cwd ?? '.', flags.schemas));
    const { client: connected, reading } = await connect(io, flags, { on: progress.listeners, schemas });
    const { pagination, maxOutage: maxOutageMs } = flags;
    const client = connected.withOptions({ pagination });
    const target = warning(database.target, io);
    const collections = name && [name];
    if (flags.verify) {
      const options = {
        tenant,
        target,
        sameCompany: flags.sameCompany,
        collections,
        maxCandidates: flags.maxCandidates,
        maxOutageMs,
        signal: io.signal,
      };
      return printDifferences(await verify(client, options), flags, io);
    }
    const report = await sync(client, {
      ...reading,
      tenant,
      target,
      sameCompany: flags.sameCompany,
      collections,
      mode: flags.full ? 'full' : 'incremental',
      maxCandidates: flags.maxCandidates,
      maxOutageMs,
      signal: io.signal,
      onProgress: ({ collection, recordsPerSecond, ...counts }) =>
        progress.show(collection, counts, recordsPerSecond),
    }).catch((error: unknown) => {
      if (io.signal.aborted)
        io.log(`Stopped before the end. What was read so far is in ${flags.to}. ${RESUME}`);
      throw error;
    });
    if (flags.json) io.out(JSON.stringify(report, undefined, 2));
    logReport(report, { to: flags.to, io, progress });
  } catch (error) {
    throw asFailure(error, { signal: io.signal, isOfAll: name === undefined });
  } finally {
    await database.close?.();
  }
}

/** The schemas in a file of `discover --out`, by which columns have their types. */
async function schemasIn(file: string): Promise<NonNullable<ClientOptions['schemas']>> {
  await readFileOf('discover', file);
  // JSON has no schemas.
  const { schemas } = /\.json$/i.test(file) ? {} : await importFile(file, 'compile it to a file in .mjs');
  if (typeof schemas === 'object' && schemas !== null) return schemas;
  throw new CommandFailure(`${file} is not a file of discover --out: it has no schemas.`, {
    advice: 'Write it again with discover --out.',
    exitCode: EXIT.file,
  });
}

/** Shows what the target warns of: the client of the command has no logger. */
function warning(target: SyncTarget, io: CommandIo): SyncTarget {
  const warn = (text: string) => io.note(`Warning: ${text}`);
  return { open: (tenant, context) => target.open(tenant, { ...context, warn }) };
}

/** The only company whose copy the database holds; `default` for the first one, as in a push. */
async function onlyTenant({ target }: Database, to: string): Promise<string> {
  const [first, ...others] = await target.tenants().catch((error: Error) => {
    const { message } = (error.cause ?? error) as Error;
    throw new CommandFailure(`${to} cannot be opened: ${message}.`, {
      advice:
        to === 'postgres'
          ? 'Check the address in DATABASE_URL, the password and the rights.'
          : 'Name a database of SQLite, or a file that does not exist.',
      exitCode: EXIT.file,
    });
  });
  if (others.length === 0) return first ?? 'default';
  throw new CommandFailure(`${to} holds ${others.length + 1} companies.`, {
    advice: 'Name one with --tenant.',
    exitCode: EXIT.usage,
  });
}

/** Prints each difference as a line of JSON, or the whole report; fails with the exit code of a change if there is one. */
function printDifferences(report: VerifyReport, { to, json }: DatabaseFlags, io: CommandIo): void {
  const { equal, collections, forbidden, tenant } = report;
  if (json) io.out(JSON.stringify(report, undefined, 2));
  let count = 0;
  for (const { collection, changedSince, ...differences } of collections) {
    for (const what of ['missing', 'different', 'extra'] as const) {
      for (const id of differences[what]) {
        if (!json) io.out(JSON.stringify({ collection, id, difference: what }));
        count += 1;
      }
    }
    if (changedSince.length > 0) {
      io.note(`${collection}: ${counted(changedSince.length, 'record')} changed since the last sync.`);
    }
    for (const [why, ids] of byReason(differences.unconfirmed)) {
      io.note(`${collection}: whether ${listed(ids)} ${was(ids)} deleted is unknown. ${why}`);
    }
    if (differences.withoutId > 0)
      io.note(
        `${collection}: no copy can have ${counted(differences.withoutId, 'row')} whose id cannot be read.`,
      );
  }
  for (const name of forbidden) io.note(`${name}: not compared, the key may not read it.`);
  const read = collections.reduce((sum, { records }) => sum + records, 0);
  const unproven = collections.filter(
    ({ complete, unconfirmed }) => complete !== 'certain' || unconfirmed.length > 0,
  );
  const which = unproven.map(({ collection }) => collection).join(', ');
  if (equal !== false) {
    const end = equal === true ? 'equal' : `no difference, but the read of ${which} may have missed records`;
    io.note(`${counted(read, 'record')} of ${tenant} compared with ${to}: ${end}.`);
    return;
  }
  if (count === 0) {
    throw new CommandFailure(`${to} lacks rows of ${tenant} whose id cannot be read. Nothing else differs.`, {
      advice: FIND_OUT_IDS,
      exitCode: EXIT.changed,
    });
  }
  throw new CommandFailure(
    `${counted(count, 'record')} of ${tenant} in ${to} ${count === 1 ? 'differs' : 'differ'} from the service.`,
    {
      advice: 'Run "pull --all --to … --full", then verify again.',
      exitCode: EXIT.changed,
    },
  );
}

/** The ids of records that could not be judged, by the text of the error. */
function byReason(unconfirmed: readonly UnconfirmedDeletion[]): ReadonlyMap<string, readonly string[]> {
  const all = new Map<string, readonly string[]>();
  for (const { id, error } of unconfirmed) {
    // The path of the request names the record.
    const why = oneLine(error.message).replaceAll(`/${encodeURIComponent(id)}`, '/…');
    all.set(why, [...(all.get(why) ?? []), id]);
  }
  return all;
}

const was = (ids: readonly string[]) => (ids.length === 1 ? 'was' : 'were');

/** `1, 2, 3 and 40 others`. */
function listed(ids: readonly string[]): string {
  const shown = ids.slice(0, MOST_IDS).join(', ');
  return ids.length > MOST_IDS ? `${shown} and ${ids.length - MOST_IDS} others` : shown;
}

async function confirmForget(tenant: string, { to, yes }: DatabaseFlags, io: CommandIo): Promise<void> {
  if (yes) return;
  const agreed = await io.prompt?.confirm(`Remove every record of ${tenant} from ${to}?`, io.signal);
  if (agreed) return;
  throw new CommandFailure('Nothing was removed.', {
    advice:
      agreed === undefined ? 'Pass --yes if there is no terminal to ask.' : 'Leave out --forget to keep it.',
    exitCode: EXIT.usage,
  });
}

interface Pg {
  readonly Pool: new (options: {
    connectionString: string;
  }) => PostgresConnection & {
    on(event: 'error', listener: () => void): unknown;
    end(): Promise<void>;
  };
}

function openPostgres(io: CommandIo): Database {
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
    close: () => pool.end(),
  };
}

/** `pg` of the project in whose folder the command runs, or beside this package. It is no dependency. */
function loadPg(io: CommandIo): Pg {
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

function logReport(
  sync: SyncReport,
  { to, io, progress }: { readonly to: string; readonly io: CommandIo; readonly progress: PullProgress },
): void {
  const { collections, tenant } = sync;
  let written = 0;
  for (const report of collections) {
    const { collection, status, records, invalid, deletions } = report;
    // Both are written.
    const count = records + invalid;
    written += count;
    if (status === 'forbidden') io.note(`This key may not read ${collection}.`);
    const { deleted = 0, unconfirmed = [] } = deletions ?? {};
    const parts = [count > 0 && `${numberOf(count)} read`, deleted > 0 && `${numberOf(deleted)} deleted`];
    const done = parts.filter((part) => part !== false).join(', ');
    if (done !== '') io.note(`${collection}: ${done}`);
    for (const [why, ids] of byReason(unconfirmed)) {
      const kept = ids.length === 1 ? 'it is kept' : 'they are kept';
      io.note(`${collection}: whether ${listed(ids)} ${was(ids)} deleted is unknown, so ${kept}. ${why}`);
    }
    if (invalid > 0) {
      io.note(
        `${collection}: ${counted(invalid, 'record')} did not match the documented types; written as sent, null in typed columns.`,
      );
    }
    progress.ended(report);
  }
  progress.summarize();
  io.note(`${counted(written, 'record')} of ${tenant} written to ${to}: ${endOf(sync)}.`);
}

const RESUME = 'Run the same command to resume; a collection that is read by page starts over.';

/** What ended the command, with the exit code of its first reason. */
function asFailure(
  error: unknown,
  { signal, isOfAll }: { readonly signal: AbortSignal; readonly isOfAll: boolean },
): unknown {
  if (!isAccountingError(error) || (signal.aborted && error === signal.reason)) return error;
  if (error.code === 'invalid_input' && error.argument === 'tenant') {
    return anotherKey('The copy was written with another API key.');
  }
  if (error.code === 'invalid_input' && error.argument === 'target') {
    const { hint = 'Name a database that only this package writes to, or a file that does not exist.' } =
      error;
    return new CommandFailure(messageOf(error), { advice: hint, exitCode: EXIT.file });
  }
  if (error.code !== 'sync_failed') return error;
  const failures = error.errors.map((each) => each.error);
  const isDone = error.report.collections.some(({ status }) => status === 'done');
  if (isOfAll && !isDone && failures.every((each) => isAccountingError(each) && isDenied(each.code)))
    return noReadAccess();
  const first = failureOf(failures[0]);
  if (first === undefined) return error;
  const { advice, exitCode } = first;
  const failure = new CommandFailure(messageOf(error), { advice, exitCode });
  // It would stop again, or the advice says so already.
  const { cause } = error;
  const isSaid = isAccountingError(cause, 'deletions_aborted') || isAccountingError(cause, 'checkpoint');
  return isSaid ? failure : failure.withAdvice(RESUME);
}
