import { existsSync } from 'node:fs';
import { mkdir, rm, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type Client, type CollectionName, collectionNames, isApiError } from 'accounting-data-sdk';
import { type Command, Option } from 'commander';
import { collections } from '../../collections/index.ts';
import { guarded, type RequestGuard } from '../../internal/request-guard.ts';
import { temporaryOf, unlessMissing } from '../../node/crash-safe-file.ts';
import { boundAt } from '../../sync/bound.ts';
import { DEFAULT_MAX_OUTAGE_MS, Outage } from '../../sync/outage.ts';
import { sinceOf } from '../../sync/watermark.ts';
import { collectionName, duration, timestamp } from '../arguments.ts';
import { type ConnectFlags, connect, connectable } from '../connect.ts';
import { CommandFailure, EXIT, failureOf, noReadAccess } from '../errors.ts';
import type { Io } from '../io.ts';
import {
  BEGINNING,
  PullCheckpoint,
  type PullPoint,
  type PullStart,
  type PullState,
} from '../pull/checkpoint.ts';
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
          .default(DEFAULT_MAX_OUTAGE_MS, '2m'),
      ),
    [
      'accounting-data-sdk pull accounts > accounts.ndjson',
      'accounting-data-sdk pull budget-lines --out budget-lines.ndjson --checkpoint budget-lines.checkpoint',
      'accounting-data-sdk pull products --format csv --since 2026-01-31T00:00:00Z | gzip > products.csv.gz',
      'accounting-data-sdk pull --all --out data',
    ],
  ).action((name: CollectionName | undefined, flags: Flags) => run(name, flags, io));
}

/** Reads one collection, or every collection that the key may read, each into a file of its own. */
async function run(named: CollectionName | undefined, flags: Flags, io: Io): Promise<void> {
  checkFlags(named, flags);
  const { all = false, out, format, since = null, pagination, restart, quiet = false } = flags;
  const log = (line: string) => quiet || io.log(line);
  const inFolder = (file: string) => (all ? join(out ?? '', file) : undefined);
  const names = named === undefined ? collectionNames : [named];
  const fileOf = (name: CollectionName) => inFolder(`${collections[name].segment}.${format}`) ?? out;
  const checkpointFile = flags.checkpoint ?? inFolder('pull.checkpoint');
  if (all) await makeFolder(out ?? '');
  for (const name of names) await checkFiles(fileOf(name), checkpointFile);

  let progress = new PullProgress(io, names[0] ?? '', quiet);
  const { client, keyDigest } = await connect(io, flags, {
    wait: ({ waitMs }) => progress.wait(waitMs),
    retry: ({ reason }) => progress.retry(reason),
  });
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
    progress = new PullProgress(io, name, quiet);
    const from = state.reading === name ? state.point : BEGINNING;
    const save = async (point: PullPoint) => {
      state = { ...state, reading: name, point };
      await checkpoint?.write(state);
    };
    try {
      const canResume = checkpoint !== undefined;
      const start = await pull(client, { name, file, flags, io, progress, from, save, canResume });
      state = { ...state, done: [...state.done, name], start: earlier(state.start, start) };
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
  const { startedAt, utcOffset } = state.start;
  if (startedAt === null) return;
  // In the offset of the service's timestamps, because some services compare the bound with local times.
  const next = boundAt(sinceOf(startedAt, LOOKBACK_MS), utcOffset ?? undefined);
  log(`To read what changes from now on: --since ${next}`);
}

/** Commits become visible later than their timestamps. */
const LOOKBACK_MS = 120_000;

function checkFlags(name: CollectionName | undefined, { all, out, format, checkpoint }: Flags): void {
  const wrong = (message: string, advice: string) =>
    new CommandFailure(message, { advice, exitCode: EXIT.usage });
  if (all && name !== undefined) throw wrong('--all pulls every collection.', `Leave out ${name} or --all.`);
  if (!all && name === undefined) throw wrong('No collection is named.', 'Name one, or pass --all.');
  if (all && out === undefined) throw wrong('--all needs a folder.', 'Name it with --out.');
  if (checkpoint !== undefined && format === 'csv' && out === undefined)
    throw wrong('CSV on standard output cannot resume.', 'Name a file with --out.');
}

const NOTHING: PullState = {
  done: [],
  start: { startedAt: null, utcOffset: null },
  reading: '',
  point: BEGINNING,
};

/** The start of both. */
function earlier(first: PullStart, second: PullStart): PullStart {
  const offsets = [first, second].flatMap(({ utcOffset }) => utcOffset ?? []);
  return {
    startedAt: first.startedAt ?? second.startedAt,
    utcOffset: offsets.length === 0 ? null : Math.min(...offsets),
  };
}

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

async function pull(client: Client, task: PullTask): Promise<PullStart> {
  const { file, flags, io, progress, from, save } = task;
  // Before a file is touched: this rejects a resume token of another read.
  const pages = pagesOf(client, task);
  const output = await openOutput(io, { out: file, format: flags.format, from: from.bytes });
  if (from.records > 0) progress.resumes(from);
  try {
    const { pagination } = flags;
    const start = await readCollection({ pages, output, from, save, pagination, progress });
    progress.end('complete.');
    return start;
  } catch (error) {
    progress.end('not complete.');
    if (!task.canResume) await output.discard();
    throw error;
  } finally {
    io.status?.(undefined);
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

/** The pages of a collection, invalid records included: the file holds what the service sent. */
function pagesOf(client: Client, { name, flags, from, io: { signal }, progress }: PullTask) {
  const collection = client.withOptions({ validation: 'report' }).collection(client[name].segment);
  const clock = new Outage(flags.maxOutage);
  const outage: RequestGuard = {
    run: (call, waits) => {
      const onWait: typeof waits.onWait = (waitMs, reason) => {
        if (reason === 'outage') progress.outage(waitMs ?? 0);
      };
      return clock.run(call, { ...waits, onWait });
    },
  };
  const resumeFrom = from.resumeToken ?? undefined;
  const options = guarded({ pagination: flags.pagination, resumeFrom, signal }, outage);
  return collection.list({ updatedSince: flags.since }, options).pages();
}

/** By the user. If the reader of the output has ended, it needs no advice. */
function isInterrupted({ aborted, reason }: AbortSignal): boolean {
  return aborted && !(reason instanceof CommandFailure) && reason?.exitCode !== EXIT.pipeClosed;
}

/** What the user has after an interruption, and how to go on. */
function logStop(name: CollectionName, canResume: boolean, { flags, io }: { flags: Flags; io: Io }): void {
  const { all, out } = flags;
  const part = canResume ? `The records so far are in ${partialOf(out ?? '')}. ` : `${out} is unchanged. `;
  const kept = all ? `The files before that of ${name} are complete. ` : out === undefined ? '' : part;
  const next = canResume
    ? wayToResume(flags)
    : 'Run the same command to start over; with --checkpoint it can resume.';
  io.log('Stopped before the end.');
  io.log(`${kept}${next}`);
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
