import type { CallFacts } from '../errors/accounting-error.ts';
import { FilterIgnoredError } from '../errors/filter-ignored-error.ts';
import type { InvalidRecord } from '../events.ts';
import { keepRecords, type PageResponse } from './page.ts';

type IdSet = ReadonlySet<string>;

const NO_IDS: IdSet = new Set();

/** How often the rows of one page may come again on average. Rows that move during a read come again a few times. */
const MAX_REPEATS = 4;

/** Pages of two rows whose order is random are equal by chance: this many rows that come again prove more than chance. */
const PROOF_ROWS = 10;

/**
 * Drops the rows that one of the last two pages contained, counts them, and detects a service that sends the same rows for ever.
 * It remembers four pages, because memory must not grow with the read: the first, the last two, and a reference page that is
 * replaced after 1, 2, 4, 8, … pages. A service that repeats rows in any pattern repeats those of a reference page.
 */
export class RepeatGuard {
  readonly #facts: CallFacts;
  readonly #advice: string;
  readonly #mayEnd: boolean;
  #first: IdSet = NO_IDS;
  #last: IdSet = NO_IDS;
  #beforeLast: IdSet = NO_IDS;
  #identical = 0;
  #reference: IdSet = NO_IDS;
  #pages = 0;
  /** How many rows of the reference page have come again. */
  #repeats = 0;
  dropped = 0;

  /**
   * `advice` tells the caller what to do if the service sends the same rows for ever. With `mayEnd`, a page that comes again
   * and again is the last one, unless it is the first page.
   */
  constructor(facts: CallFacts, advice: string, mayEnd = false) {
    this.#facts = facts;
    this.#advice = advice;
    this.#mayEnd = mayEnd;
  }

  /** Whether the last response had the rows of the one before it, or of the first. */
  get isSameAgain(): boolean {
    return this.#identical > 0;
  }

  /** Whether the service repeats its last page, or its first, for every page after the last. */
  get isAtEnd(): boolean {
    // The first page, repeated, is that of a service that ignores the number of the page.
    return this.#mayEnd && this.#isLoop && this.#identical < this.#pages - 1;
  }

  /** Whether a page came a third time in a row, a small page more often. */
  get #isLoop(): boolean {
    // In a list with the newest first, an import of exactly one page shows the same page twice, but not three times.
    return this.#identical >= 2 && this.#identical * this.#last.size >= PROOF_ROWS;
  }

  /** A response without the rows that the two pages before contained. */
  withoutRepeats<T>(response: PageResponse<T>): PageResponse<T> {
    const { invalid } = response;
    const ids = new Set(invalid.length === 0 ? response.ids : [...response.ids, ...invalid.map(invalidId)]);
    const before = [this.#last, this.#beforeLast, ...(isSame(ids, this.#first) ? [this.#first] : [])];
    this.#beforeLast = this.#last;
    this.#last = ids;
    this.#detectLoop(this.#beforeLast);

    if (ids.size === response.rows.length && before.every((seen) => isDisjoint(ids, seen))) return response;

    const kept = new Set<string>();
    const isNew = (id: string) => {
      const isRepeat = kept.has(id) || before.some((seen) => seen.has(id));
      kept.add(id);
      if (isRepeat) this.dropped += 1;
      return !isRepeat;
    };
    const fresh = keepRecords(response, isNew);
    return { ...fresh, invalid: invalid.filter((row) => isNew(invalidId(row))) };
  }

  #detectLoop(before: IdSet): void {
    const ids = this.#last;
    this.#identical = isSame(ids, before) || isSame(ids, this.#first) ? this.#identical + 1 : 0;
    if (this.#pages === 0) this.#first = ids;
    for (const id of ids) if (this.#reference.has(id)) this.#repeats += 1;
    this.#pages += 1;
    if (this.isAtEnd) return;
    if (this.#isLoop || this.#repeats > MAX_REPEATS * this.#reference.size + PROOF_ROWS) throw this.#loop();

    const isPowerOfTwo = (this.#pages & (this.#pages - 1)) === 0;
    if (!isPowerOfTwo) return;
    this.#reference = ids;
    this.#repeats = 0;
  }

  #loop(): FilterIgnoredError {
    const { method, path } = this.#facts;
    return new FilterIgnoredError(
      `${method} ${path} returned the rows of earlier pages again and again: the service ignored the page that was requested.`,
      { ...this.#facts, hint: this.#advice },
    );
  }
}

/**
 * What an invalid row is known by: its id, or its content if it has none. Never that of a record: a row that is invalid on
 * one page and valid on the next is reported and delivered.
 */
function invalidId({ id, record }: InvalidRecord): string {
  return `\0${id ?? JSON.stringify(record)}`;
}

function isSame(a: IdSet, b: IdSet): boolean {
  if (a.size === 0 || a.size !== b.size) return false;
  for (const id of a) if (!b.has(id)) return false;
  return true;
}

function isDisjoint(a: IdSet, b: IdSet): boolean {
  for (const id of a) if (b.has(id)) return false;
  return true;
}
