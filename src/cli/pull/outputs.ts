import { randomUUID } from 'node:crypto';
import { type FileHandle, rename, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createFile,
  syncFolder,
  temporaryOf,
  unlessMissing,
  writeWhole,
} from '../../internal/node/crash-safe-file.ts';
import { oneLine } from '../../internal/text.ts';
import { CommandFailure, EXIT } from '../errors.ts';
import type { CommandIo } from '../io.ts';
import { writableFile } from '../writable.ts';
import { csvOf } from './csv.ts';

export type Format = 'ndjson' | 'csv';

/** Where the records of a collection go. */
export interface Output {
  /** Writes lines of NDJSON. */
  write(lines: string): Promise<void>;
  /** Every record was written. */
  finish(): Promise<void>;
  /** Puts the result in its place. */
  deliver(): Promise<void>;
  /** The pull failed: removes what is useless. */
  discard(): Promise<void>;
}

/**
 * A file of the user, which is replaced by `deliver`. Without a file standard output: NDJSON is printed as it comes, CSV
 * at the end, because only then are all columns known.
 */
export async function openOutput(io: CommandIo, out: string | undefined, format: Format): Promise<Output> {
  if (out === undefined) return format === 'csv' ? csvOutput(io) : printedLines(io);
  const target = await writableFile(out);
  // Accounting data must not become readable to more users than before; a new file has the permissions of any other.
  const existing = await unlessMissing(stat(target));
  const mode = existing && existing.mode & 0o777;
  return new LinesFile(`${target}.part`, mode, {
    prepare: (lines) => (format === 'csv' ? asCsv(io, lines, temporaryOf(target), mode) : lines),
    deliver: (result) => replaceBy(target, result),
  });
}

function printedLines(io: CommandIo): Output {
  const nothing = async () => {};
  return { write: printTo(io), finish: nothing, deliver: nothing, discard: nothing };
}

/** Prints a string that ends with a line break. */
function printTo({ write, out }: CommandIo): (text: string) => Promise<void> {
  return write ?? (async (text) => out(text.replace(/\n$/, '')));
}

function csvOutput(io: CommandIo): Output {
  const print = printTo(io);
  return new LinesFile(join(tmpdir(), `accounting-data-sdk-${randomUUID()}.ndjson`), 0o600, {
    prepare: (lines) => lines,
    async deliver(lines) {
      try {
        for await (const text of csvOf(lines, warningOf(io))) await print(text);
      } finally {
        await rm(lines);
      }
    },
  });
}

interface Steps {
  /** Makes the result of the file of lines; returns its name. */
  prepare(lines: string): Promise<string> | string;
  deliver(result: string): Promise<void>;
}

class LinesFile implements Output {
  readonly #file: string;
  /** Undefined for the permissions of any new file. */
  readonly #mode: number | undefined;
  readonly #steps: Steps;
  #handle: FileHandle | undefined;
  #result = '';

  constructor(file: string, mode: number | undefined, steps: Steps) {
    this.#file = file;
    this.#mode = mode;
    this.#steps = steps;
  }

  async write(lines: string): Promise<void> {
    await (await this.#opened()).appendFile(lines);
  }

  async finish(): Promise<void> {
    // Even if there was no record.
    const handle = await this.#opened();
    await handle.sync();
    const found = await unlessMissing(stat(this.#file));
    if (found?.ino !== (await handle.stat()).ino) {
      throw new CommandFailure(`${this.#file} was replaced by another program.`, {
        advice: 'Run one pull into a file after the other.',
        exitCode: EXIT.file,
      });
    }
    await this.#close();
    this.#result = await this.#steps.prepare(this.#file);
  }

  deliver(): Promise<void> {
    return this.#steps.deliver(this.#result);
  }

  async discard(): Promise<void> {
    await this.#close();
    for (const file of [this.#file, this.#result]) if (file !== '') await rm(file, { force: true });
  }

  async #close(): Promise<void> {
    await this.#handle?.close();
    this.#handle = undefined;
  }

  async #opened(): Promise<FileHandle> {
    this.#handle ??= await createFile(this.#file, this.#mode);
    return this.#handle;
  }
}

async function asCsv(io: CommandIo, lines: string, file: string, mode: number | undefined): Promise<string> {
  await writeWhole(file, csvOf(lines, warningOf(io)), mode);
  await rm(lines);
  return file;
}

function warningOf(io: CommandIo): (text: string) => void {
  return (text) => io.log(`Warning: ${oneLine(text)}`);
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
