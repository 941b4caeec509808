import { once } from 'node:events';
import { createClient, isAccountingError, push } from 'accounting-data-sdk';
import { fileStore } from 'accounting-data-sdk/node';
import type { ProductRow } from 'accounting-data-sdk/testing';

/** The task of a push: so many rows, which differ by their number. */
export interface Task {
  readonly baseUrl: string;
  readonly apiKey: string;
  /** The folder of its store. */
  readonly folder: string;
  readonly rows: number;
  readonly visibleAfterMs: number;
  /** Whether it says that it is ready, and then waits for input. */
  readonly waitsForInput?: boolean;
}

export function rowsOf({ rows }: Pick<Task, 'rows'>): ProductRow[] {
  return Array.from({ length: rows }, (_, n) => ({
    productNumber: `K-${n}`,
    name: `Name ${n}`,
    salePrice: `${n}.5`,
  }));
}

// Run as a program, which is killed. Its argument is the task.
if (process.argv[1] === import.meta.filename) {
  const task = JSON.parse(process.argv[2] ?? '') as Task;
  const { baseUrl, apiKey, folder, visibleAfterMs } = task;
  if (task.waitsForInput) {
    process.stdout.write('ready\n');
    await once(process.stdin, 'data');
  }
  try {
    const report = await push(createClient({ baseUrl, apiKey }).products, {
      tenant: 'acme',
      rows: rowsOf(task),
      key: 'productNumber',
      store: fileStore(folder),
      visibleAfterMs,
    });
    if (report.counts.failed > 0) process.exitCode = 1;
  } catch (error) {
    if (!isAccountingError(error, 'concurrent_run')) throw error;
    process.exitCode = 2;
  }
}
