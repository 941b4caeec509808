import type { AccountingRecord, Page } from 'accounting-data-sdk';
import { jsonText } from '../../internal/json-text.ts';
import { lowestOffset } from '../../sync/bound.ts';
import { watermarkOf } from '../../sync/watermark.ts';
import type { PullCheckpoint, PullPoint } from './checkpoint.ts';
import type { Output } from './outputs.ts';
import type { PullProgress } from './progress.ts';

/** What a pull consists of. */
export interface PullParts {
  /** The pages that are still to be read. */
  readonly pages: AsyncIterable<Page<AccountingRecord>>;
  readonly output: Output;
  readonly checkpoint: PullCheckpoint | undefined;
  /** Where an earlier run stopped. */
  readonly from: PullPoint | undefined;
  readonly pagination: 'page' | 'keyset';
  readonly progress: PullProgress;
}

/** What a later pull has to know. */
export interface PullResult {
  /** The service's clock at the start: a later pull reads what changed since then. */
  readonly startedAt: string | null;
  /** The lowest UTC offset in the timestamps of the service, in minutes. */
  readonly utcOffset: number | null;
}

/** Reads a collection to its end: page after page into the output, then a checkpoint that knows no more than that. */
export async function readCollection(parts: PullParts): Promise<PullResult> {
  const { pages, output, checkpoint, from, progress } = parts;
  let { startedAt = null, utcOffset = null, resumeToken = null } = from ?? {};
  let { records, pages: pageCount, invalid } = { records: 0, pages: 0, ...from, invalid: 0 };
  let complete: Page<AccountingRecord>['complete'];
  let byPages = false;
  /** Whether a commit failed: lines may be missing from the output. */
  let isTorn = false;

  const point = (): PullPoint =>
    // A read by pages cannot be resumed: the next run starts over, with an empty file.
    resumeToken === null || byPages
      ? { startedAt: null, utcOffset: null, resumeToken: null, bytes: 0, records: 0, pages: 0 }
      : { startedAt, utcOffset, resumeToken, bytes: output.bytes, records, pages: pageCount };
  const commit = async () => {
    isTorn = true;
    await output.commit();
    isTorn = false;
  };
  const add = async (page: Page<AccountingRecord>) => {
    startedAt ??= watermarkOf(page.first);
    if (parts.pagination === 'keyset' && page.pagination === 'page' && !byPages) {
      byPages = true;
      progress.readsByPages();
    }
    if (page.restarted) {
      // The records before this page come again. The checkpoint is written first, because it must never say more than
      // the file holds, whenever the process ends.
      resumeToken = null;
      await checkpoint?.write(point());
      if (await output.restart()) {
        records = 0;
        pageCount = 0;
      }
    }
    const rows = [...page.records, ...page.invalid.map(({ record }) => record)];
    output.add(rows.map((row) => `${jsonText(row)}\n`).join(''));
    records += rows.length;
    pageCount += 1;
    invalid += page.invalid.length;
    complete = page.complete;
    resumeToken = page.resumeToken ?? null;
    const offset = lowestOffset(page.rows as Parameters<typeof lowestOffset>[0]);
    if (offset !== undefined) utcOffset = Math.min(offset, utcOffset ?? offset);
    progress.page({ records, pages: pageCount, invalid, complete });
  };

  let added = 0;
  try {
    for await (const page of pages) {
      await add(page);
      added += 1;
      if (!output.isDue) continue;
      await commit();
      await checkpoint?.write(point());
    }
    await commit();
  } catch (error) {
    // The error matters more than the last lines: they can be read again. But a checkpoint after a failed commit would
    // skip lines that the output does not hold.
    if (added > 0 && !isTorn)
      await commit()
        .then(() => checkpoint?.write(point()))
        .catch(() => {});
    throw error;
  }
  // In this order: if the process ends in between, the next run starts over, and both files are as they were.
  await checkpoint?.remove();
  await output.finish();
  return { startedAt, utcOffset };
}
