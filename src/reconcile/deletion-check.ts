import { checkFunction, checkNumber } from '../errors/check-input.ts';
import { InvalidInputError } from '../errors/invalid-input-error.ts';
import { ReconcileAbortedError, type ReconcileAbortReason } from '../errors/reconcile-aborted-error.ts';
import type { ReconcileReport } from '../errors/reconcile-report.ts';
import { settled, untilAborted } from '../internal/callback.ts';
import type { Page } from '../pagination/page.ts';
import { IdSet } from './id-set.ts';

/** What a comparison is doing: see `ReconcileProgress`. */
export type DeletionPhase = 'local' | 'read' | 'confirm' | 'delete';

export interface DeletionCheckOptions<T> {
  /** The name of the collection. */
  readonly collection: string;
  readonly localIds: (collection: string) => AsyncIterable<string> | Iterable<string>;
  readonly onDelete: (ids: readonly string[], collection: string) => unknown;
  /** One record; undefined if the service has no such record. Rejects if neither is certain. */
  readonly find: (id: string) => Promise<T | undefined>;
  /** Undefined: 50, or a tenth of the local ids if that is more. */
  readonly maxCandidates: number | undefined;
  readonly batchSize: number;
  readonly concurrency: number;
  readonly signal: AbortSignal | undefined;
  /** Called with the phase and how many ids or records it has processed. */
  readonly onProgress?: ((phase: DeletionPhase, done: number) => void) | undefined;
}

/**
 * Finds the records of a local copy that the service no longer has, by a complete read of the collection.
 *
 * 1. `readLocalIds`, before the first request: a record that is added to the copy during the read must not look deleted.
 * 2. `see` each page of the read. Local ids that no page lists are candidates.
 * 3. `confirm`: each candidate is requested by itself, because a read can miss a record. Only a 404 deletes it.
 *
 * Nothing is deleted before every candidate is confirmed, and nothing at all if the counts look like a mistake.
 */
export class DeletionCheck<T extends { id: string }> {
  readonly #options: DeletionCheckOptions<T>;
  readonly #local = new IdSet();
  readonly #startedAt = new Date();
  /** The first record that the read listed: a GET of it shows whether a 404 means anything. */
  #first: string | undefined;
  #pagination: ReconcileReport['pagination'];
  #seen = 0;
  #missing = 0;
  #candidates = 0;
  #deleted = 0;
  #repaired = 0;

  constructor(options: DeletionCheckOptions<T>) {
    this.#options = options;
  }

  async readLocalIds(): Promise<void> {
    await untilAborted(this.#readLocalIds(), this.#options.signal);
  }

  async #readLocalIds(): Promise<void> {
    const { localIds, collection, signal, onProgress } = this.#options;
    let count = 0;
    for await (const id of localIds(collection)) {
      signal?.throwIfAborted();
      if (typeof id !== 'string' || id === '') {
        throw new InvalidInputError('localIds', 'must return ids: non-empty strings');
      }
      this.#local.add(id);
      count++;
    }
    this.#local.sort();
    onProgress?.('local', count);
  }

