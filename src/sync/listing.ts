import { InvalidInputError } from '../errors/invalid-input-error.ts';
import type { Semaphore } from '../internal/semaphore.ts';
import { each } from '../reading/each.ts';
import type { OpenTarget } from './target.ts';

export type Ids = Iterable<string> | AsyncIterable<string>;

/** Which records of a copy one full read has listed. */
interface ReadMarks {
  /** How many records the copy has, and how many of them the read has listed. */
  count(): Promise<{ readonly records: number; readonly marked: number }>;
  /** The ids of those that it has not listed, behind one of them. */
  unmarked(after?: string): Ids;
  /** Some that it has listed, if an earlier run did that. */
  marked(): Ids | Promise<Ids>;
  /** Only of a copy that does not mark what it is given. */
  mark?(id: string): unknown;
}

/**
 * How many of the first listed records must be deleted during the run before their 404s abort it. Not of the last ones:
 * if the key became that of another company during the read, only the first ones show it.
 */
const WITNESSES = 10;

/** A full read beside a copy. */
export class Listing {
  readonly #marks: ReadMarks;
  readonly #first: string[] = [];
  /** How many records the copy had before the read. */
  readonly local: number;

  constructor(local: number, marks: ReadMarks) {
    this.local = local;
    this.#marks = marks;
  }

  /** These rows were listed. */
  see(rows: readonly { readonly id?: string | undefined }[]): void {
    for (const { id } of rows) {
      if (id === undefined) continue;
      if (this.#first.length < WITNESSES) this.#first.push(id);
      this.#marks.mark?.(id);
    }
  }

  /** Records that were listed, those among them that the copy did not have, and those of the copy that were not. */
  async count() {
    const { records, marked } = await this.#marks.count();
    let candidates = 0;
    for await (const _ of this.#marks.unmarked()) candidates += 1;
    return { listed: { seen: marked, missing: Math.max(0, records - this.local) }, candidates };
  }

  unlisted(after?: string): Ids {
    return this.#marks.unmarked(after);
  }

  /** Records that it has listed first. This run has listed none if the one that it resumes listed the last page. */
  async *witnesses(): AsyncGenerator<string, void> {
    yield* this.#first.length > 0 ? this.#first : await this.#marks.marked();
  }
}

/** Ids that are read at a time: other collections use the copy between two of these reads. */
const CHUNK = 10_000;

/** Of a target that marks what a read has listed, over any number of runs. No two of its methods run at once. */
export function marksOf(
  copy: Pick<OpenTarget, 'marks' | 'localIds'>,
  { collection, read, consumer }: { collection: string; read: number; consumer: Semaphore },
): ReadMarks {
  const marks = copy.marks as NonNullable<OpenTarget['marks']>;
  async function* unmarked(from?: string): AsyncGenerator<string, void> {
    for (let [ids, after] = [[] as string[], from]; ; after = ids.at(-1)) {
      ids = await consumer.run(() => firstOf(marks.unmarked(collection, read, after), CHUNK));
      yield* ids;
      if (ids.length < CHUNK) return;
    }
  }
  return {
    count: () => consumer.run(() => marks.count(collection, read)),
    unmarked,
    async marked() {
      const others = new Set<string>();
      for await (const id of unmarked()) others.add(id);
      return await consumer.run(() => firstOf(copy.localIds?.(collection) ?? [], WITNESSES, others));
    },
  };
}

async function firstOf(ids: Ids, count: number, others?: ReadonlySet<string>): Promise<string[]> {
  const found: string[] = [];
  for await (const id of ids) {
    if (others?.has(id) !== true && found.push(id) === count) break;
  }
  return found;
}

/**
 * Of a copy that knows no more than its ids. They are read to their end before the first request: a record that is added
 * to the copy during the read must not look deleted.
 */
export async function marksInMemory(localIds: Ids, signal: AbortSignal | undefined): Promise<ReadMarks> {
  const local = new Set<string>();
  for await (const id of each(localIds, 'localIds', signal)) {
    if (typeof id !== 'string' || id === '') {
      throw new InvalidInputError('localIds', 'must return ids: non-empty strings');
    }
    local.add(id);
  }
  const listed = new Set<string>();
  return {
    count: async () => ({ records: new Set([...local, ...listed]).size, marked: listed.size }),
    *unmarked() {
      for (const id of local) if (!listed.has(id)) yield id;
    },
    marked: () => listed,
    mark: (id) => listed.add(id),
  };
}
