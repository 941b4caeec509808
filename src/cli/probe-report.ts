import type {
  CollectionDetails,
  CollectionFindings,
  ConfigurationLine,
  Finding,
  ProbeReport,
} from 'accounting-data-sdk/tools';
import { explanationOf } from '../tools/probe/finding.ts';
import { tableLines } from './table.ts';

type Question = readonly [question: string, read: (details: CollectionDetails) => Finding<unknown>];

/** The questions about each collection. */
const QUESTIONS: readonly Question[] = [
  ['form of ids', ({ idForm }) => idForm],
  ['order of a list', ({ order }) => order],
  ['completeness of keyset', ({ complete }) => complete],
  ['page size', ({ pageSize }) => pageSize],
  ['short pages', ({ shortPages }) => shortPages],
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

const HEAD = ['question', 'finding', 'where, or why not'];

/** The report for people: every question, with the collections for which each finding holds. */
export function reportLines(report: ProbeReport, columns: number | undefined): string[] {
  const rows = [...collectionRows(report.collections), ...serviceRows(report), ...writeRows(report)];
  return [...tableLines(rows, { head: HEAD, columns }), '', ...configurationLines(report)];
}

/** The configuration as a file of TypeScript: each option with its reason above it, then the advice. */
export function configurationLines({
  configuration,
  advice,
}: Pick<ProbeReport, 'configuration' | 'advice'>): string[] {
  const linesOf = (whose: ConfigurationLine['of']) => configuration.filter(({ of }) => of === whose);
  const members = (whose: ConfigurationLine['of']) =>
    linesOf(whose).flatMap(({ code, reason }) => [`  // ${reason}`, `  ${code},`]);
  return [
    "import { createClient } from 'accounting-data-sdk';",
    '',
    'export const client = createClient({',
    ...members('createClient'),
    '});',
    '',
    '/** For sync(client, { ...syncOptions, store, tenant, onBatch }). */',
    'export const syncOptions = {',
    ...members('sync'),
    '};',
    ...linesOf('list').flatMap(({ code, reason }) => ['', `// ${reason}:`, `// ${code}`]),
    ...advice.flatMap((sentence) => ['', `// ${sentence}`]),
  ];
}

/** The findings of a probe that was stopped. */
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
    ...QUESTIONS.flatMap((question) => questionRows(question, collections)),
  ];
}

/** One row for each value, with its collections. */
function questionRows([question, read]: Question, collections: readonly CollectionFindings[]): string[][] {
  const readable = collections.flatMap(({ collection, details }) =>
    details === undefined ? [] : [{ collection, finding: read(details) }],
  );
  const groups = [...grouped(readable, ({ finding }) => show(finding))];
  groups.sort(([a], [b]) => Number(a === 'unknown') - Number(b === 'unknown'));
  return groups.map(([value, group], index) => {
    const names = namesOf(group, collections);
    const reasons = [...new Set(group.map(({ finding }) => explanationOf(finding)))];
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
  return [...grouped(collections, read)].map(([value, group], index) => [
    index === 0 ? question : '',
    value,
    namesOf(group, collections),
  ]);
}

interface Named {
  readonly collection: string;
}

/** The collections of a group; the others if they are far fewer. */
function namesOf(group: readonly Named[], all: readonly Named[]): string {
  const list = (some: readonly Named[]) => some.map(({ collection }) => collection).join(', ');
  if (group.length === all.length) return all.length === 1 ? list(all) : 'all collections';
  const others = all.filter((one) => !group.some(({ collection }) => collection === one.collection));
  return others.length * 2 < group.length ? `all but ${list(others)}` : list(group);
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
    ...(cachedResponses > 0 ? [['cached responses', String(cachedResponses), 'by their Age']] : []),
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
  const entries: [string, Finding<unknown>][] = Object.entries(findings);
  const known = entries
    .filter(([, finding]) => finding.known)
    .map(([name, finding]) => row(`write: ${name}`, finding));
  const unknown = entries.filter(([, finding]) => !finding.known).map(([name]) => name);
  const [reason] = entries.map(([, finding]) => explanationOf(finding));
  return [
    ...known,
    ['write', 'unknown', `${unknown.join(', ')}${known.length === 0 ? `: ${reason}` : ''}`],
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
