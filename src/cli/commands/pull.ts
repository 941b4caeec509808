import { existsSync } from 'node:fs';
import { mkdir, rm, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import {
  type Client,
  type CollectionName,
  type CollectionReport,
  collectionNames,
  isApiError,
} from 'accounting-data-sdk';
import { type Command, Option } from 'commander';
import { temporaryOf, unlessMissing } from '../../node/crash-safe-file.ts';
import { collectionName, duration, timestamp } from '../arguments.ts';
import { type ConnectFlags, connect, connectable } from '../connect.ts';
import { CommandFailure, EXIT, failureOf, noReadAccess } from '../errors.ts';
import type { Io } from '../io.ts';
import { BEGINNING, PullCheckpoint, type PullPoint, type PullState } from '../pull/checkpoint.ts';
import { pullIntoDatabase } from '../pull/database.ts';
import { FolderLock } from '../pull/folder-lock.ts';
import { type Format, openOutput, partialOf } from '../pull/outputs.ts';
import { PullProgress } from '../pull/progress.ts';
import { readCollection } from '../pull/read-collection.ts';
import { writableFile } from '../writable.ts';

interface Flags extends ConnectFlags {
  readonly all?: true;
  readonly since?: string;
  readonly out?: string;
  readonly format: Format;
  readonly checkpoint?: string;
  readonly restart?: true;
  readonly to?: string;
  readonly tenant?: string;
  readonly full?: true;
  readonly sameCompany?: true;
  readonly pagination: 'keyset' | 'page';
  readonly maxOutage: number;
}

/** `accounting-data-sdk pull`: whole collections as NDJSON or CSV. */
export function addPull(program: Command, io: Io): void {
  connectable(
    program
      .command('pull')
      .description('read a whole collection, or all of them: one record on each line')
      .argument('[collection]', 'such as accounts or account-addresses', collectionName)
      .option('--all', 'every collection that the key may read, each into a file of the folder --out')
      .option(
        '--since <timestamp>',
        'only records modified at or after it: 2026-01-31, or 2026-01-31T12:00:00Z',
        timestamp,
      )
      .option(
        '--out <file>',
        'the file to write, replaced when every record has been read. Default: standard output',
      )
      .addOption(
        new Option('--format <format>', 'ndjson: JSON on each line; csv: with the columns of all records')
          .choices(['ndjson', 'csv'])
          .default('ndjson'),
      )
      .option(
        '--checkpoint <file>',
        'remembers the position: after an interruption the same command resumes there. --all always has one',
      )
      .option('--restart', 'read everything from the start, even if there is a checkpoint')
      .option(
        '--to <database>',
        'a file of SQLite, or "postgres": a copy in a database. The same command again reads only what changed',
      )
      .option('--tenant <label>', 'the company in the database; default: the only one that it holds')
      .option(
        '--same-company',
        'with --to: accept a copy that was written with another API key of the same company',
      )
      .option('--full', 'with --to: read everything again, and remove what the service no longer has')
      .addOption(
        new Option(
          '--pagination <kind>',
          'keyset: no deletion can hide a record; page: cheaper, cannot be resumed',
        )
          .choices(['keyset', 'page'])
          .default('keyset'),
      )
      .addOption(
        new Option('--max-outage <time>', 'how long to wait for a service that is down: 90s, 5m, 0')
          .argParser(duration)
          .default(120_000, '2m'),
      ),
    [
      'accounting-data-sdk pull accounts > accounts.ndjson',
      'accounting-data-sdk pull budget-lines --out budget-lines.ndjson --checkpoint budget-lines.checkpoint',
      'accounting-data-sdk pull products --format csv --since 2026-01-31T00:00:00Z | gzip > products.csv.gz',
      'accounting-data-sdk pull --all --out data',
      'accounting-data-sdk pull --all --to books.sqlite --tenant acme',
    ],
  ).action((name: CollectionName | undefined, flags: Flags) => run(name, flags, io));
}

/** Reads one collection, or every collection that the key may read, each into a file of its own. */
async function run(named: CollectionName | undefined, flags: Flags, io: Io): Promise<void> {
  checkFlags(named, flags);
  if (flags.to !== undefined) {
    await pullIntoDatabase(named && [named], { ...flags, to: flags.to }, io);
    return;
  }
  const { all = false, out, format, since = null, pagination, restart, quiet = false } = flags;
  const log = (line: string) => quiet || io.log(line);
  let progress: PullProgress | undefined;
  const { client, keyDigest } = await connect(io, flags, {
    wait: ({ waitMs }) => progress?.wait(waitMs),
    retry: ({ reason, waitMs }) => progress?.retry(reason, waitMs),
  });
  const inFolder = (file: string) => (all ? join(out ?? '', file) : undefined);
  const names = named === undefined ? collectionNames : [named];
  const fileOf = (name: CollectionName) => inFolder(`${client[name].segment}.${format}`) ?? out;
  const checkpointFile = flags.checkpoint ?? inFolder('pull.checkpoint');
  if (all) await makeFolder(out ?? '');
  using _lock = all ? await FolderLock.take(out ?? '') : undefined;
  for (const name of names) await checkFiles(fileOf(name), checkpointFile);

  const { baseUrl } = client.accounts;
  const scope = { baseUrl, keyDigest, collection: named ?? 'all', since, pagination };
  const checkpoint =
    checkpointFile === undefined
      ? undefined
      : new PullCheckpoint(checkpointFile, { ...scope, out: inFolder(`*.${format}`) ?? out ?? null });
  let state = (restart ? undefined : await checkpoint?.read()) ?? NOTHING;
  for (const name of names) {
    const file = fileOf(name);
    if (file !== undefined && state.done.includes(name) && existsSync(file)) {
      log(`${name} is complete: kept from the run that was interrupted.`);
      continue;
    }
    const from = state.reading === name ? state.point : BEGINNING;
    progress = new PullProgress(io, { name, quiet, pagination, from });
    const save = async (point: PullPoint) => {
      state = { ...state, reading: name, point };
      await checkpoint?.write(state);
    };
    try {
      const canResume = checkpoint !== undefined;
      const startedAt = await pull(client, { name, file, flags, io, progress, from, save, canResume });
      state = { ...state, done: [...state.done, name], startedAt: state.startedAt ?? startedAt };
      if (all) await checkpoint?.write(state);
    } catch (error) {
      const isDenied = isApiError(error, 'forbidden') || isApiError(error, 'scope_required');
      // A key that loses its rights in the middle of a collection leaves a part of it.
      if (file === undefined || !all || !isDenied || progress.hasPages) {
        if (isInterrupted(io.signal)) logStop(name, checkpoint !== undefined, { flags, io });
        throw checkpoint === undefined ? error : withWayToResume(error, flags);
      }
      log(`This key may not read ${name} (${error.code}).`);
      // An earlier run may have read a part. First the checkpoint, because it must not name what does not exist.
      await save(BEGINNING);
      await rm(partialOf(await writableFile(file)), { force: true });
    }
  }
  await checkpoint?.remove();
  if (state.done.length === 0) throw noReadAccess();
  if (state.startedAt === null) return;
  const next = new Date(Date.parse(state.startedAt) - LOOKBACK_MS).toISOString().replace('.000Z', 'Z');
  log(`To read what changes from now on: --since ${next}`);
}

/** Commits become visible later than their timestamps. */
const LOOKBACK_MS = 120_000;

function checkFlags(name: CollectionName | undefined, flags: Flags): void {
  const { all, out, format, checkpoint, to, pagination } = flags;
  const wrong = (message: string, advice: string) =>
    new CommandFailure(message, { advice, exitCode: EXIT.usage });
  if (all && name !== undefined) throw wrong('--all pulls every collection.', `Leave out ${name} or --all.`);
  if (!all && name === undefined) throw wrong('No collection is named.', 'Name one, or pass --all.');
  const ofFiles = ['out', 'checkpoint', 'restart', 'since'] as const;
  const ofFile =
    ofFiles.find((flag) => flags[flag] !== undefined) ?? (format === 'csv' ? 'format' : undefined);
  if (to !== undefined && ofFile !== undefined) {
    throw wrong(
      `--to and --${ofFile} exclude each other.`,
      'A database remembers what it holds: leave out one.',
    );
  }
  const ofDatabase = (['tenant', 'full', 'sameCompany'] as const).find((flag) => flags[flag] !== undefined);
  if (to === undefined && ofDatabase !== undefined) {
    throw wrong(
      `--${ofDatabase === 'sameCompany' ? 'same-company' : ofDatabase} is for a database.`,
      'Name the database with --to.',
    );
  }
  if (to !== undefined) return;
  if (checkpoint !== undefined && pagination === 'page') {
    throw wrong('--pagination page cannot be resumed.', 'Leave out --checkpoint or --pagination.');
  }
  if (all && out === undefined) throw wrong('--all needs a folder.', 'Name it with --out.');
  if (checkpoint !== undefined && format === 'csv' && out === undefined)
    throw wrong('CSV on standard output cannot resume.', 'Name a file with --out.');
}

const NOTHING: PullState = { done: [], startedAt: null, reading: '', point: BEGINNING };

async function makeFolder(name: string): Promise<void> {
  if ((await unlessMissing(stat(name)))?.isDirectory() === false) {
    throw new CommandFailure(`${name} is a file.`, { advice: 'Name a folder.', exitCode: EXIT.file });
  }
  await mkdir(name, { recursive: true });
}

interface PullTask {
  readonly name: CollectionName;
  /** Undefined for standard output. */
  readonly file: string | undefined;
  readonly flags: Flags;
  readonly io: Io;
  readonly progress: PullProgress;
  readonly from: PullPoint;
  readonly save: (point: PullPoint) => Promise<void>;
  /** Whether there is a checkpoint: without one, a part of a file is useless. */
  readonly canResume: boolean;
}

/** The service's clock when the read began. */
async function pull(client: Client, task: PullTask): Promise<string | null> {
  const { name, file, flags, io, progress, from, save } = task;
  // Invalid records too: the file holds what the service sent.
  const collection = client.withOptions({ validation: 'report' }).collection(client[name].segment);
  const options = {
    pagination: flags.pagination,
    updatedSince: flags.since,
    maxOutageMs: flags.maxOutage,
    signal: io.signal,
  };
  const output = await openOutput(io, { out: file, format: flags.format, from: from.bytes });
  let report: CollectionReport | undefined;
  try {
    report = await readCollection(collection, { output, from, save, progress, options });
    return report.watermark?.toISOString() ?? null;
  } catch (error) {
    if (!task.canResume) await output.discard();
    throw error;
  } finally {
    progress.end(report);
    await output.close();
  }
}

/** Rejects names of which one file would overwrite or delete another, and files that cannot be written. */
async function checkFiles(out: string | undefined, checkpoint: string | undefined): Promise<void> {
  const written = out === undefined ? [] : [resolve(out), partialOf(resolve(out)), temporaryOf(resolve(out))];
  const ofCheckpoint =
    checkpoint === undefined ? [] : [resolve(checkpoint), temporaryOf(resolve(checkpoint))];
  if (written.some((file) => ofCheckpoint.includes(file))) {
    throw new CommandFailure('--out and --checkpoint name the same file.', {
      advice: 'Give the checkpoint a file of its own.',
      exitCode: EXIT.usage,
    });
  }
  for (const file of [out, checkpoint]) {
    if (file !== undefined) await writableFile(file);
  }
}

/** By the user. If the reader of the output has ended, it needs no advice. */
function isInterrupted({ aborted, reason }: AbortSignal): boolean {
  return aborted && !(reason instanceof CommandFailure) && reason?.exitCode !== EXIT.pipeClosed;
}

/** What the user has after an interruption, and how to go on. */
function logStop(name: CollectionName, canResume: boolean, { flags, io }: { flags: Flags; io: Io }): void {
  const { all, out, pagination } = flags;
  const kept = all ? `The files before that of ${name} are complete. ` : whatIsLeft(out, canResume);
  const hint = pagination === 'page' ? '' : '; with --checkpoint it can resume';
  const next = canResume ? wayToResume(flags) : `Run the same command to start over${hint}.`;
  io.log('Stopped before the end.');
  io.log(`${kept}${next}`);
}

function whatIsLeft(out: string | undefined, canResume: boolean): string {
  if (out === undefined) return '';
  if (canResume && existsSync(partialOf(out))) return `The records so far are in ${partialOf(out)}. `;
  return existsSync(out) ? `${out} is unchanged. ` : `${out} was not written. `;
}

function wayToResume({ restart }: Flags): string {
  return `Run the same command ${restart ? 'without --restart ' : ''}to resume.`;
}

/** Adds to the advice that the same command resumes, if it does. */
function withWayToResume(error: unknown, flags: Flags): unknown {
  const failure = failureOf(error);
  const cannotResume = failure?.exitCode === EXIT.usage || failure?.exitCode === EXIT.file;
  if (failure === undefined || cannotResume) return error;
  const advice = `${failure.advice ?? ''} ${wayToResume(flags)}`.trim();
  return new CommandFailure(failure.message, { advice, exitCode: failure.exitCode });
}
