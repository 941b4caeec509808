import { CheckpointError } from '../errors/checkpoint-error.ts';
import { ConcurrentRunError } from '../errors/concurrent-run-error.ts';
import { causeText, sentence } from '../internal/text.ts';
import { abortable } from './abortable.ts';
import { decodeState, encodeState, type SyncState } from './state.ts';
import type { Store } from './store.ts';

/** Which state it is. */
export interface StateAddress {
  readonly key: string;
  readonly scope: string;
  /** Ends the wait for a store that does not settle. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * The state of one collection in its store. Before each write, whoever writes, it is read again: a state that neither was there at the
 * beginning nor is of this run was written by another one. Two runs that write at the same moment are not noticed.
 */
export class Checkpoints {
  /** Marks what this run has written. */
  readonly by = runId();
  readonly #store: Store;
  readonly #address: StateAddress;
  /** The state that was there at the beginning, as text. */
  #found: string | undefined;
  /** What this run wrote last. */
  #written: string | undefined;

  constructor(store: Store, address: StateAddress) {
    this.#store = store;
    this.#address = address;
  }

  /** Whether the consumer writes the checkpoints itself. */
  get writtenByConsumer(): boolean {
    return this.#store.set === undefined;
  }

  /** The state to begin with; undefined where there is none. A state of another scope is a CheckpointError. */
  async load(): Promise<SyncState | undefined> {
    const state = await this.#read();
    if (state !== undefined && state.scope !== this.#address.scope) {
      throw new CheckpointError(
        `The state under ${this.#address.key} belongs to another base URL, tenant, collection or set of filters. Give this one a prefix of its own, or delete the state to read everything anew.`,
      );
    }
    this.#found = state && encodeState(state);
    return state;
  }

  /** The state, if there is one that can be read. What is wrong with it is for {@link load} to report. */
  async peek(): Promise<SyncState | undefined> {
    return this.#read().catch(() => undefined);
  }

  /**
   * Looks for another run before a batch is handed over, where the consumer writes the checkpoints itself: once it has
   * written this one, that of the other is gone, and nobody would know.
   */
  async beforeConsumer(): Promise<void> {
    if (this.writtenByConsumer) this.#check(await this.#read());
  }

  /** Writes a checkpoint whose batch the consumer has finished with, unless the consumer has done so. */
  async commit(text: string, last: boolean): Promise<void> {
    if (!this.writtenByConsumer) {
      this.#check(await this.#read());
      // Without a point to resume at, the checkpoints of a run are all the same.
      if (text !== this.#written) await this.#write(text);
    }
    // Nothing follows that would notice a store, or a consumer, that did not keep it.
    if (last) this.#confirm(await this.#read(), text);
  }

  #check(state: SyncState | undefined): void {
    const text = state && encodeState(state);
    const untouched = text === this.#found;
    if (state?.by === this.by || (untouched && this.#written === undefined)) return;
    if (untouched || text === undefined) throw notKept(this.#address.key);

    throw new ConcurrentRunError(
      `Another run has written the state under ${this.#address.key} meanwhile. Nothing is lost: what was handed over twice is the same records. See that one run of a tenant and collection is under way at a time.`,
      { retryable: true },
    );
  }

  #confirm(state: SyncState | undefined, text: string): void {
    if (state !== undefined && encodeState(state) === text) return;
    this.#check(state);
    if (!this.writtenByConsumer) throw notKept(this.#address.key);

    throw new CheckpointError(
      `The last checkpoint under ${this.#address.key} was not written. A store without set leaves that to the consumer: write batch.checkpoint of every batch, also of the last one, which has no records.`,
    );
  }

  async #read(): Promise<SyncState | undefined> {
    const { key, signal } = this.#address;
    const stored = await storeCall(async () => await this.#store.get(key), { key, what: 'read', signal });
    return decodeState(stored, key);
  }

  async #write(text: string): Promise<void> {
    const { key, signal } = this.#address;
    const write = async () => await this.#store.set?.(key, text);
    const result = await storeCall(write, { key, what: 'written', signal });
    // Keyv catches the error of its adapter and says so in this way.
    if (result === false)
      throw new CheckpointError(
        `The state under ${key} could not be written: the store returned false. Check the store, then run this again.`,
      );
    this.#written = text;
  }
}

function notKept(key: string): CheckpointError {
  return new CheckpointError(
    `The store does not have under ${key} what was written there: it lost it, or hid an error. Check the store, then run this again.`,
  );
}

/** Calls the store. What it throws becomes the cause of a CheckpointError. */
export async function storeCall<V>(
  work: () => Promise<V>,
  { key, what, signal }: { key: string; what: 'read' | 'written'; signal: AbortSignal | undefined },
): Promise<V> {
  try {
    return await abortable(work(), signal);
  } catch (error) {
    if (signal?.aborted && error === signal.reason) throw error;
    const reason = causeText(error) || 'something other than an error';
    throw new CheckpointError(
      `${sentence(`The state under ${key} could not be ${what}: the store threw ${reason}`)} Check the store, then run this again.`,
      { retryable: true },
      { cause: error },
    );
  }
}

/** Told apart is all they need to be. */
function runId(): string {
  const [high = 0, low = 0] = globalThis.crypto.getRandomValues(new Uint32Array(2));
  return high.toString(36) + low.toString(36);
}
