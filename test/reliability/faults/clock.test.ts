import { createClient, memoryStore, sync } from 'accounting-data-sdk';
import { expect, test, vi } from 'vitest';
import { caught } from '../../support/caught.ts';
import { clientEvents } from '../../support/client-events.ts';
import { json, misbehave, problem } from '../../support/responses.ts';
import { scriptedServer } from '../../support/scripted-server.ts';
import { advance, stateOf, useVirtualClock } from '../../support/virtual-clock.ts';

useVirtualClock();

const HOUR_MS = 3_600_000;

test.each([-HOUR_MS, HOUR_MS])(
  'a deadline of 2.5 s ends after 2.5 s, even if the clock is set by %i ms',
  async (byMs) => {
    await using server = await scriptedServer(problem(503), misbehave.stall);
    const { on, seen } = clientEvents();
    const client = createClient({ baseUrl: server.url, apiKey: 'key-of-the-company', on });
    const call = caught(client.accounts.get('1', { deadlineMs: 2_500 }));
    await seen('retry');
    vi.setSystemTime(Date.now() + byMs);
    await advance(1_100);
    await server.received(2);
    expect(await stateOf(call)).toBe('pending');
    await advance(1_400);
    expect(await call).toMatchObject({ code: 'timeout', limit: 'deadline', attempts: 2 });
  },
);

test('a call waits as long as Retry-After says, even if the clock is set forward by an hour', async () => {
  const limited = problem(429, { type: 'rate_limited' }, { 'retry-after': '30' });
  await using server = await scriptedServer(limited, json({ id: '1' }));
  const { on, seen } = clientEvents();
  const call = createClient({ baseUrl: server.url, apiKey: 'key-of-the-company', on }).accounts.get('1');
  await seen('wait');
  vi.setSystemTime(Date.now() + HOUR_MS);
  await advance(29_900);
  expect(server.requests).toHaveLength(1);
  await advance(200);
  await expect(call).resolves.toEqual({ id: '1' });
});

test.each([-HOUR_MS, HOUR_MS])(
  'the rate of a sync is right, even if the clock is set by %i ms',
  async (byMs) => {
    await using server = await scriptedServer((request, wire) => {
      const isFirst = request.url.includes('_page=1');
      return json(isFirst ? [{ id: '1' }, { id: '2' }] : [])(request, wire);
    });
    const client = createClient({ baseUrl: server.url, apiKey: 'key-of-the-company', pagination: 'page' });
    const rates: number[] = [];
    await sync(client, {
      tenant: 'acme',
      store: memoryStore(),
      collections: ['accounts'],
      onBatch: async () => {
        vi.setSystemTime(Date.now() + byMs);
        await vi.advanceTimersByTimeAsync(1_000);
      },
      onProgress: ({ records, recordsPerSecond }) => void (records > 0 && rates.push(recordsPerSecond)),
    });
    expect(rates[0]).toBeCloseTo(2, 1);
  },
);
