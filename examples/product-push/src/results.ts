import type { Value } from './columns.ts';

/** What became of a row. */
export type Action =
  | 'created'
  | 'updated'
  | 'unchanged'
  /** The file or the books have to be put right first. Nothing was sent. */
  | 'invalid'
  /** The service refused it, or its end is not known. */
  | 'failed'
  /** The service has taken it but does not show it yet. The next run looks again. */
  | 'pending'
  /** The run ended before. The next one takes it up. */
  | 'not_tried'
  | 'would_create'
  | 'would_update';

/** A field that differs. */
export interface Change {
  readonly column: string;
  readonly from: Value | undefined;
  readonly to: Value;
}

/** One row of the file, and what became of it. */
export interface RowResult {
  readonly line: number;
  readonly productNumber: string;
  readonly action: Action;
  /** The id of the product, where there is one. */
  readonly id?: string | undefined;
  readonly changes?: readonly Change[] | undefined;
  /** What a person should know or do. */
  readonly messages?: readonly string[] | undefined;
}

/** What a push came to. */
export interface PushReport {
  /** One for each row, in the order of the file. */
  readonly results: readonly RowResult[];
  /** What is to be said of the file as a whole. */
  readonly notes: readonly string[];
  /** Why the run ended before the last row; undefined when it did not. */
  readonly stopped: string | undefined;
}

const UNWELL: ReadonlySet<Action> = new Set(['invalid', 'failed', 'not_tried']);

/** Whether every row is as it should be, or soon will be. */
export function isWell({ results, stopped }: PushReport): boolean {
  return stopped === undefined && !results.some(({ action }) => UNWELL.has(action));
}

/** A report for people: a line for each row that is not simply unchanged, then the sums. */
export function describe(report: PushReport): string {
  const told = report.results.filter(({ action, messages }) => action !== 'unchanged' || messages?.length);
  const lines = told.flatMap(describeRow);
  const sums = new Map<Action, number>();
  for (const { action } of report.results) sums.set(action, (sums.get(action) ?? 0) + 1);
  const summary = [...sums].map(([action, count]) => `${count} ${action.replace('_', ' ')}`).join(', ');
  return [
    ...report.notes,
    ...lines,
    ...(report.stopped === undefined ? [] : [`stopped: ${report.stopped}`]),
    summary === '' ? 'The file has no rows.' : summary,
  ].join('\n');
}

function describeRow({ line, productNumber, action, id, changes, messages }: RowResult): string[] {
  const name = `line ${line}`.padEnd(9);
  const what = action.replace('_', ' ').padEnd(12);
  const changed = (changes ?? []).map(({ column, from, to }) => `${column} ${show(from)} → ${show(to)}`);
  const head = `${name} ${productNumber.padEnd(12)} ${what} ${id ?? ''} ${changed.join(', ')}`.trimEnd();
  return [head, ...(messages ?? []).map((message) => `          ${message}`)];
}

function show(value: Value | undefined): string {
  return value === undefined || value === null || value === '' ? '(none)' : String(value);
}
