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
  const composed = ts.TypeFlags.Object | ts.TypeFlags.Intersection;
  return parts.find((part) => (part.flags & composed) !== 0) ?? types;
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

function valuesOf({ values, expected = 'a plain object', other = [] }: Entry): string {
  if (values !== undefined) return values.map((value) => `\`${value}\``).join(', ');
  return [expected, ...other.filter((value) => value !== undefined).map((value) => `or \`${value}\``)].join(
    ' ',
  );
}

/** Values that the default or the options below the name show. */
const EVIDENT = new Set(['a plain object', 'true or false', 'a string']);

/** The guide: every option, fault and condition, each below a heading of its own. */
export function sandboxGuide(): string {
  const options = optionRows().map(({ path, text, defaultText = '', values }) => {
    const hasDefault = defaultText !== '' && defaultText !== 'undefined';
    const shown = defaultText === "''" ? 'an empty string' : code(defaultText);
    const facts = [hasDefault ? `default ${shown}` : '', EVIDENT.has(values) ? '' : values];
    return section(path, facts, text);
  });
  const faultType = typeOf('sandboxFaults');
  const faultDocs = docsOf(faultType);
  const faults = Object.keys(sandboxFaults).map((kind) =>
    section(kind, [], faultDocs.get(kind)?.text ?? '', fieldsOf(faultType, kind)),
  );
  const conditionDocs = docsOf(typeOf('FaultMatch'));
  const conditions = Object.entries<Entry>(faultConditions satisfies Record<keyof FaultMatch, Entry>).map(
    ([name, entry]) => {
      const { text = '', defaultText = 'any' } = conditionDocs.get(name) ?? {};
      return section(name, [`default ${defaultText}`, valuesOf(entry)], text);
    },
  );
  return `${HEAD}
## Options

${options.join('\n')}
## Faults

\`sandbox.faults.next({ kind: 'lost-response', committed: true })\` adds a fault for the next request, \`sandbox.faults.add(fault, conditions)\` for all that match the conditions. A request meets every \`delay\` that matches it, and the oldest other fault.

${faults.join('\n')}
## Conditions

${conditions.join('\n')}`;
}

const HEAD = `---
title: Sandbox options
outline: [2, 3]
---

# Sandbox options

Every option of \`createSandbox\`, every fault and every condition of a fault. [Testing](testing.md) shows how to use them.

<option-filter />
`;

/** A heading, a line of facts such as the default, what it means, and the fields of a fault. */
function section(
  name: string,
  facts: readonly string[],
  text: string,
  fields: readonly string[] = [],
): string {
  const line = facts.filter((fact) => fact !== '').join('; ');
  const parts = [`### \`${name}\``, line && `<small>${line}</small>`, text];
  if (fields.length > 0) parts.push(fields.map((field) => `- ${field}`).join('\n'));
  return parts
    .filter((part) => part !== '')
    .map((part) => `${part}\n`)
    .join('\n');
}

function fieldsOf(faultType: ts.Type, kind: string): string[] {
  const { required, optional }: { required?: object; optional?: object } =
    sandboxFaults[kind as Fault['kind']];
  return [
    ...(required ? describe(inside(inside(faultType, kind), 'required'), 'required') : []),
    ...(optional ? describe(inside(inside(faultType, kind), 'optional')) : []),
  ];
}

function describe(type: ts.Type, note?: string): string[] {
  return [...docsOf(type)].map(
    ([name, { text, defaultText }]) => `\`${name}\` (${note ?? `default: ${defaultText}`}): ${text}`,
  );
}

const code = (text: string) =>
  text.includes(' ') ? text : `\`${text.replaceAll(/(?<=\d)_/g, '').replaceAll("'", '')}\``;
