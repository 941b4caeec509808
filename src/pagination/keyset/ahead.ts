import type { FetchPage, PageResponse, ReaderOptions } from '../page.ts';
import { type Key, overlapOf } from './interval.ts';
import { endAfter, keysOf, type ReadContext, reduce, requestOf, type Step } from './reduce.ts';
import { type IntervalState, pageSizeOf, type ReadState } from './state.ts';

/*
 * Reading ahead (`prefetch: k`): the next intervals are requested before the last response shows where they begin. The
 * reducer does not change, and gets the responses in the same order. Five rules:
 *
 *   1. A response to (b, t] may be used for the interval (c, x] if b ≤ c < t: see `reduce`.
 *   2. After an interval that ends at t the next one is guessed to begin at t − o, where o is three mean gaps: the last row is
 *      rarely at t itself. If t is a row that was seen, it begins at t.
 *   3. Whenever a response arrives, the reducer is run ahead on what is there and what is expected, for at most k pages,
 *      and what is missing is requested.
 *   4. If the last row is before the beginning of the next response, or the next response is empty and a later one is not,
 *      what is between is a gap: it is requested, up to the first row that was seen behind it. If that is empty too, there
 *      are no rows for some way, and the reducer continues without guesses.
 *   5. An empty response sets k to 1, and others change it by one: guesses pay only as long as they have many rows.
 *
 * Without the overlap of rule 2 and without rule 4, 54 of 300 simulated reads lost a row.
 *
 * Only in the order of ids. An end is proven by responses that were requested after the last row was delivered, so every
 * guess is dropped when something else than a bounded interval is next.
 */

/** An interval to request before it is known that it is the next one. */
interface Planned {
  readonly after: Key;
  readonly through: Key;
  /** `through` is a row that was seen: rule 2. */
  readonly endsWithRow: boolean;
  /** What two responses left out between them: rule 4. */
  readonly isGap: boolean;
}

/** One that was requested. */
interface Guess<T> extends Planned {
  readonly response: Promise<PageResponse<T>>;
  /** Resolves when it has arrived or failed. A failure is thrown only if the response is needed. */
  readonly settled: Promise<void>;
  arrived: PageResponse<T> | undefined;
  /** Its keys, ascending. */
  keys: readonly Key[];
  failed: boolean;
  stop(): void;
}

/** What to do about an interval: use a guess, wait for a later one that decides, or request this. */
type Choice<T> = { readonly use: Guess<T> } | { readonly waitFor: Guess<T> } | { readonly request: Planned };

/** An interval of which a guess is possible. */
type Guessable = IntervalState & { readonly after: Key; readonly through: Key; readonly width: bigint };

/** A response, and the interval that was requested if it may be another one than that of the state. */
interface Taken<T> {
  readonly response: PageResponse<T>;
  readonly asked: Planned | undefined;
}

export class ReadAhead<T> {
  readonly #fetchPage: FetchPage<T>;
  readonly #options: ReaderOptions;
  readonly #context: ReadContext;
  /** By where they begin. Of two that begin at the same id the last one was requested when more was known. */
  #guesses: readonly Guess<T>[] = [];
  /** The state whose response was requested last, and how many pages the caller still takes, with that one. */
  #base: { readonly state: Guessable; readonly pages: number } | undefined;
  /** The guess that was used for it. It stays until the next one is taken, so that the plan does not request it again. */
  #taken: Guess<T> | undefined;
  /** Rule 5. */
  #depth: number;
  /** The requests that the quota of the key had left at the last response. */
  #quotaLeft = Number.POSITIVE_INFINITY;

  constructor(fetchPage: FetchPage<T>, options: ReaderOptions, context: ReadContext) {
    this.#fetchPage = fetchPage;
    this.#options = options;
    this.#context = context;
    this.#depth = options.prefetch;
  }

