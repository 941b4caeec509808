import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { cutAt, type Delivery, type Ending } from '../faults/delivery.ts';
import { wait } from '../wait.ts';
import { encode, head, type SendOptions } from './encode.ts';

/** A request on a socket, and the way back. */
export interface WireExchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly options: SendOptions;
}

/** Sends a delivery over its socket: byte for byte if a fault distorts it, because node:http would correct it. */
export async function send(
  { request, response, options }: WireExchange,
  { response: content, transmission }: Delivery,
): Promise<void> {
  const { socket } = request;
  if (transmission.how === 'refused') return end(socket, 'reset');
  if (transmission.how === 'nothing') return end(socket, transmission.ending);
  if (content === undefined) return end(socket, 'close');

  const wire = encode(request, content, options);
  const { status, headers, body } = wire;
  switch (transmission.how) {
    case 'whole':
      // The service sets `Date` itself, and a fault may remove it.
      response.sendDate = false;
      response.writeHead(status, headers).end(body);
      return;
    case 'cut': {
      const start = Buffer.from(head(wire));
      const { in: part, atByte, ending } = transmission;
      if (part === 'headers') socket.write(start.subarray(0, cutAt(atByte, start.byteLength)));
      else socket.write(Buffer.concat([start, body.subarray(0, cutAt(atByte, body.byteLength))]));
      return end(socket, ending);
    }
    case 'slow-body':
      socket.write(head(wire, { Connection: 'close' }));
      await writeSlowly(socket, body, transmission);
      return end(socket, 'close');
  }
}

/** Ends a connection after everything written before was sent; with `stall` it stays open. */
function end(socket: Socket, ending: Ending): void {
  if (ending === 'stall') return;
  if (ending === 'close') socket.end(() => socket.destroy());
  // A reset discards what is still in the buffers, so it waits until the last bytes are sent.
  else socket.write('', () => socket.resetAndDestroy());
}

async function writeSlowly(socket: Socket, body: Uint8Array, pieces: { bytes: number; everyMs: number }) {
  const closed = new AbortController();
  socket.once('close', () => closed.abort());
  for (let at = 0; at < body.byteLength && !socket.destroyed; at += pieces.bytes) {
    await wait(pieces.everyMs, closed.signal);
    if (!socket.destroyed) socket.write(body.subarray(at, at + pieces.bytes));
  }
}
