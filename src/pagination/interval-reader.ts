import { FilterIgnoredError } from '../errors/filter-ignored-error.ts';
import { NotFoundError } from '../errors/not-found-error.ts';
import { type AnswerKeys, answerKeys, goesDown, integerIds } from './answer-keys.ts';
import { type CertifiedPoint, positionOf } from './certified-position.ts';
import { type IdRange, outsideBounds } from './id-bounds.ts';
import { boundsOf, contains, holdsOneId, type Interval, intervalOf, type Key, keyOf } from './id-interval.ts';
import { IntervalPlanner } from './interval-planner.ts';
import type { FetchPage, PageQuery, PageResponse, WalkPosition } from './page.ts';
import { rowCount } from './row-count.ts';
import type { AfterLastPage, StepOptions } from './step-options.ts';

/** Far above what any collection needs: a service that lets so many requests end in nothing only plays with us. */
const MOST_FRUITLESS_REQUESTS = 1_000;

export interface IntervalOptions {
  readonly range: IdRange;
  readonly point: CertifiedPoint | undefined;
  readonly pageSizeHint: number;
  readonly afterLastPage: AfterLastPage;
  readonly facts: StepOptions['facts'];
}

/** An interval that one answer showed whole, or an answer with an id that is no integer. */
export type IntervalResult<T> =
  | {
      readonly kind: 'whole';
      readonly answer: PageResponse<T>;
      readonly position: WalkPosition;
      readonly last: boolean;
    }
  | {
      readonly kind: 'other_ids';
      readonly answer: PageResponse<T>;
      /** Whether nothing but the caller's own filters was asked for. */
      readonly unbounded: boolean;
    };

/**
 * Reads one interval of ids after the other, each until one answer shows it whole. An answer shows one state of the
 * books, so neither order nor changes between requests can hide a row in it, unless the service cut it: a whole
 * answer is empty, or shorter than another one of this walk, or has room for one id alone.
 */
export class IntervalReader<T> {
  readonly #fetchPage: FetchPage<T>;
  readonly #signal: AbortSignal;
  readonly #options: IntervalOptions;
  readonly #planner: IntervalPlanner;
  /** The longest page of an earlier run, while this one has seen no longer one. */
  #hint: number;
  #descending: boolean;
  /** Whether the direction is settled. Until then nothing but the whole range has been asked for. */
  #settled: boolean;
  #outer: Interval;
  #after: Key | undefined;
  #through: Key | undefined;
  #longest = 0;
  #fruitless = 0;

  constructor(fetchPage: FetchPage<T>, options: IntervalOptions, signal: AbortSignal) {
    const { point, range } = options;
    this.#fetchPage = fetchPage;
    this.#signal = signal;
    this.#options = options;
    this.#planner = new IntervalPlanner(point?.width);
    this.#hint = Math.max(options.pageSizeHint, point?.longest ?? 0);
    this.#settled = point !== undefined;
    this.#descending = point?.descending ?? false;
    this.#outer = intervalOf(range, this.#descending);
    this.#after = higher(this.#outer.after, point?.after);
    const resumed = point?.after !== undefined && point.width !== undefined;
    this.#through = this.#clipped(resumed ? point.after + point.width : undefined);
  }

  /** The next interval. Not called again after the last one, nor while a call is under way. */
  async next(): Promise<IntervalResult<T>> {
    for (let splits = 0; ; splits++) {
      const answer = await this.#ask({});
      const ids = integerIds(answer);
      if (ids === undefined) return this.#otherIds(answer);

      this.#settle(ids, answer.ids.length);
      const view = this.#view(answer, ids);
      if (await this.#isWhole(view)) return this.#completed(answer, view);
      // Full, and yet no id that an interval could be cut at.
      if (view.keys.length === 0) return this.#otherIds(answer);

      this.#through = this.#planner.narrowed(this.#interval, view, { open: this.#isOpen(), splits });
    }
  }

  get #interval(): Interval {
    return { after: this.#after, through: this.#through };
  }

  #isOpen(): boolean {
    return this.#through === this.#outer.through;
  }

