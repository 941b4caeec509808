import type { CollectionReport, Listeners } from 'accounting-data-sdk';
import type { CommandIo } from '../io.ts';
import { counted, numberOf } from '../numbers.ts';

/** How far a pull is, earlier runs of it included. */
export interface PullCounts {
  readonly records: number;
  readonly pages: number;
}

/** Without a terminal, a line this often. */
const LINE_EVERY_MS = 10_000;

/** Shows how far a pull is: records, pages, rate, and what it waits for. */
export class PullProgress {
  readonly #io: CommandIo;
  /** Collections whose read by page may lack a record for no other reason. */
  readonly #byPage: string[] = [];
  #shown = '';
  #loggedAt = performance.now();

  constructor(io: CommandIo) {
    this.#io = io;
  }

  /** Of the client. */
  readonly listeners: Listeners = {
    wait: ({ waitMs }) => {
      const time = waitMs === undefined ? '' : ` ${seconds(waitMs)}`;
      this.#print(`${this.#shown}; waiting${time} for the quota of the key`);
    },
    retry: ({ reason, waitMs }) => this.#print(`${this.#shown}; retrying in ${seconds(waitMs)} (${reason})`),
  };

  show(collection: string, counts: PullCounts, recordsPerSecond: number): void {
    const perSecond = Math.round(recordsPerSecond);
    const rate = perSecond > 0 ? `, ${numberOf(perSecond)} per second` : '';
    this.#shown = `${collection}: ${countsOf(counts)}${rate}`;
    this.#print(this.#shown);
  }

  /** Warns of a collection that may lack records. Those read by page are named together at the end: see `summarize`. */
  warn({ collection, complete, pagination, repeated }: CollectionReport): void {
    if (complete !== 'likely') return;
    if (repeated > 0) {
      this.#io.note(
        `Warning: the list of ${collection} repeated ${counted(repeated, 'record')}, so it may lack as many.`,
      );
    } else if (pagination === 'page') this.#byPage.push(collection);
    else {
      this.#io.note(
        `Warning: the service does not list ${collection} in the order of ids, or hides records. A record may be missing.`,
      );
    }
  }

  /** The last lines of a pull. */
  summarize(): void {
    if (this.#byPage.length === 0) return;
    this.#io.note(
      `Read by page: ${this.#byPage.join(', ')}. If a record was deleted during the read, another one may be missing.`,
    );
  }

  #print(text: string): void {
    const now = performance.now();
    if (this.#io.status !== undefined) this.#io.status(text);
    else if (now - this.#loggedAt >= LINE_EVERY_MS) {
      this.#loggedAt = now;
      this.#io.note(text);
    }
  }
}

/** `240 records in 12 pages`, `240 records of accounts in 12 pages`. */
export function countsOf({ records, pages }: PullCounts, collection?: string): string {
  const of = collection === undefined ? '' : ` of ${collection}`;
  return `${counted(records, 'record')}${of} in ${counted(pages, 'page')}`;
}

function seconds(ms: number): string {
  return `${Math.ceil(ms / 1000)} s`;
}
