import { existsSync } from 'node:fs';
import { access, constants, mkdir } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import {
  type Client,
  type CollectionName,
  collectionNames,
  isApiError,
  type Listeners,
} from 'accounting-data-sdk';
import { type Command, Option } from 'commander';
import { guarded, type RequestGuard } from '../../internal/request-guard.ts';
import { temporaryOf } from '../../node/crash-safe-file.ts';
import { boundAt } from '../../sync/bound.ts';
import { DEFAULT_MAX_OUTAGE_MS, Outage } from '../../sync/outage.ts';
import { sinceOf } from '../../sync/watermark.ts';
import { collectionName, duration, timestamp } from '../arguments.ts';
import { type ConnectFlags, type Connection, connect, connectable } from '../connect.ts';
import { CommandFailure, EXIT, failureOf } from '../errors.ts';
import type { Io } from '../io.ts';
import {
  BEGINNING,
  PullCheckpoint,
  type PullPoint,
  type PullStart,
  type PullState,
} from '../pull/checkpoint.ts';
import {
  FileOutput,
  type Format,
  type Output,
  partialOf,
  StandardOutput,
  targetOf,
} from '../pull/outputs.ts';
import { PullProgress } from '../pull/progress.ts';
import { readCollection } from '../pull/read-collection.ts';
import { checkWritable } from '../writable.ts';

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

async function run(name: CollectionName | undefined, flags: Flags, io: Io): Promise<void> {
  checkFlags(name, flags);
  const result = name === undefined ? await pullAll(flags, io) : await pullOne(name, flags, io);
  if (flags.quiet || result.startedAt === null) return;
  io.log(`To read what changes from now on: --since ${nextSince(result)}`);
}

/** Commits become visible later than their timestamps. */
const LOOKBACK_MS = 120_000;

/** In the offset of the service's timestamps, because some services compare the bound with local times. */
function nextSince({ startedAt, utcOffset }: PullStart): string {
  return boundAt(sinceOf(startedAt ?? '', LOOKBACK_MS), utcOffset ?? undefined);
}

function checkFlags(name: CollectionName | undefined, { all, out, format, checkpoint }: Flags): void {
  const wrong = (message: string, advice: string) =>
    new CommandFailure(message, { advice, exitCode: EXIT.usage });
  if (all && name !== undefined) throw wrong('--all pulls every collection.', `Leave out ${name} or --all.`);
  if (!all && name === undefined) throw wrong('No collection is named.', 'Name one, or pass --all.');
  if (all && out === undefined) throw wrong('--all needs a folder.', 'Name it with --out.');
  if (checkpoint !== undefined && format === 'csv' && out === undefined)
    throw wrong('CSV on standard output cannot resume.', 'Name a file with --out.');
}

async function pullOne(name: CollectionName, flags: Flags, io: Io): Promise<PullStart> {
  await checkFiles(flags);
  const progress = new PullProgress(io, name, flags.quiet ?? false);
  const connection = await connect(
    io,
    flags,
    listeners(() => progress),
  );
  const checkpoint = flags.checkpoint === undefined ? undefined : checkpointOf(connection, name, flags);
  const earlier = flags.restart ? undefined : await checkpoint?.read();
  const save = checkpoint && ((point: PullPoint) => checkpoint.write({ ...NOTHING, reading: name, point }));
  try {
    const from = earlier?.point ?? BEGINNING;
    const start = await pull(connection.client, { name, flags, io, progress, from, save });
    await checkpoint?.remove();
    return start;
  } catch (error) {
    if (isInterrupted(io.signal)) logHowToResume(flags, io);
    throw checkpoint === undefined ? error : withWayToResume(error, flags);
  }
}

