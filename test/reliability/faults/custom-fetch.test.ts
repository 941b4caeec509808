import { createClient, type FetchFunction } from 'accounting-data-sdk';
import { expect, test, vi } from 'vitest';
import { caught } from '../../support/caught.ts';
import { callWith, quickClient } from '../../support/four-methods.ts';
import { success } from '../../support/responses.ts';
import { scriptedServer } from '../../support/scripted-server.ts';

const values: readonly [name: string, value: unknown][] = [
  ['a plain object', { ok: true, status: 200, json: async () => ({ id: '42' }) }],
  ['undefined', undefined],
  ['a string', '{"id":"42"}'],
  [
    'a response whose body is not a web stream',
    { status: 200, ok: true, headers: new Headers(), body: { pipe() {} } },
  ],
  ['a network error as a Response', Response.error()],
  ['a response without ok', { status: 201, headers: new Headers(), body: null }],
  ['a status that is not a number', { status: Number.NaN, ok: false, headers: new Headers(), body: null }],
  ['a Map as headers', { status: 200, ok: true, headers: new Map([['content-type', 5]]), body: null }],
];

test.each(values)(
  'a create through a fetch that returns %s fails once, with outcome unknown',
  async (_, value) => {
    await using server = await scriptedServer(success);
    const fetch = vi.fn(async (url: string, init: RequestInit) => {
      await globalThis.fetch(url, init);
      return value as Response;
    });
    expect(await caught(callWith(quickClient(server.url, { fetch }), 'POST'))).toMatchObject({
      code: 'connection_failed',
      outcome: 'unknown',
      attempts: 1,
      retryable: false,
      message: expect.stringContaining('fetch did not return a Response'),
    });
    expect(fetch).toHaveBeenCalledTimes(1);
  },
);

test('a fetch that returns the Response of another implementation works', async () => {
  await using server = await scriptedServer(success);
  const { fetch: other } = await import('undici');
  const fetch = other as unknown as FetchFunction;
  await expect(
    createClient({ baseUrl: server.url, apiKey: 'k', fetch }).products.get('42'),
  ).resolves.toMatchObject({
    id: '42',
  });
});
