import { type FileHandle, open } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { CommandFailure } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { Pending, type Sink } from './sink.ts';

const compress = promisify(gzip);

/**
 * A file of lines, packed where its name ends in `.gz`: each commit is a gzip member of its own, so that the file can
 * be unpacked after every commit, and be cut back to any.
 */
export class FileSink implements Sink {
  readonly #file: string;
  readonly #pending = new Pending();
  #handle: FileHandle | undefined;
  #bytes: number;

  private constructor(file: string, handle: FileHandle | undefined, bytes: number) {
    this.#file = file;
    this.#handle = handle;
    this.#bytes = bytes;
  }

  /** A file that is begun anew, with the first commit: until then an older one stays as it is. */
  static anew(file: string): FileSink {
    return new FileSink(file, undefined, 0);
  }

  /** Goes on after so many bytes of a file: what lies behind them was not committed. */
  static async goOn(file: string, keepBytes: number): Promise<FileSink> {
    const handle = await open(file, 'r+').catch((error: NodeJS.ErrnoException) => {
      throw error.code === 'ENOENT' ? mismatch(file, 'is not there') : error;
    });
    const { size } = await handle.stat();
    if (size < keepBytes) {
      await handle.close();
      throw mismatch(file, `has ${size} bytes, fewer than the ${keepBytes} of the checkpoint`);
    }
    await handle.truncate(keepBytes);
    return new FileSink(file, handle, keepBytes);
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
    this.#handle ??= await open(this.#file, 'w');
    const text = this.#pending.take();
    if (text === '') return;

    const data = Buffer.from(text, 'utf8');
    const bytes = this.#file.endsWith('.gz') ? await compress(data) : data;
    const { size } = await this.#handle.stat();
    if (size !== this.#bytes) throw mismatch(this.#file, 'was changed by another program');
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

  async close(): Promise<void> {
    await this.#handle?.close();
  }
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
    advice: 'Delete the checkpoint to begin anew.',
    exitCode: EXIT.file,
  });
}
