import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Core } from '../exchange.ts';
import { handle } from '../service/handle.ts';
import type { ServiceRequest, ServiceResponse } from '../service/message.ts';
import { ProblemError, type ProblemName, problemResponse } from '../service/problem.ts';
import { encode, head, type SendOptions } from './encode.ts';

const CLOSE = { Connection: 'close' };

/** The response to a request that the parser accepts but the service must not see; undefined for every other. */
export function responseWithoutService(
  { state }: Core,
  { headers, url = '' }: IncomingMessage,
  { hosts }: Pick<SendOptions, 'hosts'>,
): ServiceResponse | undefined {
  // The connection ends, because a body may follow that the service does not read.
  const reject = (name: ProblemName, detail: string) =>
    problemResponse(new ProblemError(name, detail, { headers: CLOSE }).problem, state.options);
  const name = (headers.host ?? '').replace(/:\d*$/, '').toLowerCase();
  if (hosts !== undefined && !hosts.includes(name)) {
    return reject('misdirected_request', `The service is not ${name}.`);
  }
  return url.startsWith('/') ? undefined : reject('malformed_request', 'The request target is invalid.');
}

/** All that is known of a request whose head cannot be parsed. */
const UNREADABLE: ServiceRequest = { method: '', path: '', query: '', headers: {}, body: new Uint8Array() };

const PARSER_ERRORS: Readonly<Record<string, ProblemError>> = {
  HPE_INVALID_METHOD: new ProblemError('not_implemented', 'The service does not know this method.'),
  HPE_HEADER_OVERFLOW: new ProblemError('headers_too_large', 'The headers are too large.'),
  ERR_HTTP_REQUEST_TIMEOUT: new ProblemError('request_timeout', 'The request did not arrive in time.'),
};
const INVALID_HTTP = new ProblemError('malformed_request', 'The request is not valid HTTP/1.1.');

/**
 * Responds to requests that the parser rejects with a problem document and rate-limit headers. node:http would respond
 * without a body.
 */
export function rejectUnreadable(server: Server, { state }: Core, options: SendOptions): void {
  const responses = new WeakMap<Duplex, readonly ServerResponse[]>();
  server.prependListener('request', ({ socket }, response) => {
    const open = (responses.get(socket) ?? []).filter(
      ({ destroyed, writableFinished }) => !destroyed && !writableFinished,
    );
    responses.set(socket, [...open, response]);
  });
  server.on('clientError', ({ code = '' }: NodeJS.ErrnoException, socket) => {
    const { problem } = PARSER_ERRORS[code] ?? INVALID_HTTP;
    const send = () => {
      if (!socket.writable) return socket.destroy();
      const response = handle(state, UNREADABLE, problemResponse(problem, state.options));
      const wire = encode({ method: undefined, headers: {} }, response, options);
      return socket.end(Buffer.concat([Buffer.from(head(wire, CLOSE)), wire.body]));
    };
    // Pipelined requests get their responses in order. A request whose body cannot be read to its end has no other.
    const before = responses.get(socket)?.findLast(({ req }) => req.complete);
    if (before === undefined || before.writableFinished || before.destroyed) send();
    else before.once('close', send);
  });
}
