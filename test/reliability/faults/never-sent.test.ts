import { expect, test } from 'vitest';
import { caught } from '../../support/caught.ts';
import { callWith, METHODS, quickClient } from '../../support/four-methods.ts';
import { success } from '../../support/responses.ts';
import { networkError, scriptedFetch } from '../../support/scripted-fetch.ts';
import { closedPort, scriptedServer } from '../../support/scripted-server.ts';

test.each(METHODS)(
  '%s is retried while the port is closed, and reports that nothing was sent',
  async (method) => {
    const client = quickClient(`http://127.0.0.1:${await closedPort()}`);
    expect(await caught(callWith(client, method))).toMatchObject({
      code: 'connection_failed',
      reason: 'ECONNREFUSED',
      outcome: 'not_sent',
      attempts: 5,
      retryable: true,
    });
  },
);

test.each(METHODS)('%s is retried if the host name does not resolve', async (method) => {
  const fetch = scriptedFetch(networkError('ENOTFOUND'));
  const client = quickClient('https://nowhere.invalid', { fetch });
  expect(await caught(callWith(client, method))).toMatchObject({ reason: 'ENOTFOUND', outcome: 'not_sent' });
  expect(fetch.requests).toHaveLength(5);
});

test.each(METHODS)('%s stops at once if the other side does not speak TLS', async (method) => {
  await using server = await scriptedServer(success);
  const client = quickClient(server.url.replace('http:', 'https:'));
  expect(await caught(callWith(client, method))).toMatchObject({
    code: 'connection_failed',
    outcome: 'not_sent',
    attempts: 1,
    retryable: false,
  });
  expect(server.requests).toHaveLength(0);
});

test.each(METHODS)('%s stops at once at a port that fetch blocks', async (method) => {
  expect(await caught(callWith(quickClient('http://127.0.0.1:1'), method))).toMatchObject({
    code: 'connection_failed',
    reason: 'bad port',
    outcome: 'not_sent',
    attempts: 1,
  });
});

test('a call that connects at the second attempt succeeds', async () => {
  const fetch = scriptedFetch(networkError('ECONNREFUSED'), Response.json({ id: '42' }));
  const client = quickClient('https://second-try.invalid', { fetch });
  await expect(client.accounts.get('42')).resolves.toEqual({ id: '42' });
});

test.each(METHODS)('%s does not claim that nothing was sent if an earlier attempt was', async (method) => {
  const [lost, unsent] = [networkError('ECONNRESET'), networkError('ECONNREFUSED')];
  const fetch = scriptedFetch(lost, unsent, unsent, unsent);
  const client = quickClient('https://gone-in-between.invalid', { fetch });
  const error = await caught(callWith(client, method));
  expect(error).toMatchObject({ reason: 'ECONNREFUSED', attempts: 5 });
  expect(error).not.toMatchObject({ outcome: 'not_sent' });
  expect(String(error)).not.toContain('Nothing was sent');
});
