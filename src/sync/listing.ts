import type { Semaphore } from '../internal/semaphore.ts';
import { covers, formOf, type IdForm } from '../schemas/id-form.ts';
import { WITNESSES_OF_A_FORM } from './proof.ts';
import type { ResolvedRunOptions } from './run-options.ts';
import { NO_DELETIONS, type RunState } from './run-state.ts';
import type { OpenTarget } from './target.ts';

export type Ids = Iterable<string> | AsyncIterable<string>;

interface Context {
  readonly copy: Pick<OpenTarget, 'marks' | 'localIds' | 'rows'>;
  readonly collection: string;
  readonly options: Pick<ResolvedRunOptions, 'mode'>;
  /** Held while the copy is used: no two of its methods run at once. */
  readonly consumer: Semaphore;
}

type Marks = NonNullable<OpenTarget['marks']> & {
  /** Undefined if the copy marks each record that it is given. */
  mark?(id: string): unknown;
  /** Whether this record was listed; undefined if only the copy knows it. */
  isListed?(id: string): boolean;
};

/**
 * How many of the first listed records must be deleted during the run before their 404s abort it. Not of the last ones:
 * if the key became that of another company during the read, only the first ones show it.
 */
const WITNESSES = 10;

/** Forms of ids of which witnesses are kept: a collection has a few. */
const MOST_FORMS = 100;

/** Ids that are read at a time: other collections use the copy between two of these reads. */
const CHUNK = 10_000;

/** A full read beside a copy, over any number of runs. */
export class Listing {
  readonly #context: Context;
  readonly #marks: Marks;
  readonly #read: number;
  readonly #first: string[] = [];
  /** Some of the listed records for each form of ids. */
  readonly #byForm = new Map<IdForm, string[]>();
  /** How many records the copy had before the read. */
  readonly local: number;

  constructor(context: Context, marks: Marks, { read, local }: { read: number; local: number }) {
    this.#context = context;
    this.#marks = marks;
    this.#read = read;
    this.local = local;
  }

  /** These rows were listed. */
  see(rows: readonly { readonly id?: string | undefined }[]): void {
    for (const { id } of rows) {
      if (id === undefined) continue;
      if (this.#first.length < WITNESSES) this.#first.push(id);
      this.#keepForm(id);
      this.#marks.mark?.(id);
    }
  }

  /** Records that were listed, those among them that the copy did not have, and those of the copy that were not. */
  async count() {
    const { collection, consumer } = this.#context;
    const { records, marked } = await consumer.run(() => this.#marks.count(collection, this.#read));
    let candidates = 0;
    for await (const _ of this.unlisted()) candidates += 1;
    return { listed: { seen: marked, missing: Math.max(0, records - this.local) }, candidates };
  }

  /** Which of these records were listed, as far as that is known: a record of the copy that was not is looked up by itself. */
  async listed(ids: readonly string[]): Promise<ReadonlySet<string>> {
    const { copy, collection, consumer } = this.#context;
    const { isListed } = this.#marks;
    if (ids.length === 0 || isListed !== undefined) return new Set(ids.filter((id) => isListed?.(id)));
    return new Set((await consumer.run(async () => copy.rows?.(collection, ids) ?? [])).map(({ id }) => id));
  }

  async *unlisted(): AsyncGenerator<string, void> {
    const { collection, consumer } = this.#context;
    for (let [ids, after] = [[] as string[], undefined as string | undefined]; ; after = ids.at(-1)) {
      ids = await consumer.run(() => firstOf(this.#marks.unmarked(collection, this.#read, after), CHUNK));
      yield* ids;
      if (ids.length < CHUNK) return;
    }
  }

  #keepForm(id: string): void {
    const form = formOf(id);
    const kept = this.#byForm.get(form);
    if (kept !== undefined && kept.length < WITNESSES_OF_A_FORM) kept.push(id);
    else if (kept === undefined && this.#byForm.size < MOST_FORMS) this.#byForm.set(form, [id]);
  }

  /** Listed records whose ids have what ids of this form have. */
  async *witnessesOf(form: IdForm): AsyncGenerator<string, void> {
    const isAlike = (id: string) => covers(formOf(id), form);
    for (const ids of this.#byForm.values()) yield* ids.filter(isAlike);
    if (this.#first.length === 0) yield* await this.#marked(isAlike);
  }

  /** Records that it has listed first. This run has listed none if the one that it resumes listed the last page. */
  async *witnesses(): AsyncGenerator<string, void> {
    yield* this.#first;
    if (this.#first.length === 0) yield* await this.#marked(() => true);
  }

  /** Records of the copy that an earlier run has listed. */
  async #marked(isWanted: (id: string) => boolean): Promise<readonly string[]> {
    const { copy, collection, consumer } = this.#context;
    const candidates = new Set<string>();
    for await (const id of this.unlisted()) candidates.add(id);
    const isMarked = (id: string) => !candidates.has(id) && isWanted(id);
    return await consumer.run(() => firstOf(copy.localIds?.(collection) ?? [], WITNESSES, isMarked));
  }
}

async function firstOf(
  ids: Ids,
  count: number,
  isWanted: (id: string) => boolean = () => true,
): Promise<string[]> {
  const found: string[] = [];
  for await (const id of ids) {
    if (isWanted(id) && found.push(id) === count) break;
  }
  return found;
}

/**
 * What a full read is compared with: read before the first request. Undefined if the run looks for no deletions. A target
 * marks the read by a number, which becomes part of the state, so that deletions are found in whatever run the read ends.
 */
export async function beginListing(
  state: RunState,
  context: Context,
): Promise<[state: RunState, listing: Listing | undefined]> {
  const { copy, collection, options, consumer } = context;
  const { run = {} } = state;
  const isFull = options.mode === 'full';
  const { marks } = copy;
  if (marks !== undefined) {
    if (run.read === undefined && !isFull) return [state, undefined];
    // Random, so that it is not that of an earlier read whose state was deleted.
    const [random = 0] = globalThis.crypto.getRandomValues(new Uint32Array(1));
    const { read = (random >>> 2) + 1 } = run;
    const local = run.local ?? (await consumer.run(() => marks.count(collection, read))).records;
    return [{ ...state, run: { ...run, read, local } }, new Listing(context, marks, { read, local })];
  }
  if (!isFull || copy.localIds === undefined) return [state, undefined];
  if (run.token !== undefined || run.listed === true) {
    // The pages before were listed by another process: what they listed is not known any more.
    return [{ ...state, deletions: { ...NO_DELETIONS, skipped: 'resumed' } }, undefined];
  }
  const inMemory = await consumer.run(() => marksInMemory(copy.localIds?.(collection) ?? []));
  const { records: local } = await inMemory.count(collection, 0);
  return [state, new Listing(context, inMemory, { read: 0, local })];
}

/**
 * The marks of a copy that has only ids. The ids are read to their end before the first request: a record that is added
 * to the copy during the read must not look deleted.
 */
async function marksInMemory(ids: Ids): Promise<Marks> {
  const local = new Set<string>();
  for await (const id of ids) local.add(id);
  const listed = new Set<string>();
  return {
    count: async () => ({ records: new Set([...local, ...listed]).size, marked: listed.size }),
    async *unmarked(_, _read, after) {
      let isBehind = after === undefined;
      for (const id of local) {
        if (isBehind && !listed.has(id)) yield id;
        isBehind ||= id === after;
      }
    },
    mark: (id) => listed.add(id),
    isListed: (id) => listed.has(id),
  };
}
