import { DeletionsAbortedError, type DeletionsAbortReason } from '../errors/deletions-aborted-error.ts';
import { InvalidInputError } from '../errors/invalid-input-error.ts';
import type { NotFoundError } from '../errors/not-found-error.ts';
import type { InvalidRecord } from '../events.ts';
import { settled } from '../internal/callback.ts';
import { forEach } from '../internal/for-each.ts';
import { oneLine } from '../internal/text.ts';
import type { Page } from '../pagination/page.ts';
import { each } from '../reading/each.ts';
import type { DeletionReport, UnconfirmedDeletion } from '../reports/sync-report.ts';
import type { Finding } from './look-up.ts';

/** Records that exist although the read did not list them, and their rows as sent; and such rows that are invalid. */
interface Repairs<T> {
  readonly records: readonly T[];
  readonly rows: readonly unknown[];
  readonly invalid: readonly InvalidRecord[];
}

/** The marks of a target: which records of the copy a full read has listed. */
export interface ReadMarks {
  /** How many records the copy had before the read. */
  readonly local: number;
  /** How many it has now, and how many rows the read has listed. */
  count(): Promise<{ readonly records: number; readonly marked: number }>;
  /** The ids that the read has not listed. */
  unmarked(): AsyncIterable<string>;
  /** All ids. */
  ids(): Iterable<string> | AsyncIterable<string>;
}

/**
 * How many of the first listed records must be deleted during the run before their 404s abort it. Not of the last ones:
 * if the key became that of another company during the read, only the first ones show it.
 */
const WITNESSES = 10;

/** Ids in one call of `onDelete`, and records in one batch of those that the read missed. */
const BATCH_SIZE = 500;

export interface DeletionCheckOptions<T> {
  /** The name of the collection. */
  readonly collection: string;
  /** Instead of `localIds`: the copy knows itself what the read has listed. */
  readonly marks?: ReadMarks | undefined;
  readonly localIds: (collection: string) => AsyncIterable<string> | Iterable<string>;
  readonly onDelete: (ids: readonly string[], collection: string) => unknown;
  readonly lookUp: (id: string) => Promise<Finding<T>>;
  /** Undefined: 50, or a tenth of the local ids if that is more. */
  readonly maxCandidates: number | undefined;
  /** How many records of the read the consumer was given. */
  readonly delivered: () => number;
  readonly concurrency: number;
  readonly signal: AbortSignal | undefined;
}

/**
 * Finds the records of a local copy that the service no longer has, by a complete read of the collection.
 *
 * 1. `readLocalIds`, before the first request: a record that is added to the copy during the read must not look deleted.
 * 2. `see` each page of the read. Local ids that no page lists are candidates.
 * 3. `confirm`: each candidate is requested and judged by itself, because a read can miss a record. Only a 404 deletes it,
 *    and only if a record that was listed is found before the first candidate and after the last: a gateway may return 404
 *    to everything. A candidate that gets another error is kept and reported.
 *
 * Nothing is deleted before every candidate is confirmed, and nothing at all if the counts look like a mistake.
 */
export class DeletionCheck<T extends { id: string }> {
  readonly #options: DeletionCheckOptions<T>;
  /** The local ids, and whether the read has listed them. */
  readonly #local = new Map<string, boolean>();
  /** The first records that the read listed: a GET of one shows whether a 404 means anything. */
  #witnesses: string[] = [];
  /** The form of the first 404, and of the first 410. */
  readonly #forms = new Map<number, string>();
  readonly #unconfirmed: UnconfirmedDeletion[] = [];
  readonly #counts = { seen: 0, missing: 0, candidates: 0, deleted: 0, repaired: 0 };

  constructor(options: DeletionCheckOptions<T>) {
    this.#options = options;
  }

  async readLocalIds(): Promise<void> {
    const { marks, localIds, collection, signal } = this.#options;
    if (marks !== undefined) return;
    for await (const id of each(localIds(collection), 'localIds', signal)) {
      if (typeof id !== 'string' || id === '') {
        throw new InvalidInputError('localIds', 'must return ids: non-empty strings');
      }
      this.#local.set(id, false);
    }
  }

