import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { threadPoolIsBusy } from '../support/thread-pool.ts';
import { advance, runToEnd, stateOf, useVirtualClock } from '../support/virtual-clock.ts';

useVirtualClock();

const hash = async () => void (await globalThis.crypto.subtle.digest('SHA-256', new Uint8Array(5_000_000)));
const read = async () => void (await readFile(new URL(import.meta.url)));

test.each([
  ['crypto.subtle hashes', hash],
  ['fs reads a file', read],
])('the virtual clock stands still while %s', async (_, work) => {
  const timed = async () => {
    const timer = setTimeout(() => {}, 1_000);
    const startedAt = Date.now();
    await work();
    clearTimeout(timer);
    return Date.now() - startedAt;
  };
  expect(await runToEnd(timed())).toBe(0);
});

test('an advance of the virtual clock waits for the thread pool', async () => {
  const hashed = hash();
  await advance(1_000);
  expect(await stateOf(hashed)).toBe('resolved');
});

test('the virtual clock does not wait for getRandomValues, which ends at once', () => {
  globalThis.crypto.getRandomValues(new Uint8Array(8));
  expect(threadPoolIsBusy()).toBe(false);
});
