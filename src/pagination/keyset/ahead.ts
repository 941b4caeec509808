import { integerId } from '../id-bounds.ts';
import type { FetchPage, PageResponse } from '../page.ts';
import { DIRECTIONS } from './direction.ts';
import { ascending, type Key } from './interval.ts';
import { endAfter, type ReadContext, reduce, requestOf, type Step } from './reduce.ts';
import { type IntervalState, pageSizeOf, type ReadState } from './state.ts';

/*
 * Reading ahead (`prefetch: k`): the next intervals are requested before the last response shows where they begin. The
 * reducer does not change, and gets the responses in the same order. Five rules:
 *
 *   1. A response to (b, t] may be used for the interval (c, x] if b ≤ c < t: see `reduce`.
 *   2. After an interval that ends at t the next one is guessed to begin at t − o, where o is three mean gaps: the last row is
 *      rarely at t itself. If t is a row that was seen, at t.
 *   3. Whenever a response arrives, the reducer is run ahead on what is there and what is expected, for at most k pages,
 *      and what is missing is requested.
 *   4. If the last row is before the beginning of the next response, or the next response is empty and a later one is not,
 *      what is between is requested, up to the first row that was seen behind it. If that is empty too, there are no rows
 *      for some way, and the reducer continues without guesses.
 *   5. An empty response sets k to 1, and others change it by one: guesses pay only as long as they have many rows.
 *
 * Without the overlap of rule 2 and without rule 4, 54 of 300 simulated reads lost a row.
 *
 * Only in the order of ids. An end is proven by responses that were requested after the last row was delivered, so every
 * guess is dropped when something else than a bounded interval is next.
 */

/** An interval requested before it is known that it is the next one. */
interface Guess<T> {
  readonly after: Key;
  readonly through: Key;
  /** Its end is a row that was seen, so the next interval begins there. */
  readonly endsWithRow: boolean;
  /** What two responses left out between them: rule 4. */
  readonly isGap: boolean;
  readonly response: Promise<PageResponse<T>>;
  /** Resolves when it has arrived or failed. A failure is thrown only if the response is needed. */
  readonly settled: Promise<void>;
  arrived: PageResponse<T> | undefined;
  /** Its keys, ascending. */
  keys: readonly Key[];
  failed: boolean;
  stop(): void;
}

type NewGuess = Pick<Guess<unknown>, 'after' | 'through' | 'endsWithRow' | 'isGap'>;

/** What to do about an interval: use a guess, wait for a later one that decides, or request this. */
type Choice<T> = { readonly use: Guess<T> } | { readonly waitFor: Guess<T> } | { readonly request: NewGuess };

/** An interval of which a guess is possible. */
type Guessable = IntervalState & { readonly after: Key; readonly through: Key; readonly width: bigint };

/** The mean gaps by which a guess begins before the expected end: of random gaps, e^-3 = 5 % are longer. 2 and 4 were no better. */
const GAPS_OF_OVERLAP = 3n;

interface ReadAheadOptions {
  /** Requests at most this many pages ahead. */
  readonly prefetch: number;
  readonly signal: AbortSignal;
}

/** A response, and the interval that was requested if it is not that of the state. */
interface Taken<T> {
  readonly response: PageResponse<T>;
  readonly asked: Guess<T> | undefined;
}

export class ReadAhead<T> {
  readonly #fetchPage: FetchPage<T>;
  readonly #options: ReadAheadOptions;
  readonly #context: ReadContext;
  #guesses: Guess<T>[] = [];
  /** The state whose response was requested last, and how many records the caller still takes. */
  #base: { readonly state: Guessable; readonly wanted: number } | undefined;
  /** The guess that was used for it. It stays until the next one is taken, so that the plan does not request it again. */
  #taken: Guess<T> | undefined;
  /** Rule 5. */
  #depth: number;
  /** The requests that the quota of the key had left at the last response. */
  #quotaLeft = Number.POSITIVE_INFINITY;

