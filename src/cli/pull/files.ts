import { existsSync } from 'node:fs';
import { mkdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type CollectionName,
  type CollectionReport,
  changes,
  collectionNames,
  isAccountingError,
  memoryStore,
} from 'accounting-data-sdk';
import { lockFile } from '../../internal/lock-file.ts';
import { unlessMissing } from '../../internal/node/crash-safe-file.ts';
import { oneLine } from '../../internal/text.ts';
import { type ConnectFlags, type Connection, connect } from '../connect.ts';
import { CommandFailure, EXIT, isDenied, isInterrupted, noReadAccess } from '../errors.ts';
import type { CommandIo } from '../io.ts';
import { numberOf } from '../numbers.ts';
import { writableFile } from '../writable.ts';
import { type Format, type Output, openOutput } from './outputs.ts';
import { countsOf, endOf, type PullCounts, PullProgress } from './progress.ts';

/** What a pull without `--to` needs to know. */
export interface FileFlags extends ConnectFlags {
  readonly all?: true;
  /** A file; with `all` a folder. */
  readonly out?: string;
  /** By the ending of `out` if it is undefined. */
  readonly format?: Format;
  readonly pagination?: 'keyset' | 'page' | 'none' | 'link';
  readonly maxOutage: number;
}

/**
 * Reads one collection, or every collection that the key may read, each into a file of its own. No file is replaced
 * before every record has been read.
 */
export async function pullIntoFiles(
  named: CollectionName | undefined,
  flags: FileFlags,
  io: CommandIo,
): Promise<void> {
  const { all = false } = flags;
  const out = flags.out === '-' ? undefined : flags.out;
  const { format = !all && /\.csv$/i.test(out ?? '') ? 'csv' : 'ndjson' } = flags;
  const progress = new PullProgress(io);
  const connection = await connect(io, flags, { on: progress.listeners });
  const names = named === undefined ? collectionNames : [named];
  const { client } = connection;
  const fileOf = (name: CollectionName) => (all ? join(out ?? '', `${client[name].segment}.${format}`) : out);
  using _lock = all ? await lockedFolder(out ?? '') : undefined;
  for (const file of names.map(fileOf)) if (file !== undefined) await writableFile(file);

  const outputs: Output[] = [];
  let unreadable: unknown;
  try {
    for (const name of names) {
      const output = await openOutput(io, fileOf(name), format);
      outputs.push(output);
      const report = await read(name, output, { flags, io, progress, connection });
      if (report === undefined) {
        // Nothing was written to it.
        outputs.pop();
        continue;
      }
      await output.finish();
      unreadable ??= report.unreadable;
    }
    if (outputs.length === 0) throw noReadAccess();
  } catch (error) {
    for (const output of outputs) await output.discard();
    if (isInterrupted(io.signal)) logStop(flags, io);
    throw error;
  }
  // One file that cannot be replaced does not keep the others from it.
  const delivered = await Promise.allSettled(outputs.map((output) => output.deliver()));
  for (const result of delivered) if (result.status === 'rejected') throw result.reason;
  progress.summarize();
  if (unreadable !== undefined) throw unreadable;
}

interface ReadContext {
  readonly flags: FileFlags;
  readonly io: CommandIo;
  readonly progress: PullProgress;
  readonly connection: Connection;
}

/** How far a collection was read, and the error about rows without an id that can be read: the file has them anyway. */
type Pulled = Partial<Pick<CollectionReport, 'watermark'>> & { readonly unreadable?: unknown };

/** Reads a collection to its end. Resolves to undefined if it is one of all and the key may not read it. */
async function read(
  name: CollectionName,
  output: Output,
  { flags, io, progress, connection }: ReadContext,
): Promise<Pulled | undefined> {
  const startedAt = performance.now();
  let counts: PullCounts = { records: 0, pages: 0 };
  let invalid = 0;
  let rate = 0;
  let isByPage = false;
  let report = undefined as CollectionReport | undefined;
  // Invalid records too: the file holds what the service sent, with null for a number such as 1e400.
  const client = connection.client.withOptions({ validation: 'report', pagination: flags.pagination });
  const collection = client.collection(client[name].segment, {});
  const { pagination = connection.paginationOf(name) } = flags;
  const run = changes(collection, {
    ...connection.reading,
    tenant: 'pull',
    // A pull that was stopped starts over.
    store: memoryStore(),
    maxOutageMs: flags.maxOutage,
    signal: io.signal,
    onProgress: ({ pagination: used, recordsPerSecond }) => {
      rate = recordsPerSecond;
      if (used !== 'page' || pagination === 'page' || isByPage) return;
      isByPage = true;
      io.note('Ids are not integers: reading page by page.');
    },
  });
  const batches = async function* () {
    report = yield* run;
  };

  progress.show(name, counts, rate);
  try {
    for await (const batch of batches()) {
      // A row that is no object is no record. The error about it names it.
      const rows = [...batch.rows, ...batch.invalid.map(({ record }) => record).filter(isObject)];
      if (rows.length > 0) await output.write(rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
      invalid += batch.invalid.length;
      counts = { records: counts.records + rows.length, pages: counts.pages + (batch.last ? 0 : 1) };
      progress.show(name, counts, rate);
    }
    return report;
  } catch (error) {
    if (isAccountingError(error, 'unexpected_response') && error.reason === 'unreadable_id') {
      return { unreadable: error };
    }
    // A key that loses its rights in the middle of a collection leaves a part of it.
    if (!flags.all || counts.pages > 0 || !isAccountingError(error) || !isDenied(error.code)) throw error;
    io.note(`This key may not read ${name} (${error.code}).`);
    return undefined;
  } finally {
    if (report !== undefined || counts.pages > 0) {
      const took = ((performance.now() - startedAt) / 1000).toFixed(1);
      const end = report === undefined ? 'not complete' : endOf(report);
      io.note(`${countsOf(counts, name)}, ${took} s: ${end}.`);
      if (invalid > 0)
        io.note(
          `${numberOf(invalid)} of them ${invalid === 1 ? 'is' : 'are'} invalid: no valid id, or a number that JavaScript cannot hold.`,
        );
      if (report !== undefined) progress.ended(report);
    }
  }
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
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

/** What the user has after an interruption, and how to continue. */
function logStop({ all, out }: FileFlags, io: CommandIo): void {
  io.log('Stopped before the end.');
  const left = existsSync(out ?? '') ? 'is unchanged' : 'was not written';
  const kept = all ? `No file of ${out} was changed. ` : out === undefined ? '' : `${out} ${left}. `;
  io.log(`${kept}Run the same command to start over. A copy in a database resumes: see --to.`);
}
