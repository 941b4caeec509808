import type { RateLimit } from '../../schemas/rate-limit.ts';
import { allUnknown, known, unknown } from './finding.ts';
import type { Finding, QuotaFindings } from './report.ts';

/** Lengths that windows usually have, in seconds. */
const USUAL_S = [1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30, 60, 120, 300, 600, 900, 1800, 3600, 86_400];

/** When a request was sent and its response received; ms since the epoch. */
interface Moment {
  readonly sentAt: number;
  readonly receivedAt: number;
}

/** A window began after the one time and not after the other; ms since the epoch. */
interface WindowStart {
  readonly after: number;
  readonly by: number;
}

/** Reads the quota from the headers of each response. Other users of the key only make it look smaller. */
export class QuotaReading {
  readonly #starts: WindowStart[] = [];
  #last: (RateLimit & Moment) | undefined;
  #shrank = false;
  #grewInSteps = false;

  seen(rateLimit: RateLimit, moment: Moment): void {
    const last = this.#last;
    this.#last = { ...rateLimit, ...moment };
    if (last === undefined) return;

    const grownBy = rateLimit.remaining - last.remaining;
    if (grownBy < 0) this.#shrank = true;
    if (!this.#shrank || grownBy < 0) return;

    // A whole quota shows as one less, because this request took one. Only a large step is surely a new window: a
    // token bucket refills in small ones.
    const isWhole = rateLimit.remaining >= rateLimit.limit - 1;
    if (isWhole && grownBy >= rateLimit.limit / 2) {
      this.#starts.push({ after: last.sentAt, by: moment.receivedAt });
    } else this.#grewInSteps = true;
  }

  findings(): QuotaFindings {
    if (this.#last === undefined)
      return allUnknown('no response carried both X-RateLimit headers', ['limit', 'windowMs']);
    return { limit: known(this.#last.limit, 'X-RateLimit-Limit'), windowMs: this.#window() };
  }

  #window(): Finding<number> {
    if (!this.#shrank) return unknown('the quota never shrank: the service may not enforce it');
    if (this.#grewInSteps) return unknown('the quota grew in steps that may be a refill as well as a window');
    if (this.#starts.length < 2) {
      return unknown(`${this.#starts.length} windows began during the probe: a measurement takes two`);
    }
    let least = 0;
    let most = Number.POSITIVE_INFINITY;
    this.#starts.forEach(({ after, by }, index) => {
      const before = this.#starts[index - 1];
      if (before === undefined) return;
      least = Math.max(least, after - before.by);
      most = Math.min(most, by - before.after);
    });
    const [only, ...more] = USUAL_S.map((s) => s * 1000).filter((ms) => ms > least && ms <= most);
    const seen = `windows began more than ${least} ms and at most ${most} ms apart`;
    return only === undefined || more.length > 0
      ? unknown(seen)
      : known(only, `${seen}; no other usual length lies between`);
  }
}
