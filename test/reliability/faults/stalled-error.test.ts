import { expect, test } from 'vitest';
import { caught } from '../../support/caught.ts';
import { clientEvents } from '../../support/client-events.ts';
import { callWith, METHODS, quickClient } from '../../support/four-methods.ts';
import { success } from '../../support/responses.ts';
import { type ScriptedResponse, scriptedServer } from '../../support/scripted-server.ts';
import { advance, useVirtualClock } from '../../support/virtual-clock.ts';

useVirtualClock();

/** A status line and headers; the body begins and never ends. */
const stalls =
  (status: string, headers = ''): ScriptedResponse =>
  (_, { socket }) =>
    void socket.write(
      `HTTP/1.1 ${status}\r\ncontent-type: application/problem+json\r\ncontent-length: 99\r\n${headers}\r\n{"type":`,
    );

test.each(METHODS)(
  '%s that gets a 403 whose body stalls fails with the 403, not with a timeout',
  async (method) => {
    await using server = await scriptedServer(stalls('403 Forbidden'));
    const { on, seen } = clientEvents();
    const call = caught(callWith(quickClient(server.url, { timeoutMs: 1_000, on }), method));
    await seen('response');
    await advance(1_000);
    expect(await call).toMatchObject({ status: 403, outcome: 'rejected', attempts: 1, retryable: false });
    expect(server.requests).toHaveLength(1);
  },
);

test('a 429 whose body stalls is waited for as its Retry-After says', async () => {
  await using server = await scriptedServer(stalls('429 Too Many Requests', 'retry-after: 2\r\n'), success);
  const { on, seen } = clientEvents();
  const call = callWith(quickClient(server.url, { timeoutMs: 1_000, on }), 'GET');
  await seen('response');
  await advance(1_000);
  await seen('wait');
  expect(server.requests).toHaveLength(1);
  await advance(1_200);
  await expect(call).resolves.toMatchObject({ id: '42' });
  expect(server.requests).toHaveLength(2);
});
