import { readFileSync } from 'node:fs';
import { connectorTests } from 'accounting-data-sdk/testing';
import { expect, test } from 'vitest';
import { writeCodeBlocks } from '../../package/docs/code-blocks.ts';
import { failuresOf } from './failures.ts';
import { COLLECTIONS, copyOfEachNight, steppingClock } from './naive.ts';

const GUIDE = 'src/guides/connector-tests.md';

const REJECTED = [
  'deletions, newest first',
  'inserts, newest first',
  'changes, oldest change first',
  'changes, newest change first',
  'deletions without an order',
  'ties',
  'UUIDs',
  'a small quota',
];
const FAILED = [...REJECTED, 'one forbidden collection', 'empty lists'];
/** Without the soak, of the cases that it passes only one. */
const PLAYED = process.env.SOAK_CONNECTORS === undefined ? { only: ['changed records', ...FAILED] } : {};

test('the loop by id of the guide passes as many cases as the guide says, and rejects in as many', async () => {
  const loop = writeCodeBlocks(GUIDE, 'loop-by-id').find(({ code }) => code.includes('function* recordsOf'));
  const { recordsOf } = await import(/* @vite-ignore */ String(loop?.file));
  const casesOf = (played: object) =>
    connectorTests({
      collections: COLLECTIONS,
      service: { clock: steppingClock() },
      ...copyOfEachNight(recordsOf),
      ...played,
    });
  const failures = await failuresOf(() => casesOf(PLAYED));
  expect([...failures.keys()]).toEqual(FAILED);
  const rejected = [...failures].filter(([, message]) => message.includes(': The run rejected'));
  expect(rejected.map(([name]) => name)).toEqual(REJECTED);

  const { length } = casesOf({});
  const guide = readFileSync(new URL(`../../../${GUIDE}`, import.meta.url), 'utf8');
  expect(guide).toContain(`it passes ${length - FAILED.length} of ${length} cases. In eight it rejects`);
  expect(REJECTED).toHaveLength(8);
});
