import { createClient, push } from 'accounting-data-sdk';
import { createSandbox } from 'accounting-data-sdk/testing';
import { expect, test } from 'vitest';
import { caught } from '../../support/caught.ts';
import { productNumber } from '../../support/push.ts';
import { runToEnd, useVirtualClock } from '../../support/virtual-clock.ts';

const SECOND = 1_000;

useVirtualClock();

test.each([
  ['a create', 'POST', 0],
  ['an update', 'PATCH', 1],
] as const)('counts maxOutageMs from the first failed attempt of %s', async (_, method, existing) => {
  const sandbox = createSandbox({ rateLimit: false });
  for (let n = 0; n < existing; n++) sandbox.store.products.insert({ productNumber: 'A', name: 'Old' });
  const client = createClient({
    ...sandbox.clientOptions,
    timeoutMs: 20 * SECOND,
    fetch: (input, init) => {
      if (init?.method !== method) return sandbox.fetch(input, init);
      return new Promise((_resolve, reject) => {
        init.signal?.addEventListener('abort', () => reject(init.signal?.reason));
      });
    },
  });
  const startedAt = Date.now();
  const rows = [{ productNumber: 'A', name: 'New' }];
  const options = { tenant: 'shop', rows, key: productNumber, maxOutageMs: 60 * SECOND };
  const ended = caught(push(client.products, options));
  await runToEnd(ended);
  expect(await ended).toMatchObject({ code: 'push_failed', cause: { code: 'timeout' } });
  // The attempts of 20 s of one call and the waits between them, and no second series of attempts.
  expect(Date.now() - startedAt).toBeLessThan(125 * SECOND);
});
