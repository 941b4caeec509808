import { type Goal, type GoalName, goals } from '../goals.ts';
import type { Findings, Table } from './part.ts';

/** A table as text: the first column to the left, the others to the right. */
export function tableText({ title, columns, rows }: Table): string {
  const widths = columns.map((column, index) =>
    Math.max(column.length, ...rows.map((row) => row[index]?.length ?? 0)),
  );
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, index) => (index === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[index] ?? 0)))
      .join('  ');
  return [title, '', line(columns), ...rows.map(line)].join('\n');
}

export interface Verdict {
  readonly goal: string;
  readonly what: string;
  readonly wanted: string;
  readonly figure: number;
  readonly met: boolean;
}

/** Whether each goal that was measured is met. */
export function verdicts(figures: Findings['figures']): Verdict[] {
  return Object.entries(figures).map(([name, figure]) => {
    const { what, most, unit }: Goal = goals[name as GoalName];
    return {
      goal: name,
      what,
      wanted: `≤ ${most}${unit}`,
      figure,
      met: figure <= most,
    };
  });
}

export function verdictTable(judged: readonly Verdict[]): Table {
  return {
    title: 'Goals',
    columns: ['what', 'goal', 'measured', ''],
    rows: judged.map(({ what, wanted, figure, met }) => [
      what,
      wanted,
      figure.toFixed(figure < 10 ? 2 : 1),
      met ? 'met' : 'missed',
    ]),
  };
}
