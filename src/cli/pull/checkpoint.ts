import { rm } from 'node:fs/promises';
import { isRow } from '../../tools/rows.ts';
import { CommandFailure } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { readIfThere, replaceFile, temporaryOf } from '../replace-file.ts';

/** What a checkpoint belongs to: a pull of something else must not go on from it. */
export interface PullScope {
  readonly baseUrl: string;
  readonly collection: string;
  readonly since: string | null;
  readonly pagination: string;
  /** The file that is written; null for standard output. */
  readonly out: string | null;
}

/** Where a pull stands: everything before it is in the file. */
export interface PullPoint {
  /** Where the walk goes on; null where it has to begin anew. */
  readonly resumeToken: string | null;
  /** Bytes of the file that belong to what was read before: anything after them is cut off. */
  readonly bytes: number;
  readonly records: number;
  readonly pages: number;
  /** From when a later pull has to ask to see what this one could not: the service's clock when this one began. */
  readonly startedAt: string | null;
}

const VERSION = 2;
const SCOPE = ['baseUrl', 'collection', 'since', 'pagination', 'out'] as const;

/** The checkpoint of a pull, in a file that is there as a whole or not at all. */
export class PullCheckpoint {
  readonly #file: string;
  readonly #scope: PullScope;

  constructor(file: string, scope: PullScope) {
    this.#file = file;
    this.#scope = scope;
  }

  /** The point to go on from; undefined where there is none. Fails for a checkpoint of another pull. */
  async read(): Promise<PullPoint | undefined> {
    const text = await readIfThere(this.#file);
    if (text === undefined) return undefined;

    const content = parse(text);
    if (content === undefined) throw this.#failure('cannot be read', 'Delete it to start over.');
    const other = SCOPE.find((name) => content.scope[name] !== this.#scope[name]);
    if (other === undefined) return content.point;
    const was = `${other} was ${content.scope[other] ?? 'not given'}, is ${this.#scope[other] ?? 'not given'}`;
    throw this.#failure(
      `belongs to another pull (${was})`,
      'Give the same options, another checkpoint, or delete it.',
    );
  }

  write(point: PullPoint): Promise<void> {
    return replaceFile(this.#file, `${JSON.stringify({ version: VERSION, ...this.#scope, ...point })}\n`);
  }

  /** Once everything is read there is nothing to go on with: the next pull is a new one. */
  async remove(): Promise<void> {
    await rm(this.#file, { force: true });
    await rm(temporaryOf(this.#file), { force: true });
  }

  #failure(what: string, advice: string): CommandFailure {
    return new CommandFailure(`The checkpoint ${this.#file} ${what}.`, { advice, exitCode: EXIT.file });
  }
}

function parse(text: string): { scope: PullScope; point: PullPoint } | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (!isRow(value) || value.version !== VERSION) return undefined;
    const { baseUrl, collection, since, pagination, out, ...point } = value;
    const isPoint =
      isTextOrNull(point.resumeToken) &&
      isTextOrNull(point.startedAt) &&
      [point.bytes, point.records, point.pages].every(
        (count) => Number.isSafeInteger(count) && Number(count) >= 0,
      );
    return isPoint
      ? {
          scope: { baseUrl, collection, since, pagination, out } as PullScope,
          point: point as unknown as PullPoint,
        }
      : undefined;
  } catch {
    return undefined;
  }
}

function isTextOrNull(value: unknown): value is string | null {
  return value === null || typeof value === 'string';
}
