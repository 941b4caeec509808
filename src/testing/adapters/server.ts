import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { OptionNames } from '../../internal/option-names.ts';
import { checkNames } from '../check-options.ts';
import { begin, type Core, reject } from '../exchange.ts';
import { WHOLE } from '../faults/delivery.ts';
import type { ServiceRequest } from '../service/message.ts';
import { wait } from '../wait.ts';
import { isPreflight, preflightHeaders } from './cors.ts';
import type { SendOptions } from './encode.ts';
import { refusalOf, rejectUnreadable } from './reject.ts';
import { send, type WireExchange } from './send.ts';

/** What `sandbox.listen` takes. */
export interface ListenOptions {
  /** @default 0: one that is free */
  port?: number | undefined;
  /** @default '127.0.0.1' */
  host?: string | undefined;
  /** Whether bodies are packed for clients that accept gzip. @default true */
  gzip?: boolean | undefined;
  /** Whether pages of a browser may call and read. @default true */
  cors?: boolean | undefined;
}

export const LISTEN_OPTIONS: OptionNames<ListenOptions> = { port: true, host: true, gzip: true, cors: true };

/** A sandbox on a port. */
export interface Listening {
  /** Such as `http://127.0.0.1:40100`. */
  readonly url: string;
  readonly port: number;
  /** Resolves once connections are accepted; at once, but after a `refused` fault has ended. */
  ready(): Promise<void>;
  /** Stops listening and ends every connection, also those in the middle of an answer. */
  close(): Promise<void>;
}

const NOTHING = new Uint8Array();

async function readBody(request: IncomingMessage, limit: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Uint8Array>) {
    // Of a body that is too large no more is kept than shows that it is.
    if (length <= limit) chunks.push(chunk);
    length += chunk.byteLength;
  }
  return Buffer.concat(chunks);
}

/** What a client sends to a proxy: the scheme and the authority come first (RFC 9112, 3.2.2). */
const ABSOLUTE_FORM = /^https?:\/\/[^/?#]*/i;

function toServiceRequest(request: IncomingMessage, body: Uint8Array): ServiceRequest {
  const url = (request.url ?? '/').replace(ABSOLUTE_FORM, '') || '/';
  const mark = url.indexOf('?');
  return {
    method: request.method ?? 'GET',
    path: mark === -1 ? url : url.slice(0, mark),
    query: mark === -1 ? '' : url.slice(mark + 1),
    // Node joins the values of a header that came twice; only Set-Cookie is a list, and nobody sends that.
    headers: request.headers as Record<string, string>,
    body,
  };
}

interface PortExchange extends WireExchange {
  /** Aborts when the port is closed for good. */
  readonly closing: AbortSignal;
}

/** Answers a request whose body is there. No promise is made where nothing has to be waited for: that is most of the time. */
function answer(core: Core, request: ServiceRequest, wire: PortExchange): void | Promise<void> {
  const exchange = begin(core, request);
  if (exchange.waitMs === 0) return send(wire, exchange.deliver());
  return wait(exchange.waitMs, wire.closing).then(() => {
    // A service that is shut down carries nothing out any more.
    if (!wire.closing.aborted) return send(wire, exchange.deliver());
    return undefined;
  });
}

function serve(core: Core, wire: PortExchange): void | Promise<void> {
  const { request, response, options } = wire;
  if (options.cors && isPreflight(request)) {
    response.writeHead(204, preflightHeaders(request)).end();
    return undefined;
  }
  const refusal = refusalOf(request);
  if (refusal !== undefined) {
    return send(wire, {
      reply: reject(core, toServiceRequest(request, NOTHING), refusal),
      transmission: WHOLE,
    });
  }
  const isGet = request.method === 'GET' || request.method === 'HEAD';
  const bodyless = isGet && request.headers['content-length'] === undefined;
  if (bodyless) return answer(core, toServiceRequest(request, NOTHING), wire);
  return readBody(request, core.state.options.maxRequestBytes).then((body) =>
    answer(core, toServiceRequest(request, body), wire),
  );
}

/** The sandbox itself has failed, in a predicate of its author for one: said aloud, or the author waits for nothing. */
function fail(response: ServerResponse, error: unknown): void {
  if (response.headersSent || response.socket?.destroyed !== false) {
    response.destroy();
    return;
  }
  const reason = error instanceof Error ? error.message : String(error);
  const detail = `The sandbox itself failed: ${reason}`;
  response.writeHead(500, { 'Content-Type': 'application/problem+json' });
  response.end(JSON.stringify({ type: 'sandbox_failed', title: 'The sandbox failed', status: 500, detail }));
}

/** Opens the port, or rejects with the reason why not. */
function open(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

/** A server for the core, with a way to end it and all its connections. */
function createPort(core: Core, options: SendOptions, closing: AbortSignal) {
  // Node would reject a missing Host and an unknown expectation itself, without a body.
  const server = createServer({ requireHostHeader: false });
  const onRequest = (request: IncomingMessage, response: ServerResponse) => {
    try {
      const served = serve(core, { request, response, options, closing });
      served?.catch((error: unknown) => fail(response, error));
    } catch (error) {
      fail(response, error);
    }
  };
  server.on('request', onRequest);
  server.on('checkExpectation', onRequest);
  rejectUnreadable(server, core, options);
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    // A client that resets its connection is its own affair.
    socket.on('error', () => {});
  });
  const shut = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      for (const socket of sockets) socket.destroy();
    });
  return { server, shut };
}

/** The sandbox as an HTTP/1.1 server. */
export async function listen(core: Core, options: ListenOptions): Promise<Listening> {
  checkNames('listen', options, Object.keys(LISTEN_OPTIONS));
  const { port = 0, host = '127.0.0.1', gzip = true, cors = true } = options;
  const closing = new AbortController();
  const { server, shut } = createPort(core, { gzip, cors }, closing.signal);
  await open(server, port, host);
  const { port: bound } = server.address() as AddressInfo;

  let opened = Promise.resolve();
  let closed: Promise<void> | undefined;
  core.faults.onChange = () => {
    if (closed !== undefined) return;
    const down = core.faults.refusing;
    if (down && server.listening) void shut();
    if (down || server.listening) return;
    opened = open(server, bound, host);
    // Whoever waits until it is ready hears of a port that was taken meanwhile.
    opened.catch(() => {});
  };
  core.faults.onChange();

  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${bound}`,
    port: bound,
    ready: () => opened,
    close() {
      closing.abort();
      closed ??= opened.catch(() => {}).then(shut);
      return closed;
    },
  };
}
