import { appendFileSync, closeSync, openSync } from 'node:fs';
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
  readonly #file: number | undefined;
  #error: Error | undefined;

  /** Without a path, no file is written. */
  constructor(path: string | undefined) {
    this.#path = path;
    try {
      this.#file = path === undefined ? undefined : openSync(path, 'w');
    } catch (error) {
      throw this.#failure(error as Error);
    }
  }

  add(result: PushResult, line: number | undefined): void {
    const { key, action, id, ids, fields, error } = result;
    if (action === 'failed' || action === 'conflict') this.#addProblem(result, line);
    const violations = isAccountingError(error, 'validation_failed') ? error.violations : undefined;
    const shown = error && { code: error.code, message: error.message, violations };
    const content = { line, key, action, id, ids: ids.length > 0 ? ids : undefined, fields, error: shown };
    if (this.#file === undefined || this.#error !== undefined) return;
    try {
      appendFileSync(this.#file, `${JSON.stringify(content)}\n`);
    } catch (error) {
      // The push goes on: the products matter more than the file about them.
      this.#error = error as Error;
    }
  }

  /** Throws if the file is not complete. */
  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    if (this.#error !== undefined) throw this.#failure(this.#error);
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
