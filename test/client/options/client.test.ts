import { createClient } from 'accounting-data-sdk';
import { expect, test, vi } from 'vitest';
import { z } from 'zod';
import { caught, thrown } from '../../support/caught.ts';
import {
  jsonResponse,
  problemResponse,
  scriptedClient,
  scriptedFetch,
} from '../../support/scripted-fetch.ts';

const needed = { baseUrl: 'https://books.example', apiKey: 'k' };

test('base URL and key come from the environment if they are not passed', async () => {
  vi.stubEnv('ACCOUNTING_BASE_URL', 'https://env.example/books');
  vi.stubEnv('ACCOUNTING_API_KEY', 'env-key');
  const fetch = scriptedFetch(jsonResponse({ id: '1' }));
  await createClient({ fetch }).accounts.get('1');
  await createClient({ fetch, ...needed }).accounts.get('1');
  expect(fetch.requests.map(({ url, headers }) => [url.href, headers.get('x-auth-token')])).toEqual([
    ['https://env.example/books/api/public/v1/accounts/1', 'env-key'],
    ['https://books.example/api/public/v1/accounts/1', 'k'],
  ]);
});

test('what is missing is named, with the variable that would give it, also if the environment may not be read', () => {
  vi.stubEnv('ACCOUNTING_BASE_URL', '');
  vi.stubEnv('ACCOUNTING_API_KEY', '');
  expect(() => createClient()).toThrow('pass it or set ACCOUNTING_BASE_URL');
  expect(() => createClient({ baseUrl: needed.baseUrl })).toThrow('pass it or set ACCOUNTING_API_KEY');
  const get = () => {
    throw new Error('denied');
  };
  vi.stubGlobal('process', Object.defineProperty({}, 'env', { get }));
  expect(() => createClient()).toThrow(expect.objectContaining({ argument: 'baseUrl' }));
});

test.each(['apiKey', 'baseUrl'])('%s that is present and undefined does not read the environment', (name) => {
  vi.stubEnv('ACCOUNTING_BASE_URL', 'https://env.example');
  vi.stubEnv('ACCOUNTING_API_KEY', 'key-of-another-company');
  const [company = {}] = JSON.parse(JSON.stringify([{ tenant: 'acme' }]));
  for (const value of [undefined, company[name], new Map().get('acme')]) {
    const error = thrown(() => createClient({ ...needed, [name]: value }));
    expect(error).toMatchObject({ code: 'invalid_input', argument: name, outcome: 'not_sent' });
    expect(String(error)).toContain(`${name}: is undefined: leave the property out to read ACCOUNTING_`);
  }
});

test('withOptions keeps what it does not name and shares transport and schemas', async () => {
  const fetch = scriptedFetch(
    problemResponse(503),
    jsonResponse({ id: '1', n: 'x' }, 200, { 'x-ratelimit-limit': '9', 'x-ratelimit-remaining': '8' }),
  );
  const schemas = { accounts: z.object({ id: z.string(), n: z.string().transform((n) => n.length) }) };
  const client = scriptedClient(fetch, { schemas, retry: { maxAttempts: 3, baseDelayMs: 0 } });
  const impatient = client.withOptions({ retry: { maxAttempts: 1 } });
  const patient = impatient.withOptions({ retry: { maxAttempts: 2 } });

  expect(await caught(impatient.accounts.get('1'))).toMatchObject({ status: 503, attempts: 1 });
  expect(await patient.accounts.get('1')).toEqual({ id: '1', n: 1 });
  expect(client.rateLimit).toMatchObject({ remaining: 8 });
  expect(patient.rateLimit).toBe(client.rateLimit);
});
