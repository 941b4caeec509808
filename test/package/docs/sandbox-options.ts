import {
  type Fault,
  type FaultMatch,
  faultConditions,
  type SandboxOptions,
  sandboxFaults,
  sandboxOptions,
} from 'accounting-data-sdk/testing';
import ts from 'typescript';
import { programOf } from '../../support/compiler.ts';
import { root } from './code-blocks.ts';

/** The doc comment of a property, as an editor shows it. */
export interface PropertyDoc {
  readonly text: string;
  /** The text of `@default`. */
  readonly defaultText: string | undefined;
}

/** The doc comments of a type's properties, by name. */
type Docs = ReadonlyMap<string, PropertyDoc>;

const file = `${root}src/testing/index.ts`;
const program = programOf([file]);
const checker = program.getTypeChecker();
const exported = new Map(
  checker
    .getExportsOfModule(
      checker.getSymbolAtLocation(program.getSourceFile(file) as ts.SourceFile) as ts.Symbol,
    )
    .map((symbol) => [
      symbol.name,
      (symbol.flags & ts.SymbolFlags.Alias) === 0 ? symbol : checker.getAliasedSymbol(symbol),
    ]),
);

function typeOf(name: string): ts.Type {
  const symbol = exported.get(name);
  if (symbol === undefined) throw new Error(`accounting-data-sdk/testing does not export ${name}.`);
  return (symbol.flags & ts.SymbolFlags.Variable) === 0
    ? checker.getDeclaredTypeOfSymbol(symbol)
    : checker.getTypeOfSymbol(symbol);
}

function docsOf(type: ts.Type): Docs {
  return new Map(
    checker.getPropertiesOfType(type).map((property) => {
      const tag = property.getJsDocTags(checker).find(({ name }) => name === 'default');
      const text = ts.displayPartsToString(property.getDocumentationComment(checker)).replaceAll('\n', ' ');
      return [property.name, { text, defaultText: tag && ts.displayPartsToString(tag.text) }];
    }),
  );
}

/** The object in the type of a property, such as the options inside `ids`. */
function inside(type: ts.Type, name: string): ts.Type {
  const property = checker.getPropertyOfType(type, name);
  if (property === undefined) throw new Error(`There is no property ${name}.`);
  const types = checker.getTypeOfSymbol(property);
  const parts = types.isUnion() ? types.types : [types];
  return parts.find((part) => (part.flags & ts.TypeFlags.Object) !== 0) ?? types;
}

/** An option as the guide lists it. */
export interface OptionRow extends PropertyDoc {
  /** With the group that contains it, such as `ids.form`. */
  readonly path: string;
  /** Undefined for a group. */
  readonly default: unknown;
  readonly values: string;
}

interface Entry {
  readonly expected?: string;
  readonly values?: readonly unknown[];
  readonly default?: unknown;
  readonly options?: Readonly<Record<string, Entry>>;
  readonly other?: readonly unknown[];
}

/** Every option with its doc comment, as it is in the type that `createSandbox` takes. */
export function optionRows(
  table: Readonly<Record<string, Entry>> = sandboxOptions satisfies Record<keyof SandboxOptions, Entry>,
  type = typeOf('SandboxOptions'),
  parent = '',
): OptionRow[] {
  const docs = docsOf(type);
  return Object.entries(table).flatMap(([name, entry]) => {
    const doc = docs.get(name) ?? { text: '', defaultText: undefined };
    const path = `${parent}${name}`;
    const row = { ...doc, path, default: entry.default, values: valuesOf(entry) };
    if (entry.options === undefined) return [row];
    return [row, ...optionRows(entry.options, inside(type, name), `${path}.`)];
  });
}

function valuesOf({ values, expected = 'an object', other = [] }: Entry): string {
  if (values !== undefined) return values.map((value) => `\`${value}\``).join(', ');
  return [expected, ...other.filter((value) => value !== undefined).map((value) => `or \`${value}\``)].join(
    ' ',
  );
}

/** The guide: every option, fault and condition. */
export function sandboxGuide(): string {
  const options = optionRows().map(({ path, text, defaultText = '', values }) =>
    row(`\`${path}\``, code(defaultText), values, text),
  );
  const faultType = typeOf('sandboxFaults');
  const faultDocs = docsOf(faultType);
  const faults = Object.keys(sandboxFaults).map((kind) =>
    row(`\`${kind}\``, faultDocs.get(kind)?.text ?? '', fieldsOf(faultType, kind)),
  );
  const conditionDocs = docsOf(typeOf('FaultMatch'));
  const conditions = Object.entries<Entry>(faultConditions satisfies Record<keyof FaultMatch, Entry>).map(
    ([name, entry]) => {
      const { text = '', defaultText = 'any' } = conditionDocs.get(name) ?? {};
      return row(`\`${name}\``, defaultText, valuesOf(entry), text);
    },
  );
  return `${HEAD}
## Options

${table(['option', 'default', 'values', 'meaning'], options)}
## Faults

\`sandbox.faults.next({ kind: 'lost-response', committed: true })\` adds a fault for the next request, \`sandbox.faults.add(fault, conditions)\` for those that match the conditions.

${table(['fault', 'what happens', 'fields'], faults)}
## Conditions

${table(['condition', 'default', 'values', 'meaning'], conditions)}`;
}

const HEAD = `---
title: Sandbox options
---

# Sandbox options

Every option of \`createSandbox\`, every fault and every condition of a fault, with the defaults. The guide [Testing](testing.md) shows how to use them. This page is generated from the tables in the source.
`;

function fieldsOf(faultType: ts.Type, kind: string): string {
  const { required, optional }: { required?: object; optional?: object } =
    sandboxFaults[kind as Fault['kind']];
  return [
    ...(required ? describe(inside(inside(faultType, kind), 'required'), 'required') : []),
    ...(optional ? describe(inside(inside(faultType, kind), 'optional')) : []),
  ].join('<br>');
}

function describe(type: ts.Type, note?: string): string[] {
  return [...docsOf(type)].map(
    ([name, { text, defaultText }]) => `\`${name}\` (${note ?? `default: ${defaultText}`}): ${text}`,
  );
}

const code = (text: string) =>
  text === '' || text.includes(' ') ? text : `\`${text.replaceAll('_', '').replaceAll("'", '')}\``;
const row = (...cells: readonly string[]) => `| ${cells.join(' | ')} |`;

function table(head: readonly string[], rows: readonly string[]): string {
  return `${row(...head)}\n|${'---|'.repeat(head.length)}\n${rows.join('\n')}\n`;
}
