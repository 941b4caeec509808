import { type AnyAccountingError, type Client, createClient, type FetchFunction } from 'accounting-data-sdk';
import { beforeAll, expect, test, vi } from 'vitest';
import { newOrigin } from '../../support/scripted-fetch.ts';
import { settle } from '../../support/scripted-server.ts';
import { loadTransport } from '../../support/virtual-clock.ts';
import { API_KEYS, CALLS, FuzzedCall, MAX_BODY_BYTES, throughFetch } from './fuzzed-responses.ts';

/** Calls of each kind: SOAK_RESPONSES of them in the long form, SEED draws them again. */
const COUNT = Number(process.env.SOAK_RESPONSES ?? 200);
const SEED = Number(
  process.env.SEED ??
    (process.env.SOAK_RESPONSES === undefined ? 20260131 : Math.floor(Math.random() * 2 ** 31)),
);

beforeAll(loadTransport);

function send(client: Client, { kind, seed }: FuzzedCall): Promise<unknown> {
  const options = { headers: { 'x-fuzzed-call': String(seed) } };
  switch (kind) {
    case 'list':
      return client.accounts
        .list({}, { ...options, prefetch: 0 })
        .toArray({ limit: Number.POSITIVE_INFINITY });
    case 'get':
      return client.products.get('42', options);
    case 'find':
      return client.products.find('42', options);
    case 'create':
      return client.products.create({ name: 'Desk', salePrice: '129.0000' }, options);
    case 'update':
      return client.products.update('42', { name: 'Desk', brand: null }, options);
    case 'delete':
      return client.products.delete('42', options);
  }
}

/** `resolved`, or outcome and code. Fails with the seed, what the service did, and what is wrong. */
async function endOf(call: FuzzedCall, sent: Promise<unknown>): Promise<string> {
  const end = await sent.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  const wrong = call.judge(end);
  if (wrong.length > 0) {
    const ended = 'error' in end ? String(end.error) : `resolved ${JSON.stringify(end.value)}`;
    throw new Error(
      `${call.kind} ${wrong.join(', ')}. SEED=${call.seed} SOAK_RESPONSES=1 repeats it.\n${call.log.join('\n')}\n${ended}`,
    );
  }
  if ('value' in end) return end.value === undefined ? 'resolved without a value' : 'resolved';
  const { outcome, code } = end.error as AnyAccountingError;
  return `${outcome} ${code}`;
}

test.each(CALLS)(
  'a %s that gets random responses ends, and its outcome is true',
  async (kind) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] });
    vi.spyOn(Math, 'random').mockReturnValue(0.5);
    const ends: string[] = [];
    try {
      for (let from = 0; from < COUNT; from += 100) {
        const calls = Array.from(
          { length: Math.min(100, COUNT - from) },
          (_, index) => new FuzzedCall(kind, SEED + from + index),
        );
        const running = Promise.allSettled(calls.map((call) => endOf(call, send(clientOf(call), call))));
        const ended = vi.fn<() => void>();
        void running.then(ended);
        // An hour of the clock: no call has leave to take longer.
        for (let minute = 0; minute < 60 && ended.mock.calls.length === 0; minute += 1) {
          await settle(3);
          await vi.advanceTimersByTimeAsync(60_000);
          await settle(3);
        }
        expect(ended, `every call from SEED=${SEED + from} ends`).toHaveBeenCalled();
        for (const result of await running) {
          if (result.status === 'rejected') throw result.reason;
          ends.push(result.value);
        }
      }
    } finally {
      vi.useRealTimers();
    }
    expect(ends).toHaveLength(COUNT);
    // Or it was no test of outcomes.
    if (COUNT >= 200) expect(new Set(ends).size).toBeGreaterThan(5);
  },
  1_800_000,
);

function clientOf(call: FuzzedCall): Client {
  const { random } = call;
  const fetch: FetchFunction = (url, { method = '', headers, body, signal }) => {
    const sent = new Headers(headers);
    const apiKey = sent.get('x-auth-token') ?? '';
    const idempotencyKey = sent.get('idempotency-key') ?? undefined;
    const fuzzed = call.respond({ method, url, apiKey, idempotencyKey, body: body?.toString() });
    return throughFetch(fuzzed, { signal: signal as AbortSignal, apiKey, random });
  };
  let asked = 0;
  return createClient({
    baseUrl: newOrigin(),
    apiKey: random.chance(0.5) ? API_KEYS[0] : () => API_KEYS[asked++ % 2] as string,
    fetch,
    timeoutMs: 1_000,
    deadlineMs: random.pick([120_000, 3_000]),
    maxWaitMs: random.pick([60_000, 500]),
    maxBodyBytes: MAX_BODY_BYTES,
    rateLimiter: random.pick(['client', false] as const),
    retry: {
      maxAttempts: random.pick([1, 2, 3, 5]),
      baseDelayMs: 1,
      maxDelayMs: 5,
      creates: call.mayRepeat,
      updates: call.mayRepeat,
    },
  });
}
