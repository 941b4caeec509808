import { monotonicMs } from '../internal/monotonic-clock.ts';
import type { CollectionReport, CopyFigures } from '../reports/sync-report.ts';
import type { Batch, SyncProgress } from './batch.ts';
import type { Written } from './target.ts';

const FIGURES = ['added', 'changed', 'unchanged', 'deleted', 'replaced'] as const;

/** Counts for the report and the progress of one collection. */
export class RunStats {
  #records = 0;
  #invalid = 0;
  #pages = 0;
  /** What the target changed, as it reported. */
  #figures: CopyFigures = {};
  /** What is in the batch that the consumer works on. */
  #delivered = { records: 0, invalid: 0 };
  #startedAt = monotonicMs();

  begin(): void {
    this.#startedAt = monotonicMs();
  }

  /** Counts a batch before it is delivered, because the consumer may empty the array. */
  delivers({ records, invalid }: Pick<Batch<unknown>, 'records' | 'invalid'>): void {
    this.#delivered = { records: records.length, invalid: invalid.length };
  }

  /** The checkpoint of the batch is written. `written`: what a target returned for it. */
  committed(written: unknown): void {
    const { records, invalid } = this.#delivered;
    const { replaced, invalid: kept = 0, ...figures } = (written ?? {}) as Partial<Written>;
    if (records > 0 || invalid > 0) this.#pages++;
    this.#records += records;
    this.#invalid += invalid;
    if (typeof figures.added !== 'number') return;
    this.#records -= kept;
    this.#invalid += kept;
    this.#changed({ ...figures, replaced: replaced?.length });
  }

  /** Records were removed from the copy. `count`: what a target returned for them. */
  deleted(count: unknown): void {
    if (typeof count === 'number') this.#changed({ deleted: count });
  }

  #changed(more: CopyFigures): void {
    const sums = FIGURES.map((name) => [name, (this.#figures[name] ?? 0) + (more[name] ?? 0)]);
    this.#figures = Object.fromEntries(sums);
  }

  get report(): Pick<CollectionReport, 'records' | 'invalid' | 'pages'> & CopyFigures {
    return {
      records: this.#records,
      invalid: this.#invalid,
      pages: this.#pages,
      ...this.#figures,
    };
  }

  get progress(): Pick<SyncProgress, 'records' | 'pages' | 'recordsPerSecond'> {
    const seconds = (monotonicMs() - this.#startedAt) / 1000;
    const recordsPerSecond = seconds > 0 ? this.#records / seconds : 0;
    return { records: this.#records, pages: this.#pages, recordsPerSecond };
  }
}
