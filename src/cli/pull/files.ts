import { existsSync } from 'node:fs';
import { mkdir, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import {
  type Client,
  type CollectionName,
  type CollectionReport,
  changes,
  collectionNames,
  isAccountingError,
} from 'accounting-data-sdk';
import { jsonText } from '../../internal/json-text.ts';
import { lockFile } from '../../internal/lock-file.ts';
import { temporaryOf, unlessMissing } from '../../internal/node/crash-safe-file.ts';
import { oneLine } from '../../internal/text.ts';
import { type ConnectFlags, type Connection, connect } from '../connect.ts';
import { CommandFailure, EXIT, failureOf, isDenied, noReadAccess } from '../errors.ts';
import type { Io } from '../io.ts';
import { writableFile } from '../writable.ts';
import { BEGINNING, PullCheckpoint, type PullPoint, type PullState } from './checkpoint.ts';
import { type Format, type LinesFile, openOutput, partialOf, printTo } from './outputs.ts';
import { countsOf, many, numberOf, PullProgress } from './progress.ts';

/** What a pull without `--to` needs to know. */
export interface FileFlags extends ConnectFlags {
  readonly all?: true;
  readonly since?: string;
  /** A file; with `all` a folder. */
  readonly out?: string;
  readonly format: Format;
  readonly checkpoint?: string;
  readonly restart?: true;
  readonly pagination: 'keyset' | 'page' | 'none';
  readonly maxOutage: number;
}

const NOTHING: PullState = { done: [], startedAt: null, reading: '', point: BEGINNING };

/** Commits become visible later than their timestamps. */
const LOOKBACK_MS = 120_000;

/** Reads one collection, or every collection that the key may read, each into a file of its own. */
export async function pullIntoFiles(
  named: CollectionName | undefined,
  flags: FileFlags,
  io: Io,
): Promise<void> {
  const { all = false, out, format, since = null, pagination, restart } = flags;
  const progress = new PullProgress(io, flags);
  const { client, keyDigest, sync: fitting } = await connect(io, flags, progress.listeners);
  const inFolder = (file: string) => (all ? join(out ?? '', file) : undefined);
  const names = named === undefined ? collectionNames : [named];
  const fileOf = (name: CollectionName) => inFolder(`${client[name].segment}.${format}`) ?? out;
  const checkpointFile = flags.checkpoint ?? inFolder('pull.checkpoint');
  using _lock = all ? await lockedFolder(out ?? '') : undefined;
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
      progress.log(`${name} is complete: kept from the run that was interrupted.`);
      continue;
    }
    const from = state.reading === name ? state.point : BEGINNING;
    const save = async (point: PullPoint) => {
      state = { ...state, reading: name, point };
      await checkpoint?.write(state);
    };
    const output = await openOutput(io, { out: file, format, from: from.bytes });
    const task = { name, output, from, save, flags, io, progress, fitting };
    try {
      const report = await read(client, task);
      if (report === undefined) {
        // An earlier run may have read a part. First the checkpoint, because it must not name what does not exist.
        await save(BEGINNING);
        await output?.discard();
        continue;
      }
      const startedAt = state.startedAt ?? report.watermark?.toISOString() ?? null;
      state = { ...state, done: [...state.done, name], startedAt };
      if (all) await checkpoint?.write(state);
    } catch (error) {
      if (checkpoint === undefined) await output?.discard();
      if (isInterrupted(io.signal)) logStop(name, checkpoint !== undefined, { flags, io });
      throw checkpoint === undefined ? error : withWayToResume(error, flags);
    } finally {
      await output?.close();
    }
  }
  await checkpoint?.remove();
  if (state.done.length === 0) throw noReadAccess();
  progress.summarize();
  if (state.startedAt === null) return;
  const next = new Date(Date.parse(state.startedAt) - LOOKBACK_MS).toISOString().replace('.000Z', 'Z');
  progress.log(`To read what changes from now on: --since ${next}`);
}

interface ReadTask {
  readonly name: CollectionName;
  /** Undefined for standard output. Lines cannot be removed from it: after a crash the last ones may come twice. */
  readonly output: LinesFile | undefined;
  /** Where an earlier run stopped. */
  readonly from: PullPoint;
  /** Writes the checkpoint; does nothing without one. */
  readonly save: (point: PullPoint) => Promise<void>;
  readonly flags: FileFlags;
  readonly io: Io;
  readonly progress: PullProgress;
  /** Options of a sync that fit the service. */
  readonly fitting: Connection['sync'];
}

/** Lines that are not written yet are read again after a crash. */
const WRITE_AFTER_MS = 500;
const WRITE_AFTER_CHARACTERS = 2 ** 20;

/**
 * Reads a collection to its end: batch after batch into the output, then a checkpoint that knows no more than that.
 * Resolves to undefined if it is one of all and the key may not read it.
 */
