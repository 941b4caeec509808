// Which collections of a run are read, and when: parents before children, as many at a time as `concurrency` allows. One
// whose requests fail as in an outage steps aside, so that the others show whether the service works.

import type { GivesWay, Others } from '../transport/outage-clock.ts';

/**
 * - `waiting`: for its turn, at first or after it stepped aside.
 * - `reading`: it has its turn.
 * - `aside`: its requests have failed.
 * - `ended`: it was read, or not.
 */
type Place = 'waiting' | 'reading' | 'aside' | 'ended';

/** One collection. */
export interface Turn {
  /** Parents have a lower one than their children. */
  readonly level: number;
  readonly place: Place;
}

/**
 * The positions of those whose turn it is, in their order. Children wait for parents, but not for one that stepped aside:
 * what they contain is right anyway.
 */
export function nextTurns(turns: readonly Turn[], most: number): readonly number[] {
  const open = turns.filter(({ place }) => place === 'waiting' || place === 'reading');
  const level = Math.min(...open.map((turn) => turn.level));
  const free = most - turns.filter(({ place }) => place === 'reading').length;
  const next = turns.flatMap((turn, at) => (turn.place === 'waiting' && turn.level === level ? [at] : []));
  return next.slice(0, Math.max(0, free));
}

/** What the others are doing, for the one at this position. */
export function othersOf(turns: readonly Turn[], position: number): Others {
  const places = new Set(turns.filter((_, at) => at !== position).map(({ place }) => place));
  if (places.has('waiting') || places.has('reading')) return 'can_go';
  return places.has('aside') ? 'failing' : 'none';
}

/** Gives turns. */
export class Turns {
  readonly #turns: Turn[];
  /** Each is open when it is the turn of the one at this position, and then closed again. */
  readonly #starts: PromiseWithResolvers<void>[];
  #most: number;
  readonly #signal: AbortSignal;
  readonly #changed: () => void;

  /** `changed`: called when one begins, ends or steps aside. */
  constructor(
    levels: readonly number[],
    { most, signal, changed }: { most: number; signal: AbortSignal; changed: () => void },
  ) {
    this.#turns = levels.map((level) => ({ level, place: 'waiting' }));
    this.#starts = levels.map(() => Promise.withResolvers());
    this.#most = most;
    this.#signal = signal;
    this.#changed = changed;
    signal.addEventListener('abort', () => {
      for (const { resolve } of this.#starts) resolve();
    });
  }

  /** Lets so many be read at a time. */
  allow(most: number): void {
    this.#most = most;
    this.#give();
  }

  /** Waits for the turn of the one at this position. Rejects with the signal's reason. */
  async begin(position: number): Promise<void> {
    const start = this.#starts[position];
    this.#move(position, 'waiting');
    if (!this.#signal.aborted) await start?.promise;
    this.#signal.throwIfAborted();
  }

  end(position: number): void {
    this.#move(position, 'ended');
  }

  /** How the one at this position gives way while calls of it wait. */
  way(position: number): GivesWay {
    let aside = 0;
    return {
      others: () => othersOf(this.#turns, position),
      leave: () => {
        if (++aside === 1) this.#move(position, 'aside');
      },
      enter: async () => {
        const start = this.#starts[position];
        // It goes on when all of its calls do.
        if (--aside === 0) return await this.begin(position);
        await start?.promise;
        this.#signal.throwIfAborted();
      },
    };
  }

  #move(position: number, place: Place): void {
    const turn = this.#turns[position];
    if (turn === undefined || turn.place === 'ended') return;
    this.#turns[position] = { ...turn, place };
    this.#give();
    this.#changed();
  }

  #give(): void {
    for (const position of nextTurns(this.#turns, this.#most)) {
      const turn = this.#turns[position] as Turn;
      this.#turns[position] = { ...turn, place: 'reading' };
      this.#starts[position]?.resolve();
      this.#starts[position] = Promise.withResolvers();
    }
  }
}
