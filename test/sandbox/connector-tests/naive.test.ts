import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectorTests } from 'accounting-data-sdk/testing';
import { describe, expect, test } from 'vitest';
import { NO_HURRY } from '../../support/seeds.ts';
import { failuresOf } from './failures.ts';
import {
  COLLECTIONS,
  deletionByAbsence,
  insertOnly,
  keysetOnTrust,
  loopByPage,
  steppingClock,
  tableOfFirstRecord,
} from './naive.ts';
import { keyOfTheRow, lookFirst, lookOnly, postWithRetry } from './naive-writers.ts';
import { hasPython, pythonByPage } from './python.ts';

const READERS = {
  'loop over page numbers': loopByPage,
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

const PYTHON = 'Python over page numbers';

const guide = readFileSync(new URL('../../../src/guides/connector-tests.md', import.meta.url), 'utf8');

/** A table of the guide: the names of the cases, and for each connector those that it fails. */
interface Table {
  readonly cases: string[];
  readonly failedBy: ReadonlyMap<string, string[]>;
}

function tableOf(firstColumn: string): Table {
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

const reading = tableOf('reading');
const writing = tableOf('writing');
const isSoak = process.env.SOAK_CONNECTORS !== undefined;

/**
 * The cases that a connector plays: those that it fails and no other connector with fewer failures does, and the first
 * one that it passes. `SOAK_CONNECTORS=1` runs every case.
 */
function playedBy(name: string, { cases, failedBy }: Table): string[] {
  if (isSoak) return cases;
  const failures = (other: string) => failedBy.get(other) ?? [];
  const byFailures = [...failedBy.keys()]
    .filter((other) => other !== PYTHON)
    .sort((a, b) => failures(a).length - failures(b).length);
  const passed = cases.find((each) => !failures(name).includes(each));
  return cases.filter(
    (each) => each === passed || byFailures.find((other) => failures(other).includes(each)) === name,
  );
}

/** Of these cases, a connector fails exactly those that the table of the guide names. */
async function expectFailures(
  name: string,
  { cases, table }: { cases: readonly string[]; table: Table },
  make: Parameters<typeof failuresOf>[0],
): Promise<void> {
  const expected = table.failedBy.get(name)?.filter((each) => cases.includes(each));
  expect([...(await failuresOf(make)).keys()]).toEqual(expected);
}

// At once: most of the time of a connector is waits.
describe.concurrent('a connector fails the cases that the guide says', NO_HURRY, () => {
  test.each(Object.entries(READERS))('%s', async (name, make) => {
    const cases = playedBy(name, reading);
    await expectFailures(name, { cases, table: reading }, () => {
      const clock = steppingClock();
      return connectorTests({
        collections: COLLECTIONS,
        service: { clock },
        ...make(clock),
        only: cases,
      });
    });
  });

  test.each(Object.entries(WRITERS))('%s', async (name, make) => {
    const cases = playedBy(name, writing);
    await expectFailures(name, { cases, table: writing }, () => {
      const { run, reset } = make();
      return connectorTests({
        writes: { run },
        reset,
        service: { clock: steppingClock() },
        only: cases,
      });
    });
  });

  test.runIf(hasPython)(PYTHON, async ({ onTestFinished }) => {
    // It starts a process for each run, which takes most of the time.
    const cases = isSoak ? reading.cases : ['changed records', 'long amounts', 'killed and started again'];
    const folder = mkdtempSync(join(tmpdir(), 'connector-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    await expectFailures(PYTHON, { cases, table: reading }, (lane) =>
      connectorTests({
        collections: COLLECTIONS,
        service: { clock: steppingClock() },
        ...pythonByPage(join(folder, `copy-${lane}.sqlite`)),
        only: cases,
      }),
    );
  });
});

test('every case is in the table of the guide, and fails for one of its connectors that needs no Python', () => {
  const { run } = postWithRetry();
  const connector = { ...loopByPage(), writes: { run } };
  const names = connectorTests({ collections: COLLECTIONS, ...connector }).map(({ name }) => name);
  expect([...reading.cases, ...writing.cases]).toEqual(names);
  const everywhere = [...reading.failedBy, ...writing.failedBy].filter(([name]) => name !== PYTHON);
  const failed = new Set(everywhere.flatMap(([, cases]) => cases));
  expect(names.filter((name) => !failed.has(name))).toEqual([]);
});

test('the README says how many cases a loop over page numbers passes', () => {
  const readme = readFileSync(new URL('../../../README.md', import.meta.url), 'utf8');
  const passed = reading.cases.length - (reading.failedBy.get('loop over page numbers')?.length ?? 0);
  expect(readme).toContain(`a loop over page numbers passes ${passed} of ${reading.cases.length}`);
});

test('the guide shows the message of a case that a connector fails', async () => {
  const only = ['deletions between pages'];
  const [found] = connectorTests({ collections: ['accounts'], ...deletionByAbsence(), only });
  const error = await found?.run().catch((reason: Error) => reason);
  expect(guide).toContain(`\`\`\`text\n${error?.message}\n\`\`\``);
});
