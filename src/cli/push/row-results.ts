import { appendFileSync, closeSync, openSync } from 'node:fs';
import { type AnyAccountingError, isAccountingError, type PushResult } from 'accounting-data-sdk';
import { oneLine } from '../../internal/text.ts';
import { CommandFailure, EXIT, failureOf } from '../errors.ts';

/** How many reasons are printed, and for each of them how many lines of the file. */
const MAX_PRINTED = 10;

/** A longer key would hide the reason. */
const MAX_KEY_LENGTH = 60;

/** What the file says about a row. */
interface FileRow {
  readonly line: number | undefined;
  /** The line of the first row with the key, for a duplicate. */
  readonly firstLine: number | undefined;
  readonly badCells: readonly string[];
}

/** Rows that were not written for one reason. */
interface Problem {
  /** The first rows by their lines, each with the reason. */
  readonly rows: { readonly line: number; readonly text: string }[];
  count: number;
}

/** The result of each row: one line of JSON in a file, in the order in which the rows end, and the problems. */
export class RowResults {
  readonly #problems = new Map<string, Problem>();
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

  /** Lines to print: the first row of each reason, and where the others are. */
  get problems(): readonly string[] {
    return [...this.#problems.values()].slice(0, MAX_PRINTED).map(({ rows, count }) => {
      const [{ text } = { text: '' }, ...rest] = rows;
      const others = rest.flatMap(({ line }) => (line < Infinity ? [line] : []));
      const more = count - 1 - others.length;
      const where = [
        others.length > 0 && `${others.length === 1 ? 'line' : 'lines'} ${others.join(', ')}`,
        more > 0 && `${more} more`,
      ].filter((part) => part !== false);
      return where.length === 0 ? text : `${text} Also ${where.join(' and ')}.`;
    });
  }

  /** How many rows have a reason that is not printed. */
  get unprinted(): number {
    return [...this.#problems.values()].slice(MAX_PRINTED).reduce((sum, { count }) => sum + count, 0);
  }

  add(result: PushResult, { line, firstLine, badCells }: FileRow): void {
    const { key, action, id, ids, fields, changes, notStored, error } = result;
    const reason = result.reason?.replace(/^rows\[\d+\]/, `line ${firstLine}`);
    const isError = action === 'failed';
    if (isError || action === 'conflict' || action === 'duplicate') {
      const said = isError
        ? `${textOfError(result.error, badCells)} ${reason ?? ''}`
        : `${action}: ${reason}`;
      this.#addProblem(said, line, key);
    }
    const violations = isAccountingError(error, 'validation_failed') ? error.violations : undefined;
    const content = {
      line,
      key,
      action,
      id,
      ids: ids.length > 0 ? ids : undefined,
      fields,
      changes: changes.length > 0 ? changes : undefined,
      notStored: notStored.length > 0 ? notStored : undefined,
      reason,
      error: error && {
        code: error.code,
        message: messageFor(error, badCells) ?? withoutPosition(error.message),
        violations,
      },
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

  #addProblem(said: string, line: number | undefined, key: string | undefined): void {
    const what = said.trimEnd().replace(/\.?$/, '.');
    // Rows of one reason differ in numbers and in what is quoted.
    const kind = what.replace(/"(?:[^"\\]|\\.)*"|\d+/g, '');
    const text = oneLine(`${rowName(line, key)}: ${what}`);
    const problem = this.#problems.get(kind) ?? { rows: [], count: 0 };
    this.#problems.set(kind, problem);
    problem.count += 1;
    // Writes in flight end in any order.
    problem.rows.push({ line: line ?? Infinity, text });
    problem.rows.sort((a, b) => a.line - b.line).splice(MAX_PRINTED);
  }

  #failure({ message }: Error): CommandFailure {
    return new CommandFailure(`${this.#path} cannot be written: ${message}.`, { exitCode: EXIT.file });
  }
}

/** A row as a person finds it: `line 3, DESK-160`. */
export function rowName(line: number | undefined, key: string | undefined): string {
  return [line && `line ${line}`, key?.slice(0, MAX_KEY_LENGTH)].filter(Boolean).join(', ');
}

/** What is wrong with the cells of a row says more than that their values are rejected. */
function messageFor({ code }: AnyAccountingError, badCells: readonly string[]): string | undefined {
  return code === 'invalid_input' && badCells.length > 0 ? `${badCells.join('; ')}.` : undefined;
}

/** The line of the row is shown beside it, so that its position is not. */
function withoutPosition(message: string): string {
  return message.replace(/^rows\[\d+\](?:: |\.)/, '');
}

function textOfError(error: AnyAccountingError, badCells: readonly string[]): string {
  const message = messageFor(error, badCells) ?? withoutPosition(failureOf(error)?.message ?? '');
  return `${error.code}: ${message}`;
}
