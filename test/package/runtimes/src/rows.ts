import { type Outcome, type StepName, stepNames } from './scenario/outcome.ts';

/** What a runtime has shown. */
export interface Row {
  readonly runtime: string;
  /** Its version, as it says itself. */
  readonly version: string;
  /** By step. One that is not there was not reached. */
  readonly outcomes: readonly Outcome[];
  /** Why it could not be tried, or not to the end. */
  readonly problem?: string;
  /** Whether a failure is only told. */
  readonly informative?: boolean;
}

/** Something else that must hold, beside the scenario. */
export interface Extra {
  readonly what: string;
  readonly ok: boolean;
  readonly note: string;
}

export function passed({ outcomes, problem }: Row): boolean {
  return (
    problem === undefined && stepNames.every((name) => outcomes.some(({ step, ok }) => step === name && ok))
  );
}

/** Rows and columns as text, and below them what each failure says. */
export function table(rows: readonly Row[], extras: readonly Extra[]): string {
  const head = ['runtime', 'version', ...stepNames, ''];
  const lines = rows.map((row) => [
    row.runtime,
    row.version,
    ...stepNames.map((name) => mark(row, name)),
    verdict(row),
  ]);
  const widths = head.map((_, column) =>
    Math.max(...[head, ...lines].map((line) => (line[column] ?? '').length)),
  );
  const text = [head, ...lines].map((line) =>
    line
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  const others = extras.map(({ what, ok, note }) => `${ok ? 'ok' : 'FAILED'}  ${what}: ${note}`);
  return [...text, '', ...others, '', ...rows.flatMap(failures)].join('\n').trimEnd();
}

function mark({ outcomes }: Row, name: StepName): string {
  const outcome = outcomes.find(({ step }) => step === name);
  if (outcome === undefined) return '-';
  return outcome.ok ? 'ok' : 'FAIL';
}

function verdict(row: Row): string {
  if (row.informative) return passed(row) ? '(not supported, works)' : '(not supported)';
  return passed(row) ? '' : 'FAILED';
}

function failures({ runtime, outcomes, problem }: Row): string[] {
  const failed = outcomes.filter(({ ok }) => !ok).map(({ step, note }) => `${runtime}, ${step}: ${note}`);
  return problem === undefined ? failed : [...failed, `${runtime}: ${problem}`];
}