  /** Takes a page of the read. */
  see({ records, invalid, pagination, restarted }: Page<T>): void {
    if (restarted) this.#seen = this.#missing = 0;
    this.#pagination = pagination;
    this.#first ??= records[0]?.id;
    // An invalid row exists, too.
    for (const { id } of [...records, ...invalid]) {
      this.#seen++;
      if (id === undefined || !this.#local.markSeen(id)) this.#missing++;
    }
    this.#options.onProgress?.('read', this.#seen);
  }

  /**
   * Requests each candidate, then passes those that do not exist to `onDelete`. Yields the records that exist, which
   * the read missed: they belong into the copy. Rejects with a ReconcileAbortedError if the counts look like a mistake.
   */
  async *confirm(): AsyncGenerator<readonly T[], void> {
    this.#candidates = this.#local.countUnseen();
    if (this.#candidates === 0) return;

    const { batchSize, onDelete, onProgress, collection, signal } = this.#options;
    const reason = this.#abortReason();
    if (reason !== undefined) throw this.#aborted(reason);
    // With the API key of another company every GET returns 404, and so would that of a record which was just listed.
    if (this.#first === undefined || (await this.#find(this.#first)) === undefined) {
      throw this.#aborted('first_record_not_found');
    }

    const gone: string[] = [];
    let confirmed = 0;
    for (const ids of chunksOf(this.#local.unseen(), batchSize)) {
      const found = await this.#findAll(ids, gone);
      confirmed += ids.length;
      onProgress?.('confirm', confirmed);
      if (found.length > 0) yield found;
      this.#repaired += found.length;
    }
    for (const ids of chunksOf(gone, batchSize)) {
      signal?.throwIfAborted();
      await settled(onDelete(ids, collection), signal);
      this.#deleted += ids.length;
      onProgress?.('delete', this.#deleted);
    }
  }

  report(): ReconcileReport {
    return {
      collection: this.#options.collection,
      pagination: this.#pagination,
      local: this.#local.size,
      seen: this.#seen,
      missing: this.#missing,
      candidates: this.#candidates,
      deleted: this.#deleted,
      repaired: this.#repaired,
      startedAt: this.#startedAt,
      endedAt: new Date(),
    };
  }

  /** Requests these ids, some at a time. Returns the records that exist and adds the other ids to `gone`. */
  async #findAll(ids: readonly string[], gone: string[]): Promise<T[]> {
    const found: T[] = [];
    const queue = ids.values();
    let failure: { readonly error: unknown } | undefined;
    const work = async () => {
      for (const id of queue) {
        if (failure !== undefined) return;
        const record = await this.#find(id);
        if (record === undefined) gone.push(id);
        else found.push(record);
      }
    };
    const workers = Array.from({ length: this.#options.concurrency }, () =>
      work().catch((error: unknown) => {
        failure ??= { error };
      }),
    );
    // All of them, so that no request is in flight when this ends.
    await Promise.all(workers);
    if (failure !== undefined) throw failure.error;
    return found;
  }

  #find(id: string): Promise<T | undefined> {
    this.#options.signal?.throwIfAborted();
    return this.#options.find(id);
  }

  get #maxCandidates(): number {
    return this.#options.maxCandidates ?? Math.max(50, Math.floor(this.#local.size / 10));
  }

  /** What makes the counts look like a mistake, such as the API key of another company. */
  #abortReason(): ReconcileAbortReason | undefined {
    if (this.#seen === 0) return 'empty_read';
    if (this.#maxCandidates === Number.POSITIVE_INFINITY) return undefined;
    // A few ids are often the same in two companies, most are not. If the records were really deleted, those that the
    // service lists are known to the copy after a sync.
    const fewKnown = this.#candidates > this.#local.size / 2 && this.#missing > this.#seen / 2;
    if (fewKnown) return 'few_local_ids_seen';
    return this.#candidates > this.#maxCandidates ? 'too_many_candidates' : undefined;
  }

  #aborted(reason: ReconcileAbortReason): ReconcileAbortedError {
    const local = this.#local.size;
    const [seen, missing, candidates] = [this.#seen, this.#missing, this.#candidates];
    const maxCandidates = this.#maxCandidates;
    const messages: Readonly<Record<ReconcileAbortReason, string>> = {
      empty_read: `the service listed no record, but the local copy has ${local}; nothing was deleted. Check that the API key belongs to the company of these records and may read them. If the company really has none, delete the local records yourself.`,
      few_local_ids_seen: `${local - candidates} of ${local} local records were found upstream, and ${missing} of the ${seen} records there are not in the local copy; nothing was deleted. Check that the API key belongs to the company of these records, and run a sync first. If so many were really deleted, pass maxCandidates: Infinity.`,
      too_many_candidates: `${candidates} of ${local} local records were not found upstream; maxCandidates is ${maxCandidates}; nothing was deleted. Check the API key and localIds. If so many were really deleted, pass a higher maxCandidates.`,
      first_record_not_found: `the first record that the service listed cannot be read by its id, so a 404 does not prove that a record was deleted; ${candidates} of ${local} local records were not found upstream; nothing was deleted. Run it again: the record may have been deleted meanwhile. If this repeats, check the API key.`,
    };
    return new ReconcileAbortedError(
      `The reconcile of ${this.#options.collection} was aborted: ${messages[reason]}`,
      this.report(),
      { reason, maxCandidates },
    );
  }
}

function* chunksOf(ids: Iterable<string>, size: number): Generator<string[], void> {
  let chunk: string[] = [];
  for (const id of ids) {
    if (chunk.push(id) < size) continue;
    yield chunk;
    chunk = [];
  }
  if (chunk.length > 0) yield chunk;
}

/** Checks the options about deletions that `reconcile` and `sync` share. */
export function checkDeletionOptions(options: {
  readonly localIds: unknown;
  readonly onDelete: unknown;
  readonly maxCandidates: number | undefined;
}): void {
  const { localIds, onDelete, maxCandidates } = options;
  checkFunction(localIds, 'localIds');
  checkFunction(onDelete, 'onDelete');
  if (maxCandidates !== undefined) checkNumber(maxCandidates, 'maxCandidates', 0);
}
