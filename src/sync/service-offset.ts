import { CheckpointError } from '../errors/checkpoint-error.ts';
import { lowestOffset, lowestOffsetOfZone } from './bound.ts';
import type { ResolvedRunOptions } from './run-options.ts';
import { offsetKey, parseStored } from './state.ts';
import { readStore, type Store, writeStore } from './store.ts';

const VERSION = 1;

/**
 * The lowest UTC offset that the service showed in any timestamp of a tenant. It decides how bounds are written: see
 * `boundAt`. It is kept for the tenant, because most collections need not show timestamps. With a store without `set`,
 * only the checkpoints of the collections remember it.
 */
export class ServiceOffset {
  readonly #store: Store;
  readonly #key: string;
  /** The zone of the service, if the caller names it. */
  readonly #timeZone: string | undefined;
  readonly #signal: AbortSignal | undefined;
  #lowest: number | undefined;
  #stored: number | undefined;
  #loading: Promise<void> | undefined;
  /** The store has one place for every key, as it may for a single collection: then only the checkpoint remembers. */
  #ignoresKeys = false;

  constructor(options: ResolvedRunOptions, signal: AbortSignal | undefined) {
    const { store, tenant, prefix, serviceTimeZone } = options;
    this.#store = store;
    this.#key = offsetKey({ prefix, tenant });
    this.#timeZone = serviceTimeZone;
    this.#signal = signal;
  }

  /** Reads what earlier runs saw; once, however many collections need it. */
  load(): Promise<void> {
    this.#loading ??= this.#load();
    return this.#loading;
  }

  /** Takes the offset that a checkpoint remembers. */
  learn(offset: number | undefined): void {
    if (offset === undefined) return;
    if (this.#lowest === undefined || offset < this.#lowest) this.#lowest = offset;
  }

  /** Takes what the rows of a response show, whatever the caller's schema keeps of them. */
  read(rows: readonly unknown[]): void {
    this.learn(lowestOffset(rows as Parameters<typeof lowestOffset>[0]));
  }

  /** In minutes; undefined if the service never showed one. `from` is the start of the read: a zone changes its offset. */
  lowest(from: string | undefined): number | undefined {
    if (this.#timeZone === undefined || from === undefined) return this.#lowest;
    return lowestOffsetOfZone(this.#timeZone, Date.parse(from));
  }

  /** Writes what was learned since the last time. Called after a checkpoint was written: see `#ignoresKeys`. */
  async save(): Promise<void> {
    if (this.#store.set === undefined || this.#lowest === this.#stored) return;

    // A run of another collection may have seen a lower one meanwhile.
    await this.#load();
    if (this.#ignoresKeys || this.#lowest === this.#stored) return;
    const text = JSON.stringify({ v: VERSION, utcOffset: this.#lowest });
    await writeStore(this.#store, { key: this.#key, text }, this.#signal);
    this.#stored = this.#lowest;
  }

  async #load(): Promise<void> {
    if (this.#store.set === undefined) return;

    const content = parseStored(await readStore(this.#store, this.#key, this.#signal), this.#key);
    this.#ignoresKeys = content?.scope !== undefined;
    if (this.#ignoresKeys) return;
    const offset = content?.utcOffset;
    if (content !== undefined && !(content.v === VERSION && Number.isInteger(offset))) {
      throw new CheckpointError(
        `The value under ${this.#key} is not the UTC offset of a sync. Delete it: the next run that reads everything finds it again.`,
      );
    }
    this.#stored = offset as number | undefined;
    this.learn(this.#stored);
  }
}
