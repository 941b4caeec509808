import { createSandbox, type Sandbox, type SandboxOptions } from 'accounting-data-sdk/testing';
import { expect, test } from 'vitest';
import { call } from './support/call.ts';

const START = Date.UTC(2026, 0, 31, 12, 0, 0);

function limited(rateLimit: SandboxOptions['rateLimit'] & object, clock: number = START): Sandbox {
  return createSandbox({ rateLimit: { windowMs: 10_000, ...rateLimit }, clock });
}

/** Status, remaining quota and Retry-After of the given number of requests. */
async function send(sandbox: Sandbox, times: number): Promise<(readonly [number, number, string | null])[]> {
  const seen = [];
  for (let i = 0; i < times; i += 1) {
    const { status, headers } = await call(sandbox, '/accounts');
    seen.push([status, Number(headers.get('x-ratelimit-remaining')), headers.get('retry-after')] as const);
  }
  return seen;
}

test('fixed opens at multiples of the window', async () => {
  const sandbox = limited({ limit: 2 }, START + 7500);
  expect(await send(sandbox, 3)).toEqual([
    [200, 1, null],
    [200, 0, null],
    [429, 0, '3'],
  ]);
  sandbox.clock.advance(2499);
  expect(await send(sandbox, 1)).toEqual([[429, 0, '1']]);
  sandbox.clock.advance(1);
  expect(await send(sandbox, 1)).toEqual([[200, 1, null]]);
});

test('fixed-from-first opens with the first request after the last window', async () => {
  const sandbox = limited({ kind: 'fixed-from-first', limit: 1 }, START + 7500);
  expect(await send(sandbox, 2)).toEqual([
    [200, 0, null],
    [429, 0, '10'],
  ]);
  sandbox.clock.advance(15_000);
  expect(await send(sandbox, 2)).toEqual([
    [200, 0, null],
    [429, 0, '10'],
  ]);
});

test('sliding-counter counts the window before by the part of it that is left', async () => {
  const sandbox = limited({ kind: 'sliding-counter', limit: 10 });
  expect((await send(sandbox, 11)).at(-1)).toEqual([429, 0, '11']);
  sandbox.clock.advance(15_000);
  // Half of the ten are still counted.
  expect((await send(sandbox, 6)).map(([status]) => status)).toEqual([200, 200, 200, 200, 200, 429]);
  expect((await send(sandbox, 1))[0]?.[2]).toBe('1');
  sandbox.clock.advance(1000);
  expect((await send(sandbox, 2)).map(([status]) => status)).toEqual([200, 429]);
});

test('token-bucket refills steadily, up to its size', async () => {
  const sandbox = limited({ kind: 'token-bucket', limit: 5 });
  expect((await send(sandbox, 6)).at(-1)).toEqual([429, 0, '2']);
  sandbox.clock.advance(2000);
  expect(await send(sandbox, 2)).toEqual([
    [200, 0, null],
    [429, 0, '2'],
  ]);
  sandbox.clock.advance(60_000);
  expect((await send(sandbox, 6)).map(([, remaining]) => remaining)).toEqual([4, 3, 2, 1, 0, 0]);
});

test.each(['fixed', 'fixed-from-first', 'sliding-counter', 'token-bucket'] as const)(
  '%s does not count rejected requests, and works after the clock was turned back',
  async (kind) => {
    const sandbox = limited({ kind, limit: 4 });
    const statuses = (await send(sandbox, 20)).map(([status]) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(4);
    sandbox.clock.advance(20_000);
    expect((await send(sandbox, 1))[0]?.slice(0, 2)).toEqual([200, 3]);
    sandbox.clock.advance(-3_600_000);
    await send(sandbox, 5);
    sandbox.clock.advance(20_000);
    expect((await send(sandbox, 1))[0]?.[0]).toBe(200);
  },
);

test('a request without a valid key is never rate limited: the response stays 401', async () => {
  const sandbox = limited({ limit: 1 });
  for (const key of ['unknown', 'unknown', null, null]) {
    const { status, headers } = await call(sandbox, '/accounts', { key });
    expect([status, headers.get('x-ratelimit-limit')]).toEqual([401, '1']);
  }
});

test('rateLimit false reports a quota that never shrinks', async () => {
  const sandbox = createSandbox({ rateLimit: false });
  const unlimited = [200, 1_000_000, null];
  expect(await send(sandbox, 2)).toEqual([unlimited, unlimited]);
});