async function read(client: Client, task: ReadTask): Promise<CollectionReport | undefined> {
  const { name, output, from, save, flags, io, progress, fitting } = task;
  const print = printTo(io);
  const startedAt = performance.now();
  let point = from;
  let lines = '';
  let writtenAt = startedAt;
  /** Whether a write failed: lines may be missing from the output. */
  let isTorn = false;
  let invalid = 0;
  let rate = 0;
  let isByPage = false;
  let report = undefined as CollectionReport | undefined;

  const isDue = () =>
    // The reader of standard output gets each page at once. A write to a file costs an fsync.
    output === undefined ||
    lines.length >= WRITE_AFTER_CHARACTERS ||
    performance.now() - writtenAt >= WRITE_AFTER_MS;
  const write = async () => {
    isTorn = true;
    if (lines !== '') await (output?.write(lines) ?? print(lines));
    isTorn = false;
    lines = '';
    writtenAt = performance.now();
    point = { ...point, bytes: output?.bytes ?? 0 };
  };
  const restart = async () => {
    lines = '';
    // The checkpoint is written first, because it must never say more than the file holds, whenever the process ends.
    await save(BEGINNING);
    if (output === undefined) return;
    await output.restart();
    point = BEGINNING;
  };
  // Invalid records too: the file holds what the service sent, with null for a number such as 1e400.
  const collection = client.withOptions({ validation: 'report' }).collection(client[name].segment);
  const run = changes(collection, {
    ...fitting,
    tenant: 'pull',
    store: { get: async () => point.checkpoint },
    pagination: flags.pagination,
    updatedSince: flags.since,
    maxOutageMs: flags.maxOutage,
    signal: io.signal,
    onProgress: ({ pagination, recordsPerSecond }) => {
      rate = recordsPerSecond;
      if (pagination !== 'page' || flags.pagination === 'page' || isByPage) return;
      isByPage = true;
      progress.log('Ids are not integers: reading page by page, which cannot be resumed.');
    },
  });
  const batches = async function* () {
    report = yield* run;
  };

  progress.show(name, point, rate);
  try {
    for await (const batch of batches()) {
      if (batch.restarted) await restart();
      else if (point === from && from.checkpoint !== null) {
        progress.log(`Resuming after ${many(from.records, 'record')}.`);
      }
      const rows = [...batch.rows, ...batch.invalid.map(({ record }) => record)];
      lines += rows.map((row) => `${jsonText(row)}\n`).join('');
      invalid += batch.invalid.length;
      // The last checkpoint is not saved: a run that begins with it would read only what changed since.
      if (batch.last) await write();
      const { records, pages } = point;
      point = { ...point, records: records + rows.length, checkpoint: batch.checkpoint };
      if (batch.last) continue;
      point = { ...point, pages: pages + 1 };
      progress.show(name, point, rate);
      if (!isDue()) continue;
      await write();
      await save(point);
    }
    // In this order: if the process ends in between, the next run reads this collection again, and its file is as it was.
    await save(BEGINNING);
    await output?.finish();
    return report;
  } catch (error) {
    // The error matters more than the last lines: they can be read again. But a checkpoint after a failed write would
    // skip lines that the output does not hold.
    if (lines !== '' && !isTorn)
      await write()
        .then(() => save(point))
        .catch(() => {});
    // A key that loses its rights in the middle of a collection leaves a part of it.
    if (!flags.all || point.pages > 0 || !isAccountingError(error) || !isDenied(error.code)) throw error;
    progress.log(`This key may not read ${name} (${error.code}).`);
    return undefined;
  } finally {
    progress.hide();
    if (report !== undefined || point.pages > 0) {
      const took = ((performance.now() - startedAt) / 1000).toFixed(1);
      const end = report === undefined ? 'not complete' : 'complete';
      progress.log(`${countsOf(point, name)}, ${took} s: ${end}.`);
      if (invalid > 0)
        progress.log(
          `${numberOf(invalid)} of them are invalid: no valid id, or a number that JavaScript cannot hold.`,
        );
      if (report !== undefined) progress.warn(report);
    }
  }
}

/** Creates the folder, and keeps a second pull out of it. */
async function lockedFolder(name: string): Promise<Disposable> {
  if ((await unlessMissing(stat(name)))?.isDirectory() === false) {
    throw new CommandFailure(`${name} is a file.`, { advice: 'Name a folder.', exitCode: EXIT.file });
  }
  await mkdir(name, { recursive: true });
  const locked = (what: string, advice: string) => new CommandFailure(what, { advice, exitCode: EXIT.file });
  try {
    const unlock = lockFile(join(name, 'pull.lock'));
    if (unlock !== undefined) return { [Symbol.dispose]: unlock };
  } catch (error) {
    throw locked(
      `${name} cannot be locked: ${oneLine((error as Error).message)}.`,
      'Name a folder on a local disk.',
    );
  }
  throw locked(
    `Another pull writes to this folder: ${name}.`,
    'Wait until it has ended, or name another folder.',
  );
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

/** Whether the user stopped the pull. If the reader of the output has ended, the user needs no advice. */
function isInterrupted({ aborted, reason }: AbortSignal): boolean {
  return aborted && !(reason instanceof CommandFailure) && reason?.exitCode !== EXIT.pipeClosed;
}

/** What the user has after an interruption, and how to continue. */
function logStop(
  name: CollectionName,
  canResume: boolean,
  { flags, io }: { flags: FileFlags; io: Io },
): void {
  const { all, out, pagination } = flags;
  const kept = all ? `The files before that of ${name} are complete. ` : whatIsLeft(out, canResume);
  const hint = pagination === 'keyset' ? '; with --checkpoint it can resume' : '';
  const next = canResume ? wayToResume(flags) : `Run the same command to start over${hint}.`;
  io.log('Stopped before the end.');
  io.log(`${kept}${next}`);
}

function whatIsLeft(out: string | undefined, canResume: boolean): string {
  if (out === undefined) return '';
  if (canResume && existsSync(partialOf(out))) return `The records so far are in ${partialOf(out)}. `;
  return existsSync(out) ? `${out} is unchanged. ` : `${out} was not written. `;
}

function wayToResume({ restart }: FileFlags): string {
  return `Run the same command ${restart ? 'without --restart ' : ''}to resume.`;
}

/** Adds to the advice that the same command resumes, if it does. */
function withWayToResume(error: unknown, flags: FileFlags): unknown {
  const failure = failureOf(error);
  const cannotResume = failure?.exitCode === EXIT.usage || failure?.exitCode === EXIT.file;
  return failure === undefined || cannotResume ? error : failure.withAdvice(wayToResume(flags));
}
