import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { type Named, type OptionInputs, option, optional } from '../../internal/options.ts';
import { is, resolved } from '../checks.ts';
import { hostName, isControlPath } from '../control/guard.ts';
import { type Core, exchange } from '../exchange.ts';
import type { ServiceRequest, ServiceResponse } from '../message.ts';
import { nodeHttp } from '../node-modules.ts';
import { ProblemError, problemResponse } from '../service/problem.ts';
import { ControlServer } from './control-server.ts';
import { isPreflight, preflightHeaders } from './cors.ts';
import type { SendOptions } from './encode.ts';
import { send, type WireExchange } from './send.ts';

export const listenOptions = {
  /** @default 0: any free port */
  port: option(is.integerFrom(0), 0),
  /** @default '127.0.0.1' */
  host: option(is.string, '127.0.0.1'),
  /** Whether browsers let any page send requests and read responses. @default true */
  cors: option(is.flag, true),
  /**
   * The names that the `Host` header may have, without a port; a request with another is rejected with 421. On a port of
   * this machine alone it keeps out web pages whose own name points to it. @default any
   */
  hosts: optional(is.strings),
  /**
   * Whether the sandbox can be watched and changed over HTTP, below `/_sandbox`: the address `/_sandbox/` is a page in
   * the browser. There, `Host` must be a name of this machine or one of `hosts`, and pages of other origins are rejected,
   * whatever `cors` says. See the guide "Testing a connector in any language".
   * @default false
   */
  control: option(is.flag, false),
};

/** The options of `sandbox.listen`. */
export interface ListenOptions extends OptionInputs<typeof listenOptions>, Named {}

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
  const {
    port,
    host,
    cors,
    hosts: givenHosts,
    control: isControlled,
  } = resolved(listenOptions, options, 'listen', 'port');
  const hosts = givenHosts?.map((name) => name.toLowerCase());
  const closing = new AbortController();
  const control = isControlled ? new ControlServer(core, hosts) : undefined;
  const { server, shut } = createPort({ core, options: { cors, hosts }, control }, closing.signal);
  try {
    await open(server, port, host);
  } catch (error) {
    control?.close();
    throw error;
  }
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
      control?.close();
      closed ??= opened.catch(() => {}).then(shut);
      return closed;
    },
  };
}

/** What a port serves. */
interface Service {
  readonly core: Core;
  readonly options: SendOptions;
  readonly control: ControlServer | undefined;
}

/** A server, with a function that closes it and all its connections. */
function createPort(service: Service, closing: AbortSignal) {
  const server = nodeHttp().createServer();
  server.on('request', (request, response) => {
    serve(service, { request, response }, closing).catch((error) => fail(response, error));
  });
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

async function serve(
  { core, options, control }: Service,
  { request, response }: Pick<WireExchange, 'request' | 'response'>,
  closing: AbortSignal,
): Promise<void> {
  const head = requestHead(request);
  if (control !== undefined && isControlPath(head.path)) return await control.serve(request, response, head);

  const instead = misdirected(core, request, options);
  if (options.cors && isPreflight(request) && instead === undefined) {
    response.writeHead(204, preflightHeaders(request)).end();
    return;
  }
  const body = instead === undefined ? await readBody(request) : new Uint8Array();
  const onEnd = (listener: (isWhole: boolean) => void) =>
    response.once('close', () => listener(response.writableFinished));
  const delivery = await exchange(core, { ...head, body }, { instead, closing, onEnd });
  await send({ request, response, options }, delivery);
}

/** The response to a request for another host; undefined for every other. */
function misdirected(
  { state }: Core,
  { headers }: IncomingMessage,
  { hosts }: SendOptions,
): ServiceResponse | undefined {
  const host = hostName(headers.host);
  if (hosts === undefined || hosts.includes(host)) return undefined;
  // The connection ends, because a body may follow that the service does not read.
  const more = { headers: { Connection: 'close' } };
  const { problem } = new ProblemError('misdirected_request', `The service is not ${host}.`, more);
  return problemResponse(problem, state.options);
}

function requestHead(request: IncomingMessage): Omit<ServiceRequest, 'body'> {
  const [path = '', ...query] = (request.url ?? '/').split('?');
  return {
    method: request.method ?? 'GET',
    path,
    query: query.join('?'),
    // Node joins the values of a repeated header, except for Set-Cookie, which no client sends.
    headers: request.headers as Record<string, string>,
  };
}

async function readBody(request: IncomingMessage): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of request as AsyncIterable<Uint8Array>) chunks.push(chunk);
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
