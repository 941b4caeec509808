import { monotonicMs } from '../../internal/monotonic-clock.ts';
import type { Io } from '../io.ts';

/** How far a pull is, earlier runs of it included. */
interface PullCounts {
  readonly records: number;
  readonly pages: number;
  /** Records without a valid id, which are written too. */
  readonly invalid: number;
  readonly complete: 'certain' | 'likely' | undefined;
}

/** Without a terminal, a line this often. */
const LINE_EVERY_MS = 10_000;
/** The rate is that of the last five seconds. */
const RATE_OVER_MS = 5000;

/** Shows how far a pull is: records, pages, rate, and what it waits for. */
export class PullProgress {
  readonly #io: Io;
  readonly #name: string;
  readonly #quiet: boolean;
  readonly #startedAt = monotonicMs();
  #counts: PullCounts = { records: 0, pages: 0, invalid: 0, complete: undefined };
  #marks: { at: number; records: number }[] = [];
  #loggedAt = monotonicMs();

  constructor(io: Io, name: string, quiet: boolean) {
    this.#io = io;
    this.#name = name;
    this.#quiet = quiet;
  }

  /** Whether a page was read, by this run or an earlier one. */
  get hasPages(): boolean {
    return this.#counts.pages > 0;
  }

  page(counts: PullCounts): void {
    const now = monotonicMs();
    this.#counts = counts;
    this.#marks.push({ at: now, records: counts.records });
    while ((this.#marks[0]?.at ?? now) < now - RATE_OVER_MS) this.#marks.shift();
    this.#show('');
  }

  /** The call waits for quota. */
  wait(waitMs: number | undefined): void {
    const time = waitMs === undefined ? '' : ` ${seconds(waitMs)}`;
    this.#show(`; waiting${time} for the quota of the key`);
  }

  retry(reason: string): void {
    this.#show(`; retrying (${reason})`);
  }

  outage(waitMs: number): void {
    this.#show(`; the service is down, retrying in ${seconds(waitMs)}`);
  }

  resumes({ records, pages }: Pick<PullCounts, 'records' | 'pages'>): void {
    this.#counts = { ...this.#counts, records, pages };
    this.#log(`Resuming after ${many(records, 'record')}.`);
  }

  readsByPages(): void {
    this.#log('Ids are not integers: reading page by page, which cannot be resumed.');
  }

  /** The last line; nothing if no page was read. */
  end(how: string): void {
    this.#io.status?.(undefined);
    const { records, pages, invalid, complete } = this.#counts;
    if (pages === 0) return;
    const took = ((monotonicMs() - this.#startedAt) / 1000).toFixed(1);
    this.#log(`${many(records, 'record')} of ${this.#name} in ${many(pages, 'page')}, ${took} s: ${how}`);
    if (invalid > 0) this.#log(`${count(invalid)} of them have no valid id.`);
    if (complete === 'likely') {
      this.#log(
        `Warning: the service does not list ${this.#name} in the order of ids, or hides records. A record may be missing.`,
      );
    }
  }

  #log(text: string): void {
    if (!this.#quiet) this.#io.log(text);
  }

  #show(what: string): void {
    if (this.#quiet) return;
    const { records, pages } = this.#counts;
    const text = `${this.#name}: ${many(records, 'record')} in ${many(pages, 'page')}${this.#rate()}${what}`;
    const now = monotonicMs();
    if (this.#io.status !== undefined) this.#io.status(text);
    else if (now - this.#loggedAt >= LINE_EVERY_MS) {
      this.#loggedAt = now;
      this.#log(text);
    }
  }

  #rate(): string {
    const [oldest] = this.#marks;
    const newest = this.#marks.at(-1);
    if (oldest === undefined || newest === undefined || newest.at - oldest.at < 200) return '';
    const perSecond = ((newest.records - oldest.records) * 1000) / (newest.at - oldest.at);
    return `, ${count(Math.round(perSecond))} per second`;
  }
}

/** 12,345 */
function count(value: number): string {
  return value.toLocaleString('en-US');
}

function many(value: number, what: string): string {
  return `${count(value)} ${what}${value === 1 ? '' : 's'}`;
}

function seconds(ms: number): string {
  return `${Math.ceil(ms / 1000)} s`;
}