  /** The response to what a state requests. Not called during another call. */
  async take(state: ReadState, wanted: number): Promise<Taken<T>> {
    if (this.#options.prefetch <= 1 || !isGuessable(state, this.#context)) {
      this.#base = undefined;
      this.#drop(() => true);
      return { response: await this.#send(state, this.#options.signal), asked: undefined };
    }
    this.#base = { state, pages: 1 + Math.floor(wanted / Math.max(1, pageSizeOf(state))) };
    this.#drop((guess) => guess === this.#taken || guess.through <= state.after);
    for (;;) {
      const choice = choose(state, this.#guesses);
      if ('waitFor' in choice) {
        await choice.waitFor.settled;
        continue;
      }
      const guess = 'use' in choice ? choice.use : this.#request(choice.request, state);
      this.#plan();
      const response = await guess.response;
      // What has arrived may show that a gap is next.
      const next = choose(state, this.#guesses);
      if (!('use' in next) || next.use !== guess) continue;
      this.#taken = guess;
      if (!guess.isGap) this.#learn(response, state);
      return { response, asked: guess };
    }
  }

  /** Rule 3: requests what is missing of the next pages. */
  #plan(): void {
    if (this.#base === undefined) return;
    let state: ReadState = this.#base.state;
    let left = this.#guesses;
    // Whether the read will come to this state, or is only expected to.
    let isKnown = true;
    for (let pages = Math.min(this.#depth, this.#base.pages); pages > 0; ) {
      if (!isGuessable(state, this.#context)) return;
      const choice = isKnown || state.timesNarrowed > 0 ? choose(state, left) : expected(state, left);
      if ('waitFor' in choice || ('request' in choice && !this.#mayRequest())) return;
      const guess = 'use' in choice ? choice.use : this.#request(choice.request, state);
      if (guess.failed) return;
      left = left.filter((each) => each !== guess);
      if (guess.arrived === undefined) {
        state = stateAfter(state, guess, this.#context);
        isKnown = false;
        pages -= 1;
        continue;
      }
      const begun = guess.after > state.after ? { ...state, after: guess.after } : state;
      const step = this.#stepAfter(begun, guess, guess.arrived);
      // After a response that is read by page, or that restarts the read, every guess is useless.
      if (step === undefined || (step.deliver !== 'nothing' && step.deliver !== 'response')) return;
      ({ state } = step);
      if (step.deliver === 'response') {
        // Its last row is where the next interval begins, wherever this one did.
        isKnown = true;
        pages -= 1;
      }
    }
  }

  /** Guesses cost requests, and save no time if the quota is what limits the read. */
  #mayRequest(): boolean {
    const { prefetch } = this.#options;
    const inFlight = this.#guesses.filter(({ arrived, failed }) => arrived === undefined && !failed);
    return inFlight.length < prefetch && this.#quotaLeft >= 2 * prefetch;
  }

  /** An error of the response comes again when the read gets there. */
  #stepAfter(state: Guessable, asked: Guess<T>, response: PageResponse<T>): Step | undefined {
    try {
      return reduce(state, response, this.#context, { asked });
    } catch {
      return undefined;
    }
  }

  #request(interval: Planned, state: Guessable): Guess<T> {
    const own = new AbortController();
    const signal = AbortSignal.any([this.#options.signal, own.signal]);
    const asked = { ...state, ...interval };
    const response = this.#send(asked, signal);
    const guess: Guess<T> = {
      ...interval,
      response,
      settled: response.then(
        (arrived) => {
          guess.arrived = arrived;
          guess.keys = keysOf(arrived, asked).sorted;
          this.#plan();
        },
        () => {
          guess.failed = true;
        },
      ),
      arrived: undefined,
      keys: [],
      failed: false,
      stop: () => own.abort(),
    };
    this.#guesses = [...this.#guesses, guess].sort((a, b) => Number(a.after - b.after));
    return guess;
  }

  async #send(state: ReadState, signal: AbortSignal): Promise<PageResponse<T>> {
    const response = await this.#fetchPage(requestOf(state, this.#context), signal);
    this.#quotaLeft = response.rateLimit?.remaining ?? Number.POSITIVE_INFINITY;
    return response;
  }

  #drop(isUseless: (guess: Guess<T>) => boolean): void {
    for (const guess of this.#guesses.filter(isUseless)) guess.stop();
    this.#guesses = this.#guesses.filter((guess) => !isUseless(guess));
  }

  /** Rule 5. */
  #learn({ rows: { length } }: PageResponse<T>, state: ReadState): void {
    const change = length * 2 >= pageSizeOf(state) ? 1 : -1;
    const next = length === 0 ? 1 : this.#depth + change;
    this.#depth = Math.min(Math.max(next, 1), this.#options.prefetch);
  }
}

function isGuessable(state: ReadState, { onlyChanges }: ReadContext): state is Guessable {
  if (state.phase !== 'interval' || onlyChanges || !state.inOrder || !state.directionKnown) return false;
  const { after, through, width, singleKey } = state;
  return after !== undefined && through !== undefined && width !== undefined && singleKey === undefined;
}

/** Rule 1, and rule 4. */
function choose<T>({ after, through, timesNarrowed }: Guessable, guesses: readonly Guess<T>[]): Choice<T> {
  const usable = guesses.filter(
    // It is not known whether a row without an id was delivered before.
    (guess) =>
      guess.after === after || (guess.after < after && after < guess.through && !hasRowWithoutId(guess)),
  );
  if (timesNarrowed > 0) {
    // A longer interval would be too long again.
    const narrowed = usable.find((guess) => guess.through === through);
    return narrowed ? { use: narrowed } : { request: { after, through, endsWithRow: true, isGap: false } };
  }
  const covering = usable.at(-1);
  const behind = guesses.filter((guess) => guess.after > (covering?.after ?? after) && !guess.failed);
  const isEmpty = covering?.arrived !== undefined && (covering.keys.at(-1) ?? after) <= after;
  if (covering !== undefined && (covering.isGap || !isEmpty)) return { use: covering };
  const firstOf = ({ keys }: Guess<T>) => keys.find((key) => key > after);
  const next = behind.find((guess) => guess.arrived === undefined || firstOf(guess) !== undefined);
  if (next === undefined)
    return covering ? { use: covering } : { request: { after, through, endsWithRow: false, isGap: false } };
  const first = firstOf(next);
  return first === undefined
    ? { waitFor: next }
    : { request: { after, through: first, endsWithRow: true, isGap: true } };
}

/** The same for a state that is only expected: any guess behind it may turn out to be the next one. */
function expected<T>({ after, through }: Guessable, guesses: readonly Guess<T>[]): Choice<T> {
  const next = guesses.find((guess) => guess.through > after);
  return next ? { use: next } : { request: { after, through, endsWithRow: false, isGap: false } };
}

/** Rule 2: the state after a response that is as full as expected. */
function stateAfter(state: Guessable, { through, endsWithRow }: Planned, context: ReadContext): ReadState {
  const expectedLast = endsWithRow ? through : through - overlapOf(state.width, pageSizeOf(state));
  const after = expectedLast > state.after ? expectedLast : state.after + 1n;
  return { ...state, after, through: endAfter(after, state.width, state, context), timesNarrowed: 0 };
}

const hasRowWithoutId = ({ arrived }: Guess<unknown>): boolean =>
  arrived?.invalid.some(({ id }) => id === undefined) ?? false;
