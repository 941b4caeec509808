import type { CollectionReport, SyncProgress } from 'accounting-data-sdk';
import type { Io } from '../io.ts';

/** How far a pull is, earlier runs of it included. */
interface PullCounts {
  readonly records: number;
  readonly pages: number;
}

/** Without a terminal, a line this often. */
const LINE_EVERY_MS = 10_000;

/** Shows how far a pull is: records, pages, rate, and what it waits for. */
export class PullProgress {
  readonly #io: Io;
  readonly #name: string;
  readonly #quiet: boolean;
  readonly #startedAt = performance.now();
  readonly #asked: 'keyset' | 'page';
  #counts: PullCounts;
  /** Records without a valid id, which are written too. */
  #invalid = 0;
  #pagination: SyncProgress['pagination'];
  #perSecond = 0;
  #loggedAt = performance.now();

  constructor(
    io: Io,
    task: { name: string; quiet: boolean; pagination: 'keyset' | 'page'; from: PullCounts },
  ) {
    this.#io = io;
    this.#name = task.name;
    this.#quiet = task.quiet;
    this.#asked = task.pagination;
    this.#counts = task.from;
  }

  /** Whether a page was read, by this run or an earlier one. */
  get hasPages(): boolean {
    return this.#counts.pages > 0;
  }

  resumes(): void {
    this.#log(`Resuming after ${many(this.#counts.records, 'record')}.`);
  }

  page(counts: PullCounts, invalid = 0): void {
    this.#counts = counts;
    this.#invalid += invalid;
    this.#show('');
  }

  /** What the run says of itself: its rate, and how it reads. */
  update({ pagination, recordsPerSecond }: SyncProgress): void {
    this.#perSecond = Math.round(recordsPerSecond);
    if (this.#asked === 'keyset' && pagination === 'page' && this.#pagination !== 'page') {
      this.#log('Ids are not integers: reading page by page, which cannot be resumed.');
    }
    this.#pagination = pagination;
  }

  /** The call waits for quota. */
  wait(waitMs: number | undefined): void {
    const time = waitMs === undefined ? '' : ` ${seconds(waitMs)}`;
    this.#show(`; waiting${time} for the quota of the key`);
  }

  retry(reason: string, waitMs: number): void {
    this.#show(`; retrying in ${seconds(waitMs)} (${reason})`);
  }

  /** The last line; nothing if it failed before anything was read. */
  end(report: CollectionReport | undefined): void {
    this.#io.status?.(undefined);
    if (report === undefined && !this.hasPages) return;
    const took = ((performance.now() - this.#startedAt) / 1000).toFixed(1);
    const how = report === undefined ? 'not complete' : 'complete';
    this.#log(`${this.#soFar(` of ${this.#name}`)}, ${took} s: ${how}.`);
    if (this.#invalid > 0) this.#log(`${count(this.#invalid)} of them have no valid id.`);
    if (report?.complete === 'likely') {
      this.#log(
        `Warning: the service does not list ${this.#name} in the order of ids, hides records, or sent some twice. A record may be missing.`,
      );
    }
  }

  #log(text: string): void {
    if (!this.#quiet) this.#io.log(text);
  }

  #show(what: string): void {
    if (this.#quiet) return;
    const rate = this.#perSecond > 0 ? `, ${count(this.#perSecond)} per second` : '';
    const text = `${this.#name}: ${this.#soFar()}${rate}${what}`;
    const now = performance.now();
    if (this.#io.status !== undefined) this.#io.status(text);
    else if (now - this.#loggedAt >= LINE_EVERY_MS) {
      this.#loggedAt = now;
      this.#log(text);
    }
  }

  #soFar(of = ''): string {
    const { records, pages } = this.#counts;
    return `${many(records, 'record')}${of} in ${many(pages, 'page')}`;
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
