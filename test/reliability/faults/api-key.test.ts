import { createClient } from 'accounting-data-sdk';
import { expect, test, vi } from 'vitest';
import { caught } from '../../support/caught.ts';
import { json, problem } from '../../support/responses.ts';
import { type ScriptedResponse, scriptedServer, settle } from '../../support/scripted-server.ts';
import { advance, useVirtualClock } from '../../support/virtual-clock.ts';

useVirtualClock();

test('an apiKey function that rejects after the signal has fired is not an unhandled rejection', async () => {
  await using server = await scriptedServer(json({ id: '1' }));
  const unhandled = vi.fn();
  process.on('unhandledRejection', unhandled);
  const apiKey = vi.fn(async () => Promise.reject(new Error('vault is down')));
  const client = createClient({ baseUrl: server.url, apiKey });
  const signal = AbortSignal.abort(new Error('stopped'));
  expect(await caught(client.accounts.get('1', { signal }))).toBe(signal.reason);

  const stop = new AbortController();
  const stopped = caught(client.accounts.get('1', { signal: stop.signal }));
  stop.abort('enough');
  expect(await stopped).toBe('enough');
  await settle();
  process.off('unhandledRejection', unhandled);
  expect(unhandled).not.toHaveBeenCalled();
  expect(server.requests).toHaveLength(0);
});

test('a key is refreshed again after the apiKey function has hung once', async () => {
  const onlyNewKey: ScriptedResponse = (request, wire) => {
    const isNew = request.headers['x-auth-token'] === 'new-key';
    return (isNew ? json({ id: '1' }) : problem(401, { type: 'unauthenticated' }))(request, wire);
  };
  await using server = await scriptedServer(onlyNewKey);
  const results = [
    async () => 'old-key',
    () => new Promise<string>(() => {}),
    async () => 'old-key',
    async () => 'new-key',
  ];
  const apiKey = vi.fn(() => results.shift()?.() ?? 'new-key');
  const client = createClient({ baseUrl: server.url, apiKey, timeoutMs: 5_000, rateLimiter: false });
  const hung = caught(client.accounts.get('1'));
  await server.received(1);
  await advance(5_000);
  expect(await hung).toMatchObject({ code: 'unauthenticated' });

  await expect(client.accounts.get('1')).resolves.toEqual({ id: '1' });
  expect(apiKey).toHaveBeenCalledTimes(4);
});
