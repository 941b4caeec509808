import { faultConditions, sandboxFaults, sandboxOptions } from 'accounting-data-sdk/testing';
import ts from 'typescript';
import { collections } from '../../../src/collections/index.ts';
import { createOptions } from '../../../src/collections/send-one.ts';
import { clientDefaults, clientOptions } from '../../../src/options.ts';
import { listOptions } from '../../../src/pagination/list-options.ts';
import { pushOptions } from '../../../src/push/options.ts';
import { changesOptions } from '../../../src/sync/changes.ts';
import { syncOptions } from '../../../src/sync/sync-options.ts';
import { callOptions, requestOptions } from '../../../src/transport/call-options.ts';
import { read, root } from './code-blocks.ts';

/** An entry of a table of options. */
interface Entry {
  readonly expected?: string;
  readonly values?: readonly unknown[];
  readonly default?: unknown;
  readonly required?: boolean;
  readonly options?: Table;
}
type Table = Readonly<Record<string, Entry>>;

/** An option, with its doc comment as an editor shows it. */
interface Row {
  readonly name: string;
  readonly entry: Entry;
  /** Without the default. */
  readonly text: string;
  readonly facts: readonly string[];
  readonly fields: readonly Row[];
}

const { config } = ts.readConfigFile(`${root}tsconfig.json`, ts.sys.readFile);
const { options } = ts.parseJsonConfigFileContent({ ...config, files: [], include: [] }, ts.sys, root);
const entries = ['index.ts', 'testing/index.ts'].map((entry) => `${root}src/${entry}`);
// The types of Node, which no option names, would take a third of the time.
const program = ts.createProgram(entries, { ...options, types: [] });
const checker = program.getTypeChecker();
const exported = entries.flatMap((entry) => {
  const module = checker.getSymbolAtLocation(program.getSourceFile(entry) as ts.SourceFile);
  return module === undefined ? [] : checker.getExportsOfModule(module);
});

/** A type that the package exports, or that of a value. */
function typeOf(name: string): ts.Type {
  const found = exported.find((one) => one.name === name);
  if (found === undefined) throw new Error(`The package does not export ${name}.`);
  const symbol = found.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(found) : found;
  return symbol.flags & ts.SymbolFlags.Variable
    ? checker.getTypeOfSymbol(symbol)
    : checker.getDeclaredTypeOfSymbol(symbol);
}

/** The object in a type, such as the options of a group that may also be `false`. */
function objectIn(property: ts.Symbol): ts.Type {
  const type = checker.getTypeOfSymbol(property);
  const parts = type.isUnion() ? type.types : [type];
  return parts.find(({ flags }) => flags & (ts.TypeFlags.Object | ts.TypeFlags.Intersection)) ?? type;
}

const DEFAULT = /(?<=^|\s)Default: ((?:`[^`]*`|[^.`]|\.(?=\S))+)\.(?: |$)/m;

/** The rows of a table. An option that one of the types lacks, or forbids, has its text in another one. */
function rowsOf(table: Table, ...types: readonly ts.Type[]): Row[] {
  return Object.entries(table).map(([name, entry]) => {
    const properties = types.flatMap((type) => checker.getPropertyOfType(type, name) ?? []);
    const property = properties.find((one) => one.getDocumentationComment(checker).length > 0);
    const doc = markdown(ts.displayPartsToString(property?.getDocumentationComment(checker)));
    if (property === undefined || !/\S[.:]$/m.test(doc)) throw new Error(`${name} has no sentence.`);

    const tag = property.getJsDocTags(checker).find((one) => one.name === 'default');
    const stated = tag === undefined ? DEFAULT.exec(doc)?.[1] : ts.displayPartsToString(tag.text);
    // A collection has the options of its group again.
    const inner = without(entry.options ?? {}, collections);
    const fields = entry.options === undefined ? [] : rowsOf(inner, objectIn(property));
    const facts = factsOf(name, entry, { stated, doc });
    return { name, entry, text: doc.replace(DEFAULT, '').trim(), facts, fields };
  });
}

/** The lines of a comment as paragraphs and lists. */
function markdown(comment: string): string {
  return comment
    .replaceAll(/\{@link (\w+) ?\}/g, '`$1`')
    .replaceAll(/\n(?=- )/g, '\n\n')
    .split(/\n{2,}/)
    .map((part) => part.replaceAll(/\n */g, ' '))
    .join('\n\n')
    .replaceAll(/(?<=(?:^|\n\n)- [^\n]*)\n\n(?=- )/g, '\n');
}

