import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import type { Ending, Transmission } from '../faults/delivery.ts';
import { wait } from '../wait.ts';
import { head, type WireReply } from './encode.ts';

/** Ends a connection: in order, by force, or never. What was written before goes out first. */
export function finish(socket: Socket, ending: Ending): void {
  if (ending === 'stall') return;
  if (ending === 'close') {
    socket.end(() => socket.destroy());
    return;
  }
  // A reset throws away what is still in the buffers, so the last bytes must be on their way first.
  socket.write('', () => socket.resetAndDestroy());
}

async function drip(
  socket: Socket,
  body: Uint8Array,
  { bytes, everyMs }: { bytes: number; everyMs: number },
) {
  const gone = new AbortController();
  socket.once('close', () => gone.abort());
  for (let at = 0; at < body.byteLength && !socket.destroyed; at += bytes) {
    await wait(everyMs, gone.signal);
    if (!socket.destroyed) socket.write(body.subarray(at, at + bytes));
  }
  socket.end();
}

/** The first byte behind the header of gzip says what kind of block follows; there is no kind 3. */
const FIRST_BLOCK = 10;

/** A true header of gzip, and then bytes that no reader takes for data: lenient ones only look out for a cut. */
function corrupt(body: Uint8Array): Uint8Array {
  const bytes = Uint8Array.from(gzipSync(body));
  bytes[FIRST_BLOCK] = 0b111;
  return bytes;
}

/** Sends an answer wrongly. The bytes are written here: node:http would put them right. */
export function sendFaulty(
  socket: Socket,
  wire: WireReply,
  transmission: Transmission,
): void | Promise<void> {
  const { body } = wire;
  switch (transmission.how) {
    case 'cut':
      if (transmission.in === 'headers') socket.write(head(wire).slice(0, transmission.atByte));
      else socket.write(Buffer.concat([Buffer.from(head(wire)), body.subarray(0, transmission.atByte)]));
      return finish(socket, transmission.ending);
    case 'slow-body':
      socket.write(head(wire, { Connection: 'close' }));
      return drip(socket, body, transmission);
    case 'wrong-length':
      socket.write(head(wire, { 'Content-Length': String(body.byteLength + transmission.by) }));
      socket.write(body);
      return finish(socket, 'close');
    case 'corrupt-gzip': {
      const bytes = corrupt(body);
      socket.write(head(wire, { 'Content-Encoding': 'gzip', 'Content-Length': String(bytes.byteLength) }));
      socket.write(bytes);
      return finish(socket, 'close');
    }
    default:
      return undefined;
  }
}