  #isFirst(): boolean {
    return this.#after === this.#outer.after;
  }

  async #ask(query: PageQuery): Promise<PageResponse<T>> {
    if (++this.#fruitless > MOST_FRUITLESS_REQUESTS) throw fruitless(this.#options.facts);
    const id = boundsOf(this.#interval, this.#descending);
    return await this.#fetchPage({ ...query, id }, this.#signal);
  }

  /** The direction is that of most steps on the first page. It changes the cost, never the result. */
  #settle(ids: readonly bigint[], records: number): void {
    if (this.#settled) return;
    this.#settled = true;
    if (!goesDown(ids, records)) return;
    this.#descending = true;
    this.#outer = intervalOf(this.#options.range, true);
    this.#after = this.#outer.after;
    this.#through = this.#outer.through;
  }

  #view(answer: PageResponse<T>, ids: readonly bigint[]): AnswerKeys {
    const keys = ids.map((id) => keyOf(id, this.#descending));
    const stranger = keys.find((key) => !contains(this.#interval, key));
    if (stranger === undefined) return answerKeys(answer, keys);
    throw outsideBounds(String(keyOf(stranger, this.#descending)), this.#options.facts);
  }

  async #isWhole({ rows }: AnswerKeys): Promise<boolean> {
    const before = this.#longest;
    this.#longest = Math.max(before, rows);
    if (rows === 0 || rows < before || holdsOneId(this.#interval)) return true;
    if (rows >= this.#hint) return false;

    // Shorter than a page of an earlier run. Pages may have become shorter since: then there is a second one.
    if (await this.#isPastEnd()) return true;
    this.#hint = 0;
    return false;
  }

  async #isPastEnd(): Promise<boolean> {
    try {
      return rowCount(await this.#ask({ page: 2 })) === 0;
    } catch (error) {
      if (this.#options.afterLastPage === 'not_found' && error instanceof NotFoundError) return true;
      throw error;
    }
  }

  #completed(answer: PageResponse<T>, view: AnswerKeys): IntervalResult<T> {
    if (view.rows > 0) this.#fruitless = 0;
    const { after, through } = this.#interval;
    if (through === undefined || this.#isOpen()) {
      // Beyond the last row there may be new ones by the time the walk is resumed: they are not done yet.
      return { kind: 'whole', answer, position: this.#position(higher(after, view.keys.at(-1))), last: true };
    }

    const end = this.#planner.afterCompleted(after, through, view, {
      first: this.#isFirst(),
      longest: this.#longest,
      sizeUnknown: this.#longest < this.#hint,
    });
    this.#after = through;
    this.#through = this.#clipped(end);
    return { kind: 'whole', answer, position: this.#position(through), last: false };
  }

  #otherIds(answer: PageResponse<T>): IntervalResult<T> {
    return { kind: 'other_ids', answer, unbounded: this.#isFirst() && this.#isOpen() };
  }

  #position(after: Key | undefined): WalkPosition {
    const longest = Math.max(this.#longest, this.#hint);
    return positionOf({ descending: this.#descending, after, longest, width: this.#planner.width });
  }

  #clipped(end: Key | undefined): Key | undefined {
    const { through } = this.#outer;
    return end === undefined || (through !== undefined && end > through) ? through : end;
  }
}

function higher(a: Key | undefined, b: Key | undefined): Key | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return a > b ? a : b;
}

function fruitless(facts: StepOptions['facts']): FilterIgnoredError {
  return new FilterIgnoredError(
    `${facts?.method ?? 'GET'} ${facts?.path ?? 'a list'} showed rows to open requests and none to narrower ones, ${MOST_FRUITLESS_REQUESTS} requests in a row: the service ignored the bounds on id.`,
    facts,
  );
}
