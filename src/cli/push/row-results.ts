import { once } from 'node:events';
import { createWriteStream, type WriteStream } from 'node:fs';
import { isAccountingError } from '../../errors/guards.ts';
import { oneLine } from '../../internal/text.ts';
import type { PushResult } from '../../push/results.ts';
import { CommandFailure, EXIT, failureOf } from '../errors.ts';

/** The number of failed rows that are printed. */
const MAX_PRINTED = 10;

/** A longer key would hide the reason. */
const MAX_KEY_LENGTH = 60;

/** The result of each row: one line of JSON in a file, in the order in which the rows end, and the first problems. */
export class RowResults {
  /** The first rows that failed or are in conflict, as lines to print. */
  readonly problems: string[] = [];
  /** How many more there are. */
  moreProblems = 0;
  readonly #path: string | undefined;
  readonly #stream: WriteStream | undefined;
  #writeError: Error | undefined;

  private constructor(path: string | undefined) {
    this.#path = path;
    this.#stream = path === undefined ? undefined : createWriteStream(path);
    this.#stream?.on('error', (error) => {
      this.#writeError ??= error;
    });
  }

  /** Without a path, no file is written. */
  static async open(path: string | undefined): Promise<RowResults> {
    const results = new RowResults(path);
    if (results.#stream !== undefined) {
      await once(results.#stream, 'open').catch((error: Error) => {
        throw results.#failure(error);
      });
    }
    return results;
  }

  add(result: PushResult, line: number | undefined): void {
    const { key, action, id, ids, fields, error } = result;
    if (action === 'failed' || action === 'conflict') this.#addProblem(result, line);
    const violations = isAccountingError(error, 'validation_failed') ? error.violations : undefined;
    const shown = error && { code: error.code, message: error.message, violations };
    const content = { line, key, action, id, ids: ids.length > 0 ? ids : undefined, fields, error: shown };
    this.#stream?.write(`${JSON.stringify(content)}\n`);
  }

  /** Rejects if the file is not complete. */
  async close(): Promise<void> {
    if (this.#stream !== undefined && !this.#stream.closed) {
      this.#stream.end();
      await once(this.#stream, 'close').catch(() => undefined);
    }
    if (this.#writeError !== undefined) throw this.#failure(this.#writeError);
  }

  #addProblem({ key, ids, error }: PushResult, line: number | undefined): void {
    if (this.problems.length === MAX_PRINTED) {
      this.moreProblems += 1;
      return;
    }
    const what =
      error === undefined
        ? `conflict: ${ids.length > 1 ? `products ${ids.join(', ')} have this key` : `product ${ids[0]} belongs to two rows`}`
        : `${error.code}: ${failureOf(error)?.message}`;
    const name = key === undefined ? '' : `, ${key.slice(0, MAX_KEY_LENGTH)}`;
    this.problems.push(oneLine(`line ${line}${name}: ${what}`));
  }

  #failure({ message }: Error): CommandFailure {
    return new CommandFailure(`${this.#path} cannot be written: ${message}.`, { exitCode: EXIT.file });
  }
}
