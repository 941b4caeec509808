import {
  type CollectionFindings,
  explanationOf,
  type Finding,
  type ProbeReport,
} from 'accounting-data-sdk/explore';
import { counted } from './numbers.ts';
import { tableLines } from './table.ts';

const HEAD = ['finding', 'value', 'where, or why not'];

/**
 * The report for people: the options that fit the service and what to do, below them with `verbose` every finding by its
 * name in the report, with the collections for which each value holds.
 */
export function reportLines(
  report: ProbeReport,
  { verbose, columns }: { readonly verbose: boolean; readonly columns: number | undefined },
): string[] {
  const { quota, problems } = report;
  const rows = [
    ...collectionRows(report.collections),
    ...findingsIn({ quota, problems }).map(row),
    ...writeRows(report),
  ];
  const options = report.profile
    .filter(({ of }) => of !== 'sandbox')
    .map(({ of, name, value, reason }) => [`${of}.${name}`, JSON.stringify(value), reason]);
  const closed = report.collections.filter(({ access }) => access !== 'readable');
  return [
    ...(options.length > 0
      ? tableLines(options, { head: ['option', 'value', 'why'], columns })
      : ['The defaults of createClient and sync fit this service.']),
    ...(closed.length > 0
      ? [
          '',
          `Not readable: ${closed.map(({ collection, access }) => `${collection} (${access})`).join(', ')}.`,
        ]
      : []),
    ...report.advice.flatMap((sentence) => ['', sentence]),
    '',
    ...(verbose
      ? tableLines(rows, { head: HEAD, columns })
      : [`${counted(rows.length, 'finding')}: pass --verbose to see them, or --json.`]),
  ];
}

function collectionRows(collections: readonly CollectionFindings[]): string[][] {
  const readable = collections.flatMap(({ collection, details }) =>
    details === undefined ? [] : [{ collection, details, findings: new Map(findingsIn(details)) }],
  );
  const names = [...(readable[0]?.findings.keys() ?? [])];
  return [
    ...groupRows('access', collections, ({ access }) =>
      access === 'not_acceptable' ? '406: none of the formats in the Accept header' : access,
    ),
    ...groupRows('listBody', readable, ({ details }) => details.listBody),
    ...names.flatMap((name) =>
      findingRows(
        name,
        readable.map(({ collection, findings }) => ({
          collection,
          finding: findings.get(name) as Finding<unknown>,
        })),
        collections,
      ),
    ),
  ];
}

/** The findings in a part of the report by their names, such as `id.gt`. */
function findingsIn(part: object, path = ''): (readonly [name: string, finding: Finding<unknown>])[] {
  return Object.entries(part).flatMap(([name, value]: [string, unknown]) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return [];
    return 'known' in value
      ? [[`${path}${name}`, value as Finding<unknown>] as const]
      : findingsIn(value, `${path}${name}.`);
  });
}

/** One row for each value, with its collections. */
function findingRows(
  name: string,
  readable: readonly { readonly collection: string; readonly finding: Finding<unknown> }[],
  collections: readonly CollectionFindings[],
): string[][] {
  const groups = [...grouped(readable, ({ finding }) => show(finding))];
  groups.sort(([a], [b]) => Number(a === 'unknown') - Number(b === 'unknown'));
  return groups.map(([value, group], index) => {
    const names = namesOf(group, collections);
    const reasons = [...new Set(group.map(({ finding }) => explanationOf(finding)))];
    const where = value === 'unknown' && reasons.length === 1 ? `${names}: ${reasons[0]}` : names;
    return [index === 0 ? name : '', value, where];
  });
}

function groupRows<One extends Named>(
  name: string,
  all: readonly One[],
  read: (one: One) => string,
): string[][] {
  return [...grouped(all, read)].map(([value, group], index) => [
    index === 0 ? name : '',
    value,
    namesOf(group, all),
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

function writeRows({ writes }: ProbeReport): string[][] {
  const findings = findingsIn({ writes });
  const unknown = findings.filter(([, finding]) => !finding.known);
  const [[, first] = []] = unknown;
  const names = unknown.map(([name]) => name.replace('writes.', '')).join(', ');
  const reason = unknown.length === findings.length && first !== undefined ? `: ${explanationOf(first)}` : '';
  return [
    ...findings.filter(([, finding]) => finding.known).map(row),
    ['writes', 'unknown', `${names}${reason}`],
    ...(writes.leftBehind.length > 0
      ? [['LEFT BEHIND', writes.leftBehind.join(', '), 'products that could not be deleted']]
      : []),
  ];
}

function row([name, finding]: readonly [string, Finding<unknown>]): string[] {
  return [name, show(finding), explanationOf(finding)];
}

function show(finding: Finding<unknown>): string {
  if (!finding.known) return 'unknown';
  const { value } = finding;
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.join(', ');
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return String(value);
}
