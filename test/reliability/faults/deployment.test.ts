import { createClient, isAccountingError } from 'accounting-data-sdk';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { html, json } from '../../support/responses.ts';
import {
  type FetchedRequest,
  type FetchResponse,
  jsonResponse,
  newOrigin,
  scriptedFetch,
} from '../../support/scripted-fetch.ts';
import { type ScriptedResponse, scriptedServer } from '../../support/scripted-server.ts';
import {
  loadTransport,
  runToEnd,
  startVirtualClock,
  stopVirtualClock,
  useFastClock,
} from '../../support/virtual-clock.ts';

const BAD_GATEWAY_MS = 2_500;
const SEEDS = Array.from({ length: 6 }, (_, index) => index + 1);
const shortestWaits = () => 0;
const longestWaits = () => 0.999_999;

beforeAll(loadTransport);
afterEach(stopVirtualClock);

/** A client with default options, for a service that is down during a deployment. */
function clientDuringDeployment(outageMs: number, { seed = 1, random }: Chance) {
  startVirtualClock(seed);
  if (random !== undefined) Math.random = random;
  const startedAt = Date.now();
  const service: FetchResponse = async (request) => {
    await new Promise((resolve) => setTimeout(resolve, 20));
    if (Date.now() - startedAt < outageMs) {
      return new Response('<h1>502</h1>', { status: 502, headers: { 'content-type': 'text/html' } });
    }
    return jsonResponse(page(request));
  };
  const fetch = scriptedFetch(service);
  return { fetch, client: createClient({ baseUrl: newOrigin(), apiKey: 'key-of-the-company', fetch }) };
}

/** Where the jitter comes from. */
interface Chance {
  readonly seed?: number;
  readonly random?: () => number;
}

const page = ({ url }: FetchedRequest) =>
  Number(url.searchParams.get('_page')) <= 3 ? [{ id: url.searchParams.get('_page') }] : [];

/** What becomes of a piece of work; time passes from timer to timer. */
async function ended<T>(work: Promise<T>): Promise<PromiseSettledResult<T> | undefined> {
  return (await runToEnd(Promise.allSettled([work])))[0];
}

const allRecords = { status: 'fulfilled', value: [{ id: '1' }, { id: '2' }, { id: '3' }] };

test.each(SEEDS)('a list survives 2.5 s of 502s with default options (seed %i)', async (seed) => {
  const { client } = clientDuringDeployment(BAD_GATEWAY_MS, { seed });
  expect(await ended(client.accounts.list().toArray({ limit: 10 }))).toEqual(allRecords);
});

test.each([
  ['shortest', shortestWaits],
  ['longest', longestWaits],
])('a list survives 7.4 s of 502s with the %s waits that the jitter allows', async (_, random) => {
  const { client } = clientDuringDeployment(7_400, { random });
  expect(await ended(client.accounts.list().toArray({ limit: 10 }))).toEqual(allRecords);
});

const chances: readonly [name: string, chance: Chance][] = [
  ...SEEDS.map((seed): [string, Chance] => [`seed ${seed}`, { seed }]),
  ['the shortest waits', { random: shortestWaits }],
  ['the longest waits', { random: longestWaits }],
];

test.each(chances)('30 concurrent calls survive 2.5 s of 502s (%s)', async (_, chance) => {
  const { client, fetch } = clientDuringDeployment(BAD_GATEWAY_MS, chance);
  const calls = Array.from({ length: 30 }, () => client.accounts.list().toArray({ limit: 1 }));
  expect(await ended(Promise.all(calls))).toMatchObject({ status: 'fulfilled' });
  expect(fetch.requests.length).toBeLessThanOrEqual(30 * 4);
});

test('of 200 concurrent calls those without retry budget fail as retryable', async () => {
  const { client } = clientDuringDeployment(BAD_GATEWAY_MS, { seed: 7 });
  const errors: unknown[] = [];
  const calls = Array.from({ length: 200 }, () =>
    client.accounts
      .list()
      .toArray({ limit: 1 })
      .catch((error: unknown) => void errors.push(error)),
  );
  await ended(Promise.all(calls));
  expect(errors.length).toBeGreaterThan(0);
  for (const error of errors) expect(error).toMatchObject({ status: 502, retryable: true });
});

test('20 workers send at most 1.2 requests per call in a ten-minute outage', async () => {
  startVirtualClock(11);
  const fetch = scriptedFetch(async () => {
    await new Promise((resolve) => setTimeout(resolve, 5_000));
    return new Response('', { status: 502 });
  });
  const client = createClient({ baseUrl: newOrigin(), apiKey: 'key-of-the-company', fetch });
  const endsAt = Date.now() + 600_000;
  let calls = 0;
  const worker = async () => {
    while (Date.now() < endsAt) {
      calls += 1;
      await client.accounts.get('1').catch((error: unknown) => {
        expect(isAccountingError(error) && error.retryable).toBe(true);
      });
    }
  };
  await runToEnd(Promise.all(Array.from({ length: 20 }, worker)));
  expect(calls).toBeGreaterThan(1_000);
  expect(fetch.requests.length / calls).toBeLessThanOrEqual(1.2);
});

describe('over a real port', () => {
  useFastClock();

  test('a list survives 2.5 s of 502s', async () => {
    let firstAt: number | undefined;
    const service: ScriptedResponse = (request, wire) => {
      firstAt ??= performance.now();
      if (performance.now() - firstAt < BAD_GATEWAY_MS) return html(502)(request, wire);
      const number = new URL(request.url, 'http://x').searchParams.get('_page');
      return json(Number(number) <= 3 ? [{ id: number }] : [])(request, wire);
    };
    await using server = await scriptedServer(service);
    const client = createClient({ baseUrl: server.url, apiKey: 'key-of-the-company' });
    await expect(client.accounts.list().toArray({ limit: 10 })).resolves.toEqual([
      { id: '1' },
      { id: '2' },
      { id: '3' },
    ]);
  });
});