/** One file and one line of progress for each collection. */
async function pullAll(flags: Flags & { out?: string }, io: Io): Promise<PullStart> {
  const { out: folder = '', format, quiet = false } = flags;
  await mkdir(folder, { recursive: true });
  let progress = new PullProgress(io, 'accounts', quiet);
  const connection = await connect(
    io,
    flags,
    listeners(() => progress),
  );
  const file = flags.checkpoint ?? join(folder, 'pull.checkpoint');
  const files = join(folder, `*.${format}`);
  const checkpoint = checkpointOf(connection, 'all', { ...flags, checkpoint: file, out: files });
  let state = (flags.restart ? undefined : await checkpoint.read()) ?? NOTHING;
  for (const name of collectionNames) {
    progress = new PullProgress(io, name, quiet);
    const out = join(folder, `${connection.client[name].segment}.${format}`);
    if (state.done.includes(name) && existsSync(out)) {
      if (!quiet) io.log(`${name} is complete: kept from the run that was interrupted.`);
      continue;
    }
    await checkFiles({ checkpoint: file, out });
    const from = state.reading === name ? state.point : BEGINNING;
    const save = (point: PullPoint) => {
      state = { ...state, reading: name, point };
      return checkpoint.write(state);
    };
    try {
      const start = await pull(connection.client, {
        name,
        flags: { ...flags, out },
        io,
        progress,
        from,
        save,
      });
      state = { ...state, done: [...state.done, name], start: earlier(state.start, start) };
      await checkpoint.write(state);
    } catch (error) {
      const isDenied = isApiError(error, 'forbidden') || isApiError(error, 'scope_required');
      // A key that loses its rights in the middle of a collection leaves a part of it.
      if (!isDenied || progress.hasPages) {
        if (isInterrupted(io.signal))
          io.log(`Stopped at ${name}. The files before it are complete. ${wayToResume(flags)}`);
        throw withWayToResume(error, flags);
      }
      if (!quiet) io.log(`This key may not read ${name} (${error.code}).`);
    }
  }
  await checkpoint.remove();
  if (state.done.length > 0) return state.start;
  throw new CommandFailure('The API key is valid but has no read access.', {
    advice: 'Use the key of a user who may read the data of the company.',
    exitCode: EXIT.denied,
  });
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

function listeners(progress: () => PullProgress): Listeners {
  return {
    wait: ({ waitMs }) => progress().wait(waitMs),
    retry: ({ reason }) => progress().retry(reason),
  };
}

interface PullTask {
  readonly name: CollectionName;
  readonly flags: Flags;
  readonly io: Io;
  readonly progress: PullProgress;
  readonly from: PullPoint;
  /** Writes the checkpoint; undefined without one. */
  readonly save: ((point: PullPoint) => Promise<void>) | undefined;
}

async function pull(client: Client, task: PullTask): Promise<PullStart> {
  const { flags, io, progress, from, save } = task;
  // Before a file is touched: this rejects a resume token of another read.
  const pages = pagesOf(client, task);
  const output = await openOutput(flags, from, io);
  if (from.records > 0) progress.resumes(from);
  try {
    const { pagination } = flags;
    const start = await readCollection({
      pages,
      output,
      from,
      save: save ?? noCheckpoint,
      pagination,
      progress,
    });
    progress.end('complete.');
    return start;
  } catch (error) {
    progress.end('not complete.');
    if (save === undefined) await output.discard();
    throw error;
  } finally {
    io.status?.(undefined);
    await output.close();
  }
}

const noCheckpoint = async () => {};

/** Rejects names of which one file would overwrite or delete another, and files that cannot be written. */
async function checkFiles({ out, checkpoint }: Pick<Flags, 'out' | 'checkpoint'>): Promise<void> {
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
    if (file !== undefined) await checkWritable(file);
  }
  // The partial file stands beside the one that it replaces.
  if (out !== undefined) await access(dirname(await targetOf(out)), constants.W_OK);
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

function checkpointOf(
  { client, keyDigest }: Connection,
  collection: string,
  { checkpoint = '', since, out, pagination }: Flags,
): PullCheckpoint {
  const { baseUrl } = client.accounts;
  const scope = { baseUrl, keyDigest, collection, since: since ?? null, pagination, out: out ?? null };
  return new PullCheckpoint(checkpoint, scope);
}

async function openOutput({ out, format }: Flags, { bytes }: PullPoint, io: Io): Promise<Output> {
  if (out !== undefined) return FileOutput.replacing(out, format, bytes);
  return format === 'csv' ? FileOutput.printingCsv(io) : new StandardOutput(io, bytes);
}

/** By the user. If the reader of the output has ended, it needs no advice. */
function isInterrupted({ aborted, reason }: AbortSignal): boolean {
  return aborted && !(reason instanceof CommandFailure) && reason?.exitCode !== EXIT.pipeClosed;
}

function logHowToResume(flags: Flags, io: Io): void {
  const { checkpoint, out } = flags;
  io.log('Stopped before the end.');
  if (checkpoint === undefined) {
    const kept = out === undefined ? '' : `${out} is unchanged. `;
    io.log(`${kept}Run the same command to start over; with --checkpoint it can resume.`);
  } else {
    const kept = out === undefined ? '' : ` The records so far are in ${partialOf(out)}.`;
    io.log(`${wayToResume(flags)}${kept}`);
  }
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