/** A default as the code has it; undefined for one that only words can state. */
function defaultOf({ default: value }: Entry): string | undefined {
  if (value === Number.POSITIVE_INFINITY) return 'no limit';
  if (typeof value === 'number') return value.toLocaleString('en-US');
  if (typeof value === 'string') return `\`'${value}'\``;
  if (Array.isArray(value)) return `\`${JSON.stringify(value).replaceAll('"', "'")}\``;
  return typeof value === 'boolean' ? `\`${value}\`` : undefined;
}

/** The default, which must be what the comment states, and the values. */
function factsOf(
  name: string,
  entry: Entry,
  { stated, doc }: { readonly stated: string | undefined; readonly doc: string },
): string[] {
  if (entry.required) return ['required'];
  // The fields of a group have defaults of their own.
  if (entry.options !== undefined && typeof entry.default === 'object') return [];
  const value = defaultOf(entry);
  const plain = (text = '') => text.replaceAll(/[`',_]/g, '');
  const first = stated?.replace('16 MiB', '16,777,216').split(/(?<=[^,])[,;]? (?!limit)/)[0];
  if (value !== undefined && !doc.includes('The default') && plain(first) !== plain(value))
    throw new Error(`The default of ${name} is ${value}; its comment says ${stated}.`);

  const shown = stated === 'undefined' ? undefined : stated?.includes(' MiB') ? stated : (value ?? stated);
  const unit = name.endsWith('Ms') && /^[\d,]+$/.test(shown ?? '') ? ' ms' : '';
  const others = (typeof entry.default === 'boolean' ? [] : (entry.values ?? []))
    .map((one) => `\`${typeof one === 'string' ? `'${one}'` : String(one)}\``)
    .filter((one) => plain(one) !== plain(shown));
  const isShown = shown !== undefined;
  return [
    ...(isShown ? [`default ${shown}${unit}`] : []),
    ...(others.length > 0 ? [`${isShown ? 'or ' : ''}${others.join(', ')}`] : []),
  ];
}

const inBrackets = (facts: readonly string[]) => (facts.length > 0 ? ` (${facts.join('; ')})` : '');

/** A heading, a line of facts such as the default, what it means, and the fields of a fault or a group. */
function section({ name, text, facts, fields }: Row, before = '', after = ''): string {
  const line = [before, ...facts].filter((fact) => fact !== '').join('; ');
  const items = fields.map((field) => `- \`${field.name}\`${inBrackets(field.facts)}: ${field.text}`);
  const parts = [`### \`${name}\``, line && `<small>${line}</small>`, text + after, items.join('\n')];
  return parts.flatMap((part) => (part === '' ? [] : [`${part}\n`])).join('\n');
}

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
  key: 'pushing.md#keys',
  visibleAfterMs: 'no-duplicates.md',
  onResult: 'pushing.md#actions',
};

function linkOf({ name, text }: Row): string {
  const link = MORE[name];
  if (link === undefined) return '';
  const page = read(`src/guides/${link.replace(/#.*/, '')}`);
  const [, title] = /^title: (.*)$/m.exec(page) ?? [];
  return `${text.includes('\n- ') ? '\n\n' : ' '}More: [${title}](${link}).`;
}

interface Taken {
  readonly of: string;
  readonly row: Row;
}

/** An option of several functions: those with the same text share it. */
function shared(taken: readonly Taken[]): string {
  const texts = new Map<string, { readonly row: Row; readonly of: string[] }>();
  for (const { of, row } of taken) {
    const same = texts.get(row.text) ?? { row, of: [] };
    texts.set(row.text, same);
    same.of.push(of);
  }
  const sections = [...texts.values()].map(({ row, of }, index) =>
    index === 0
      ? section(row, of.join(', '), linkOf(row))
      : `In ${of.join(', ')}${inBrackets(row.facts)}: ${row.text}\n`,
  );
  return sections.join('\n');
}

const has = (table: object, name: string) => Object.hasOwn(table, name);
const without = (table: Table, ...others: readonly object[]): Table =>
  Object.fromEntries(Object.entries(table).filter(([name]) => !others.some((other) => has(other, name))));

const client = rowsOf(clientOptions, typeOf('ClientOptions')).map((row) => {
  const perCall = has(requestOptions, row.name) ? 'also per call' : '';
  const perList = has(listOptions, row.name) ? 'also per list' : '';
  return section(
    row,
    perCall || perList || (has(clientDefaults, row.name) ? 'withOptions' : ''),
    linkOf(row),
  );
});

