import { rm } from 'node:fs/promises';
import { readIfExists, replaceFile, temporaryOf } from '../../internal/node/crash-safe-file.ts';
import { CommandFailure, EXIT } from '../errors.ts';

/**
 * What a checkpoint belongs to: another pull must not resume from it. The digest is that of the API key, because two
 * companies have the same address, and their records must not come into one file.
 */
type PullScope = Readonly<
  Record<'baseUrl' | 'keyDigest' | 'collection' | 'since' | 'pagination' | 'out', string | null>
>;

/** Where the pull of a collection stands: everything before it is in the output. */
export interface PullPoint {
  /** The length of the output at this point: whatever follows is cut off. */
  readonly bytes: number;
  readonly records: number;
  readonly pages: number;
  /** Of `changes`; null if nothing is read, or what was read has to be read again. */
  readonly checkpoint: string | null;
}

export const BEGINNING: PullPoint = { bytes: 0, records: 0, pages: 0, checkpoint: null };

/** Where a pull stands. */
export interface PullState {
  /** The collections whose files are complete. */
  readonly done: readonly string[];
  /** When the first of them was begun, by the service's clock: a later pull reads what changed since then. */
  readonly startedAt: string | null;
  /** The collection that is being read, and its point. */
  readonly reading: string;
  readonly point: PullPoint;
}

interface Content {
  readonly version: number;
  readonly scope: PullScope;
  readonly state: PullState;
}

const VERSION = 5;

/** The checkpoint of a pull, in a file. */
export class PullCheckpoint {
  readonly #file: string;
  readonly #scope: PullScope;

  constructor(file: string, scope: PullScope) {
    this.#file = file;
    this.#scope = scope;
  }

  /** Where to resume; undefined without a checkpoint. Fails for the checkpoint of another pull. */
  async read(): Promise<PullState | undefined> {
    const text = await readIfExists(this.#file);
    if (text === undefined) return undefined;

    const { scope, state } = parse(text) ?? {};
    if (scope === undefined) {
      throw this.#failure('cannot be read, or is of another version', 'Delete it to start over.');
    }
    const names = Object.keys(this.#scope) as (keyof PullScope)[];
    const other = names.find((name) => scope[name] !== this.#scope[name]);
    if (other === undefined) return state;
    const was = `${other} was ${scope[other] ?? 'not given'}, is ${this.#scope[other] ?? 'not given'}`;
    throw this.#failure(
      `belongs to another pull (${other === 'keyDigest' ? 'it has another API key' : was})`,
      'Give the same options, another checkpoint, or delete it.',
    );
  }

  write(state: PullState): Promise<void> {
    const content: Content = { version: VERSION, scope: this.#scope, state };
    return replaceFile(this.#file, `${JSON.stringify(content)}\n`);
  }

  /** Once everything is read, the next pull is a new one. */
  async remove(): Promise<void> {
    for (const file of [this.#file, temporaryOf(this.#file)]) await rm(file, { force: true });
  }

  #failure(what: string, advice: string): CommandFailure {
    return new CommandFailure(`The checkpoint ${this.#file} ${what}.`, { advice, exitCode: EXIT.file });
  }
}

function parse(text: string): Content | undefined {
  try {
    const content = JSON.parse(text) as Content;
    const { done, startedAt, reading, point } = content.state;
    const isValid =
      content.version === VERSION &&
      [...done, reading].every((name) => typeof name === 'string') &&
      [startedAt, point.checkpoint].every((value) => value === null || typeof value === 'string') &&
      [point.bytes, point.records, point.pages].every((count) => Number.isSafeInteger(count) && count >= 0);
    return isValid ? content : undefined;
  } catch {
    return undefined;
  }
}
