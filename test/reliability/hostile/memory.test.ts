import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompressSync, constants, createGzip, gzipSync } from 'node:zlib';
import { beforeAll, expect, test } from 'vitest';
import { caught } from '../../support/caught.ts';
import { callWith, METHODS, quickClient } from '../../support/four-methods.ts';
import { json, respond } from '../../support/responses.ts';
import {
  eventLoopTurn,
  type ScriptedResponse,
  type ScriptedServer,
  scriptedServer,
} from '../../support/scripted-server.ts';

const FROM_SOURCE = fileURLToPath(new URL('../../support/from-source.mjs', import.meta.url));
const PROGRAM = fileURLToPath(new URL('./memory-client.ts', import.meta.url));
const MB = 2 ** 20;
const LIMIT_MB = 50;
const JSON_TYPE = { 'content-type': 'application/json' };

/** JSON of the given number of blanks, compressed while it is generated. */
async function gzipOfBlanks(bytes: number): Promise<Buffer> {
  const gzip = createGzip();
  const compressed: Buffer[] = [];
  gzip.on('data', (chunk: Buffer) => compressed.push(chunk));
  const blanks = Buffer.alloc(MB, ' ');
  for (let written = 0; written < bytes; written += MB) {
    if (!gzip.write(blanks)) await new Promise((resolve) => gzip.once('drain', resolve));
  }
  const ended = new Promise((resolve) => gzip.once('end', resolve));
  gzip.end('null');
  await ended;
  return Buffer.concat(compressed);
}

let bomb: Buffer;
let twice: Buffer;
beforeAll(async () => {
  bomb = await gzipOfBlanks(120 * MB);
  twice = gzipSync(bomb);
});

/** What it comes to and what it takes: the least of three tries at most, for a collector may be late. */
async function readInProcess(server: ScriptedServer) {
  let risenMb = Number.POSITIVE_INFINITY;
  let end = '';
  for (let run = 0; run < 3 && risenMb >= LIMIT_MB; run += 1) {
    const program = ['--import', FROM_SOURCE, PROGRAM, server.url, '/bomb'];
    const { stdout } = await promisify(execFile)(process.execPath, program);
    const found = JSON.parse(stdout) as { end: string; risenMb: number };
    risenMb = Math.min(risenMb, found.risenMb);
    end = found.end;
  }
  return { end, risenMb };
}

const bombs: Readonly<Record<string, () => ScriptedResponse>> = {
  'a record': () => respond(200, { ...JSON_TYPE, 'content-encoding': 'gzip' }, bomb),
  'a record, compressed twice': () => respond(200, { ...JSON_TYPE, 'content-encoding': 'gzip, gzip' }, twice),
  'a problem response': () => respond(403, { ...JSON_TYPE, 'content-encoding': 'gzip' }, bomb),
};

test.each(Object.entries(bombs))(
  '120 MB in 120 kB as %s: memory rises by less than 50 MB',
  async (_, make) => {
    await using server = await scriptedServer((request, wire) =>
      request.url.endsWith('/bomb') ? make()(request, wire) : json({ id: '1' })(request, wire),
    );
    const { end, risenMb } = await readInProcess(server);
    expect(end).toBe(make === bombs['a problem response'] ? 'unknown_problem' : 'too_large');
    expect(risenMb).toBeLessThan(LIMIT_MB);
  },
);

test('a brotli bomb is stopped at the cap too', async () => {
  const params = { [constants.BROTLI_PARAM_QUALITY]: 3 };
  const compressed = brotliCompressSync(Buffer.alloc(40 * MB, ' '), { params });
  await using server = await scriptedServer(
    respond(200, { ...JSON_TYPE, 'content-encoding': 'br' }, compressed),
  );
  expect(await caught(quickClient(server.url).products.get('42'))).toMatchObject({ reason: 'too_large' });
});

/** A body without an end; counts the bytes that were read and the connections that are open. */
function endless(status: number, unit: string) {
  const state = { written: 0, open: 0 };
  const chunk = Buffer.from(unit.repeat(Math.ceil(65_536 / unit.length)));
  const respondEndlessly: ScriptedResponse = (_, { response, socket }) => {
    state.open += 1;
    socket.once('close', () => {
      state.open -= 1;
    });
    response.writeHead(status, JSON_TYPE);
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

test.each(METHODS)(
  '%s stops reading a body without an end at the cap, and closes the connection',
  async (method) => {
    const { state, respondEndlessly } = endless(200, ' ');
    await using server = await scriptedServer(respondEndlessly);
    const client = quickClient(server.url, { maxBodyBytes: CAP, rateLimiter: false });
    const end = await callWith(client, method).catch((error: unknown) => error);
    if (method === 'DELETE') expect(end).toBeUndefined();
    else expect(end).toMatchObject({ reason: 'too_large', outcome: 'applied', attempts: 1 });
    while (state.open > 0) await eventLoopTurn();
    // What lies in the buffers of both sides comes on top.
    expect(state.written).toBeLessThan(CAP + 16 * MB);
    expect(server.requests).toHaveLength(1);
  },
);

test.each(['{"a":"', '[[[[', '"\\u0000', '\u00e9'])(
  'the status decides for a problem response without an end, of %j',
  async (unit) => {
    const { state, respondEndlessly } = endless(404, unit);
    await using server = await scriptedServer(respondEndlessly);
    const error = await caught(quickClient(server.url, { rateLimiter: false }).products.get('42'));
    expect(error).toMatchObject({ code: 'not_found', type: undefined, outcome: 'rejected' });
    while (state.open > 0) await eventLoopTurn();
    expect(state.written).toBeLessThan(17 * MB);
  },
);

test.each(METHODS)('%s gives up on endless interim responses after timeoutMs', async (method) => {
  await using server = await scriptedServer((_, { socket }) => {
    const hint = () => {
      if (!socket.destroyed)
        socket.write('HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n', () => setImmediate(hint));
    };
    hint();
  });
  const client = quickClient(server.url, { timeoutMs: 200, retry: { maxAttempts: 2, baseDelayMs: 1 } });
  expect(await caught(callWith(client, method))).toMatchObject({
    code: 'timeout',
    limit: 'attempt',
    outcome: 'unknown',
    attempts: 2,
  });
});
