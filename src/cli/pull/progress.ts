import type { Io } from '../io.ts';
import type { PullCounts } from './pull-run.ts';

/** Without a terminal, a line so often. */
const LINE_EVERY_MS = 10_000;
/** The rate is that of the last so many seconds. */
const RATE_OVER_MS = 5000;

/** Says how far a pull is: records, pages, rate, and what it waits for. */
export class PullProgress {
  readonly #io: Io;
  readonly #name: string;
  readonly #startedAt = Date.now();
  #counts: PullCounts = { records: 0, pages: 0, invalid: 0 };
  #marks: { at: number; records: number }[] = [];
  #saidAt = Date.now();

  constructor(io: Io, name: string) {
    this.#io = io;
    this.#name = name;
  }

  page(counts: PullCounts): void {
    const now = Date.now();
    this.#counts = counts;
    this.#marks.push({ at: now, records: counts.records });
    while ((this.#marks[0]?.at ?? now) < now - RATE_OVER_MS) this.#marks.shift();
    this.#say(this.#text());
  }

  /** The budget of the key, or a retry. */
  wait(waitMs: number | undefined): void {
    const howLong = waitMs === undefined ? '' : ` ${Math.ceil(waitMs / 1000)} s`;
    this.#say(`${this.#text()}; waiting${howLong} for the budget of the key`);
  }

  retry(reason: string): void {
    this.#say(`${this.#text()}; trying again (${reason})`);
  }

  outage(waitMs: number): void {
    this.#say(`${this.#text()}; the service is down, trying again in ${Math.ceil(waitMs / 1000)} s`);
  }

  goesOn({ records, pages }: Omit<PullCounts, 'invalid'>): void {
    this.#counts = { records, pages, invalid: 0 };
    this.#io.log(`Goes on after ${many(records, 'record')}.`);
  }

  byPages(): void {
    this.#io.log('Ids are no whole numbers: reading by pages, which begins anew when it is stopped.');
  }

  /** The line at the end; none where nothing was read. */
  end(how: string): void {
    this.#io.status?.(undefined);
    const seconds = ((Date.now() - this.#startedAt) / 1000).toFixed(1);
    const { records, pages, invalid } = this.#counts;
    if (pages === 0) return;
    this.#io.log(
      `${many(records, 'record')} of ${this.#name} in ${many(pages, 'page')}, ${seconds} s: ${how}`,
    );
    if (invalid > 0) this.#io.log(`${count(invalid)} of them have no id that can be read.`);
  }

  #text(): string {
    const { records, pages } = this.#counts;
    const [oldest] = this.#marks;
    const newest = this.#marks.at(-1);
    const ms = newest === undefined || oldest === undefined ? 0 : newest.at - oldest.at;
    const rate =
      ms < 200 ? '' : `, ${count(Math.round(((records - (oldest?.records ?? 0)) * 1000) / ms))} a second`;
    return `${this.#name}: ${many(records, 'record')} in ${many(pages, 'page')}${rate}`;
  }

  #say(text: string): void {
    const { status, log } = this.#io;
    const now = Date.now();
    if (status !== undefined) status(text);
    else if (now - this.#saidAt >= LINE_EVERY_MS) {
      this.#saidAt = now;
      log(text);
    }
  }
}

/** 12,345 */
function count(value: number): string {
  return value.toLocaleString('en-US');
}

function many(value: number, what: string): string {
  return `${count(value)} ${what}${value === 1 ? '' : 's'}`;
}
