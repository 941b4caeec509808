import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/** A request as it came over the wire. */
export interface SeenRequest {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** One answer of a script. What misbehaves takes the socket and writes its bytes itself. */
export type ScriptedResponse = (request: SeenRequest, wire: Wire) => void | Promise<void>;

/** Where an answer goes. */
export interface Wire {
  readonly response: ServerResponse;
  readonly socket: Socket;
}

/** A real HTTP server that answers by a script. */
export interface ScriptedServer extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  /** Every request whose body has arrived, oldest first. */
  readonly requests: readonly SeenRequest[];
  /** Connections that were opened, also those on which nothing was asked. */
  readonly connections: number;
  /** Waits until so many requests have arrived. */
  received(count: number): Promise<void>;
  close(): Promise<void>;
}

/** Starts a server: the first request gets the first answer, and so on; the last answer is given again and again. */
export async function scriptedServer(...script: readonly ScriptedResponse[]): Promise<ScriptedServer> {
  const requests: SeenRequest[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;

  const server = createServer(async (incoming, response) => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of incoming as AsyncIterable<Uint8Array>) chunks.push(chunk);
    const request = {
      method: incoming.method ?? '',
      url: incoming.url ?? '',
      headers: incoming.headers,
      body: Buffer.concat(chunks).toString(),
    };
    requests.push(request);
    const answer = script[Math.min(requests.length, script.length) - 1];
    await answer?.(request, { response, socket: incoming.socket });
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
    url: `http://127.0.0.1:${port}`,
    port,
    requests,
    get connections() {
      return connections;
    },
    async received(count) {
      // Turns of the event loop instead of a timer: fake clocks do not stop them.
      while (requests.length < count) await eventLoopTurn();
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Lets everything that is due in the event loop happen once; no clock is involved. */
export function eventLoopTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

/** Enough turns for whatever does not wait for a clock to have happened. */
export async function settle(turns = 30): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) await eventLoopTurn();
}

/** A port on which nobody listens: it was free a moment ago. */
export async function closedPort(): Promise<number> {
  const server = await scriptedServer();
  await server.close();
  return server.port;
}
