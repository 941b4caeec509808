import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { OptionNames } from '../../internal/option-names.ts';
import { checkNames } from '../checks.ts';
import { type Core, exchange, respondInstead } from '../exchange.ts';
import type { ServiceRequest, ServiceResponse } from '../service/message.ts';
import { problemResponse } from '../service/problem.ts';
import { wait } from '../wait.ts';
import { isPreflight, preflightHeaders } from './cors.ts';
import type { SendOptions } from './encode.ts';
import { invalidRequest, rejectUnreadable } from './reject.ts';
import { send, type WireExchange } from './send.ts';

/** The options of `sandbox.listen`. */
export interface ListenOptions {
  /** @default 0: any free port */
  port?: number | undefined;
  /** @default '127.0.0.1' */
  host?: string | undefined;
  /** Whether bodies are compressed for clients that accept gzip. @default true */
  gzip?: boolean | undefined;
  /** Whether browsers let any page send requests and read responses. @default true */
  cors?: boolean | undefined;
}

export const LISTEN_OPTIONS: OptionNames<ListenOptions> = { port: true, host: true, gzip: true, cors: true };

/** A sandbox on a port. */
export interface Listening {
  /** Such as `http://127.0.0.1:40100`. */
  readonly url: string;
  readonly port: number;
  /** Resolves once the port accepts connections, which it does not during a `connection-refused` fault. */
  ready(): Promise<void>;
  /** Closes the port and every connection, even in the middle of a response. */
  close(): Promise<void>;
}

/** Serves the sandbox over HTTP/1.1. */
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
    const { closesPort } = core.faults;
    if (closesPort && server.listening) void shut();
    if (closesPort || server.listening) return;
    opened = open(server, bound, host);
    // `ready` reports that another program has taken the port meanwhile.
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

/** A server for the core, with a function that closes it and all its connections. */
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
    // A client may reset its connection.
    socket.on('error', () => {});
  });
  const shut = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      for (const socket of sockets) socket.destroy();
    });
  return { server, shut };
}

/** Opens the port, or rejects with the system's error. */
function open(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

interface PortExchange extends WireExchange {
  /** Aborts when the port is closed for good. */
  readonly closing: AbortSignal;
}

/** Responds to a request. Returns a promise only if that takes time, which is rare. */
function serve(core: Core, wire: PortExchange): void | Promise<void> {
  const { request, response, options } = wire;
  if (options.cors && isPreflight(request)) {
    response.writeHead(204, preflightHeaders(request)).end();
    return undefined;
  }
  const instead = withoutService(core, request);
  if (instead !== undefined) return send(wire, respondInstead(core, toServiceRequest(request), instead));

  const isRead = request.method === 'GET' || request.method === 'HEAD';
  if (isRead && request.headers['content-length'] === undefined) {
    return respond(core, toServiceRequest(request), wire);
  }
  return readBody(request, core.state.options.maxRequestBytes).then((body) =>
    respond(core, toServiceRequest(request, body), wire),
  );
}

/** The response to a request that the HTTP server handles itself. */
function withoutService({ state }: Core, request: IncomingMessage): ServiceResponse | undefined {
  // `OPTIONS *` is about the whole server (RFC 9110, 9.3.7).
  if (request.method === 'OPTIONS' && request.url === '*') {
    return { status: 204, headers: { Allow: 'GET, HEAD, POST, PATCH, DELETE, OPTIONS' }, body: undefined };
  }
  const error = invalidRequest(request);
  return error === undefined ? undefined : problemResponse(error.problem, state.options);
}

function respond(core: Core, request: ServiceRequest, wire: PortExchange): void | Promise<void> {
  const delivery = exchange(core, request);
  if (!('waitMs' in delivery)) return send(wire, delivery);
  return wait(delivery.waitMs, wire.closing).then(() => {
    // A service that was shut down carries nothing out any more.
    if (!wire.closing.aborted) return send(wire, delivery.deliver());
    return undefined;
  });
}

function toServiceRequest(request: IncomingMessage, body: Uint8Array = new Uint8Array()): ServiceRequest {
  const target = (request.url ?? '/').replace(/^https?:\/\/[^/?#]*/i, '') || '/';
  const mark = target.indexOf('?');
  return {
    method: request.method ?? 'GET',
    path: mark === -1 ? target : target.slice(0, mark),
    query: mark === -1 ? '' : target.slice(mark + 1),
    // Node joins the values of a repeated header, except for Set-Cookie, which no client sends.
    headers: request.headers as Record<string, string>,
    body,
  };
}

async function readBody(request: IncomingMessage, limit: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Uint8Array>) {
    // A body that is too large is read to its end, but only kept as far as shows that.
    if (length <= limit) chunks.push(chunk);
    length += chunk.byteLength;
  }
  return Buffer.concat(chunks);
}

/** Reports an error of the sandbox itself, for example in a condition of a test, which would otherwise wait forever. */
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
