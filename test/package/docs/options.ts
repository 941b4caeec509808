import { readFileSync } from 'node:fs';
import { createOptions } from '../../../src/collections/send-one.ts';
import { clientDefaults, clientOptions } from '../../../src/options.ts';
import { listOptions } from '../../../src/pagination/list-options.ts';
import { pushOptions } from '../../../src/push/options.ts';
import { changesOptions } from '../../../src/sync/changes.ts';
import { syncOptions } from '../../../src/sync/sync.ts';
import { callOptions, requestOptions } from '../../../src/transport/call-options.ts';
import { root } from './code-blocks.ts';
import { docsOfEntry, type Entry, type PropertyDoc, section } from './option-docs.ts';

const { typeOf, docsOf, inside } = docsOfEntry('index.ts');

type Table = Readonly<Record<string, Entry>>;

/** A function that takes options, and the type of its callers' options. */
interface Taker {
  readonly of: string;
  readonly table: Table;
  readonly types: readonly string[];
}

const CLIENT: Taker = { of: 'createClient', table: clientOptions, types: ['ClientOptions'] };
const LIST: Taker = { of: 'lists', table: listOptions, types: ['ListOptions'] };
const CALL: Taker = { of: 'every call', table: requestOptions, types: ['RequestOptions'] };
const CREATE: Taker = { of: 'creates', table: createOptions, types: ['CreateOptions'] };
const RUNS: readonly Taker[] = [
  { of: 'sync', table: syncOptions, types: ['SyncToTargetOptions', 'SyncOptions'] },
  { of: 'changes', table: changesOptions, types: ['ChangesOptions'] },
  { of: 'push', table: pushOptions, types: ['PushOptions'] },
];

/** An option of a function, as the guide states it. */
export interface OptionRow {
  readonly of: string;
  /** With the group that contains it, such as `retry.updates`. */
  readonly path: string;
  readonly entry: Entry;
  readonly doc: PropertyDoc;
  readonly fields: readonly OptionRow[];
}

function rowsOf({ of, table, types }: Taker): OptionRow[] {
  return Object.entries(table).map(([name, entry]) => {
    // An option that one of the types lacks, or forbids, has its text in another one.
    const type = types.map(typeOf).find((one) => (docsOf(one).get(name)?.text ?? '') !== '');
    if (type === undefined) throw new Error(`${of}: no type has a doc comment of ${name}.`);
    return rowOf(of, name, entry, type);
  });
}

function rowOf(of: string, name: string, entry: Entry, type: ReturnType<typeof typeOf>): OptionRow {
  const doc = docsOf(type).get(name) ?? { text: '', defaultText: undefined };
  const within = entry.options && inside(type, name);
  const fields = Object.entries(entry.options ?? {}).map(
    ([field, one]) => within && rowOf(of, field, one, within),
  );
  return { of, path: name, entry, doc, fields: fields.filter((field) => field !== undefined) };
}

/** Every option of every function, fields of groups included. */
export const optionRows = (): OptionRow[] =>
  [CLIENT, LIST, CREATE, ...RUNS]
    .flatMap(rowsOf)
    .flatMap((row) => [row, ...row.fields.map((field) => ({ ...field, path: `${row.path}.${field.path}` }))]);

const DEFAULT = /(?<=^|\s)Default: ((?:`[^`]*`|[^.`]|\.(?=\S))+)\.(?: |$)/m;

/** The default as its doc comment states it. */
export const statedDefault = ({ text, defaultText }: PropertyDoc): string | undefined =>
  defaultText ?? DEFAULT.exec(text)?.[1];

const withoutDefault = ({ text }: PropertyDoc) => text.replace(DEFAULT, '').trim();

/** A default as the code has it; undefined for one that only words can state. */
export function defaultOf({ default: value }: Entry): string | undefined {
  if (value === Number.POSITIVE_INFINITY) return 'no limit';
  if (typeof value === 'number') return value.toLocaleString('en-US');
  if (typeof value === 'string') return `\`'${value}'\``;
  return typeof value === 'boolean' ? `\`${value}\`` : undefined;
}

function factsOf({ path, entry, doc }: OptionRow): string[] {
  if (entry.required) return ['required'];
  // The fields of a group have defaults of their own.
  if (entry.options !== undefined && typeof entry.default === 'object') return [];
  const stated = statedDefault(doc);
  const value = stated?.includes(' MiB') ? stated : (defaultOf(entry) ?? stated);
  const unit = path.endsWith('Ms') && /^[\d,]+$/.test(value ?? '') ? ' ms' : '';
  const names = (entry.values ?? [])
    .filter((one) => one !== entry.default && typeof entry.default !== 'boolean')
    .map((one) => `\`${typeof one === 'string' ? `'${one}'` : String(one)}\``);
  const others = entry.default === undefined ? names.join(', ') : `or ${names.join(', ')}`;
  return [value === undefined ? '' : `default ${value}${unit}`, names.length > 0 ? others : ''];
}

const fieldsOf = (row: OptionRow) =>
  row.fields.map((field) => {
    const facts = factsOf(field).filter((fact) => fact !== '');
    return `\`${field.path}\`${facts.length > 0 ? ` (${facts.join('; ')})` : ''}: ${withoutDefault(field.doc)}`;
  });

