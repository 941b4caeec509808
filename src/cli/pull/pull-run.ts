import { jsonText } from '../../internal/json-text.ts';
import type { Page } from '../../pagination/page.ts';
import type { AccountingRecord } from '../../schemas/record.ts';
import { watermarkOf } from '../../sync/watermark.ts';
import type { PullCheckpoint, PullPoint } from './checkpoint.ts';
import type { Sink } from './sink.ts';

/** What a pull is made of. */
export interface PullParts {
  /** The pages that are still to be read. */
  readonly pages: AsyncIterable<Page<AccountingRecord>>;
  readonly sink: Sink;
  readonly checkpoint: PullCheckpoint | undefined;
  /** Where it goes on. */
  readonly from: PullPoint | undefined;
  readonly pagination: 'page' | 'keyset';
  readonly onPage: (counts: PullCounts) => void;
  /** Told when the walk has to begin anew: ids are no whole numbers, so that there is no point to go on from. */
  readonly onByPages: () => void;
}

/** How far a pull is, earlier runs of it included. */
export interface PullCounts {
  readonly records: number;
  readonly pages: number;
  /** Records without an id, which are passed on all the same. */
  readonly invalid: number;
}

/** Reads a collection to its end: page after page into the sink, then a checkpoint that knows no more than the sink. */
export class PullRun {
  readonly #parts: PullParts;
  #records: number;
  #pages: number;
  #invalid = 0;
  #startedAt: string | null;
  #resumeToken: string | null;
  #byPages = false;
  /** Whether lines were lost on their way into the sink. */
  #isTorn = false;

  constructor(parts: PullParts) {
    const { from } = parts;
    this.#parts = parts;
    this.#records = from?.records ?? 0;
    this.#pages = from?.pages ?? 0;
    this.#startedAt = from?.startedAt ?? null;
    this.#resumeToken = from?.resumeToken ?? null;
  }

  get counts(): PullCounts {
    return { records: this.#records, pages: this.#pages, invalid: this.#invalid };
  }

  /** When the walk began, by the service's clock. */
  get startedAt(): string | null {
    return this.#startedAt;
  }

  /** Ends when everything is in the sink. Whatever happens, what was read so far is kept, and the checkpoint with it. */
  async run(): Promise<void> {
    const { pages, sink, checkpoint } = this.#parts;
    let taken = 0;
    try {
      for await (const page of pages) {
        await this.#take(page);
        taken += 1;
        if (sink.isDue) await this.#commit();
      }
      await this.#commitLines();
    } catch (error) {
      // Why it ended matters more than that the last lines could not be kept: they come again. A checkpoint after
      // lines that the sink has lost would go on behind them.
      if (taken > 0 && !this.#isTorn) await this.#commit().catch(() => {});
      throw error;
    }
    // In this order: if the process ends in between, the next run starts over, and both files are as they were.
    await checkpoint?.remove();
    await sink.finish();
  }

  async #take(page: Page<AccountingRecord>): Promise<void> {
    const { sink, checkpoint, pagination, onPage, onByPages } = this.#parts;
    // What a later pull asks from: what changes after this may be missing here.
    this.#startedAt ??= watermarkOf(page.first);
    if (pagination === 'keyset' && page.pagination === 'page' && !this.#byPages) {
      this.#byPages = true;
      onByPages();
    }
    if (page.restarted) {
      // The records before this page come again. The checkpoint is written first: it must never say more than the file
      // holds, whenever the process ends.
      this.#resumeToken = null;
      await checkpoint?.write(this.#point());
      if (await sink.restart()) {
        this.#records = 0;
        this.#pages = 0;
      }
    }
    const rows = [...page.records, ...page.invalid.map(({ record }) => record)];
    sink.add(rows.map((row) => `${jsonText(row)}\n`).join(''));
    this.#records += rows.length;
    this.#pages += 1;
    this.#invalid += page.invalid.length;
    this.#resumeToken = page.resumeToken ?? null;
    onPage(this.counts);
  }

  async #commit(): Promise<void> {
    await this.#commitLines();
    await this.#parts.checkpoint?.write(this.#point());
  }

  async #commitLines(): Promise<void> {
    this.#isTorn = true;
    await this.#parts.sink.commit();
    this.#isTorn = false;
  }

  /** A walk by pages has no point to go on from: the next run begins anew, with an empty file. */
  #point(): PullPoint {
    const { bytes } = this.#parts.sink;
    if (this.#resumeToken === null || this.#byPages) {
      return { startedAt: null, resumeToken: null, bytes: 0, records: 0, pages: 0 };
    }
    const { records, pages } = this.counts;
    return { startedAt: this.#startedAt, resumeToken: this.#resumeToken, bytes, records, pages };
  }
}
