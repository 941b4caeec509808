import { readFileSync } from 'node:fs';
import { type ConnectorTest, connectorTests } from 'accounting-data-sdk/testing';
import { describe, expect, test } from 'vitest';
import { NO_HURRY } from '../../support/seeds.ts';
import {
  COLLECTIONS,
  deletionByAbsence,
  insertOnly,
  keysetOnTrust,
  loopByPage,
  tableOfFirstRecord,
} from './naive.ts';
import { keyOfTheRow, lookFirst, lookOnly, postWithRetry } from './naive-writers.ts';
import { hasPython, pythonByPage } from './python.ts';

const READERS = {
  'loop by page': loopByPage,
  '`id[gt]` on trust': keysetOnTrust,
  'insert only': insertOnly,
  'deletion by absence': deletionByAbsence,
  'first record’s columns': tableOfFirstRecord,
};
const WRITERS = {
  'POST again with a new key': postWithRetry,
  'key of the row': keyOfTheRow,
  'remember, and ignore errors': lookFirst,
  'look first': lookOnly,
};

/** A table of the guide: the names of the cases, and for each connector those that it fails. */
function tableOf(firstColumn: string): { cases: string[]; failedBy: Map<string, string[]> } {
  const guide = readFileSync(new URL('../../../src/guides/connector-tests.md', import.meta.url), 'utf8');
  const [, table = ''] = new RegExp(`^(\\| ${firstColumn} \\|.*(?:\\n\\|.*)+)`, 'm').exec(guide) ?? [];
  const [head = [], , ...rows] = table.split('\n').map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
  const failedBy = head
    .slice(1)
    .map((name, column): [string, string[]] => [
      name,
      rows.filter((row) => row[column + 1] === 'fails').map(([name = '']) => name),
    ]);
  return { cases: rows.map(([name = '']) => name), failedBy: new Map(failedBy) };
}

async function failedOf(cases: readonly ConnectorTest[]): Promise<string[]> {
  const failed: string[] = [];
  for (const { name, run } of cases) await run().catch(() => failed.push(name));
  return failed;
}

const reading = tableOf('reading');
const writing = tableOf('writing');

describe.concurrent('a connector fails the cases that the guide says', NO_HURRY, () => {
  test.each(Object.entries(READERS))('%s', async (name, make) => {
    const cases = connectorTests({ collections: COLLECTIONS, ...make(), timeoutMs: 6_000 });
    const failed = await failedOf(cases);
    expect(failed).toEqual(reading.failedBy.get(name));
  });

  test.each(Object.entries(WRITERS))('%s', async (name, make) => {
    const { run, reset } = make();
    expect(await failedOf(connectorTests({ writes: { run }, reset }))).toEqual(writing.failedBy.get(name));
  });

  test.runIf(hasPython)('Python by page', async () => {
    const { output: _, ...connector } = pythonByPage();
    const cases = connectorTests({ collections: COLLECTIONS, ...connector });
    expect(await failedOf(cases)).toEqual(reading.failedBy.get('Python by page'));
  });
});

test('every case is in the table of the guide, and fails for one of its connectors', () => {
  const connector = { ...loopByPage(), writes: postWithRetry() };
  const names = connectorTests({ collections: COLLECTIONS, ...connector }).map(({ name }) => name);
  expect([...reading.cases, ...writing.cases]).toEqual(names);
  const failed = new Set([...reading.failedBy.values(), ...writing.failedBy.values()].flat());
  expect(names.filter((name) => !failed.has(name))).toEqual([]);
});

test('the README says how many cases a loop by page passes', () => {
  const readme = readFileSync(new URL('../../../README.md', import.meta.url), 'utf8');
  const passed = reading.cases.length - (reading.failedBy.get('loop by page')?.length ?? 0);
  expect(readme).toContain(`a loop by page passes ${passed} of ${reading.cases.length}`);
});

test.runIf(hasPython)('a case fails if the API key is in the output of the connector', async () => {
  const connector = pythonByPage();
  const [quiet] = connectorTests({ collections: COLLECTIONS, ...connector, only: ['changed records'] });
  await expect(quiet?.run()).rejects.toThrow('The output of the connector contains its API key.');
});