  see({ records, invalid, restarted }: Page<T>): void {
    const counts = this.#counts;
    if (restarted) counts.seen = counts.missing = 0;
    const wanted = WITNESSES - this.#witnesses.length;
    // An invalid row exists, too.
    const rows = [...records, ...invalid];
    if (wanted > 0) this.#witnesses.push(...rows.flatMap(({ id }) => id ?? []).slice(0, wanted));
    for (const { id } of rows) {
      counts.seen++;
      if (this.#options.marks !== undefined) continue;
      if (id !== undefined && this.#local.has(id)) this.#local.set(id, true);
      else counts.missing++;
    }
  }

  /**
   * Requests each candidate, then passes those that do not exist to `onDelete`. Yields the records that exist, which
   * the read missed: they belong into the copy. Rejects with a DeletionsAbortedError if the counts look like a mistake.
   */
  async *confirm(): AsyncGenerator<Repairs<T>, void> {
    await this.#count();
    const counts = this.#counts;
    if (counts.candidates === 0) return;

    const { onDelete, collection, signal } = this.#options;
    const reason = this.#abortReason();
    if (reason !== undefined) throw this.#aborted(reason);
    // With the API key of another company every GET returns 404, and so would that of a record which was just listed.
    await this.#findListed();
    const gone: string[] = [];
    for await (const ids of chunksOf(this.#unseen(), BATCH_SIZE)) {
      const found = await this.#findAll(ids, gone);
      const existing = found.records.length + found.invalid.length;
      if (existing > 0) yield found;
      counts.repaired += existing;
    }
    if (gone.length > 0) await this.#findListed();
    for await (const ids of chunksOf(gone, BATCH_SIZE)) {
      signal?.throwIfAborted();
      await settled(onDelete(ids, collection), signal);
      counts.deleted += ids.length;
    }
  }

  report(): DeletionReport {
    const { candidates, deleted, repaired } = this.#counts;
    const unconfirmed = this.#unconfirmed;
    return { skipped: undefined, local: this.#localCount, candidates, deleted, repaired, unconfirmed };
  }

  get #localCount(): number {
    return this.#options.marks?.local ?? this.#local.size;
  }

  #unseen(): Iterable<string> | AsyncIterable<string> {
    return this.#options.marks?.unmarked() ?? this.#unlisted();
  }

  *#unlisted(): Generator<string, void> {
    for (const [id, isListed] of this.#local) if (!isListed) yield id;
  }

  /** Counts the candidates, and with marks what all runs of the read have listed. */
  async #count(): Promise<void> {
    const { marks } = this.#options;
    const counts = this.#counts;
    if (marks === undefined) {
      for (const _ of this.#unlisted()) counts.candidates++;
      return;
    }
    const { records, marked } = await marks.count();
    counts.seen = marked;
    counts.missing = Math.max(0, records - marks.local);
    // This run has listed nothing if the one that it resumes listed the last page.
    const candidates = this.#witnesses.length === 0 ? new Set<string>() : undefined;
    for await (const id of marks.unmarked()) {
      candidates?.add(id);
      counts.candidates++;
    }
    if (candidates === undefined || counts.candidates === 0) return;
    for await (const id of marks.ids()) {
      if (!candidates.has(id) && this.#witnesses.push(id) === WITNESSES) return;
    }
  }

  /** Requests these ids, some at a time. Returns the records that exist and adds the other ids to `gone`. */
  async #findAll(ids: readonly string[], gone: string[]): Promise<Repairs<T>> {
    const found = { records: [] as T[], rows: [] as unknown[], invalid: [] as InvalidRecord[] };
    await forEach(ids, this.#options.concurrency, async (id) => {
      const finding = await this.#lookUp(id);
      if (finding instanceof Error) this.#unconfirmed.push({ id, error: finding });
      else if (finding.invalid !== undefined) found.invalid.push(finding.invalid);
      else if (finding.record === undefined) gone.push(id);
      else {
        found.records.push(finding.record);
        found.rows.push(finding.row);
      }
    });
    return found;
  }

  /** Aborts unless a GET finds a record that was listed. One that was deleted meanwhile is replaced by another. */
  async #findListed(): Promise<void> {
    let error: Error | undefined;
    for (const id of this.#witnesses) {
      const finding = await this.#lookUp(id);
      if (finding instanceof Error) error = finding;
      else if (finding.record !== undefined || finding.invalid !== undefined) return;
    }
    throw this.#aborted('first_record_not_found', error);
  }

