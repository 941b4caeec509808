import type { CallFacts } from '../errors/accounting-error.ts';
import { FilterIgnoredError } from '../errors/filter-ignored-error.ts';
import { jsonText } from '../internal/json-text.ts';
import { keepRecords, type PageResponse } from './page.ts';

type Ids = ReadonlySet<string>;

const NO_IDS: Ids = new Set();

/** How often the rows of one page may come again on average. Rows that move during a read come again a few times. */
const MAX_REPEATS = 4;

/**
 * Drops the rows that one of the last two pages contained, and detects a service that sends the same rows for ever.
 * It remembers three pages, because memory must not grow with the read: the last two, and a reference page that is
 * replaced after 1, 2, 4, 8, … pages. A service that repeats rows in any pattern repeats those of a reference page.
 */
export class RepeatGuard {
  readonly #facts: CallFacts;
  #last: Ids = NO_IDS;
  #beforeLast: Ids = NO_IDS;
  #identical = 0;
  #reference: Ids = NO_IDS;
  #pages = 0;
  /** How many rows of the reference page have come again. */
  #repeats = 0;

  constructor(facts: CallFacts) {
    this.#facts = facts;
  }

  /** A response without the records that the two pages before contained. */
  withoutRepeats<T>(response: PageResponse<T>): PageResponse<T> {
    const ids = new Set(response.invalid.length === 0 ? response.ids : rowIds(response));
    this.#detectLoop(ids);

    const before = [this.#last, this.#beforeLast];
    this.#beforeLast = this.#last;
    this.#last = ids;
    if (ids.size === response.rows.length && before.every((seen) => isDisjoint(ids, seen))) return response;

    const kept = new Set<string>();
    return keepRecords(response, (id) => {
      const isNew = !kept.has(id) && !before.some((seen) => seen.has(id));
      kept.add(id);
      return isNew;
    });
  }

  #detectLoop(ids: Ids): void {
    // In a list with the newest first, an import of exactly one page shows the same page twice, but not three times.
    this.#identical =
      ids.size > 0 && ids.size === this.#last.size && isSubset(ids, this.#last) ? this.#identical + 1 : 0;
    for (const id of ids) if (this.#reference.has(id)) this.#repeats += 1;
    if (this.#identical >= 2 || this.#repeats > MAX_REPEATS * this.#reference.size) throw this.#loop();

    this.#pages += 1;
    const isPowerOfTwo = (this.#pages & (this.#pages - 1)) === 0;
    if (!isPowerOfTwo) return;
    this.#reference = ids;
    this.#repeats = 0;
  }

  #loop(): FilterIgnoredError {
    const { method, path } = this.#facts;
    return new FilterIgnoredError(
      `${method} ${path} returned the rows of earlier pages again and again: the service ignored the page that was requested. Use pagination: 'keyset', or check your own cursor.`,
      this.#facts,
    );
  }
}

/** The ids of all rows. A row without an id is identified by its content, because such rows can repeat too. */
function rowIds(response: PageResponse<unknown>): string[] {
  return [...response.ids, ...response.invalid.map((row) => row.id ?? `\0${jsonText(row.record)}`)];
}

function isSubset(a: Ids, b: Ids): boolean {
  for (const id of a) if (!b.has(id)) return false;
  return true;
}

function isDisjoint(a: Ids, b: Ids): boolean {
  for (const id of a) if (b.has(id)) return false;
  return true;
}
