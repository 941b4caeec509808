import { beforeEach, expect, test, vi } from 'vitest';
import { caught } from '../../support/caught.ts';
import {
  jsonResponse,
  problemResponse,
  scriptedClient,
  scriptedFetch,
} from '../../support/scripted-fetch.ts';

beforeEach(() => {
  vi.spyOn(console, 'error').mockImplementation(() => {});
  vi.spyOn(console, 'log').mockImplementation(() => {});
});

const lines = () => vi.mocked(console.error).mock.calls.map(([line]) => String(line));
const retried = () =>
  scriptedFetch(
    problemResponse(503),
    jsonResponse({ id: '1' }, 200, { 'x-ratelimit-limit': '10', 'x-ratelimit-remaining': '9' }),
  );

test('the lines of a list differ in the page or the bounds of ids, as the error of a 500 does', async () => {
  const logger = { debug: vi.fn(), info: vi.fn(), warn: vi.fn() };
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

test('a logger gets waits and invalid records', async () => {
  const logger = { debug: vi.fn(), info: vi.fn(), warn: vi.fn() };
  const busy = problemResponse(429, {}, { 'retry-after': '0' });
  const rows = jsonResponse([{ name: 'Desk' }]);
  const client = scriptedClient(scriptedFetch(busy, rows, jsonResponse([])), {
    logger,
    rateLimiter: 'client',
    validation: 'report',
  });
  await client.boms.list({}, { pagination: 'page' }).toArray({ limit: 9 });
  expect(logger.info.mock.calls.flat()).toContainEqual(
    expect.stringMatching(/^accounting-data-sdk #\d+ GET \/boms\?_page=1 waits \d+ ms$/),
  );
  expect(logger.warn.mock.calls.flat()).toEqual([
    expect.stringMatching(/^accounting-data-sdk boms \?: id: /),
  ]);
});

test('console is a logger as it is', async () => {
  vi.spyOn(console, 'debug').mockImplementation(() => {});
  await scriptedClient(scriptedFetch(jsonResponse({ id: '1' })), { logger: console }).accounts.get('1');
  expect(console.debug).toHaveBeenCalledTimes(2);
});

test.each([
  ['debug', 5],
  ['info', 1],
  ['warn', 0],
  ['', 0],
  ['verbose', 0],
  ['DEBUG', 0],
])('ACCOUNTING_LOG=%j writes %i lines to stderr and none to stdout', async (level, count) => {
  vi.stubEnv('ACCOUNTING_LOG', level);
  await scriptedClient(retried()).accounts.get('1');
  expect(lines()).toHaveLength(count);
  expect(console.log).not.toHaveBeenCalled();
});

test('a logger of the caller takes the place of ACCOUNTING_LOG', async () => {
  vi.stubEnv('ACCOUNTING_LOG', 'debug');
  await scriptedClient(retried(), { logger: { debug() {}, info() {}, warn() {} } }).accounts.get('1');
  expect(lines()).toEqual([]);
});
