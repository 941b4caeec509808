import { type ProductClient, readCatalogue } from './catalogue.ts';
import { type Tools as ExecuteTools, execute } from './execute.ts';
import { Breaker } from './explain.ts';
import { place, plan, type Task } from './plan.ts';
import { type Row, readRows } from './read-rows.ts';
import type { PushReport, RowResult } from './results.ts';
import type { State } from './state.ts';

/** Options of {@link push}. */
export interface PushOptions {
  readonly client: ProductClient;
  /** The text of the shop's export. */
  readonly csv: string;
  readonly state: State;
  /** Only says what would be done. Default: false. */
  readonly dryRun?: boolean | undefined;
  /** Rows under way at once. Default: 4. */
  readonly concurrency?: number | undefined;
  /** Ends the run; the report then says how far it came. */
  readonly signal?: AbortSignal | undefined;
  /** The clock, in ms since the epoch. */
  readonly now?: (() => number) | undefined;
}

/**
 * Makes the products of the books what the export of the shop says, by their numbers. What is as it should be is left
 * alone, so that a second run sends nothing, and one that was killed half-way goes on where it was.
 */
export async function push(options: PushOptions): Promise<PushReport> {
  const { client, state, dryRun = false, signal, now = Date.now } = options;
  const { rows, invalid, notes } = readRows(options.csv);
  const numbers = new Set(rows.map(({ productNumber }) => productNumber));
  const catalogue = await readCatalogue(client, numbers, signal);

  const tasks: Task[] = [];
  for (const row of rows) tasks.push(await plan(row, { client, state, catalogue, now, signal }));
  const report = (results: readonly RowResult[], stopped?: string): PushReport => {
    const all = [...invalid, ...results].sort((a, b) => a.line - b.line);
    return { results: all, notes, stopped };
  };
  if (dryRun) return report(tasks.map(foresee));

  // Every key is on the disk before the first of them is sent.
  await state.save();
  const breaker = new Breaker();
  try {
    const onError = breaker.failed.bind(breaker);
    const tools = { client, state, now, signal, onError };
    const results = await runAll(tasks, { tools, breaker, concurrency: options.concurrency ?? 4 });
    return report(results, breaker.reason);
  } finally {
    await state.save();
  }
}

interface Running {
  readonly tools: ExecuteTools;
  readonly breaker: Breaker;
  readonly concurrency: number;
}

/** Does all tasks, a few at once; the results come in the order of the tasks. */
async function runAll(
  tasks: readonly Task[],
  { tools, breaker, concurrency }: Running,
): Promise<RowResult[]> {
  const results = new Array<RowResult>(tasks.length);
  // One iterator for all workers: each takes the next task.
  const next = tasks.entries();
  const work = async () => {
    for (const [index, task] of next) {
      const stopped = breaker.reason !== undefined && task.kind !== 'none';
      results[index] = stopped ? leave(task, tools.state) : await executeOrStop(task, tools, breaker);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  return results;
}

async function executeOrStop(task: Task, tools: ExecuteTools, breaker: Breaker): Promise<RowResult> {
  try {
    const result = await execute(task, tools);
    if (task.kind !== 'none' && result.action !== 'failed') breaker.succeeded();
    return result;
  } catch (error) {
    // Also where the error is thrown on: the other workers take no further task.
    breaker.reason ??= 'the run was ended';
    if (task.kind === 'none' || !tools.signal?.aborted) throw error;
    return notTried(task.row, 'It may have been under way. Run again: that goes on safely.');
  }
}

/** A task that was not begun. A create of which nothing was sent has no need of its key. */
function leave(task: Exclude<Task, { kind: 'none' }>, state: State): RowResult {
  if (task.kind === 'create' && !task.sentBefore) state.forget(task.row.productNumber);
  return notTried(task.row);
}

function notTried(row: Row, ...messages: string[]): RowResult {
  return { ...place(row), action: 'not_tried', messages };
}

function foresee(task: Task): RowResult {
  if (task.kind === 'none') return task.result;
  if (task.kind === 'create') return { ...place(task.row), action: 'would_create' };
  return { ...place(task.row), action: 'would_update', id: task.id, changes: task.changes };
}
