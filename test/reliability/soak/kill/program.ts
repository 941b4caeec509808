// A process that is killed. Its argument is what it does.

import { once } from 'node:events';
import { createClient, isAccountingError, push, sync } from 'accounting-data-sdk';
import { fileStore } from 'accounting-data-sdk/node';
import { sqliteTarget } from 'accounting-data-sdk/targets';

export const COLLECTIONS = ['accounts', 'products', 'budgetLines'] as const;

interface Service {
  readonly baseUrl: string;
  readonly apiKey: string;
}

/** Brings a copy up to date, or as far as `stopAfter` allows. */
export interface Copying extends Service {
  /** A file of SQLite. */
  readonly to: string;
  readonly mode: 'full' | 'incremental';
  /** Requests after which the sync pauses. */
  readonly stopAfter?: number | undefined;
}

/** Pushes so many rows, which differ by their number. */
export interface Pushing extends Service {
  /** The folder of its store. */
  readonly folder: string;
  readonly rows: number;
  readonly visibleAfterMs: number;
  /** Whether it says that it is ready, and then waits for input. */
  readonly waitsForInput?: boolean;
}

export async function copy({ baseUrl, apiKey, to, mode, stopAfter }: Copying): Promise<void> {
  await sync(createClient({ baseUrl, apiKey }), {
    tenant: 'acme',
    collections: COLLECTIONS,
    target: sqliteTarget(to),
    mode,
    stopAfter: stopAfter === undefined ? undefined : { requests: stopAfter },
    // The sandbox commits at once: a larger one would hide a checkpoint that is ahead of its rows.
    lookbackMs: 1_000,
    // Runs that are killed apply no deletions, so many can be waiting for the one that is not.
    maxCandidates: 1_000_000,
  });
}

async function pushRows(task: Pushing): Promise<void> {
  const { baseUrl, apiKey, folder, visibleAfterMs } = task;
  if (task.waitsForInput) {
    process.stdout.write('ready\n');
    await once(process.stdin, 'data');
  }
  const rows = Array.from({ length: task.rows }, (_, n) => ({ productNumber: `K-${n}`, name: `Name ${n}` }));
  const options = { tenant: 'acme', key: 'productNumber', store: fileStore(folder), visibleAfterMs } as const;
  const { counts } = await push(createClient({ baseUrl, apiKey }).products, { ...options, rows });
  if (counts.failed > 0) process.exitCode = 1;
}

/** Whether a sync failed only because the writer deleted the records that prove that a 404 means something. */
function isUndecided(error: unknown): boolean {
  return (
    isAccountingError(error, 'sync_failed') &&
    error.errors.every(
      ({ error }) =>
        isAccountingError(error, 'deletions_aborted') && error.reason === 'first_record_not_found',
    )
  );
}

if (process.argv[1] === import.meta.filename) {
  const task = JSON.parse(process.argv[2] ?? '') as Copying | Pushing;
  await ('to' in task ? copy(task) : pushRows(task)).catch((error: unknown) => {
    if (isAccountingError(error, 'concurrent_run')) process.exitCode = 2;
    // A run that cannot decide deletes nothing, and the next one reads everything again.
    else if (!isUndecided(error)) throw error;
  });
}
