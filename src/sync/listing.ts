import { InvalidInputError } from '../errors/invalid-input-error.ts';
import { each } from '../reading/each.ts';
import type { OpenTarget } from './target.ts';

export type Ids = Iterable<string> | AsyncIterable<string>;

/** Which records of a copy a full read has listed. */
export interface Listing {
  /** How many records the copy had before the read. */
  readonly local: number;
  /** These rows were listed. `restarted`: the read begins again with them. */
  see(rows: readonly { readonly id?: string | undefined }[], restarted: boolean): void;
  count(): Promise<{
    /** Rows that the read has listed, and those among them that the copy did not have. */
    readonly listed: { readonly seen: number; readonly missing: number };
    /** Records of the copy that it has not listed. */
    readonly candidates: number;
  }>;
  unlisted(after?: string): Ids;
  /** Records that it has listed first. */
  witnesses(): Ids;
}

/**
 * How many of the first listed records must be deleted during the run before their 404s abort it. Not of the last ones:
 * if the key became that of another company during the read, only the first ones show it.
 */
const WITNESSES = 10;

/**
 * Of a copy that knows no more than its ids. They are read to their end before the first request: a record that is added
 * to the copy during the read must not look deleted.
 */
export async function rememberedListing(
  localIds: () => Ids,
  signal: AbortSignal | undefined,
): Promise<Listing> {
  const local = new Set<string>();
  for await (const id of each(localIds(), 'localIds', signal)) {
    if (typeof id !== 'string' || id === '') {
      throw new InvalidInputError('localIds', 'must return ids: non-empty strings');
    }
    local.add(id);
  }
  const unlisted = new Set(local);
  const witnesses: string[] = [];
  let listed = { seen: 0, missing: 0 };
  return {
    local: local.size,
    see(rows, restarted) {
      if (restarted) listed = { seen: 0, missing: 0 };
      for (const { id } of rows) {
        listed.seen += 1;
        if (id !== undefined && witnesses.length < WITNESSES) witnesses.push(id);
        if (id === undefined || !local.has(id)) listed.missing += 1;
        else unlisted.delete(id);
      }
    },
    count: async () => ({ listed, candidates: unlisted.size }),
    unlisted: () => unlisted,
    witnesses: () => witnesses,
  };
}

/** Of a copy that marks what a read has listed, over any number of runs. */
export function markedListing(
  copy: Pick<OpenTarget, 'marks' | 'localIds'>,
  collection: string,
  { read, local }: { readonly read: number; readonly local: number },
): Listing {
  const witnesses: string[] = [];
  const unlisted = (after?: string) => copy.marks?.unmarked(collection, read, after) ?? [];
  return {
    local,
    see(rows) {
      witnesses.push(...rows.flatMap(({ id }) => id ?? []).slice(0, WITNESSES - witnesses.length));
    },
    async count() {
      const { records = 0, marked = 0 } = (await copy.marks?.count(collection, read)) ?? {};
      let candidates = 0;
      for await (const _ of unlisted()) candidates += 1;
      return { listed: { seen: marked, missing: Math.max(0, records - local) }, candidates };
    },
    unlisted,
    async *witnesses() {
      yield* witnesses;
      // This run has listed none if the one that it resumes listed the last page.
      if (witnesses.length > 0) return;
      const candidates = new Set<string>();
      for await (const id of unlisted()) candidates.add(id);
      for await (const id of copy.localIds?.(collection) ?? []) {
        if (candidates.has(id)) continue;
        yield id;
        if (witnesses.push(id) === WITNESSES) return;
      }
    },
  };
}