/** The options of calls and of runs that are not options of the client too, by name. */
const others = Object.entries<readonly [table: Table, ...types: readonly string[]]>({
  'every call': [without(requestOptions, clientOptions), 'RequestOptions'],
  lists: [without(listOptions, clientOptions, requestOptions), 'ListOptions'],
  creates: [without(createOptions, clientOptions, requestOptions), 'CreateOptions'],
  sync: [without(syncOptions, callOptions), 'SyncToTargetOptions', 'SyncOptions'],
  changes: [without(changesOptions, callOptions), 'ChangesOptions'],
  push: [without(pushOptions, callOptions), 'PushOptions'],
}).flatMap(([of, [table, ...types]]) => rowsOf(table, ...types.map(typeOf)).map((row) => ({ of, row })));
const names = [...new Set(others.map(({ row }) => row.name))];
const isOfCalls = (name: string) => has(listOptions, name) || has(createOptions, name);
const sectionsOf = (chosen: readonly string[]) =>
  chosen.map((name) => shared(others.filter(({ row }) => row.name === name))).join('\n');

/** The options of the guide, by the heading above them. */
export const optionSections = {
  'Client options': client.join('\n'),
  'Per-call options': sectionsOf(names.filter(isOfCalls)),
  'Options of sync, changes and push': sectionsOf(names.filter((name) => !isOfCalls(name))),
};

/** Values that the default or the options below the name show. */
const EVIDENT = ['true or false', 'a string', 'a plain object', undefined];

/** The values that an option of the sandbox takes. */
function sandboxSection(row: Row): string {
  const { values, expected } = row.entry;
  const allowed = values !== undefined || EVIDENT.includes(expected) ? [] : [expected as string];
  return section({ ...row, facts: [...row.facts, ...allowed] });
}

const faultTypes = typeOf('sandboxFaults');
const faults = Object.entries(sandboxFaults).map(
  ([kind, { required = {}, optional = {} }]: [string, { required?: object; optional?: object }]) => {
    const [row] = rowsOf({ [kind]: {} }, faultTypes);
    const within = objectIn(faultTypes.getProperty(kind) as ts.Symbol);
    const fields = (table: object, name: string, required: boolean) => {
      const type = within.getProperty(name);
      const marked = Object.entries<Entry>(table as Table).map(([field, entry]) => [
        field,
        { ...entry, required },
      ]);
      return type === undefined ? [] : rowsOf(Object.fromEntries(marked), objectIn(type));
    };
    return section({
      ...(row as Row),
      fields: [...fields(required, 'required', true), ...fields(optional, 'optional', false)],
    });
  },
);

export const sandboxSections = {
  Options: rowsOf(sandboxOptions, typeOf('SandboxOptions')).map(sandboxSection).join('\n'),
  Faults: faults.join('\n'),
  Conditions: rowsOf(faultConditions, typeOf('FaultMatch')).map(sandboxSection).join('\n'),
};

/** A field of a report, and those of the objects in it. */
interface Field {
  readonly name: string;
  readonly text: string;
}

/** Parts of a report whose fields are in the table too. */
const EXPANDED = ['CollectionReport', 'DeletionReport', 'CollectionDifferences'];

/** The fields of a type, each with the first sentence of its comment. */
function fieldsOf(type: ts.Type, before = ''): Field[] {
  return checker.getPropertiesOfType(type).flatMap((property): Field[] => {
    const name = before + property.name;
    const doc = markdown(ts.displayPartsToString(property.getDocumentationComment(checker)));
    const [sentence = ''] = /^.*?(?:\.(?=\s|$)|:$)/m.exec(doc) ?? [];
    if (!/^\w|^`/.test(sentence)) throw new Error(`${name} of a report has no sentence.`);

    const values = [...doc.matchAll(/^- (`\w+`):/gm)].map(([, value]) => value);
    const text = sentence.endsWith(':') ? `${sentence} ${values.join(', ')}.` : sentence;
    const declared = checker.getTypeOfSymbol(property);
    const inner = (declared.isUnion() ? declared.types : [declared]).flatMap((part) => {
      const element = checker.getIndexTypeOfType(part, ts.IndexKind.Number);
      const one = element ?? part;
      const isExpanded = EXPANDED.includes(one.symbol?.name ?? '');
      return isExpanded ? fieldsOf(one, `${name}${element === undefined ? '' : '[]'}.`) : [];
    });
    return [{ name, text }, ...inner];
  });
}

const ofReports = { sync: 'SyncReport', push: 'PushReport', verify: 'VerifyReport' };

/** The fields of all reports. Those with the same name and the same meaning are one row. */
const reportFields = new Map<string, { readonly field: Field; readonly of: string[] }>();
for (const [of, name] of Object.entries(ofReports)) {
  for (const field of fieldsOf(typeOf(name))) {
    const key = `${field.name} ${field.text}`;
    const row = reportFields.get(key) ?? { field, of: [] };
    reportFields.set(key, row);
    row.of.push(of);
  }
}

export const reportRows = [...reportFields.values()].map(
  ({ field: { name, text }, of }) =>
    `| \`${name}\` | ${of.length === 3 ? 'all' : of.join(', ')} | ${text} |\n`,
);
