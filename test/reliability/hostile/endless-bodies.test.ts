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

const gzipped = gzipSync(Buffer.alloc(MB, ' '));

// Without an end, so that a client which reads or decompresses everything before it looks at the size never ends.
test.each([
  ['a record', 'GET', 200, ' ', undefined, { reason: 'too_large', outcome: 'applied', attempts: 1 }],
  ['what a DELETE gets', 'DELETE', 200, ' ', undefined, undefined],
  ['a problem of one member', 'GET', 404, '{"a":"', undefined, { code: 'not_found', outcome: 'rejected' }],
  ['a problem of lists', 'GET', 404, '[[[[', undefined, { code: 'not_found', type: undefined }],
  ['a record, compressed', 'GET', 200, gzipped, 'gzip', { reason: 'too_large', outcome: 'applied' }],
  ['a record, compressed twice', 'GET', 200, gzipSync(gzipped), 'gzip, gzip', { reason: 'too_large' }],
  ['a redirect', 'GET', 302, ' ', undefined, { code: 'redirected', status: 302 }],
  ['a problem, compressed', 'GET', 403, gzipped, 'gzip', { code: 'unknown_problem', outcome: 'rejected' }],
] as const)(
  'a client stops reading a body without an end at the cap, and closes the connection: %s',
  async (_, method, status, unit, encoding, expected) => {
    const { state, respondEndlessly } = endless(status, unit, encoding);
    await using server = await scriptedServer(respondEndlessly);
    const client = quickClient(server.url, { maxBodyBytes: 2 * MB, rateLimiter: false });
    const end = await callWith(client, method).catch((error: unknown) => error);
    if (expected === undefined) expect(end).toBeUndefined();
    else expect(end).toMatchObject(expected);
    while (state.open > 0) await eventLoopTurn();
    // The buffers of both sides come on top: some systems have large ones.
    expect(state.written).toBeLessThan(66 * MB);
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
