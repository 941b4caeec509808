import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { createOptions } from '../../../src/collections/send-one.ts';
import type { OptionTable } from '../../../src/internal/options.ts';
import { clientOptions } from '../../../src/options.ts';
import { listOptions } from '../../../src/pagination/list-options.ts';
import { pushOptions } from '../../../src/push/options.ts';
import { changesOptions } from '../../../src/sync/changes.ts';
import { syncOptions } from '../../../src/sync/sync.ts';
import { callOptions } from '../../../src/transport/call-options.ts';
import { namesIn, root } from './code-blocks.ts';

const GUIDE = 'src/guides/options.md';

/** An option below a heading of its own. */
interface Section {
  readonly name: string;
  /** Whose option it is, its default, and its other values. */
  readonly facts: readonly string[];
  readonly text: string;
}

/** The options of a chapter of the guide. */
function sectionsOf(chapter: string): Section[] {
  const guide = readFileSync(`${root}${GUIDE}`, 'utf8');
  const [, rest = ''] = guide.split(`\n## ${chapter}\n`);
  const [content = ''] = rest.split('\n## ');
  return content
    .split('\n### ')
    .slice(1)
    .map((section) => {
      const [heading = '', ...paragraphs] = section.trim().split('\n\n');
      const [, facts] = /^<small>(.*)<\/small>$/.exec(paragraphs[0] ?? '') ?? [];
      return {
        name: heading.replaceAll('`', ''),
        facts: facts?.split('; ') ?? [],
        text: paragraphs.slice(facts === undefined ? 0 : 1).join(' '),
      };
    });
}

/** A default as the guide states it; undefined for one that only words can state. */
function statedDefault({ default: value, required }: OptionTable[string]): string | undefined {
  if (required === true) return 'required';
  if (value === Number.POSITIVE_INFINITY) return undefined;
  return ['string', 'number', 'boolean'].includes(typeof value) ? String(value) : undefined;
}

/** The default in the facts: the first name in code, or a number with or without its unit. */
function defaultIn(facts: readonly string[]): string | undefined {
  if (facts.some((fact) => /^required(?! by)/.test(fact))) return 'required';
  const fact = facts.find((one) => one.startsWith('default '))?.replace('default ', '');
  if (fact === undefined) return undefined;
  const [quoted] = namesIn(fact);
  if (quoted !== undefined) return quoted.replaceAll("'", '');
  const number = Number(fact.replaceAll(',', '').replace(/ .*/, ''));
  return String(fact.endsWith(' MiB') ? number * 2 ** 20 : number);
}

/** What is wrong with sections: another default than in the table, a value that is missing, no sentence. */
function faultsIn(sections: readonly Section[], table: OptionTable): string[] {
  return sections.flatMap(({ name, facts, text }) => {
    const entry = table[name];
    if (entry === undefined) return [];
    const faults = /^\S.*\.$/.test(text) ? [] : [`${name}: ${text}`];
    const stated = statedDefault(entry);
    if (stated !== undefined && stated !== defaultIn(facts)) faults.push(`${name}: the default is ${stated}`);
    const named = namesIn(facts.join(' ')).map((value) => value.replaceAll("'", ''));
    const missing = entry.values?.filter((value) => !named.includes(String(value))) ?? [];
    return [...faults, ...missing.map((value) => `${name}: ${value} is not named`)];
  });
}

const namesOf = (sections: readonly Section[]) => sections.map(({ name }) => name).toSorted();

const { retry, ...others } = clientOptions;
const retryEntries = Object.entries(retry.options).map(([name, entry]) => [`retry.${name}`, entry]);
const flatClientOptions: OptionTable = { ...others, ...Object.fromEntries(retryEntries) };

describe('the guide to options', () => {
  test('has a section for every option of the client, and marks those of each call', () => {
    const sections = sectionsOf('Client options');
    expect(namesOf(sections)).toEqual(Object.keys(flatClientOptions).toSorted());
    expect(faultsIn(sections, flatClientOptions)).toEqual([]);
    const ofCalls = sections.filter(({ facts }) => facts.includes('also per call'));
    const shared = Object.keys(clientOptions).filter((name) => Object.hasOwn(listOptions, name));
    const marked = new Set(ofCalls.map(({ name }) => name.replace(/\..*/, '')));
    expect([...marked].toSorted()).toEqual(shared.toSorted());
  });

  test('has a section for every option that only calls have', () => {
    const sections = sectionsOf('Per-call options');
    const ofCalls = { ...listOptions, ...createOptions };
    const alone = Object.keys(ofCalls).filter((name) => !Object.hasOwn(clientOptions, name));
    expect(namesOf(sections)).toEqual(alone.toSorted());
    expect(faultsIn(sections, ofCalls)).toEqual([]);
  });

  test.each([
    { of: 'sync', table: syncOptions },
    { of: 'changes', table: changesOptions },
  ])('has a section for every option of $of', ({ of, table }) => {
    // A section that names no function is about both.
    const sections = sectionsOf('Options of sync and changes').filter(({ facts: [first = ''] }) => {
      const functions = /^(?:sync|changes)(?: and \w+)?$/.test(first);
      return !functions || first.split(' and ').includes(of);
    });
    const own = Object.keys(table).filter((name) => !Object.hasOwn(callOptions, name));
    expect(namesOf(sections)).toEqual(own.toSorted());
    // What only one of the functions requires is said in words.
    const isShared = ({ facts }: Section) => !facts.some((fact) => fact.startsWith('required by'));
    expect(faultsIn(sections.filter(isShared), table)).toEqual([]);
  });

  test('has a section for every option of push', () => {
    const sections = sectionsOf('Push options');
    const shared = sections.find(({ name }) => name === 'The same as in a sync');
    const own = sections.filter((section) => section !== shared);
    expect([...namesOf(own), ...namesIn(shared?.text ?? '')].toSorted()).toEqual(
      Object.keys(pushOptions).toSorted(),
    );
    expect(faultsIn(own, pushOptions)).toEqual([]);
    for (const name of namesIn(shared?.text ?? '')) expect(syncOptions).toHaveProperty(name);
  });
});
