import { connect, type Socket } from 'node:net';
import type { Listening } from 'accounting-data-sdk/testing';

/** The bytes from a socket, and how the connection ended. */
export interface RawResponse {
  /** In Latin-1, so that a character is a byte. */
  readonly text: string;
  /** Orderly (FIN), or by force; the code of the failure. */
  readonly end: 'closed' | 'ECONNRESET' | 'ECONNREFUSED';
}

/** A request as it goes over the wire. */
export function rawRequest(path: string, key: string, more: readonly string[] = []): string {
  const head = [`GET /api/public/v1${path} HTTP/1.1`, 'Host: sandbox', `X-AUTH-TOKEN: ${key}`, ...more];
  return `${head.join('\r\n')}\r\n\r\n`;
}

/** A connection without a byte for so long stays open for good. */
const IDLE_MS = 10_000;

/** Opens a socket, sends a string and collects the bytes until the connection ends. */
export function rawCall(
  listening: Listening,
  request: string,
): { socket: Socket; response: Promise<RawResponse> } {
  const socket = connect(listening.port, '127.0.0.1', () => socket.write(request));
  socket.setTimeout(IDLE_MS, () => socket.destroy(new Error('The server did not end the connection.')));
  let text = '';
  const response = new Promise<RawResponse>((resolve, reject) => {
    socket.on('data', (bytes) => {
      text += bytes.toString('latin1');
    });
    socket.once('close', (failed) => {
      if (!failed) resolve({ text, end: 'closed' });
    });
    socket.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNRESET' || error.code === 'ECONNREFUSED') resolve({ text, end: error.code });
      else reject(error);
    });
  });
  return { socket, response };
}

/** The body of a raw response. */
export const bodyOf = (text: string) => text.slice(text.indexOf('\r\n\r\n') + 4);

/** A header of a raw response. */
export const headerOf = (text: string, name: string) =>
  new RegExp(`^${name}: (.*)\r$`, 'im').exec(text.slice(0, text.indexOf('\r\n\r\n') + 2))?.[1];
