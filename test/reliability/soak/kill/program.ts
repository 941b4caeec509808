// A process that is killed. Its argument is what it does.

import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createClient, isAccountingError, push, type Store, sync } from 'accounting-data-sdk';
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
  /** The lock of the store: that of `fileStore`, none, or one that is free again after so many ms, as of `SET NX PX`. */
  readonly lock?: 'file' | 'none' | number;
  readonly rows: number;
  readonly visibleAfterMs: number;
  readonly timeoutMs?: number;
  /** Whether it says that it is ready, and then waits for input. */
  readonly waitsForInput?: boolean;
}

/** How much faster the clock of a push is, because the wait after a kill is long. A faster one would not suit a busy machine. */
export const SPEED = 3;

/** Makes timers and clocks of this process run faster. */
function speedUp(): void {
  const { setTimeout: timer } = globalThis;
  const [date, now] = [Date.now.bind(Date), performance.now.bind(performance)];
  const [startedAt, begunAt] = [date(), now()];
  Date.now = () => startedAt + (date() - startedAt) * SPEED;
  performance.now = () => begunAt + (now() - begunAt) * SPEED;
  const faster = (callback: () => void, ms = 0, ...args: []) => timer(callback, ms / SPEED, ...args);
  globalThis.setTimeout = Object.assign(faster, timer) as typeof setTimeout;
}

/** The time of the machine. */
const { now: realNow } = Date;

function storeOf({ folder, lock = 'file' }: Pushing): Store {
  const store = fileStore(folder);
  if (lock === 'file') return store;
  const entries = { get: store.get, set: store.set, delete: store.delete };
  if (lock === 'none') return entries;
  const file = join(folder, 'expires');
  const expiring = () => {
    const until = existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0;
    if (until > realNow()) return undefined;
    mkdirSync(folder, { recursive: true });
    writeFileSync(file, String(realNow() + lock / SPEED));
    return () => rmSync(file, { force: true });
  };
  return { ...entries, lock: expiring };
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
  const { baseUrl, apiKey, visibleAfterMs, timeoutMs } = task;
  speedUp();
  if (task.waitsForInput) {
    process.stdout.write('ready\n');
    await once(process.stdin, 'data');
  }
  const rows = Array.from({ length: task.rows }, (_, n) => ({ productNumber: `K-${n}`, name: `Name ${n}` }));
  const options = { tenant: 'acme', key: 'productNumber', store: storeOf(task), visibleAfterMs } as const;
  const { products } = createClient({ baseUrl, apiKey, timeoutMs });
  const { counts } = await push(products, { ...options, rows });
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
