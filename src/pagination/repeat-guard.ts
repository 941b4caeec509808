import type { CallFacts } from '../errors/accounting-error.ts';
import { FilterIgnoredError } from '../errors/filter-ignored-error.ts';
import { DistinctCount } from './distinct-count.ts';
import type { PageResponse } from './page.ts';

type Ids = ReadonlySet<string>;

const NONE: Ids = new Set();

/** How often a row may come on average before the walk gives up. Drift repeats a few rows, and never all of them. */
const MOST_REPEATS = 4;
/** Rows beyond that which are let pass, for estimates of few rows are rough. */
const LEEWAY_ROWS = 100;

/**
 * Remembers the last two pages, and no more: memory must not grow with the walk. It drops rows that they held
 * already, and notices a service that sends the same rows again and again, in whatever order.
 */
export class RepeatGuard {
  #last: Ids = NONE;
  #beforeLast: Ids = NONE;
  #rows = 0;
  readonly #distinct = new DistinctCount();
  readonly #facts: CallFacts | undefined;

  constructor(facts: CallFacts | undefined) {
    this.#facts = facts;
  }

  /** Takes in a page, and tells its records that the two pages before it did not hold. */
  fresh<T>(answer: PageResponse<T>): readonly T[] {
    const ids = new Set(answer.invalid.length === 0 ? answer.ids : rowIds(answer));
    if (sameRows(ids, this.#last)) throw this.#repeated();

    this.#rows += ids.size;
    for (const id of ids) this.#distinct.add(id);
    if (this.#rows > MOST_REPEATS * this.#distinct.estimate() + LEEWAY_ROWS) throw this.#repeated();

    const records = this.#unseen(answer, ids);
    this.#beforeLast = this.#last;
    this.#last = ids;
    return records;
  }

  #unseen<T>(answer: PageResponse<T>, ids: Ids): readonly T[] {
    const distinct = ids.size === answer.ids.length + answer.invalid.length;
    if (distinct && isDisjoint(ids, this.#last) && isDisjoint(ids, this.#beforeLast)) return answer.records;

    const seen = new Set<string>();
    return answer.records.filter((_, index) => {
      const id = answer.ids[index];
      if (id === undefined || seen.has(id) || this.#last.has(id) || this.#beforeLast.has(id)) return false;
      seen.add(id);
      return true;
    });
  }

  #repeated(): FilterIgnoredError {
    return new FilterIgnoredError(
      `${this.#facts?.method ?? 'GET'} ${this.#facts?.path ?? 'a list'} answered again with rows of earlier pages: the service ignored the page that was asked for.`,
      this.#facts,
    );
  }
}

/** The ids of all rows. A row without a readable id stands for itself, or a service full of them could repeat unseen. */
function rowIds(answer: PageResponse<unknown>): string[] {
  return [...answer.ids, ...answer.invalid.map((row) => row.id ?? `\0${JSON.stringify(row.record)}`)];
}

function sameRows(a: Ids, b: Ids): boolean {
  return a.size > 0 && a.size === b.size && isSubset(a, b);
}

function isSubset(a: Ids, b: Ids): boolean {
  for (const id of a) if (!b.has(id)) return false;
  return true;
}

function isDisjoint(a: Ids, b: Ids): boolean {
  for (const id of a) if (b.has(id)) return false;
  return true;
}
