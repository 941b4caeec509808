import { type FileHandle, open, realpath, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { CommandFailure } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { syncDirectory } from '../replace-file.ts';
import { Pending, type Sink } from './sink.ts';

const compress = promisify(gzip);

/** The file that grows while a pull runs. It takes the place of the real one at the end, so that no failed run harms that. */
export function partialOf(out: string): string {
  return `${out}.part`;
}

/**
 * A file of lines, compressed if its name ends in `.gz`: each commit is a gzip member of its own, so that the file can
 * be decompressed after every commit, and be cut back to any.
 */
export class FileSink implements Sink {
  readonly #out: string;
  readonly #partial: string;
  readonly #pending = new Pending();
  #handle: FileHandle | undefined;
  #bytes: number;

  private constructor(out: string, handle: FileHandle | undefined, bytes: number) {
    this.#out = out;
    this.#partial = partialOf(out);
    this.#handle = handle;
    this.#bytes = bytes;
  }

  /** Starts from nothing, with the first commit. */
  static start(out: string): FileSink {
    return new FileSink(out, undefined, 0);
  }

  /** Resumes after so many bytes of the partial file: what lies behind them was not committed. */
  static async resume(out: string, keepBytes: number): Promise<FileSink> {
    const file = partialOf(out);
    const handle = await open(file, 'r+').catch((error: NodeJS.ErrnoException) => {
      throw error.code === 'ENOENT' ? mismatch(file, 'does not exist') : error;
    });
    const { size } = await handle.stat();
    if (size < keepBytes) {
      await handle.close();
      throw mismatch(file, `has ${size} bytes, fewer than the ${keepBytes} of the checkpoint`);
    }
    await handle.truncate(keepBytes);
    return new FileSink(out, handle, keepBytes);
  }

  get bytes(): number {
    return this.#bytes;
  }

  get isDue(): boolean {
    return this.#pending.isDue;
  }

  add(lines: string): void {
    this.#pending.add(lines);
  }

  async commit(): Promise<void> {
    this.#handle ??= await this.#create();
    const text = this.#pending.take();
    if (text === '') return;

    const data = Buffer.from(text, 'utf8');
    const bytes = this.#out.endsWith('.gz') ? await compress(data) : data;
    const { size } = await this.#handle.stat();
    if (size !== this.#bytes) throw mismatch(this.#partial, 'was changed by another program');
    try {
      await append(this.#handle, bytes, this.#bytes);
      // Before the checkpoint says so: after a loss of power it must not know more than the file.
      await this.#handle.datasync();
    } catch (error) {
      // A full disk takes half a line: what was committed is left, which can be read.
      await this.#handle.truncate(this.#bytes).catch(() => {});
      throw error;
    }
    this.#bytes += bytes.byteLength;
  }

  async restart(): Promise<boolean> {
    this.#pending.take();
    await this.#handle?.truncate(0);
    this.#bytes = 0;
    return true;
  }

  async finish(): Promise<void> {
    await this.close();
    try {
      await rename(this.#partial, this.#out);
    } catch (error) {
      throw new CommandFailure(`${this.#out} cannot be replaced: ${(error as Error).message}.`, {
        advice: `Every record is in ${this.#partial}. Rename that file.`,
        exitCode: EXIT.file,
      });
    }
    await syncDirectory(dirname(this.#out));
  }

  async discard(): Promise<void> {
    if (this.#handle === undefined) return;
    await this.close();
    await rm(this.#partial, { force: true });
  }

  async close(): Promise<void> {
    await this.#handle?.close();
    this.#handle = undefined;
  }

  /** With the permissions of the file that it is going to replace: accounting data must not become readable to more users. */
  async #create(): Promise<FileHandle> {
    const handle = await open(this.#partial, 'w');
    const before = await stat(this.#out).catch(() => undefined);
    if (before !== undefined) await handle.chmod(before.mode & 0o777);
    return handle;
  }
}

/**
 * The file that a name stands for. A link is followed, because renaming would replace the link instead of its target;
 * what is not a regular file, such as a pipe, cannot be replaced at all.
 */
export async function targetOf(out: string): Promise<string> {
  const there = await stat(out).catch(() => undefined);
  if (there === undefined) return out;
  if (there.isFile()) return realpath(out);
  throw new CommandFailure(`${out} is not a regular file.`, {
    advice: 'Leave out --out and redirect standard output instead.',
    exitCode: EXIT.file,
  });
}

/** Writes all bytes from a position on. */
async function append(handle: FileHandle, bytes: Uint8Array, from: number): Promise<void> {
  for (let done = 0; done < bytes.byteLength; ) {
    const { bytesWritten } = await handle.write(bytes, done, bytes.byteLength - done, from + done);
    done += bytesWritten;
  }
}

function mismatch(file: string, what: string): CommandFailure {
  return new CommandFailure(`${file} ${what}: it is not the file of this pull any more.`, {
    advice: 'Delete the checkpoint to start over.',
    exitCode: EXIT.file,
  });
}
