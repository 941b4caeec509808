import { createClient, memoryStore, push, sync } from 'accounting-data-sdk';
import { createSandbox } from 'accounting-data-sdk/testing';
import { expect, test } from 'vitest';
import { caught } from '../../support/caught.ts';
import { writeCodeBlocks } from './code-blocks.ts';

const block = writeCodeBlocks('src/guides/running-at-scale.md', 'retry-in').find(({ code }) =>
  code.includes('retryIn'),
);
const { retryIn } = (await import(block?.file ?? '')) as { retryIn(error: unknown): number | undefined };

/** The error of a sync, or of a push, of a service that responds so to every request. */
async function errorOf(status: number, retryAfter: number | undefined) {
  const sandbox = createSandbox({ records: 2 });
  const client = createClient({ ...sandbox.clientOptions, rateLimiter: false, retry: { maxAttempts: 1 } });
  sandbox.faults.add({ kind: 'status', status, retryAfter }, { times: 1_000 });
  const options = { tenant: 'acme', store: memoryStore(), maxOutageMs: 0, maxWaitMs: 10 };
  const onBatch = () => undefined;
  return [
    await caught(sync(client, { ...options, onBatch })),
    await caught(push(client.products, { ...options, rows: [{ productNumber: 'A' }], key: 'productNumber' })),
  ];
}

test.each([
  ['a 503', 503, 3600, 3_600_000],
  ['a 429', 429, 60, 60_000],
  ['a 503 without Retry-After', 503, undefined, 1_000],
  ['a 400', 400, undefined, undefined],
])(
  'retryIn of the guide waits as long as %s asks, of a sync and of a push',
  async (_, status, retryAfter, ms) => {
    for (const error of await errorOf(status, retryAfter)) expect(retryIn(error)).toBe(ms);
  },
);

test('retryIn of the guide waits for no error of another package', () => {
  expect(retryIn(new Error('no'))).toBeUndefined();
});