  constructor(fetchPage: FetchPage<T>, options: ReadAheadOptions, context: ReadContext) {
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
      const response = await this.#send(state, this.#options.signal);
      return { response, asked: undefined };
    }
    this.#base = { state, wanted };
    this.#drop((guess) => guess === this.#taken || guess.through <= state.after);
    for (;;) {
      this.#plan();
      const choice = choose(state, this.#guesses);
      if ('request' in choice) this.#request(choice.request);
      else if ('waitFor' in choice) await choice.waitFor.settled;
      else {
        const { use: guess } = choice;
        const response = await guess.response;
        const decided = choose(state, this.#guesses);
        if (!('use' in decided) || decided.use !== guess) continue;
        this.#taken = guess;
        if (!guess.isGap) this.#learn(response, state);
        return { response, asked: guess };
      }
    }
  }

  /** Rule 3: requests what is missing of the next pages. */
  #plan(): void {
    if (this.#base === undefined) return;
    let state: ReadState = this.#base.state;
    let left: readonly Guess<T>[] = this.#guesses;
    // Whether the read will come to this state, or is only expected to.
    let isKnown = true;
    for (let pages = 0; pages < this.#mostPages(this.#base); ) {
      if (!isGuessable(state, this.#context)) return;
      const choice = isKnown || state.timesNarrowed > 0 ? choose(state, left) : expected(state, left);
      if ('waitFor' in choice || ('request' in choice && pages > 0 && !this.#mayRequest())) return;
      const guess = 'use' in choice ? choice.use : this.#request(choice.request);
      if (guess.failed) return;
      left = left.filter((each) => each !== guess);
      if (guess.arrived === undefined) {
        state = stateAfter(state, guess, this.#context);
        isKnown = false;
        pages += 1;
        continue;
      }
      const begun = guess.after > state.after ? { ...state, after: guess.after } : state;
      const step = this.#stepAfter(begun, guess, guess.arrived);
      if (step === undefined) return;
      ({ state } = step);
      if (step.deliver === 'response') {
        // Its last row is where the next interval begins, wherever this one did.
        isKnown = true;
        pages += 1;
      }
    }
  }

  /** The pages that can be needed; those of a sync with `limit` are all. */
  #mostPages({ state, wanted }: { readonly state: ReadState; readonly wanted: number }): number {
    return Math.min(this.#depth, 1 + Math.floor(wanted / Math.max(1, pageSizeOf(state))));
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
      const step = reduce(state, response, this.#context, { asked });
      return step.deliver === 'response' || step.deliver === 'nothing' ? step : undefined;
    } catch {
      return undefined;
    }
  }

  #request(interval: NewGuess): Guess<T> {
    const { signal } = this.#options;
    const own = new AbortController();
    const { state } = this.#base as { readonly state: Guessable };
    const response = this.#send({ ...state, ...interval }, AbortSignal.any([signal, own.signal]));
    const guess: Guess<T> = {
      ...interval,
      response,
      settled: response.then(
        (arrived) => {
          guess.arrived = arrived;
          guess.keys = keysOf(arrived, state);
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
    this.#guesses.push(guess);
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
    const pageSize = pageSizeOf(state);
    const change = length >= pageSize ? 0 : length * 2 >= pageSize ? 1 : -1;
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
function choose<T>(state: Guessable, guesses: readonly Guess<T>[]): Choice<T> {
  const { after, through, timesNarrowed } = state;
  if (timesNarrowed > 0) {
    // A longer interval would be too long again.
    const narrowed = guesses.find((guess) => guess.after <= after && guess.through === through);
    return narrowed ? { use: narrowed } : { request: { after, through, endsWithRow: true, isGap: false } };
  }
  const covering = guesses
    .filter((guess) => guess.after <= after && after < guess.through)
    .filter((guess) => guess.after === after || !hasRowWithoutId(guess))
    // Of two with the same beginning, the one that was requested when more was known.
    .reduce<Guess<T> | undefined>((best, each) => (best && best.after > each.after ? best : each), undefined);
  const behind = guesses.filter((guess) => guess.after > (covering?.after ?? after) && !guess.failed);
  const seen = lowest(behind.flatMap(({ keys }) => keys.find((key) => key > after) ?? []));
  const underway = behind.find(({ arrived }) => arrived === undefined);
  if (covering === undefined) {
    const isGap = seen !== undefined && seen <= through;
    if (!isGap && underway !== undefined && underway.after < through) return { waitFor: underway };
    return { request: { after, through: isGap ? seen : through, endsWithRow: isGap, isGap } };
  }
  const isEmpty = covering.arrived !== undefined && (covering.keys.at(-1) ?? after) <= after;
  if (!isEmpty || covering.isGap) return { use: covering };
  if (seen !== undefined) return { request: { after, through: seen, endsWithRow: true, isGap: true } };
  return underway === undefined ? { use: covering } : { waitFor: underway };
}

/** The same for a state that is only expected: any guess behind it may turn out to be the next one. */
function expected<T>({ after, through }: Guessable, guesses: readonly Guess<T>[]): Choice<T> {
  const behind = guesses.filter((guess) => guess.through > after);
  const next = behind.find((guess) => guess.after === lowest(behind.map((each) => each.after)));
  return next === undefined
    ? { request: { after, through, endsWithRow: false, isGap: false } }
    : { use: next };
}

/** Rule 2: the state after a response that is as full as expected. */
function stateAfter(state: Guessable, guess: NewGuess, context: ReadContext): ReadState {
  const pageSize = 4n * BigInt(Math.max(1, pageSizeOf(state)));
  // The mean gap is width × 5 / (4 × page size), because an interval is expected to fill four fifths of a page.
  const gaps = GAPS_OF_OVERLAP * (state.width * 5n - pageSize);
  const overlap = gaps <= 0n ? 0n : (gaps + pageSize - 1n) / pageSize;
  const most = state.width / 2n;
  const after = guess.endsWithRow ? guess.through : guess.through - (overlap < most ? overlap : most);
  const next = after > state.after ? after : state.after + 1n;
  return { ...state, after: next, through: endAfter(next, state.width, state, context), timesNarrowed: 0 };
}

const hasRowWithoutId = ({ arrived }: Guess<unknown>): boolean =>
  arrived?.invalid.some(({ id }) => id === undefined) ?? false;

const lowest = (keys: readonly Key[]): Key | undefined =>
  keys.reduce<Key | undefined>((least, key) => (least === undefined || key < least ? key : least), undefined);

/** Ascending. Ids that are no integers count when the response is used. */
function keysOf({ ids, invalid }: PageResponse<unknown>, { order }: ReadState): readonly Key[] {
  const all = [...ids, ...invalid.flatMap(({ id }) => id ?? [])];
  return ascending(all.flatMap((id) => integerId(id) ?? []).map(DIRECTIONS[order].keyOf));
}
