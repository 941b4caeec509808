import { type ChangesOptions, type Client, type CollectionReport, changes } from 'accounting-data-sdk';
import { jsonText } from '../../internal/json-text.ts';
import { BEGINNING, type PullPoint } from './checkpoint.ts';
import type { Output } from './outputs.ts';
import type { PullProgress } from './progress.ts';

/** What a pull consists of. */
interface PullParts {
  readonly output: Output;
  /** Where an earlier run stopped. */
  readonly from: PullPoint;
  /** Writes the checkpoint; does nothing without one. */
  readonly save: (point: PullPoint) => Promise<void>;
  readonly progress: PullProgress;
  readonly options: Pick<ChangesOptions, 'pagination' | 'updatedSince' | 'maxOutageMs' | 'signal'>;
}

/** Reads a collection to its end: batch after batch into the output, then a checkpoint that knows no more than that. */
export async function readCollection(
  collection: ReturnType<Client['collection']>,
  { output, from, save, progress, options }: PullParts,
): Promise<CollectionReport> {
  let point = from;
  /** What the output holds: the run reads it from here, and never finds more than was committed. */
  let { checkpoint } = from;
  /** Whether a commit failed: lines may be missing from the output. */
  let isTorn = false;
  let report: CollectionReport | undefined;

  const commit = async () => {
    isTorn = true;
    await output.commit();
    isTorn = false;
    ({ checkpoint } = point);
    point = { ...point, bytes: output.bytes };
  };
  const restart = async () => {
    // The checkpoint is written first, because it must never say more than the file holds, whenever the process ends.
    await save(BEGINNING);
    if (await output.restart()) point = BEGINNING;
  };
  const run = changes(collection, {
    ...options,
    tenant: 'pull',
    store: { get: async () => checkpoint },
    onProgress: (event) => progress.update(event),
  });
  const batches = async function* () {
    report = yield* run;
  };

  let added = 0;
  let isComplete = false;
  try {
    for await (const batch of batches()) {
      if (batch.restarted) await restart();
      else if (added === 0 && from.checkpoint !== null) progress.resumes();
      const rows = [...batch.rows, ...batch.invalid.map(({ record }) => record)];
      output.add(rows.map((row) => `${jsonText(row)}\n`).join(''));
      const { records, pages } = point;
      const counts = { records: records + rows.length, pages: pages + (batch.last ? 0 : 1) };
      point = { ...point, ...counts, checkpoint: batch.checkpoint };
      progress.page(counts, batch.invalid.length);
      added += 1;
      // The last checkpoint is not saved: a run that begins with it would read only what changed since.
      isComplete = batch.last;
      if (!isComplete && !output.isDue) continue;
      await commit();
      if (!isComplete) await save(point);
    }
  } catch (error) {
    // The error matters more than the last lines: they can be read again. But a checkpoint after a failed commit would
    // skip lines that the output does not hold.
    if (added > 0 && !isTorn && !isComplete)
      await commit()
        .then(() => save(point))
        .catch(() => {});
    throw error;
  }
  // In this order: if the process ends in between, the next run reads this collection again, and its file is as it was.
  await save(BEGINNING);
  await output.finish();
  return report as CollectionReport;
}
