import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Core } from '../exchange.ts';
import { handle } from '../service/handle.ts';
import type { ServiceRequest } from '../service/message.ts';
import { Refusal, refusalReply } from '../service/problem.ts';
import { encode, head, type SendOptions } from './encode.ts';

/** Why a request that HTTP can parse is not given to the service. */
export function refusalOf({ headers, httpVersion }: IncomingMessage): Refusal | undefined {
  if (headers.host === undefined && httpVersion === '1.1') {
    return new Refusal('malformed_request', 'The Host header is missing.', { headers: CLOSE });
  }
  const { expect } = headers;
  // A body may follow that nobody reads, so the connection ends.
  return expect === undefined || /^100-continue$/i.test(expect)
    ? undefined
    : new Refusal('expectation_failed', 'Only 100-continue can be expected.', { headers: CLOSE });
}

const CLOSE = { Connection: 'close' };

/** What of a request is known whose head cannot be parsed. */
const UNREADABLE: ServiceRequest = { method: '', path: '', query: '', headers: {}, body: new Uint8Array() };

function refusalOfParser({ code }: NodeJS.ErrnoException): Refusal {
  switch (code) {
    case 'HPE_INVALID_METHOD':
      return new Refusal('not_implemented', 'The service does not know this method.');
    case 'HPE_HEADER_OVERFLOW':
      return new Refusal('headers_too_large', 'The headers are too large.');
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new Refusal('request_timeout', 'The request did not arrive in time.');
    default:
      return new Refusal('malformed_request', 'The request is not valid HTTP/1.1.');
  }
}

/**
 * Has the server answer what its parser rejects, which node:http answers without a body, with a problem document and
 * rate-limit headers.
 */
export function rejectUnreadable(server: Server, core: Core, options: SendOptions): void {
  const lastResponse = new WeakMap<Duplex, ServerResponse>();
  server.prependListener('request', (request, response) => void lastResponse.set(request.socket, response));

  const send = (socket: Duplex, refusal: Refusal) => {
    if (!socket.writable) return socket.destroy();
    const reply = handle(core.state, UNREADABLE, refusalReply(refusal, core.state.options));
    const wire = encode({ method: undefined, headers: {} }, reply, options);
    return socket.end(Buffer.concat([Buffer.from(head(wire, CLOSE)), wire.body]));
  };
  const reject = (socket: Duplex, refusal: Refusal) => {
    const before = lastResponse.get(socket);
    // Pipelined requests get their responses in order.
    if (before === undefined || before.writableFinished || before.destroyed) send(socket, refusal);
    else before.once('close', () => send(socket, refusal));
  };
  server.on('clientError', (error, socket) => reject(socket, refusalOfParser(error)));
  server.on('connect', (_, socket) =>
    reject(socket, new Refusal('not_implemented', 'The service is not a proxy.')),
  );
}
