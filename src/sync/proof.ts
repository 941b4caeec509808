import { DeletionsAbortedError, type DeletionsAbortReason } from '../errors/deletions-aborted-error.ts';
import type { NotFoundError } from '../errors/not-found-error.ts';
import { oneLine } from '../internal/text.ts';
import { type Finding, lookUpAll, type Sighting } from './look-up.ts';
import { type DeletionProof, verdict } from './pass.ts';

/** Records that are requested or removed at a time. */
const CHUNK = 500;

interface ProofOptions<T> {
  readonly collection: string;
  readonly lookUp: (id: string) => Promise<Finding<T>>;
  /** Records that must exist, unless they were deleted meanwhile: one that is found shows that a 404 means something. */
  readonly witnesses: () => AsyncIterable<string> | Iterable<string>;
  readonly maxCandidates: number;
  readonly concurrency: number;
  /** How many records the consumer was given before. */
  readonly delivered?: () => number;
}

/**
 * Requests records that may not exist any more, and decides whether their 404s may be believed: a key of another company
 * and a gateway return 404 to everything. `verdict` says when; this gets what it needs to know.
 */
export class Proof<T extends { id: string }> {
  readonly #options: ProofOptions<T>;
  /** How many 404s have come in each form, and with each status, of all records so far. */
  readonly #forms = new Map<string | number, number>();
  #known: DeletionProof = { local: 0, listed: undefined, candidates: 0, witness: undefined };

  constructor(options: ProofOptions<T>) {
    this.#options = options;
  }

  /** What is known without a request. */
  know(more: Partial<DeletionProof>): void {
    this.#known = { ...this.#known, ...more };
  }

