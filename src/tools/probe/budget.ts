import type { RateLimit } from '../../schemas/rate-limit.ts';
import type { Moment } from './clock.ts';
import { type Finding, known, unknown } from './finding.ts';

/** What is known of the budget of the key. */
export interface BudgetFindings {
  /** Requests in a window, as the service names it. */
  readonly limit: Finding<number>;
  /** What was left after the last response. */
  readonly remaining: Finding<number>;
  /** How long a window is, in ms: only where two of them opened while the probe looked. */
  readonly windowMs: Finding<number>;
}

/** Lengths that people give to windows, in seconds. */
const ROUND_S = [1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30, 60, 120, 300, 600, 900, 1800, 3600, 86_400];

/** An instant at which the budget was whole again: after the one time and not after the other. */
interface Opening {
  readonly after: number;
  readonly by: number;
}

/** Reads the budget from what each answer reports. Knows of nobody else who uses the key: they only make it look smaller. */
export class BudgetReading {
  readonly #openings: Opening[] = [];
  #last: (RateLimit & Moment) | undefined;
  #shrank = false;
  #grewOtherwise = false;

  seen(rateLimit: RateLimit, moment: Moment): void {
    const last = this.#last;
    this.#last = { ...rateLimit, ...moment };
    if (last === undefined) return;

    if (rateLimit.remaining < last.remaining) this.#shrank = true;
    if (!this.#shrank || rateLimit.remaining < last.remaining) return;

    // This answer has taken one itself: the whole budget shows as one less. Only a large step up is surely a window
    // that opened: a refill makes small ones.
    const whole = rateLimit.remaining >= rateLimit.limit - 1;
    if (whole && rateLimit.remaining - last.remaining >= rateLimit.limit / 2) {
      this.#openings.push({ after: last.sentAt, by: moment.receivedAt });
    } else this.#grewOtherwise = true;
  }

  findings(): BudgetFindings {
    if (this.#last === undefined) {
      const nothing = unknown('no response carried both X-RateLimit headers');
      return { limit: nothing, remaining: nothing, windowMs: nothing };
    }
    const { limit, remaining } = this.#last;
    return {
      limit: known(limit, 'X-RateLimit-Limit'),
      remaining: known(remaining, 'X-RateLimit-Remaining of the last response'),
      windowMs: this.#window(),
    };
  }

  #window(): Finding<number> {
    if (!this.#shrank) return unknown('the budget never shrank: it may not be enforced');
    if (this.#grewOtherwise)
      return unknown('the budget came back in steps too small to tell a window from a refill');

    const spans = this.#openings.slice(1).map((opening, index) => {
      const before = this.#openings[index] ?? opening;
      return { least: opening.after - before.by, most: opening.by - before.after };
    });
    if (spans.length === 0) {
      const opened = this.#openings.length === 0 ? 'no window' : 'only one window';
      return unknown(`${opened} was seen to open: it takes two to measure`);
    }

    const least = Math.max(...spans.map((span) => span.least));
    const most = Math.min(...spans.map((span) => span.most));
    const round = ROUND_S.map((s) => s * 1000).filter((ms) => ms > least && ms <= most);
    const seen = `between two openings lay more than ${Math.max(0, least)} and at most ${most} ms`;
    const [only] = round;
    return round.length === 1 && only !== undefined
      ? known(only, `${seen}; the one round figure in between`)
      : unknown(seen);
  }
}
