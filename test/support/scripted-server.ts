import { readFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo, Server, Socket } from 'node:net';
import { threadPoolIsBusy } from './thread-pool.ts';

/** A request as it was received. */
export interface SeenRequest {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** One response of a script. A malformed one writes its bytes to the socket itself. */
export type ScriptedResponse = (request: SeenRequest, wire: Wire) => void | Promise<void>;

/** Where a response is written. */
export interface Wire {
  readonly response: ServerResponse;
  readonly socket: Socket;
}

/** An HTTP server that sends the responses of a script. */
export interface ScriptedServer extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  /** Every request whose body has arrived, oldest first. */
  readonly requests: readonly SeenRequest[];
  /** Connections that were opened, including those without a request. */
  readonly connections: number;
  /** Waits until `count` requests have arrived. */
  received(count: number): Promise<void>;
  close(): Promise<void>;
}

/** Starts a server. Each request gets the next response of the script; the last one is repeated. */
export function scriptedServer(...script: readonly ScriptedResponse[]): Promise<ScriptedServer> {
  return serve(createServer, 'http://127.0.0.1', script);
}

/** A certificate for localhost and 127.0.0.1 that vouches for itself, and its key. */
export const certificate = readFileSync(new URL('self-signed.pem', import.meta.url), 'utf8');

/** The same server behind this certificate. */
export function secureServer(...script: readonly ScriptedResponse[]): Promise<ScriptedServer> {
  const options = { key: certificate, cert: certificate };
  return serve((listener) => createSecureServer(options, listener), 'https://localhost', script);
}

async function serve(
  create: (listener: RequestListener) => Server,
  origin: string,
  script: readonly ScriptedResponse[],
): Promise<ScriptedServer> {
  const requests: SeenRequest[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;

  const server = create(async (incoming, response) => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of incoming as AsyncIterable<Uint8Array>) chunks.push(chunk);
    const request = {
      method: incoming.method ?? '',
      url: incoming.url ?? '',
      headers: incoming.headers,
      body: Buffer.concat(chunks).toString(),
    };
    requests.push(request);
    const respond = script[Math.min(requests.length, script.length) - 1];
    await respond?.(request, { response, socket: incoming.socket });
  });
  server.on('connection', (socket) => {
    connections += 1;
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    socket.on('error', () => {});
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;

  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      for (const socket of sockets) socket.destroy();
    });
  return {
    url: `${origin}:${port}`,
    port,
    requests,
    get connections() {
      return connections;
    },
    async received(count) {
      // Waits for the event loop instead of a timer, because a virtual clock does not stop it.
      while (requests.length < count) await eventLoopTurn();
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Resolves in the next turn of the event loop, without a timer. */
export function eventLoopTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

/** Waits until everything that needs no timer has happened. */
export async function settle(turns = 30): Promise<void> {
  for (let count = 0; count < turns; count += 1) {
    await eventLoopTurn();
    if (threadPoolIsBusy()) count = 0;
  }
}

/** A port without a listener. */
export async function closedPort(): Promise<number> {
  const server = await scriptedServer();
  await server.close();
  return server.port;
}