  /** Rejects with a DeletionsAbortedError if the 404s may not be believed. */
  async #judge(): Promise<void> {
    const { maxCandidates } = this.#options;
    let found = verdict(this.#known, maxCandidates);
    let error: Error | undefined;
    if (found === 'ask_witness') {
      error = await this.#askWitness();
      found = verdict(this.#known, maxCandidates);
    }
    if (found !== 'remove') throw this.#aborted(found as DeletionsAbortReason, error);
  }

  /**
   * Requests these records. Yields those that exist, and those that get an error; at the end, if the 404s may be believed,
   * those that do not exist, and as errors those whose 404 has another form than most. `isLocal`: whether the copy has a
   * record; a 404 of another one removes nothing.
   */
  async *confirmed(
    ids: AsyncIterable<string> | Iterable<string>,
    isLocal: (id: string) => boolean = () => true,
  ): AsyncGenerator<readonly Sighting<T>[], void> {
    await this.#judge();
    const { concurrency } = this.#options;
    const notFound: Sighting<T>[] = [];
    for await (const chunk of chunksOf(ids)) {
      const all = await lookUpAll(chunk, concurrency, this.#options.lookUp);
      const isGone = ({ id, seen }: Sighting<T>) => seen === undefined && isLocal(id);
      notFound.push(...all.filter(isGone));
      yield all.filter((one) => !isGone(one));
    }
    const { gone, odd } = byForm(notFound, this.#forms);
    if (gone.length > 0) {
      // What a list was compared with was proven before the first of them: a gateway may have come between since then.
      this.know(this.#known.listed ? { witness: undefined } : { candidates: gone.length });
      await this.#judge();
      for await (const chunk of chunksOf(gone)) yield chunk;
    }
    yield odd;
  }

  /** Requests records until one is found. Returns the last error of those that are not. */
  async #askWitness(): Promise<Error | undefined> {
    let error: Error | undefined;
    for await (const id of this.#options.witnesses()) {
      const found = await this.#options.lookUp(id);
      if (found instanceof Error) error = found;
      else if (found.record !== undefined || found.invalid !== undefined) {
        this.know({ witness: 'found' });
        return undefined;
      }
    }
    this.know({ witness: 'none' });
    return error;
  }

  #aborted(reason: DeletionsAbortReason, cause?: Error): DeletionsAbortedError {
    const { collection, delivered, maxCandidates } = this.#options;
    const { local, listed, candidates } = this.#known;
    const { seen, missing } = listed ?? { seen: 0, missing: 0 };
    const notFound = `${candidates} of ${local} local records were not found upstream`;
    const first = listed
      ? 'the first records that the service listed'
      : 'the first other records of the copy';
    const reasons: Readonly<Record<DeletionsAbortReason, readonly [what: string, hint: string]>> = {
      empty_read: [
        `the service listed no record, but the local copy has ${local}`,
        'Check that the API key belongs to the company of these records and may read them. If the company really has none, remove them yourself; from a copy in a database with forget, and sync again.',
      ],
      few_local_ids_seen: [
        `${local - candidates} of ${local} local records were found upstream, and ${missing} of the ${seen} records there are not in the local copy`,
        'Check that the API key belongs to the company of these records, and run a sync first. If so many were really deleted, pass maxCandidates: Infinity.',
      ],
      too_many_candidates: [
        `${notFound}; maxCandidates is ${maxCandidates}`,
        'Check the API key and the local records. If so many were really deleted, pass a higher maxCandidates.',
      ],
      first_record_not_found: [
        `none of ${first} can be read by its id, so a 404 does not prove that a record was deleted; ${notFound}`,
        'Run it again: they may have been deleted meanwhile. If this repeats, check the API key.',
      ],
    };
    const [what, hint] = reasons[reason];
    const after = delivered === undefined ? '' : ` after ${delivered()} records were delivered`;
    return new DeletionsAbortedError(
      `The deletions of ${collection} were aborted${after}: ${what}; nothing was deleted.`,
      { collection, local, seen, missing, candidates },
      { reason, maxCandidates, hint, cause },
    );
  }
}

/**
 * A service says "not found" in one form. Another form is that of something in between, such as a gateway or a firewall, so
 * a record whose 404 is not in the form of most is kept. A 410 may have another form than a 404.
 */
function byForm<T>(
  notFound: readonly Sighting<T>[],
  counts: Map<string | number, number>,
): Record<'gone' | 'odd', readonly Sighting<T>[]> {
  const count = (value: string | number) => counts.get(value) ?? 0;
  const errors = notFound.map(({ found }) => (found instanceof Error ? undefined : found.notFound));
  for (const error of errors) {
    if (error === undefined) continue;
    for (const value of [formOf(error), error.status]) counts.set(value, count(value) + 1);
  }
  const all = notFound.map((one, index) => {
    const error = errors[index];
    const isUsual = error === undefined || 2 * count(formOf(error)) > count(error.status);
    return isUsual ? one : { ...one, found: error, seen: error };
  });
  return {
    gone: all.filter(({ seen }) => seen === undefined),
    odd: all.filter(({ seen }) => seen instanceof Error),
  };
}

/** The status, the media type, the type and the names of the members: `404 application/problem+json /errors/404 {detail, title}`. */
function formOf({
  status,
  headers,
  type,
  title,
  detail,
  instance,
  violations,
  extensions,
}: NotFoundError): string {
  const [mediaType = ''] = (headers['content-type'] ?? 'no media type').split(';');
  const members = Object.entries({ type, title, detail, instance, ...extensions })
    .filter(([, value]) => value !== undefined)
    .map(([name]) => name);
  if (violations.length > 0) members.push('violations');
  return oneLine(`${status} ${mediaType.trim()} ${type ?? ''} {${members.toSorted().join(', ')}}`).slice(
    0,
    200,
  );
}

/** `sizeOf`: how many values the next chunk has. */
export async function* chunksOf<V>(
  values: Iterable<V> | AsyncIterable<V>,
  sizeOf = () => CHUNK,
): AsyncGenerator<V[], void> {
  let [chunk, size] = [[] as V[], sizeOf()];
  for await (const value of values) {
    if (chunk.push(value) < size) continue;
    yield chunk;
    [chunk, size] = [[], sizeOf()];
  }
  if (chunk.length > 0) yield chunk;
}
