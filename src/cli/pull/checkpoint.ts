import { rm } from 'node:fs/promises';
import { readIfExists, replaceFile, temporaryOf } from '../../node/crash-safe-file.ts';
import { CommandFailure, EXIT } from '../errors.ts';

/** What a checkpoint belongs to: another pull must not resume from it. */
export interface PullScope {
  readonly baseUrl: string;
  readonly collection: string;
  readonly since: string | null;
  readonly pagination: string;
  /** The file to write; null for standard output. */
  readonly out: string | null;
}

/** Where a pull stands: everything before it is in the output. */
export interface PullPoint {
  /** Where the read resumes; null if it has to start over. */
  readonly resumeToken: string | null;
  /** The length of the output at this point: whatever follows is cut off. */
  readonly bytes: number;
  readonly records: number;
  readonly pages: number;
  /** The service's clock when the first run began. */
  readonly startedAt: string | null;
  /** The lowest UTC offset in the service's timestamps, in minutes. */
  readonly utcOffset: number | null;
}

const VERSION = 3;
const SCOPE = ['baseUrl', 'collection', 'since', 'pagination', 'out'] as const;

/** The checkpoint of a pull, in a file. */
export class PullCheckpoint {
  readonly #file: string;
  readonly #scope: PullScope;

  constructor(file: string, scope: PullScope) {
    this.#file = file;
    this.#scope = scope;
  }

  /** Where to resume; undefined without a checkpoint. Fails for the checkpoint of another pull. */
  async read(): Promise<PullPoint | undefined> {
    const text = await readIfExists(this.#file);
    if (text === undefined) return undefined;

    const { scope, point } = parse(text) ?? {};
    if (scope === undefined) throw this.#failure('cannot be read', 'Delete it to start over.');
    const other = SCOPE.find((name) => scope[name] !== this.#scope[name]);
    if (other === undefined) return point;
    const was = `${other} was ${scope[other] ?? 'not given'}, is ${this.#scope[other] ?? 'not given'}`;
    throw this.#failure(
      `belongs to another pull (${was})`,
      'Give the same options, another checkpoint, or delete it.',
    );
  }

  write(point: PullPoint): Promise<void> {
    return replaceFile(this.#file, `${JSON.stringify({ version: VERSION, ...this.#scope, ...point })}\n`);
  }

  /** Once everything is read, the next pull is a new one. */
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
    const { version, baseUrl, collection, since, pagination, out, ...point } = JSON.parse(text);
    const isPoint =
      version === VERSION &&
      [point.resumeToken, point.startedAt].every((value) => value === null || typeof value === 'string') &&
      [point.bytes, point.records, point.pages].every((value) => Number.isSafeInteger(value) && value >= 0) &&
      (point.utcOffset === null || Number.isInteger(point.utcOffset));
    return isPoint ? { scope: { baseUrl, collection, since, pagination, out }, point } : undefined;
  } catch {
    return undefined;
  }
}
