import { createClient, memoryStore, sync } from 'accounting-data-sdk';
import { telemetryListeners } from 'accounting-data-sdk/opentelemetry';
import { createSandbox } from 'accounting-data-sdk/testing';
import { beforeEach, expect, test, vi } from 'vitest';
import { caught } from '../../support/caught.ts';
import {
  jsonResponse,
  problemResponse,
  scriptedClient,
  scriptedFetch,
} from '../../support/scripted-fetch.ts';
import { advance, runToEnd, startVirtualClock, stopVirtualClock } from '../../support/virtual-clock.ts';
import { record } from './support/recorder.ts';

beforeEach(() => {
  vi.spyOn(console, 'error').mockImplementation(() => {});
  vi.spyOn(console, 'log').mockImplementation(() => {});
});

const retried = () =>
  scriptedFetch(
    problemResponse(503),
    jsonResponse({ id: '1' }, 200, { 'x-ratelimit-limit': '10', 'x-ratelimit-remaining': '9' }),
  );

test('the lines of a list differ in the page or the bounds of ids, as the error of a 500 does', async () => {
  const logger = quiet();
  const broken = scriptedFetch(jsonResponse([{ id: '1' }]), problemResponse(500));
  const client = scriptedClient(broken, { logger, retry: { maxAttempts: 1 } });
  const error = await caught(
    client.boms.list({ id: { gte: '1' } }, { pagination: 'page' }).toArray({ limit: 9 }),
  );
  const attempts = logger.debug.mock.calls.filter(([line]) => String(line).endsWith(' attempt 1'));
  expect(attempts.map(([line]) => String(line).replace(/^.* GET /, ''))).toEqual([
    '/boms?_page=1&id[gte]=1 attempt 1',
    '/boms?_page=2&id[gte]=1 attempt 1',
  ]);
  expect(String(error)).toContain('GET /boms?_page=2&id[gte]=1 returned 500');
});

const quiet = () => ({ debug: vi.fn(), info: vi.fn(), warn: vi.fn() });

test('a logger gets invalid records', async () => {
  const logger = quiet();
  const fetch = scriptedFetch(jsonResponse([{ name: 'Desk' }]), jsonResponse([]));
  const client = scriptedClient(fetch, { logger, validation: 'report' });
  await client.boms.list({}, { pagination: 'page' }).toArray({ limit: 9 });
  expect(logger.warn.mock.calls).toEqual([[expect.stringMatching(/^accounting-data-sdk boms \?: id: /)]]);
});

test('ACCOUNTING_LOG writes lines of its level to stderr and none to stdout, unless the caller has a logger', async () => {
  for (const [level, count] of [
    ['debug', 5],
    ['info', 1],
    ['warn', 0],
    ['DEBUG', 0],
  ] as const) {
    vi.mocked(console.error).mockClear();
    vi.stubEnv('ACCOUNTING_LOG', level);
    await scriptedClient(retried()).accounts.get('1');
    expect(console.error).toHaveBeenCalledTimes(count);
  }
  vi.stubEnv('ACCOUNTING_LOG', 'debug');
  vi.mocked(console.error).mockClear();
  vi.spyOn(console, 'debug').mockImplementation(() => {});
  await scriptedClient(retried(), { logger: { ...console, info() {} } }).accounts.get('1');
  expect(console.debug).toHaveBeenCalledTimes(4);
  expect(console.error).not.toHaveBeenCalled();
  expect(console.log).not.toHaveBeenCalled();
});

test('a wait for quota is logged once a second of it has passed, with the time that is expected', async () => {
  startVirtualClock();
  try {
    const logger = quiet();
    const busy = (retryAfter: string) => problemResponse(429, {}, { 'retry-after': retryAfter });
    const fetch = scriptedFetch(busy('0'), jsonResponse({ id: '1' }), busy('3'), jsonResponse({ id: '1' }));
    const client = scriptedClient(fetch, { logger, rateLimiter: false });
    await runToEnd(client.boms.get('1'));
    expect(logger.info).not.toHaveBeenCalled();
    const call = client.boms.get('1');
    await advance(999);
    expect(logger.info).not.toHaveBeenCalled();
    await advance(1);
    expect(logger.info.mock.calls.flat()).toEqual([
      expect.stringMatching(/^accounting-data-sdk #\d+ GET \/boms\/1 waits 3\d{3} ms$/),
    ]);
    await runToEnd(call);
    await advance(5_000);
    expect(logger.info).toHaveBeenCalledTimes(1);
  } finally {
    stopVirtualClock();
  }
});

const missing = () => problemResponse(404, { type: 'not_found' });

test('a record that find does not find, and a confirmed deletion, are no errors of telemetry', async () => {
  const logger = quiet();
  const [error, end] = [vi.fn(), vi.fn()];
  const sandbox = createSandbox({ records: { products: 3 } });
  const recorded = record();
  const on = [{ error, end }, telemetryListeners(recorded.options)];
  const client = createClient({ ...sandbox.clientOptions, logger, on });
  expect(await client.products.find('99')).toBeUndefined();
  const deleted: string[] = [];
  await sync(client, {
    tenant: 't',
    store: memoryStore(),
    mode: 'full',
    collections: ['products'],
    onBatch: () => {},
    localIds: () => ['1', '2', '3', '4', '5'],
    onDelete: (ids) => void deleted.push(...ids),
  });
  expect(deleted).toEqual(['4', '5']);
  expect(logger.warn).not.toHaveBeenCalled();
  expect(error).not.toHaveBeenCalled();
  expect(new Set(end.mock.calls.map(([{ result }]) => result))).toEqual(new Set(['ok']));
  expect((await recorded.spans()).filter(({ failed }) => failed)).toEqual([]);
});

test.each([
  ['get', missing()],
  ['find', new Response('<h1>No</h1>', { status: 404 })],
] as const)('%s of what is not there is an error of telemetry (%#)', async (method, response) => {
  const logger = quiet();
  const [error, end] = [vi.fn(), vi.fn()];
  const client = scriptedClient(scriptedFetch(response), { logger, on: { error, end } });
  await caught(client.products[method]('99'));
  expect([error, logger.warn].map(({ mock }) => mock.calls.length)).toEqual([1, 1]);
  expect(end).toHaveBeenCalledWith(expect.objectContaining({ result: 'error' }));
});
