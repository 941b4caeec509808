import { DeletionsAbortedError, type DeletionsAbortReason } from '../errors/deletions-aborted-error.ts';
import { unroutedId } from '../errors/unrouted-id.ts';
import type { Finding } from '../reading/look-up.ts';
import { formOf, type IdForm, type RoutedForms } from '../schemas/id-form.ts';
import { lookUpAll, type Sighting } from './look-up.ts';
import { type DeletionProof, verdict } from './pass.ts';

/** Records that are requested or removed at a time. */
const CHUNK = 500;

/** Records of a form that are requested before ids of that form count as not routed: some may be deleted meanwhile. */
export const WITNESSES_OF_A_FORM = 3;

interface ProofOptions<T> {
  readonly collection: string;
  readonly lookUp: (id: string) => Promise<Finding<T>>;
  /** Records that must exist, unless they were deleted meanwhile: one that is found shows that a 404 means something. */
  readonly witnesses: () => AsyncIterable<string> | Iterable<string>;
  /** Such records whose ids have this form. */
  readonly witnessesOf: (form: IdForm) => AsyncIterable<string> | Iterable<string>;
  readonly segment: string;
  /** What the client knows of the forms of ids. */
  readonly forms: RoutedForms;
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
  /** The forms of ids that records have which are not found although they are listed; one of them, if any was listed. */
  readonly #unrouted = new Map<IdForm, string | undefined>();
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
    let judged = verdict(this.#known, maxCandidates);
    let error: Error | undefined;
    if (judged === 'ask_witness') {
      error = await this.#askWitness();
      judged = verdict(this.#known, maxCandidates);
    }
    if (judged !== 'remove') throw this.#aborted(judged as DeletionsAbortReason, error);
  }

  /**
   * Requests these records. Yields those that exist, and those that get an error; at the end, if the 404s may be believed,
   * those that do not exist, and as errors those with an id of which a 404 shows nothing. `isLocal`: whether the copy has a
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
    if (notFound.length === 0) return;
    // What a list was compared with was proven before the first of them: a gateway may have come between since then.
    this.know(this.#known.listed ? { witness: undefined } : { candidates: notFound.length });
    await this.#judge();
    for await (const chunk of chunksOf(notFound)) {
      const judged: Sighting<T>[] = [];
      for (const one of chunk) judged.push(await this.#routed(one));
      yield judged;
    }
  }

  /** The same, or an error in place of its 404 if no record whose id has the same form is found by its id. */
  async #routed(one: Sighting<T>): Promise<Sighting<T>> {
    const { segment, forms, witnessesOf, lookUp } = this.#options;
    const { id, found } = one;
    const form = formOf(id);
    if (forms.wasFound(segment, id)) return one;
    if (!this.#unrouted.has(form)) {
      let listed: string | undefined;
      let tried = 0;
      for await (const witness of witnessesOf(form)) {
        listed ??= witness;
        await lookUp(witness);
        if (forms.wasFound(segment, id)) return one;
        tried += 1;
        if (tried === WITNESSES_OF_A_FORM) break;
      }
      if (listed !== undefined) forms.unrouted(segment, form);
      this.#unrouted.set(form, listed);
    }
    const { notFound } = found as Exclude<typeof found, Error>;
    const error = unroutedId(segment, id, this.#unrouted.get(form), notFound);
    return { id, found: error, seen: error };
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
    const were = candidates === 1 ? 'was' : 'were';
    // Without a list, only the records that were requested are known.
    const notFound = listed
      ? `${candidates} of ${local} local records ${were} not found upstream`
      : `${candidates === 1 ? 'a record' : `${candidates} records`} of those requested ${were} not found upstream`;
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
