import type { CallFacts } from '../errors/accounting-error.ts';
import { FilterIgnoredError } from '../errors/filter-ignored-error.ts';
import type { InvalidRecord } from '../events.ts';
import { keepRecords, type PageResponse } from './page.ts';

/** Pages of two rows whose order is random are equal by chance: this many rows that come again prove more than chance. */
const PROOF_ROWS = 10;

/** A whole read sends each row once, so twice as many rows without a new one are more than rows that moved. */
const MOST_REPEATS = 2;

/** The pages since the last one that had a new row, and whether each of them was that page or the first one again. */
const NONE = { pages: 0, rows: 0, isEcho: true };

/**
 * Drops the rows that came before, counts them, and detects a service that sends the same rows for ever. It remembers the id
 * of every row: about 50 MB for a million short ids, 80 MB for UUIDs.
 */
export class RepeatGuard {
  readonly #facts: CallFacts;
  readonly #advice: string;
  readonly #mayEnd: boolean;
  readonly #seen = new Set<string>();
  /** The ids of the first and the last page that had a new row. */
  #first: readonly string[] | undefined;
  #last: readonly string[] | undefined;
  #dropped = 0;
  #stale = NONE;

  /**
   * `advice` tells the caller what to do if the service sends the same rows for ever. With `mayEnd`, a page that comes again
   * and again is the last one, unless it is the only one.
   */
  constructor(facts: CallFacts, advice: string, mayEnd = false) {
    this.#facts = facts;
    this.#advice = advice;
    this.#mayEnd = mayEnd;
  }

  /** How many rows came again. */
  get dropped(): number {
    return this.#dropped + this.#stale.rows;
  }

  /** Whether the last response had no new row. */
  get isStale(): boolean {
    return this.#stale.pages > 0;
  }

  /** Whether the service sends its last page, or its first, for every page after the last. */
  get isAtEnd(): boolean {
    const { pages, rows, isEcho } = this.#stale;
    // In a list with the newest first, an import of exactly one page shows the same page twice, but not three times.
    return isEcho && pages >= 2 && rows >= PROOF_ROWS;
  }

  /** A response without the rows that came before. */
  withoutRepeats<T>(response: PageResponse<T>): PageResponse<T> {
    const ids = idsOf(response);
    const isNew = (id: string) => {
      const { size } = this.#seen;
      return this.#seen.add(id).size > size;
    };
    const kept = ids.map(isNew);
    const repeats = kept.filter((isKept) => !isKept).length;
    if (repeats === ids.length) {
      this.#again(ids);
    } else {
      this.#dropped += this.#stale.rows + repeats;
      this.#stale = NONE;
      this.#first ??= ids;
      this.#last = ids;
    }
    if (repeats === 0) return response;

    const { length } = response.ids;
    const invalid = response.invalid.filter((_, index) => kept[length + index]);
    return { ...keepRecords(response, (_, index) => kept[index] === true), invalid };
  }

  /** A page without a new row. */
  #again(ids: readonly string[]): void {
    const isEcho = [this.#first, this.#last].some((page) => page !== undefined && isSame(page, ids));
    this.#stale = {
      pages: this.#stale.pages + 1,
      rows: this.#stale.rows + ids.length,
      isEcho: this.#stale.isEcho && isEcho,
    };
    // The first page alone is that of a service that ignores the number of the page.
    if (this.isAtEnd && this.#mayEnd && this.#first !== this.#last) return;
    const isLoop = this.#stale.rows > MOST_REPEATS * this.#seen.size + PROOF_ROWS;
    if (!isLoop && !this.isAtEnd) return;

    const { method, path } = this.#facts;
    throw new FilterIgnoredError(
      `${method} ${path} returned the rows of earlier pages again and again: the service ignored the page that was requested.`,
      { ...this.#facts, hint: this.#advice },
    );
  }
}

function idsOf({ ids, invalid }: PageResponse<unknown>): readonly string[] {
  return invalid.length === 0 ? ids : [...ids, ...invalid.map(invalidId)];
}

/**
 * What an invalid row is known by: its id, or its content if it has none. Never that of a record: a row that is invalid on
 * one page and valid on the next is reported and delivered.
 */
function invalidId({ id, record }: InvalidRecord): string {
  return `\0${id ?? JSON.stringify(record)}`;
}

function isSame(a: readonly string[], b: readonly string[]): boolean {
  const ids = new Set(a);
  return ids.size === new Set(b).size && b.every((id) => ids.has(id));
}
