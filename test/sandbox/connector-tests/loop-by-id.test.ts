import { readFileSync } from 'node:fs';
import { connectorTests } from 'accounting-data-sdk/testing';
import { expect, test } from 'vitest';
import { writeCodeBlocks } from '../../package/docs/code-blocks.ts';
import { failuresOf } from './failures.ts';
import { COLLECTIONS, copyOfEachNight, steppingClock } from './naive.ts';

const GUIDE = 'src/guides/connector-tests.md';

test('the loop by id of the guide passes as many cases as the guide says, and rejects in as many', async () => {
  const loop = writeCodeBlocks(GUIDE, 'loop-by-id').find(({ code }) => code.includes('function* recordsOf'));
  const { recordsOf } = await import(/* @vite-ignore */ String(loop?.file));
  const casesOf = () =>
    connectorTests({
      collections: COLLECTIONS,
      service: { clock: steppingClock() },
      ...copyOfEachNight(recordsOf),
    });
  const failures = await failuresOf(casesOf);
  const { length } = casesOf();
  const guide = readFileSync(new URL(`../../../${GUIDE}`, import.meta.url), 'utf8');
  expect(guide).toContain(`it passes ${length - failures.size} of ${length} cases. In eight it rejects`);

  const rejected = [...failures.values()].filter((message) => message.includes(': The run rejected'));
  expect(rejected).toHaveLength(8);
  const others = [...failures].filter(([, message]) => !rejected.includes(message));
  expect(others.map(([name]) => name)).toEqual(['one forbidden collection', 'empty lists']);
});
