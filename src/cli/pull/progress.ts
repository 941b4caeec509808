import { type CollectionReport, evidenceFacts, type Listeners } from 'accounting-data-sdk';
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
  /** Collections that may lack records, by why. */
  readonly #lacking = new Map<string, readonly string[]>();
  #shown = '';
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

  /** The read of a collection has ended: `summarize` says if it may lack records. */
  ended({ collection, evidence }: CollectionReport): void {
    for (const name of evidence.facts) {
      const { complete, when } = evidenceFacts[name];
      if (complete === 'likely') this.#lacking.set(when, [...(this.#lacking.get(when) ?? []), collection]);
    }
  }

  /** The last lines of a pull but one: which collections may lack records, and why. */
  summarize(): void {
    for (const [why, names] of this.#lacking)
      this.#io.note(`Warning: records of ${names.join(', ')} may be missing: ${why}.`);
  }
}

/** What a pull says at its end. */
export function endOf({ complete }: Pick<CollectionReport, 'complete'>): string {
  return complete === 'likely' ? 'records may be missing' : 'complete';
}

/** `240 records in 12 pages`, `240 records of accounts in 12 pages`. */
export function countsOf({ records, pages }: PullCounts, collection?: string): string {
  const of = collection === undefined ? '' : ` of ${collection}`;
  return `${counted(records, 'record')}${of} in ${counted(pages, 'page')}`;
}
