import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Core } from '../exchange.ts';
import { handle } from '../service/handle.ts';
import type { ServiceRequest } from '../service/message.ts';
import { ProblemError, problemResponse } from '../service/problem.ts';
import { encode, head, type SendOptions } from './encode.ts';

/** Why a request that the parser accepts does not reach the service; undefined if it does. */
export function invalidRequest({
  headers,
  httpVersion,
  url = '',
}: IncomingMessage): ProblemError | undefined {
  if (headers.host === undefined && httpVersion === '1.1') {
    return new ProblemError('malformed_request', 'The Host header is missing.', { headers: CLOSE });
  }
  if (!url.startsWith('/') && !isHttpUrl(url)) {
    return new ProblemError('malformed_request', 'The request target is invalid.', { headers: CLOSE });
  }
  const { expect } = headers;
  // The connection ends, because a body may follow that the service does not read.
  return expect === undefined || /^100-continue$/i.test(expect)
    ? undefined
    : new ProblemError('expectation_failed', 'Only 100-continue can be expected.', { headers: CLOSE });
}

const CLOSE = { Connection: 'close' };

/** What a client sends to a proxy (RFC 9112, 3.2.2). A host is required (RFC 9110, 4.2.1). */
function isHttpUrl(target: string): boolean {
  return /^https?:\/\/[^/?#:]/i.test(target) && URL.canParse(target);
}

/** All that is known of a request whose head cannot be parsed. */
const UNREADABLE: ServiceRequest = { method: '', path: '', query: '', headers: {}, body: new Uint8Array() };

function parserError({ code }: NodeJS.ErrnoException): ProblemError {
  switch (code) {
    case 'HPE_INVALID_METHOD':
      return new ProblemError('not_implemented', 'The service does not know this method.');
    case 'HPE_HEADER_OVERFLOW':
      return new ProblemError('headers_too_large', 'The headers are too large.');
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new ProblemError('request_timeout', 'The request did not arrive in time.');
    default:
      return new ProblemError('malformed_request', 'The request is not valid HTTP/1.1.');
  }
}

/**
 * Responds to requests that the parser rejects with a problem document and rate-limit headers. node:http would respond
 * without a body.
 */
export function rejectUnreadable(server: Server, core: Core, options: SendOptions): void {
  const lastResponse = new WeakMap<Duplex, ServerResponse>();
  server.prependListener('request', (request, response) => void lastResponse.set(request.socket, response));

  const send = (socket: Duplex, { problem }: ProblemError) => {
    if (!socket.writable) return socket.destroy();
    const response = handle(core.state, UNREADABLE, problemResponse(problem, core.state.options));
    const wire = encode({ method: undefined, headers: {} }, response, options);
    return socket.end(Buffer.concat([Buffer.from(head(wire, CLOSE)), wire.body]));
  };
  const reject = (socket: Duplex, error: ProblemError) => {
    const before = lastResponse.get(socket);
    // Pipelined requests get their responses in order.
    if (before === undefined || before.writableFinished || before.destroyed) send(socket, error);
    else before.once('close', () => send(socket, error));
  };
  server.on('clientError', (error, socket) => reject(socket, parserError(error)));
  server.on('connect', (_, socket) =>
    reject(socket, new ProblemError('not_implemented', 'The service is not a proxy.')),
  );
}
