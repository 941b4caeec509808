import { CheckpointError } from '../errors/checkpoint-error.ts';
import { lowestOffset, lowestOffsetOfZone } from './bound.ts';
import { storeCall } from './checkpoints.ts';
import type { ResolvedRunOptions } from './options.ts';
import { parseStored } from './state.ts';
import { offsetKey } from './state-key.ts';
import type { Store } from './store.ts';

const VERSION = 1;

export interface ServiceOffsetOptions {
  readonly store: Store;
  readonly key: string;
  /** The zone of the service, if the caller names it. */
  readonly timeZone: string | undefined;
  readonly signal: AbortSignal | undefined;
}

/**
 * The lowest UTC offset that the service showed in any timestamp of a tenant. It decides how bounds are written: see
 * `boundAt`. Kept for the tenant, because most collections need not show timestamps. In a store without `set` only the
 * checkpoints of the collections remember it.
 */
export class ServiceOffset {
  readonly #options: ServiceOffsetOptions;
  #lowest: number | undefined;
  #stored: number | undefined;
  #loading: Promise<void> | undefined;
  /** The store has one place for every key, as it may for a single collection: then the checkpoint alone remembers. */
  #ignoresKeys = false;

  constructor(options: ServiceOffsetOptions) {
    this.#options = options;
  }

  /** Reads what earlier runs saw; once, however many collections ask. */
  load(): Promise<void> {
    this.#loading ??= this.#load();
    return this.#loading;
  }

  /** Takes in what a checkpoint remembers. */
  learn(offset: number | undefined): void {
    if (offset === undefined) return;
    if (this.#lowest === undefined || offset < this.#lowest) this.#lowest = offset;
  }

  /** Takes in what the rows of a response show, whatever the caller's schema keeps of them. */
  read(rows: readonly unknown[]): void {
    this.learn(lowestOffset(rows as Parameters<typeof lowestOffset>[0]));
  }

  /** In minutes; undefined if the service never showed one. `from` is what is asked for: a zone changes its offset. */
  lowest(from: string | undefined): number | undefined {
    const { timeZone } = this.#options;
    if (timeZone === undefined || from === undefined) return this.#lowest;
    return lowestOffsetOfZone(timeZone, Date.parse(from));
  }

  /** Keeps what was learnt since the last time. Called after a checkpoint was written: see `#ignoresKeys`. */
  async save(): Promise<void> {
    const { store, key, signal } = this.#options;
    if (store.set === undefined || this.#lowest === this.#stored) return;

    // A run of another collection may have seen a lower one meanwhile.
    await this.#load();
    if (this.#ignoresKeys || this.#lowest === this.#stored) return;
    const text = JSON.stringify({ v: VERSION, utcOffset: this.#lowest });
    const write = async () => await store.set?.(key, text);
    const result = await storeCall(write, { key, what: 'written', signal });
    if (result === false) {
      throw new CheckpointError(
        `The UTC offset under ${key} could not be written: the store returned false. Check the store, then run this again.`,
      );
    }
    this.#stored = this.#lowest;
  }

  async #load(): Promise<void> {
    const { store, key, signal } = this.#options;
    if (store.set === undefined) return;

    const read = async () => await store.get(key);
    const content = parseStored(await storeCall(read, { key, what: 'read', signal }), key);
    this.#ignoresKeys = content?.scope !== undefined;
    if (this.#ignoresKeys) return;
    const offset = content?.utcOffset;
    if (content !== undefined && !(content.v === VERSION && Number.isInteger(offset))) {
      throw new CheckpointError(
        `What the store has under ${key} is no UTC offset of a sync. Delete it there: the next run that reads everything finds it again.`,
      );
    }
    this.#stored = offset as number | undefined;
    this.learn(this.#stored);
  }
}

/** What is known of a tenant's service. */
export function tenantOffset(
  { store, tenant, prefix, serviceTimeZone: timeZone }: ResolvedRunOptions,
  signal: AbortSignal | undefined,
): ServiceOffset {
  return new ServiceOffset({ store, key: offsetKey({ prefix, tenant }), timeZone, signal });
}
