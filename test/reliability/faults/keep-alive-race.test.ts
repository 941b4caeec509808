import { expect, test } from 'vitest';
import { callWith, METHODS, quickClient } from '../../support/four-methods.ts';
import { product } from '../../support/records.ts';
import { success } from '../../support/responses.ts';
import { type ScriptedResponse, scriptedServer } from '../../support/scripted-server.ts';

/** Sends the response and then closes the connection, although the response promised to keep it alive. */
const closedBehind: ScriptedResponse = (request, wire) => {
  wire.response.on('finish', () => setImmediate(() => wire.socket.destroy()));
  return success(request, wire);
};

const ROUNDS = 10;

/** More attempts than connections could break one after the other. */
const patient = { rateLimiter: false, retry: { maxAttempts: 20, baseDelayMs: 1, maxDelayMs: 5 } } as const;

test.each(METHODS)('%s survives a keep-alive connection that closes just as it is reused', async (method) => {
  await using server = await scriptedServer(closedBehind);
  const client = quickClient(server.url, patient);
  for (let round = 1; round <= ROUNDS; round += 1) {
    const seen = server.requests.length;
    await client.products.get('42');
    await callWith(client, method, { headers: { 'x-round': String(round) } });
    // A request that the closed connection swallowed never reached the server, or its response was lost.
    const mine = server.requests.slice(seen).filter(({ headers }) => headers['x-round'] === String(round));
    expect(mine.length).toBeGreaterThanOrEqual(1);
    expect(new Set(mine.map(({ headers, body }) => `${headers['idempotency-key']} ${body}`)).size).toBe(1);
  }
});

test('fifty concurrent calls survive connections that close right after each response', async () => {
  await using server = await scriptedServer(closedBehind);
  const client = quickClient(server.url, patient);
  for (let wave = 0; wave < 3; wave += 1) {
    const calls = Array.from({ length: 50 }, () => client.products.get('42'));
    expect(new Set((await Promise.all(calls)).map(({ id }) => id))).toEqual(new Set([product.id]));
  }
});
