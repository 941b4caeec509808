import { CheckpointError } from '../errors/checkpoint-error.ts';
import { ConcurrentRunError } from '../errors/concurrent-run-error.ts';
import { randomUuid } from '../internal/random-uuid.ts';
import { type IdBounds, idParameters } from '../pagination/page.ts';
import { scopeFingerprint } from '../pagination/resume-token.ts';
import type { RunSource } from '../reading/source.ts';
import { decodeState, encodeState, type SyncState, stateKey } from '../reading/state.ts';
import { readStore, type Store, writeStore } from '../reading/store.ts';
import { CallStopped } from '../transport/call-options.ts';
import type { ResolvedRunOptions } from './run-options.ts';

interface StateContext {
  readonly collection: string;
  readonly source: Pick<RunSource<never>, 'baseUrl' | 'segment' | 'parameters'>;
  readonly options: Pick<ResolvedRunOptions, 'tenant' | 'prefix' | 'mode'>;
  /** The caller's own bounds: part of what the state belongs to. */
  readonly id: IdBounds | undefined;
  /** Ends the wait for a store that does not settle. */
  readonly signal: AbortSignal | undefined;
}

/**
 * The state of one collection in its store. It is read again before each write: a state that is neither the one found
 * at the beginning nor of this run was written by another run. Two runs that write at the same moment are not noticed.
 */
export class Checkpoints {
  readonly key: string;
  /** What every state of this run has: what it belongs to, and the mark of the run. */
  readonly own: Pick<SyncState, 'scope' | 'parameters' | 'by'>;
  readonly #store: () => Store;
  readonly #signal: AbortSignal | undefined;
  /** Whether a state with other parameters is replaced. */
  readonly #replaces: boolean;
  /** The state found at the beginning, encoded. */
  #found: string | undefined;
  #written: string | undefined;

  constructor(store: () => Store, { collection, source, options, id, signal }: StateContext) {
    const { tenant, prefix, mode } = options;
    const { parameters } = source;
    this.#store = store;
    this.#signal = signal;
    this.#replaces = mode === 'full';
    this.key = stateKey({ prefix, tenant, collection });
    const hasParameters = Object.keys(parameters).length > 0;
    this.own = {
      scope: scopeFingerprint({
        baseUrl: source.baseUrl,
        collection: source.segment ?? collection,
        // An invalid bound is rejected by the list.
        filters: { tenant, ...Object.fromEntries(idParameters(id ?? {})) },
      }),
      parameters: hasParameters
        ? scopeFingerprint({ baseUrl: '', collection: '', filters: parameters })
        : undefined,
      // Enough to tell two runs at once from each other, and short, because a state is.
      by: randomUuid().slice(0, 13),
    };
  }

  get writtenByConsumer(): boolean {
    return this.#store().set === undefined;
  }

  /**
   * The state to begin with; undefined if there is none. A state of another scope is a CheckpointError, and so is one of
   * other parameters, unless this run replaces it: nothing that was read by them counts then.
   */
  async load(): Promise<SyncState | undefined> {
    const state = await this.#read();
    if (state !== undefined && state.scope !== this.own.scope) {
      throw new CheckpointError(
        `The state under ${this.key} belongs to another base URL, tenant, collection or set of filters.`,
        {
          hint: 'Pass the options of the run that wrote it. For another company, pass another tenant. If the service of this one has moved, delete the state, or forget the tenant of a copy: the next run reads everything again.',
        },
      );
    }
    this.#found = state && encodeState(state);
    if (state === undefined || state.parameters === this.own.parameters) return state;
    if (this.#replaces) return { ...state, watermark: undefined, full: undefined, run: undefined };
    throw new CheckpointError(`The state under ${this.key} belongs to other parameters of the lists.`, {
      hint: "Pass those, or run once in mode: 'full', which reads everything and replaces the state.",
    });
  }

  /** The state, if there is one that can be resumed. {@link load} reports what is wrong with it. */
  async peek(): Promise<SyncState | undefined> {
    const state = await this.#read().catch((error: unknown) => {
      if (error instanceof CallStopped || this.#signal?.aborted) throw error;
      return undefined;
    });
    const { scope, parameters } = this.own;
    return state?.scope === scope && state.parameters === parameters ? state : undefined;
  }

  /**
   * Looks for another run before a batch is delivered. This one may have requested its page long ago: delivered after
   * what the other run delivered meanwhile, an older record would replace a newer one for good.
   */
  async beforeConsumer(): Promise<void> {
    this.#check(await this.#read());
  }

  /** Writes a checkpoint whose batch the consumer has finished with, unless the consumer has done so. */
  async commit(text: string, last: boolean): Promise<void> {
    if (!this.writtenByConsumer) {
      this.#check(await this.#read());
      // Without a point to resume at, the checkpoints of a run do not differ.
      if (text !== this.#written) {
        await writeStore(this.#store(), { key: this.key, text }, this.#signal);
        this.#written = text;
      }
    }
    if (!last) return;

    // No later read would notice that the store, or the consumer, did not keep it.
    const kept = await this.#read().catch((error: unknown) => {
      // The store has said that it wrote it: that it cannot be read just now is no failure of this run.
      if (this.writtenByConsumer) throw error;
      return 'unreadable' as const;
    });
    if (kept !== 'unreadable') this.#confirm(kept, text);
  }

  #check(state: SyncState | undefined): void {
    if (state?.by === this.own.by) return;

    const isUntouched = (state && encodeState(state)) === this.#found;
    if (isUntouched && this.#written === undefined) return;
    if (isUntouched || state === undefined) throw notKept(this.key);
    throw new ConcurrentRunError(
      `Another run wrote the state under ${this.key} at the same time. Records that both delivered at the same time may be stale in the copy.`,
    );
  }

  #confirm(state: SyncState | undefined, text: string): void {
    if (state !== undefined && encodeState(state) === text) return;
    this.#check(state);
    if (!this.writtenByConsumer) throw notKept(this.key);

    throw new CheckpointError(
      `The last checkpoint under ${this.key} was not written. A store without set leaves that to the consumer.`,
      { hint: 'Write batch.checkpoint of every batch, including the last one, which has no records.' },
    );
  }

  async #read(): Promise<SyncState | undefined> {
    return decodeState(await readStore(this.#store(), this.key, this.#signal), this.key);
  }
}

function notKept(key: string): CheckpointError {
  return new CheckpointError(
    `The store did not return what was written under ${key}: it lost the value, or hid an error.`,
    { hint: 'Check the store, then run this again.' },
  );
}
