import type { AnswerKeys } from './answer-keys.ts';
import type { Interval, Key } from './id-interval.ts';
import { type Density, densityWith, knownWith, narrowedEnd, nextEnd, nextWidth } from './interval-plan.ts';

/** How an answer that may have been cut came about. */
export interface CutFacts {
  /** Whether the interval goes as far as the walk does. */
  readonly open: boolean;
  /** How often it has been narrowed before. */
  readonly splits: number;
}

/** How a completed interval stands in its walk. */
export interface CompletedFacts {
  /** Nothing was read before it. */
  readonly first: boolean;
  /** The most rows that one answer of this walk had. */
  readonly longest: number;
  /** Whether the page size is only remembered from an earlier run. */
  readonly sizeUnknown: boolean;
}

/** Learns from each answer where the next interval had better end. What it guesses changes the cost, never the result. */
export class IntervalPlanner {
  /** How wide an interval may be expected to fit into one answer; undefined until one was completed. */
  width: bigint | undefined;
  #density: Density = { span: 0n, rows: 0 };
  #displaced = 0;
  #known: readonly Key[] = [];
  /** The highest key of the answer that the present splits began with. */
  #origin: Key = 0n;
  /** A single row, before which all is asked for first: the interval after that ends with it. */
  #pin: Key | undefined;

  constructor(width: bigint | undefined) {
    this.width = width;
  }

  /** The end to narrow an interval to whose answer may have been cut. */
  narrowed(interval: Interval, { keys, displaced }: AnswerKeys, { open, splits }: CutFacts): Key {
    this.#displaced = Math.max(this.#displaced, displaced);
    this.#known = knownWith(this.#known, keys, interval.after);
    if (splits === 0) this.#origin = keys.at(-1) ?? this.#origin;

    const facts = { displaced: this.#displaced, planned: !open, splits, origin: this.#origin };
    const end = narrowedEnd({ interval, keys, ...facts });
    this.#pin = keys.length === 1 && keys[0] !== end ? keys[0] : undefined;
    return end;
  }

  /** The end of the interval after one that is complete through `through`; undefined for as far as the walk goes. */
  afterCompleted(
    after: Key | undefined,
    through: Key,
    view: AnswerKeys,
    facts: CompletedFacts,
  ): Key | undefined {
    const { rows, keys } = view;
    this.#displaced = Math.max(this.#displaced, view.displaced);
    // What lies before the first row of all says nothing of how dense the rows are.
    const start = facts.first && keys[0] !== undefined ? keys[0] - 1n : (after ?? through - 1n);
    const span = through - start;
    this.#density = densityWith(this.#density, span, rows);
    this.width = rows === 0 ? span * 4n : nextWidth(span, this.#density, facts.longest);

    const pin = this.#pin;
    if (pin !== undefined && pin > through) return pin;
    this.#pin = undefined;
    // The single row is read: whether there are more of its kind is best asked openly.
    if (pin !== undefined) return undefined;
    const learnt = { width: this.width, displaced: this.#displaced, known: this.#known, ...facts };
    return nextEnd(through, rows, learnt);
  }
}
