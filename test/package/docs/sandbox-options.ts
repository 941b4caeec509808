import {
  type Fault,
  type FaultMatch,
  faultConditions,
  type SandboxOptions,
  sandboxFaults,
  sandboxOptions,
} from 'accounting-data-sdk/testing';
import type ts from 'typescript';
import { docsOfEntry, type Entry, type PropertyDoc, section, valuesOf } from './option-docs.ts';

const { typeOf, docsOf, inside } = docsOfEntry('testing/index.ts');

/** An option as the guide lists it. */
export interface OptionRow extends PropertyDoc {
  /** With the group that contains it, such as `ids.form`. */
  readonly path: string;
  /** Undefined for a group. */
  readonly default: unknown;
  readonly values: string;
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
