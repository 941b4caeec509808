import { readFile } from 'node:fs/promises';
import type { ProductDraft } from 'accounting-data-sdk';
import { writeAtomically } from './write-atomically.ts';

/**
 * A product that is to be made. The key makes it one and the same create, however often it is sent; so it belongs to
 * this draft, and is kept until the product is seen in the books.
 */
export interface Intent {
  readonly productNumber: string;
  readonly idempotencyKey: string;
  readonly draft: ProductDraft;
  /** What the service answered; undefined while its answer is not known. */
  readonly created?: Created | undefined;
}

/** A product that was made. */
export interface Created {
  readonly id: string;
  /** When, in ms since the epoch. */
  readonly at: number;
  /** The number that the service gave it, which need not be the one that was sent. */
  readonly number?: string | null | undefined;
}

interface StateFile {
  readonly version: 1;
  /** The service that the keys were sent to. */
  readonly service: string;
  readonly intents: readonly Intent[];
}

/** The state cannot be used. The message says why. */
export class StateError extends Error {
  override readonly name = 'StateError';
}

/** What a push remembers from one run to the next: creates whose end is not yet seen. */
export class State {
  readonly #path: string;
  readonly #service: string;
  readonly #intents: Map<string, Intent>;
  #changed = false;
  #saved: Promise<void> = Promise.resolve();

  private constructor(path: string, file: StateFile) {
    this.#path = path;
    this.#service = file.service;
    this.#intents = new Map(file.intents.map((intent) => [intent.productNumber, intent]));
  }

  /** Reads the state; an absent file is an empty one. One that cannot be read is never taken for empty. */
  static async load(path: string, service: string): Promise<State> {
    const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined;
      throw error;
    });
    if (text === undefined) return new State(path, { version: 1, service, intents: [] });

    const file = parseState(path, text);
    if (file.service !== service) {
      throw new StateError(`${path} is of another service, ${file.service}. Use one state file for each.`);
    }
    return new State(path, file);
  }

  get(productNumber: string): Intent | undefined {
    return this.#intents.get(productNumber);
  }

  put(intent: Intent): void {
    this.#intents.set(intent.productNumber, intent);
    this.#changed = true;
  }

  forget(productNumber: string): void {
    if (this.#intents.delete(productNumber)) this.#changed = true;
  }

  /** Writes down what is new; one writing after the other. */
  save(): Promise<void> {
    this.#saved = this.#saved.catch(() => undefined).then(() => this.#write());
    return this.#saved;
  }

  async #write(): Promise<void> {
    if (!this.#changed) return;

    this.#changed = false;
    const file: StateFile = { version: 1, service: this.#service, intents: [...this.#intents.values()] };
    try {
      await writeAtomically(this.#path, `${JSON.stringify(file, null, 1)}\n`);
    } catch (error) {
      this.#changed = true;
      throw error;
    }
  }
}

function parseState(path: string, text: string): StateFile {
  try {
    const file = JSON.parse(text) as StateFile;
    if (file.version === 1 && Array.isArray(file.intents)) return file;
  } catch {
    // Told below.
  }
  throw new StateError(
    `${path} is not readable. It holds the keys of creates that may be under way: restore it, or delete it once you have seen that every product of the last run is there.`,
  );
}
