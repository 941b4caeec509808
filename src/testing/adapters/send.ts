import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import type { Delivery, Ending, Transmission } from '../faults/delivery.ts';
import { wait } from '../wait.ts';
import { encode, head, type SendOptions, type WireResponse } from './encode.ts';

/** A request on a socket, and the way back. */
export interface WireExchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly options: SendOptions;
}

/** Sends a delivery over its socket. Returns a promise only if that takes time. */
export function send(
  { request, response, options }: WireExchange,
  { response: content, transmission }: Delivery,
): void | Promise<void> {
  if (transmission.how === 'refused') return end(request.socket, 'reset');
  if (transmission.how === 'nothing') return end(request.socket, transmission.ending);
  if (content === undefined) return end(request.socket, 'close');

  const wire = encode(request, content, options);
  if (transmission.how !== 'whole') return sendFaulty(request.socket, wire, transmission);

  // The service sets `Date` itself, and a fault may remove it.
  response.sendDate = false;
  response.writeHead(wire.status, wire.headers);
  response.end(wire.body);
  return undefined;
}

/** Ends a connection after everything written before was sent; with `stall` it stays open. */
function end(socket: Socket, ending: Ending): void {
  if (ending === 'stall') return;
  if (ending === 'close') {
    socket.end(() => socket.destroy());
    return;
  }
  // A reset discards what is still in the buffers, so it waits until the last bytes are sent.
  socket.write('', () => socket.resetAndDestroy());
}

/** Writes the bytes directly, because node:http would correct them. */
function sendFaulty(
  socket: Socket,
  wire: WireResponse,
  transmission: Exclude<Transmission, { how: 'whole' | 'refused' | 'nothing' }>,
): void | Promise<void> {
  const { body } = wire;
  switch (transmission.how) {
    case 'cut':
      if (transmission.in === 'headers') socket.write(head(wire).slice(0, transmission.atByte));
      else socket.write(Buffer.concat([Buffer.from(head(wire)), body.subarray(0, transmission.atByte)]));
      return end(socket, transmission.ending);
    case 'slow-body':
      socket.write(head(wire, { Connection: 'close' }));
      return sendSlowly(socket, body, transmission);
    case 'wrong-length':
      socket.write(head(wire, { 'Content-Length': String(body.byteLength + transmission.by) }));
      socket.write(body);
      return end(socket, 'close');
    case 'corrupt-gzip': {
      const bytes = corruptGzip(body);
      socket.write(head(wire, { 'Content-Encoding': 'gzip', 'Content-Length': String(bytes.byteLength) }));
      socket.write(bytes);
      return end(socket, 'close');
    }
  }
}

async function sendSlowly(
  socket: Socket,
  body: Uint8Array,
  { bytes, everyMs }: { bytes: number; everyMs: number },
) {
  const closed = new AbortController();
  socket.once('close', () => closed.abort());
  for (let at = 0; at < body.byteLength && !socket.destroyed; at += bytes) {
    await wait(everyMs, closed.signal);
    if (!socket.destroyed) socket.write(body.subarray(at, at + bytes));
  }
  socket.end();
}

/** The byte after the header of gzip contains the type of the first block. Type 3 does not exist. */
const FIRST_BLOCK = 10;

/** A valid header of gzip and an invalid block: a lenient reader accepts data that is only cut. */
function corruptGzip(body: Uint8Array): Uint8Array {
  const bytes = Uint8Array.from(gzipSync(body));
  bytes[FIRST_BLOCK] = 0b111;
  return bytes;
}
