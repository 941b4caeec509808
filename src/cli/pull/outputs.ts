import { randomUUID } from 'node:crypto';
import { constants, type FileHandle, lstat, open, rename, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createFile,
  syncFolder,
  temporaryOf,
  unlessMissing,
  writeWhole,
} from '../../internal/node/crash-safe-file.ts';
import { CommandFailure, EXIT } from '../errors.ts';
import type { Io } from '../io.ts';
import { writableFile } from '../writable.ts';
import { csvOf } from './csv.ts';

export type Format = 'ndjson' | 'csv';

interface OutputOptions {
  /** The file to write; undefined for standard output. */
  readonly out: string | undefined;
  readonly format: Format;
  /** Bytes to resume after. */
  readonly from: number;
}

/**
 * Where a pull writes: beside a file of the user, which is replaced at the end, or for CSV on standard output in a
 * temporary folder. Undefined if the lines are printed as they come.
 */
export async function openOutput(
  io: Io,
  { out, format, from }: OutputOptions,
): Promise<LinesFile | undefined> {
  if (out === undefined) return format === 'csv' ? csvOutput(io) : undefined;
  const target = await writableFile(out);
  // Accounting data must not become readable to more users than before; a new file has the permissions of any other.
  const existing = await unlessMissing(stat(target));
  const mode = existing && existing.mode & 0o777;
  const output = new LinesFile(partialOf(target), mode, (file) =>
    format === 'csv' ? replaceByCsv(target, file, mode) : replaceBy(target, file),
  );
  if (from > 0) await output.resume(from);
  return output;
}

/** Prints a string that ends with a line break. */
export function printTo({ write, out }: Io): (text: string) => Promise<void> {
  return write ?? (async (text) => out(text.replace(/\n$/, '')));
}

/** Prints CSV when every record is there, because only then are all columns known. */
function csvOutput(io: Io): LinesFile {
  const print = printTo(io);
  return new LinesFile(join(tmpdir(), `accounting-data-sdk-${randomUUID()}.ndjson`), 0o600, async (file) => {
    try {
      for await (const text of csvOf(file)) await print(text);
    } finally {
      await rm(file);
    }
  });
}

/** A file of lines that grows while the pull runs. When it is complete, `deliver` makes it the result. */
export class LinesFile {
  /** The length of what was written. */
  bytes = 0;
  readonly #file: string;
  /** Undefined for those of any new file. */
  readonly #mode: number | undefined;
  readonly #deliver: (file: string) => Promise<void>;
  #handle: FileHandle | undefined;
  /** Whether the file has every record: if it cannot be delivered then, it may be the only copy. */
  #isComplete = false;

  constructor(file: string, mode: number | undefined, deliver: (file: string) => Promise<void>) {
    this.#file = file;
    this.#mode = mode;
    this.#deliver = deliver;
  }

  /** Keeps what an earlier run committed. */
  async resume(bytes: number): Promise<void> {
    const found = await unlessMissing(lstat(this.#file));
    if (found === undefined) throw mismatch(this.#file, 'does not exist');
    if (!found.isFile()) throw mismatch(this.#file, 'is not a regular file');
    const handle = await open(this.#file, constants.O_RDWR | (constants.O_NOFOLLOW ?? 0));
    this.#handle = handle;
    const { size } = await handle.stat();
    if (size < bytes) {
      await this.close();
      throw mismatch(this.#file, `has ${size} bytes, fewer than the ${bytes} of the checkpoint`);
    }
    // What follows was not committed.
    await handle.truncate(bytes);
    this.bytes = bytes;
  }

  /** Writes whole lines: after a crash they are there. */
  async write(lines: string): Promise<void> {
    const handle = await this.#opened();
    const { size } = await handle.stat();
    if (size !== this.bytes) throw mismatch(this.#file, 'was changed by another program');
    const bytes = Buffer.from(lines, 'utf8');
    try {
      await append(handle, bytes, this.bytes);
      // Flushed before the checkpoint, which must not be ahead of the file after a loss of power.
      await handle.datasync();
    } catch (error) {
      // If the disk is full, half a line may have been written.
      await handle.truncate(this.bytes).catch(() => {});
      throw error;
    }
    this.bytes += bytes.byteLength;
  }

  /** Removes all lines. */
  async restart(): Promise<void> {
    await this.#handle?.truncate(0);
    this.bytes = 0;
  }

  /** Every record was written: puts the result in its place. */
  async finish(): Promise<void> {
    // Even if there was no record.
    await this.#opened();
    await this.close();
    this.#isComplete = true;
    await this.#deliver(this.#file);
  }

  /** The pull failed and cannot be resumed: removes what is useless. */
  async discard(): Promise<void> {
    await this.close();
    if (!this.#isComplete) await rm(this.#file, { force: true });
  }

  async close(): Promise<void> {
    await this.#handle?.close();
    this.#handle = undefined;
  }

  async #opened(): Promise<FileHandle> {
    this.#handle ??= await createFile(this.#file, this.#mode);
    return this.#handle;
  }
}

/** The file that grows beside the file that it is going to replace. */
export function partialOf(target: string): string {
  return `${target}.part`;
}

async function replaceBy(target: string, file: string): Promise<void> {
  try {
    await rename(file, target);
  } catch (error) {
    throw new CommandFailure(`${target} cannot be replaced: ${(error as Error).message}.`, {
      advice: `Every record is in ${file}. Rename that file.`,
      exitCode: EXIT.file,
    });
  }
  await syncFolder(target);
}

async function replaceByCsv(target: string, file: string, mode: number | undefined): Promise<void> {
  const temporary = temporaryOf(target);
  try {
    await writeWhole(temporary, csvOf(file), mode);
  } finally {
    await rm(file);
  }
  await replaceBy(target, temporary);
}

async function append(handle: FileHandle, bytes: Uint8Array, from: number): Promise<void> {
  for (let done = 0; done < bytes.byteLength; ) {
    const { bytesWritten } = await handle.write(bytes, done, bytes.byteLength - done, from + done);
    done += bytesWritten;
  }
}

function mismatch(file: string, what: string): CommandFailure {
  return new CommandFailure(`${file} ${what}: it is no longer the file of this pull.`, {
    advice: 'Delete the checkpoint to start over.',
    exitCode: EXIT.file,
  });
}
