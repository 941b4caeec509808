import type { ProbeReport } from 'accounting-data-sdk/explore';
import { tableLines } from './table.ts';

/** The report for people: the options that fit the service, and what to do. */
export function reportLines(report: ProbeReport, columns: number | undefined): string[] {
  const options = report.profile
    .filter(({ of }) => of !== 'sandbox')
    .map(({ of, name, value, reason }) => [`${of}.${name}`, JSON.stringify(value), reason]);
  const closed = report.collections.filter(({ access }) => access !== 'readable');
  const names = closed.map(({ collection, access }) => `${collection} (${access})`).join(', ');
  const isRead = closed.length < report.collections.length;
  const fits =
    isRead && report.advice.length === 0
      ? 'The defaults of createClient and sync fit this service.'
      : 'No option of createClient or sync follows.';
  return [
    ...(options.length > 0 ? tableLines(options, { head: ['option', 'value', 'why'], columns }) : [fits]),
    ...(closed.length > 0 ? ['', `Not readable: ${names}.`] : []),
    ...report.advice.flatMap((sentence) => ['', sentence]),
    '',
    'Pass --json to see every finding with its evidence.',
  ];
}
