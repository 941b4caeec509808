import type { CollectionReport, Listeners } from 'accounting-data-sdk';
import type { CommandIo } from '../io.ts';
import { counted, numberOf } from '../numbers.ts';
import { Progress } from '../progress.ts';

/** How far a pull is, earlier runs of it included. */
export interface PullCounts {
  readonly records: number;
  readonly pages: number;
}

/** Shows how far a pull is: records, pages, rate, and what it waits for. */
export class PullProgress {
  readonly #io: CommandIo;
  readonly #progress: Progress;
  /** Collections whose read by page may lack a record for no other reason. */
  readonly #byPage: string[] = [];
  #shown = '';
  /** Of the client. */
  readonly listeners: Listeners;

  constructor(io: CommandIo) {
    this.#io = io;
    this.#progress = new Progress(io);
    this.listeners = this.#progress.listeners(() => this.#shown);
  }

  show(collection: string, counts: PullCounts, recordsPerSecond: number): void {
    const perSecond = Math.round(recordsPerSecond);
    const rate = perSecond > 0 ? `, ${numberOf(perSecond)} per second` : '';
    this.#shown = `${collection}: ${countsOf(counts)}${rate}`;
    this.#progress.show(this.#shown);
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
}

/** `240 records in 12 pages`, `240 records of accounts in 12 pages`. */
export function countsOf({ records, pages }: PullCounts, collection?: string): string {
  const of = collection === undefined ? '' : ` of ${collection}`;
  return `${counted(records, 'record')}${of} in ${counted(pages, 'page')}`;
}
