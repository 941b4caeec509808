import { readdir, readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { checks } from './checks/all.ts';
import { coverage, PRODUCT_ROW } from './statements/all.ts';
import type { Coverage } from './statements/entry.ts';
import { PRODUCT_SECTION, productFields, readOnlySegments, statements } from './suite/contract-text.ts';

const entries = Object.entries(coverage).flatMap(([section, list]) =>
  list.map((entry) => ({ section, ...entry })),
);
const names = checks.map(({ name }) => name);
const references = [...entries.flatMap(({ checks: named = [] }) => named), ...PRODUCT_ROW];

const isProductRow = (section: string, text: string) =>
  section === PRODUCT_SECTION && productFields.some(({ name }) => text.startsWith(`${name} | `));

describe('the table of coverage', () => {
  test('has every statement of the contract, in its section and its order, and no other', () => {
    const said = statements.filter(({ section, text }) => !isProductRow(section, text));
    expect(entries.map(({ section, says }) => [section, says])).toEqual(
      said.map(({ section, text }) => [section, text]),
    );
  });

  test('names checks or says why there is none', () => {
    for (const { says, checks: named = [], because } of entries as (Coverage & { section: string })[]) {
      expect([says, named.length > 0]).toEqual([says, because === undefined]);
    }
  });

  test('says "not shown" of what is not shown and of nothing else', () => {
    for (const { says, because } of entries) {
      if (says.includes('words "not shown"')) continue;
      expect([says, because?.startsWith('not shown') ?? false]).toEqual([says, says.includes('not shown')]);
    }
  });

  test.each([...new Set(references)])('the check exists: %s', (reference) => {
    expect(names.some((name) => name.includes(reference))).toBe(true);
  });

  test('leaves no check unnamed', () => {
    expect(names.filter((name) => !references.some((reference) => name.includes(reference)))).toEqual([]);
  });
});

test('the contract was read whole', () => {
  expect(readOnlySegments).toHaveLength(13);
  expect(productFields).toHaveLength(61);
  expect(productFields.filter(({ type }) => type === 'money').map(({ name }) => name)).toEqual([
    'salePrice',
    'saleRrpPrice',
  ]);
});

test('no two checks bear the same name', () => {
  expect(new Set(names).size).toBe(names.length);
});

test('the checks talk HTTP: nothing of the package is imported but by the one file that starts a sandbox', async () => {
  const importing: string[] = [];
  for (const folder of ['checks', 'suite', 'statements', 'defects']) {
    const home = new URL(`./${folder}/`, import.meta.url);
    for (const file of await readdir(home)) {
      const text = await readFile(new URL(file, home), 'utf8');
      if (/from '(?:\.\.\/\.\.|accounting-data-sdk)/.test(text)) importing.push(`${folder}/${file}`);
    }
  }
  expect(importing).toEqual(['suite/sandbox-target.ts']);
});
