import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { caught } from '../../support/caught.ts';
import { callWith, quickClient } from '../../support/four-methods.ts';
import { eventLoopTurn, type ScriptedResponse, scriptedServer } from '../../support/scripted-server.ts';

const MB = 2 ** 20;
const JSON_TYPE = { 'content-type': 'application/json' };

/** A body without an end; counts the bytes that were read and the connections that are open. */
function endless(status: number, unit: string | Buffer, encoding?: string) {
  const state = { written: 0, open: 0 };
  const bytes = Buffer.from(unit);
  const chunk = Buffer.concat(Array.from({ length: Math.ceil(65_536 / bytes.length) }, () => bytes));
  const headers = encoding === undefined ? JSON_TYPE : { ...JSON_TYPE, 'content-encoding': encoding };
  const respondEndlessly: ScriptedResponse = (_, { response, socket }) => {
    state.open += 1;
    socket.once('close', () => {
      state.open -= 1;
    });
    response.writeHead(status, headers);
    const write = () => {
      while (!socket.destroyed) {
        state.written += chunk.length;
        if (!response.write(chunk)) return void response.once('drain', write);
      }
    };
    write();
  };
  return { state, respondEndlessly };
}

const CAP = 2 * MB;

test.each(['GET', 'DELETE'] as const)(
  '%s stops reading a body without an end at the cap, and closes the connection',
  async (method) => {
    const { state, respondEndlessly } = endless(200, ' ');
    await using server = await scriptedServer(respondEndlessly);
    const client = quickClient(server.url, { maxBodyBytes: CAP, rateLimiter: false });
    const end = await callWith(client, method).catch((error: unknown) => error);
    if (method === 'DELETE') expect(end).toBeUndefined();
    else expect(end).toMatchObject({ reason: 'too_large', outcome: 'applied', attempts: 1 });
    while (state.open > 0) await eventLoopTurn();
    // The buffers of both sides come on top: some systems have large ones.
    expect(state.written).toBeLessThan(CAP + 64 * MB);
    expect(server.requests).toHaveLength(1);
  },
);

test.each(['{"a":"', '[[[['])(
  'the status decides for a problem response without an end, of %j',
  async (unit) => {
    const { state, respondEndlessly } = endless(404, unit);
    await using server = await scriptedServer(respondEndlessly);
    const error = await caught(quickClient(server.url, { rateLimiter: false }).products.get('42'));
    expect(error).toMatchObject({ code: 'not_found', type: undefined, outcome: 'rejected' });
    while (state.open > 0) await eventLoopTurn();
    expect(state.written).toBeLessThan(65 * MB);
  },
);

const gzipped = gzipSync(Buffer.alloc(MB, ' '));

// Without an end, so that a client which decompresses everything before it looks at the size never ends.
test.each([
  ['a record', 200, gzipped, 'gzip', { reason: 'too_large', outcome: 'applied' }],
  ['a record, compressed twice', 200, gzipSync(gzipped), 'gzip, gzip', { reason: 'too_large' }],
  ['a problem response', 403, gzipped, 'gzip', { code: 'unknown_problem', outcome: 'rejected' }],
] as const)(
  'stops decompressing %s without an end at the cap, and closes the connection',
  async (_, status, unit, encoding, expected) => {
    const { state, respondEndlessly } = endless(status, unit, encoding);
    await using server = await scriptedServer(respondEndlessly);
    const client = quickClient(server.url, { rateLimiter: false });
    expect(await caught(client.products.get('42'))).toMatchObject(expected);
    while (state.open > 0) await eventLoopTurn();
    expect(server.requests).toHaveLength(1);
  },
);

test('a create gives up on endless interim responses after timeoutMs', async () => {
  await using server = await scriptedServer((_, { socket }) => {
    const hint = () => {
      if (!socket.destroyed)
        socket.write('HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n', () => setImmediate(hint));
    };
    hint();
  });
  const client = quickClient(server.url, { timeoutMs: 100, retry: { maxAttempts: 2, baseDelayMs: 1 } });
  expect(await caught(callWith(client, 'POST'))).toMatchObject({
    code: 'timeout',
    limit: 'attempt',
    outcome: 'unknown',
    attempts: 2,
  });
});
