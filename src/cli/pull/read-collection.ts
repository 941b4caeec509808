import type { AccountingRecord, Page } from 'accounting-data-sdk';
import { jsonText } from '../../internal/json-text.ts';
import { lowestOffset } from '../../sync/bound.ts';
import { watermarkOf } from '../../sync/watermark.ts';
import { BEGINNING, type PullPoint, type PullStart } from './checkpoint.ts';
import type { Output } from './outputs.ts';
import type { PullProgress } from './progress.ts';

/** What a pull consists of. */
interface PullParts {
  /** The pages that are still to be read. */
  readonly pages: AsyncIterable<Page<AccountingRecord>>;
  readonly output: Output;
  /** Where an earlier run stopped. */
  readonly from: PullPoint;
  /** Writes the checkpoint; does nothing without one. */
  readonly save: (point: PullPoint) => Promise<void>;
  readonly pagination: 'page' | 'keyset';
  readonly progress: PullProgress;
}

/** Reads a collection to its end: page after page into the output, then a checkpoint that knows no more than that. */
export async function readCollection(parts: PullParts): Promise<PullStart> {
  const { pages, output, from, save, progress } = parts;
  let { startedAt, utcOffset, resumeToken, records, pages: pageCount } = from;
  let invalid = 0;
  let complete: Page<AccountingRecord>['complete'];
  let byPages = false;
  /** Whether a commit failed: lines may be missing from the output. */
  let isTorn = false;

  const point = (): PullPoint =>
    // A read by pages cannot be resumed: the next run starts over, with an empty file.
    resumeToken === null || byPages
      ? BEGINNING
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
      await save(point());
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
      await save(point());
    }
    await commit();
  } catch (error) {
    // The error matters more than the last lines: they can be read again. But a checkpoint after a failed commit would
    // skip lines that the output does not hold.
    if (added > 0 && !isTorn)
      await commit()
        .then(() => save(point()))
        .catch(() => {});
    throw error;
  }
  // In this order: if the process ends in between, the next run reads this collection again, and its file is as it was.
  await save(BEGINNING);
  await output.finish();
  return { startedAt, utcOffset };
}