  async #lookUp(id: string): Promise<Finding<T>> {
    const result = await this.#options.lookUp(id);
    if (result instanceof Error) return result;
    if (result.record === undefined && result.notFound !== undefined) this.#compareForm(result.notFound);
    return result;
  }

  /** A service says "not found" in one form. A second form is that of something in between, such as a gateway. */
  #compareForm(error: NotFoundError): void {
    const form = formOf(error);
    const first = this.#forms.get(error.status) ?? form;
    this.#forms.set(error.status, first);
    if (first !== form) throw this.#aborted('not_found_differs', undefined, `${first}, then ${form}`);
  }

  get #maxCandidates(): number {
    return this.#options.maxCandidates ?? Math.max(50, Math.floor(this.#localCount / 10));
  }

  /** What makes the counts look like a mistake, such as the API key of another company. */
  #abortReason(): DeletionsAbortReason | undefined {
    const { seen, missing, candidates } = this.#counts;
    if (seen === 0) return 'empty_read';
    if (this.#maxCandidates === Number.POSITIVE_INFINITY) return undefined;
    // A few ids are often the same in two companies, most are not. If the records were really deleted, those that the
    // service lists are known to the copy after a sync.
    if (candidates > this.#localCount / 2 && missing > seen / 2) return 'few_local_ids_seen';
    return candidates > this.#maxCandidates ? 'too_many_candidates' : undefined;
  }

  #aborted(reason: DeletionsAbortReason, cause?: Error, forms = ''): DeletionsAbortedError {
    const local = this.#localCount;
    const { seen, missing, candidates } = this.#counts;
    const maxCandidates = this.#maxCandidates;
    const reasons: Readonly<Record<DeletionsAbortReason, readonly [what: string, hint: string]>> = {
      empty_read: [
        `the service listed no record, but the local copy has ${local}; nothing was deleted.`,
        'Check that the API key belongs to the company of these records and may read them. If the company really has none, remove them yourself; from a copy in a database with forget, and sync again.',
      ],
      few_local_ids_seen: [
        `${local - candidates} of ${local} local records were found upstream, and ${missing} of the ${seen} records there are not in the local copy; nothing was deleted.`,
        'Check that the API key belongs to the company of these records, and run a sync first. If so many were really deleted, pass maxCandidates: Infinity.',
      ],
      too_many_candidates: [
        `${candidates} of ${local} local records were not found upstream; maxCandidates is ${maxCandidates}; nothing was deleted.`,
        'Check the API key and localIds. If so many were really deleted, pass a higher maxCandidates.',
      ],
      not_found_differs: [
        `404 or 410 came in two forms (${forms}), so one of them may be that of a gateway, which proves nothing; nothing was deleted.`,
        'Run it again. If this repeats, ask the operator of the service what returns the second form.',
      ],
      first_record_not_found: [
        `none of the first records that the service listed can be read by its id, so a 404 does not prove that a record was deleted; ${candidates} of ${local} local records were not found upstream; nothing was deleted.`,
        'Run it again: they may have been deleted meanwhile. If this repeats, check the API key.',
      ],
    };
    const { collection, delivered } = this.#options;
    const [what, hint] = reasons[reason];
    return new DeletionsAbortedError(
      `The deletions of ${collection} were aborted after ${delivered()} records were delivered: ${what}`,
      { collection, local, seen, missing, candidates },
      { reason, maxCandidates, hint, cause },
    );
  }
}

/** The media type, the type and the names of the members: `application/problem+json /errors/404 {detail, title}`. */
function formOf({ headers, type, title, detail, instance, violations, extensions }: NotFoundError): string {
  const [mediaType = ''] = (headers['content-type'] ?? 'no media type').split(';');
  const members = Object.entries({ type, title, detail, instance, ...extensions })
    .filter(([, value]) => value !== undefined)
    .map(([name]) => name);
  if (violations.length > 0) members.push('violations');
  return oneLine(`${mediaType.trim()} ${type ?? ''} {${members.toSorted().join(', ')}}`).slice(0, 200);
}

async function* chunksOf(
  ids: Iterable<string> | AsyncIterable<string>,
  size: number,
): AsyncGenerator<string[], void> {
  let chunk: string[] = [];
  for await (const id of ids) {
    if (chunk.push(id) < size) continue;
    yield chunk;
    chunk = [];
  }
  if (chunk.length > 0) yield chunk;
}
