import { explanationOf } from '../../tools/probe/finding.ts';
import type {
  CollectionDetails,
  CollectionFindings,
  Finding,
  ProbeReport,
} from '../../tools/probe/report.ts';
import { tableLines } from '../table.ts';
import { configurationLines } from './configuration-text.ts';

type Asked = readonly [question: string, answer: (details: CollectionDetails) => Finding<unknown>];

/** What is asked about each collection, in the words of the table. */
const QUESTIONS: readonly Asked[] = [
  ['form of ids', ({ idForm }) => idForm],
  ['order of a list', ({ order }) => order],
  ['completeness of keyset', ({ complete }) => complete],
  ['page size', ({ pageSize }) => pageSize],
  ['pages that come short', ({ shortPages }) => shortPages],
  ['_page', ({ page }) => page],
  ['past the last page', ({ afterLastPage }) => afterLastPage],
  ['records shown twice', ({ repeats }) => repeats],
  ['id[gt]', ({ id }) => id.gt],
  ['id[gte]', ({ id }) => id.gte],
  ['id[lt]', ({ id }) => id.lt],
  ['id[lte]', ({ id }) => id.lte],
  ['two bounds at once', ({ id }) => id.together],
  ['bound above int4', ({ id }) => id.large],
  ['id[between]', ({ between }) => between.verdict],
  ['  separator', ({ between }) => between.separator],
  ['  both bounds included', ({ between }) => between.inclusive],
  ['updatedSince', ({ updatedSince }) => updatedSince.verdict],
  ['  bound included', ({ updatedSince }) => updatedSince.inclusive],
  ['  invalid value', ({ updatedSince }) => updatedSince.invalidValue],
  ['  compared as', ({ updatedSince }) => updatedSince.compares],
  ['  minutes ahead of UTC', ({ updatedSince }) => updatedSince.shiftMinutes],
  ['form of timestamps', ({ timestamps }) => timestamps],
  ['offsets shown', ({ offsets }) => offsets],
  ['fields without a value', ({ nullFields }) => nullFields],
  ['relations as IRIs', ({ iriFields }) => iriFields],
  ['amounts as numbers', ({ moneyAsNumbers }) => moneyAsNumbers],
];

const HEAD = ['question', 'finding', 'where, or why'];

/** The report for people: every question, and where the answers differ. */
export function reportLines(report: ProbeReport, columns: number | undefined): string[] {
  const rows = [...collectionRows(report.collections), ...serviceRows(report), ...writeRows(report)];
  return [
    ...tableLines(rows, { head: HEAD, columns }),
    '',
    ...configurationLines(report.configuration, report.advice),
  ];
}

/** What was learned before a probe was stopped. */
export function partialLines(
  collections: readonly CollectionFindings[],
  columns: number | undefined,
): string[] {
  return tableLines(collectionRows(collections), { head: HEAD, columns });
}

function collectionRows(collections: readonly CollectionFindings[]): string[][] {
  return [
    ...accessRows(collections),
    ...bodyRows(collections),
    ...QUESTIONS.flatMap(([question, answer]) => questionRows(question, collections, answer)),
  ];
}

/** One row for each answer that was found, with the collections that gave it. */
function questionRows(
  question: string,
  collections: readonly CollectionFindings[],
  answer: (details: CollectionDetails) => Finding<unknown>,
): string[][] {
  const readable = collections.flatMap(({ collection, details }) =>
    details === undefined ? [] : [{ collection, finding: answer(details) }],
  );
  const answers = grouped(readable, ({ finding }) => show(finding));
  return [...answers]
    .sort(([a], [b]) => Number(a === 'unknown') - Number(b === 'unknown'))
    .map(([value, those], index) => {
      const names = whichOf(those, collections);
      // Why something is not known matters more than where.
      const reasons = [...new Set(those.map(({ finding }) => explanationOf(finding)))];
      const where = value === 'unknown' && reasons.length === 1 ? `${names}: ${reasons[0]}` : names;
      return [index === 0 ? question : '', value, where];
    });
}

function accessRows(collections: readonly CollectionFindings[]): string[][] {
  const accessOf = ({ access }: CollectionFindings) =>
    access === 'not_acceptable' ? '406: none of the formats in the Accept header' : access;
  return groupRows('access', collections, accessOf);
}

function bodyRows(collections: readonly CollectionFindings[]): string[][] {
  const readable = collections.filter(({ details }) => details !== undefined);
  const bodyOf = ({ details }: CollectionFindings) =>
    `${details?.listBody}, ${details?.contentType ?? 'no content type'}`;
  return groupRows('body of a list', readable, bodyOf);
}

function groupRows(
  question: string,
  collections: readonly CollectionFindings[],
  read: (findings: CollectionFindings) => string,
): string[][] {
  return [...grouped(collections, read)].map(([value, those], index) => [
    index === 0 ? question : '',
    value,
    whichOf(those, collections),
  ]);
}

/** The collections of a group; those that are missing, where they are fewer. */
function whichOf(
  those: readonly { readonly collection: string }[],
  all: readonly { readonly collection: string }[],
): string {
  const list = (some: typeof all) => some.map(({ collection }) => collection).join(', ');
  if (those.length === all.length) return all.length === 1 ? list(all) : 'all collections';
  const others = all.filter((one) => !those.some(({ collection }) => collection === one.collection));
  return others.length * 2 < those.length ? `all but ${list(others)}` : list(those);
}

function grouped<T>(all: readonly T[], read: (one: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const one of all) groups.set(read(one), [...(groups.get(read(one)) ?? []), one]);
  return groups;
}

function serviceRows({ clock, quota, problems, cachedResponses }: ProbeReport): string[][] {
  const offset = clock.known ? `${clock.value.offsetMs} ms, within ${clock.value.withinMs} ms` : 'unknown';
  return [
    ['clock ahead by', offset, explanationOf(clock)],
    ...(cachedResponses > 0 ? [['responses of a cache', String(cachedResponses), 'by their Age']] : []),
    row('quota', quota.limit),
    row('  left', quota.remaining),
    row('  window in ms', quota.windowMs),
    row('form of type in errors', problems.typeForm),
    row('content type of 404', problems.notFound),
    row('bare 404', problems.bareNotFound),
    row('content type of 403', problems.forbidden),
    ...problems.seen.map(({ status, type, members }) => [
      '',
      `${status} ${type ?? '(no type)'}`,
      members.join(', '),
    ]),
  ];
}

function writeRows({ writes }: ProbeReport): string[][] {
  const { leftBehind, ...findings } = writes;
  const entries = Object.entries(findings) as [string, Finding<unknown>][];
  const known = entries
    .filter(([, finding]) => finding.known)
    .map(([name, finding]) => row(`write: ${name}`, finding));
  const open = entries.filter(([, finding]) => !finding.known).map(([name]) => name);
  const reasons = [...new Set(entries.map(([, finding]) => explanationOf(finding)))];
  return [
    ...known,
    ['write', 'unknown', `${open.join(', ')}${known.length === 0 ? `: ${reasons[0]}` : ''}`],
    ...(leftBehind.length > 0
      ? [['LEFT BEHIND', leftBehind.join(', '), 'products that could not be deleted']]
      : []),
  ];
}

function row(question: string, finding: Finding<unknown>): string[] {
  return [question, show(finding), explanationOf(finding)];
}

function show(finding: Finding<unknown>): string {
  if (!finding.known) return 'unknown';
  const { value } = finding;
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.join(', ');
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return String(value);
}
