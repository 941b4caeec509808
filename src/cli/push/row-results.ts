import { appendFileSync, closeSync, openSync } from 'node:fs';
import { type AnyAccountingError, isAccountingError, type PushResult } from 'accounting-data-sdk';
import { oneLine } from '../../internal/text.ts';
import { CommandFailure, EXIT, failureOf } from '../errors.ts';

/** The number of lines about failed rows that are printed. */
const MAX_PRINTED = 10;

/** The rows of one reason that are kept to print. */
const MAX_KEPT = MAX_PRINTED;

/** A longer key would hide the reason. */
const MAX_KEY_LENGTH = 60;

/** The result of each row: one line of JSON in a file, in the order in which the rows end, and the first problems. */
export class RowResults {
  /** The first rows that failed or are in conflict, by reason, as lines to print. */
  readonly #problems = new Map<string, { readonly lines: string[]; count: number }>();
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

  /** Lines to print: of each reason as many rows as there is room for, so that one reason hides no other. */
  get problems(): readonly string[] {
    const reasons = [...this.#problems.values()];
    const printed = new Map(reasons.map((reason) => [reason, 0]));
    let room = MAX_PRINTED;
    for (let round = 0; round < MAX_PRINTED && room > 0; round++) {
      for (const reason of reasons) {
        if (room === 0 || round >= reason.lines.length) continue;
        printed.set(reason, round + 1);
        room -= 1;
      }
    }
    return reasons.flatMap((reason) => reason.lines.slice(0, printed.get(reason)));
  }

  /** How many rows failed or are in conflict. */
  get problemCount(): number {
    return [...this.#problems.values()].reduce((sum, { count }) => sum + count, 0);
  }

  add(result: PushResult, line: number | undefined, badCells: readonly string[] = []): void {
    const { key, action, id, ids, fields, reason, error } = result;
    if (action === 'failed' || action === 'conflict') this.#addProblem(result, line, badCells);
    const violations = isAccountingError(error, 'validation_failed') ? error.violations : undefined;
    const shown = error && { code: error.code, message: error.message, violations };
    const content = {
      line,
      key,
      action,
      id,
      ids: ids.length > 0 ? ids : undefined,
      fields,
      reason,
      error: shown,
    };
    if (this.#file === undefined || this.#error !== undefined) return;
    try {
      appendFileSync(this.#file, `${JSON.stringify(content)}\n`);
    } catch (error) {
      // The push continues: the products matter more than the file about them.
      this.#error = error as Error;
    }
  }

  /** Throws if the file is not complete. */
  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    if (this.#error !== undefined) throw this.#failure(this.#error);
  }

  #addProblem(
    { key, reason, error }: PushResult,
    line: number | undefined,
    badCells: readonly string[],
  ): void {
    const what =
      error === undefined
        ? `conflict: ${reason}`
        : `${textOfError(error, badCells)} ${reason ?? ''}`.trimEnd();
    const name = key === undefined ? '' : `, ${key.slice(0, MAX_KEY_LENGTH)}`;
    // Rows of one reason differ in numbers and in what is quoted.
    const kind = what.replace(/"(?:[^"\\]|\\.)*"|\d+/g, '');
    const reasons = this.#problems.get(kind) ?? { lines: [], count: 0 };
    this.#problems.set(kind, reasons);
    reasons.count += 1;
    if (reasons.lines.length < MAX_KEPT) reasons.lines.push(oneLine(`line ${line}${name}: ${what}`));
  }

  #failure({ message }: Error): CommandFailure {
    return new CommandFailure(`${this.#path} cannot be written: ${message}.`, { exitCode: EXIT.file });
  }
}

/** The line of the row is printed before it, so that its position is not. */
function textOfError(error: AnyAccountingError, badCells: readonly string[]): string {
  if (error.code === 'invalid_input' && badCells.length > 0) return `${error.code}: ${badCells.join('; ')}`;
  return `${error.code}: ${failureOf(error)?.message.replace(/^rows\[\d+\]: /, '')}`;
}
