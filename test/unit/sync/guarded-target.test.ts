import { expect, test } from 'vitest';
import { CallerCode } from '../../../src/reading/caller-code.ts';
import { guardedTarget } from '../../../src/sync/guarded-target.ts';

test('the ids of a target are closed when no more of them are read, because they can hold a cursor', async () => {
  let isClosed = false;
  async function* localIds() {
    try {
      yield* ['1', '2', '3'];
    } finally {
      isClosed = true;
    }
  }
  const opened = { store: { get: () => undefined }, onBatch: () => undefined, localIds };
  const target = guardedTarget(opened, new CallerCode({ signal: undefined, warn: () => {} }), 'target');
  for await (const id of target.localIds?.('accounts') ?? []) {
    expect([id, isClosed]).toEqual(['1', false]);
    break;
  }
  await expect.poll(() => isClosed).toBe(true);
});
