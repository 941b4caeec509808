import { createClient, memoryStore, sync } from 'accounting-data-sdk';
import { telemetryListeners } from 'accounting-data-sdk/opentelemetry';
import { createSandbox } from 'accounting-data-sdk/testing';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { caught } from '../../support/caught.ts';
import {
  jsonResponse,
  problemResponse,
  scriptedClient,
  scriptedFetch,
} from '../../support/scripted-fetch.ts';
import { advance, runToEnd, useVirtualClock } from '../../support/virtual-clock.ts';
import { record } from './support/recorder.ts';

beforeEach(() => {
  vi.spyOn(console, 'error').mockImplementation(() => {});
  vi.spyOn(console, 'log').mockImplementation(() => {});
});

const quiet = () => ({ debug: vi.fn(), info: vi.fn(), warn: vi.fn() });
/** A logger that gets the fields of each line before its text. */
const likePino = () => ({ ...quiet(), bindings: () => ({}) });
const retried = () =>
  scriptedFetch(
    problemResponse(503),
    jsonResponse({ id: '1' }, 200, { 'x-ratelimit-limit': '10', 'x-ratelimit-remaining': '9' }),
    problemResponse(404),
  );

test('the lines of a list differ in the page or the bounds of ids, as the error of a 500 does', async () => {
  const logger = likePino();
  const client = scriptedClient(scriptedFetch(problemResponse(500)), { logger, retry: false });
  const error = await caught(client.boms.list({ id: { gte: '1' } }, { pagination: 'page' }).first());
  expect(logger.debug.mock.calls[0]).toEqual([
    expect.objectContaining({ query: '_page=1&id[gte]=1' }),
    expect.stringMatching(/ GET \/boms\?_page=1&id\[gte\]=1 attempt 1$/),
  ]);
  expect(String(error)).toContain('GET /boms?_page=1&id[gte]=1 returned 500');
});

test('the lines of a write that is rejected name its outcome and its request', async () => {
  const logger = quiet();
  const rejected = problemResponse(422, { type: 'validation_failed' }, { 'x-request-id': 'r-7' });
  await caught(scriptedClient(scriptedFetch(rejected), { logger }).products.create({ name: 'Desk' }));
  expect(logger.debug.mock.calls.at(-1)?.[0]).toMatch(/ → 422 in \d+ ms, request r-7$/);
  expect(logger.warn.mock.calls).toEqual([
    [expect.stringMatching(/ failed after \d+ ms: validation_failed, outcome rejected\. /)],
  ]);
});

test('the line of an invalid row names the row and all that is wrong with it', async () => {
  const logger = likePino();
  const rows = jsonResponse([{ id: '7', salePrice: 5, name: 7 }]);
  const client = scriptedClient(scriptedFetch(rows), { logger, validation: 'report' });
  await client.products.list({}, { pagination: 'none' }).toArray({ limit: 5 });
  expect(logger.warn.mock.calls).toEqual([
    [
      { collection: 'products', id: '7', issues: [expect.any(String), expect.any(String)] },
      expect.stringMatching(/products 7: .*salePrice.*; .*name|products 7: .*name.*; .*salePrice/),
    ],
  ]);
});

test('ACCOUNTING_LOG writes lines of its level to stderr and none to stdout, unless the caller has a logger', async () => {
  for (const [level, count] of [
    ['debug', 8],
    ['info', 2],
    ['warn', 1],
    ['DEBUG', 0],
  ] as const) {
    vi.mocked(console.error).mockClear();
    vi.stubEnv('ACCOUNTING_LOG', level);
    const { accounts } = scriptedClient(retried());
    await accounts.get('1');
    await caught(accounts.get('2'));
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

describe('a call that waits', () => {
  useVirtualClock();

  test.each([
    [0, 0],
    [3, 2],
  ])('for a 429 of %i s, its own or of another call, is logged when a second has passed', async (...row) => {
    const [seconds, lines] = row;
    const { info, ...others } = quiet();
    const limited = problemResponse(429, {}, { 'retry-after': `${seconds}` });
    const fetch = scriptedFetch(limited, jsonResponse({ id: '1' }));
    // As pino, which takes the fields first.
    const logger = { ...others, info, bindings: () => ({}) };
    const client = scriptedClient(fetch, { logger });
    const calls = [client.boms.get('1'), client.boms.get('1')];
    await advance(999);
    expect(info).not.toHaveBeenCalled();
    await advance(1);
    expect(info).toHaveBeenCalledTimes(lines);
    for (const [fields, line] of info.mock.calls) {
      expect(line).toMatch(
        /^accounting-data-sdk #\d+ GET \/boms\/1 waits (?:3\d{3} ms|for the quota of the key)$/,
      );
      const waitMs = line.endsWith(' ms') ? expect.any(Number) : undefined;
      expect(fields).toMatchObject({ method: 'GET', path: '/boms/1', waitMs });
    }
    await runToEnd(Promise.all(calls));
  });

  test('and is aborted before a second has passed is not logged', async () => {
    const logger = quiet();
    const fetch = scriptedFetch(problemResponse(429, {}, { 'retry-after': '3' }));
    const controller = new AbortController();
    const { boms } = scriptedClient(fetch, { logger });
    const aborted = caught(boms.get('1', { signal: controller.signal }));
    await advance(500);
    controller.abort('no longer needed');
    expect(await aborted).toBe('no longer needed');
    await advance(1_000);
    expect(logger.info).not.toHaveBeenCalled();
  });
});

test.each(['find', 'a full sync'])('a 404 that %s expects is no error of telemetry', async (what) => {
  const logger = quiet();
  const [error, end] = [vi.fn(), vi.fn()];
  const sandbox = createSandbox({ records: { products: 3 } });
  const recorded = record();
  const on = [{ error, end }, telemetryListeners(recorded.options)];
  const client = createClient({ ...sandbox.clientOptions, logger, on });
  const onDelete = vi.fn();
  const full = { mode: 'full', onBatch: () => {}, localIds: () => ['1', '2', '3', '4'], onDelete } as const;
  if (what === 'find') await client.products.find('99');
  else await sync(client, { tenant: 't', store: memoryStore(), collections: ['products'], ...full });
  expect(sandbox.count(({ status }) => status === 404)).toBe(1);
  expect([logger.warn, error].flatMap(({ mock }) => mock.calls)).toEqual([]);
  expect(new Set(end.mock.calls.map(([{ result }]) => result))).toEqual(new Set(['ok']));
  expect((await recorded.spans()).filter(({ failed }) => failed)).toEqual([]);
});

test.each([
  ['get', problemResponse(404, { type: 'not_found' })],
  ['find', new Response('<h1>No</h1>', { status: 404 })],
] as const)('%s of what is not there is an error of telemetry (%#)', async (method, response) => {
  const logger = quiet();
  const [error, end] = [vi.fn(), vi.fn()];
  const client = scriptedClient(scriptedFetch(response), { logger, on: { error, end } });
  await caught(client.products[method]('99'));
  expect([error, logger.warn].map(({ mock }) => mock.calls.length)).toEqual([1, 1]);
  expect(end).toHaveBeenCalledWith(expect.objectContaining({ result: 'error' }));
});