/** Where a guide says more. */
const MORE: Readonly<Record<string, string>> = {
  pagination: 'reading.md#pagination',
  listOrder: 'keyset-pagination.md#a-service-that-lists-by-ascending-id',
  parameters: 'reading.md#filters',
  schemas: 'reading.md#schemas',
  validation: 'reading.md#what-can-go-wrong',
  bareNotFound: 'errors.md#symptom-cause-how-to-check-fix',
  checkIds: 'testing.md#with-your-own-stubs',
  rateLimiter: 'running-at-scale.md#the-rate-limiter',
  on: 'telemetry.md',
  logger: 'telemetry.md',
  resumeFrom: 'reading.md#resume-after-a-crash',
  target: 'copy-in-a-database.md',
  store: 'syncing.md#where-the-state-is-kept',
  localIds: 'syncing.md#deletions',
  stopAfter: 'syncing.md#limits-of-time-and-requests',
  maxOutageMs: 'syncing.md#what-can-go-wrong',
  key: 'pushing.md',
  visibleAfterMs: 'no-duplicates.md',
  missing: 'pushing.md#missing-products',
  onResult: 'pushing.md#actions',
};

function titleOf(link: string): string {
  const page = readFileSync(`${root}src/guides/${link.replace(/#.*/, '')}`, 'utf8');
  return /^title: (.*)$/m.exec(page)?.[1] ?? link;
}

function sectionOf(row: OptionRow, facts: readonly string[]): string {
  const text = withoutDefault(row.doc);
  const more = MORE[row.path];
  const end =
    more === undefined ? '' : `${text.includes('\n- ') ? '\n\n' : ' '}More: [${titleOf(more)}](${more}).`;
  return section(row.path, [...facts, ...factsOf(row)], `${text}${end}`, fieldsOf(row));
}

const takersOf = (rows: readonly OptionRow[], { doc }: OptionRow) =>
  rows.filter((row) => row.doc.text === doc.text).map(({ of }) => of);

/** An option of several functions: those with the same text share it. */
function sharedSection(name: string, rows: readonly OptionRow[]): string {
  const [first, ...others] = rows.filter(
    ({ doc }, index) => rows.findIndex((other) => other.doc.text === doc.text) === index,
  );
  if (first === undefined) throw new Error(`Nothing takes ${name}.`);
  const own = others.map((row) => {
    const facts = factsOf(row).filter((fact) => fact !== '');
    return `Of ${takersOf(rows, row).join(', ')}${facts.length > 0 ? ` (${facts.join('; ')})` : ''}: ${withoutDefault(row.doc)}\n`;
  });
  return [sectionOf(first, [takersOf(rows, first).join(', ')]), ...own].join('\n');
}

/** Whether no function before it has the option: a list has those of every call. */
const isNew = ({ of, path }: OptionRow) =>
  !Object.hasOwn(clientOptions, path) && (of === CALL.of || !Object.hasOwn(requestOptions, path));

/** The guide: every option below a heading of its own. */
export function optionsGuide(): string {
  const client = rowsOf(CLIENT).map((row) => {
    const perCall = Object.hasOwn(requestOptions, row.path) ? 'also per call' : '';
    const perList = Object.hasOwn(listOptions, row.path) ? 'also per list' : '';
    return sectionOf(row, [
      perCall || perList || (Object.hasOwn(clientDefaults, row.path) ? 'withOptions' : ''),
    ]);
  });
  const others = [...[CALL, LIST, CREATE].flatMap(rowsOf).filter(isNew), ...RUNS.flatMap(rowsOf)].filter(
    ({ path }) => !Object.hasOwn(callOptions, path),
  );
  const names = [...new Set(others.map(({ path }) => path))];
  const isOfCalls = (name: string) => Object.hasOwn(listOptions, name) || Object.hasOwn(createOptions, name);
  const sections = (chosen: readonly string[]) =>
    chosen
      .map((name) =>
        sharedSection(
          name,
          others.filter(({ path }) => path === name),
        ),
      )
      .join('\n');
  return `${HEAD}
## Client options

\`client.withOptions({ … })\` returns a client with other defaults that shares transport and rate limiter. It takes what says *also per call*, *also per list* or *withOptions*.

${client.join('\n')}
## Per-call options

${sections(names.filter(isOfCalls))}
## Options of sync, changes and push

\`timeoutMs\`, \`deadlineMs\`, \`maxWaitMs\` and \`retry\` work here too; \`deadlineMs\` and \`maxWaitMs\` have no limit by default. How the service behaves is said to the client. \`verify\`, \`refresh\` and \`forget\` take the options of a sync with a target that concern them.

${sections(names.filter((name) => !isOfCalls(name)))}
## Elsewhere

- The sandbox: [Sandbox options](sandbox-options.md).
- \`sqliteTarget\` and \`postgresTarget\`: [A copy in a database](copy-in-a-database.md).
- The command: \`npx accounting-data-sdk --help\`, and \`--help\` after each command.
`;
}

const HEAD = `---
title: Options
outline: [2, 3]
---

# Options

Every option of the package with its default. An unknown option is rejected with a suggestion, in plain JavaScript too.

<option-filter />
`;
