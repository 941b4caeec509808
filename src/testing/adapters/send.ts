import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Delivery } from '../faults/delivery.ts';
import { encode, type SendOptions } from './encode.ts';
import { finish, sendFaulty } from './send-faulty.ts';

/** A request on a socket, and the way back. */
export interface WireExchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly options: SendOptions;
}

/** Sends a delivery over its socket. A promise comes back only where the sending takes time. */
export function send({ request, response, options }: WireExchange, delivery: Delivery): void | Promise<void> {
  const { reply, transmission } = delivery;
  if (transmission.how === 'refuse') return finish(request.socket, 'reset');
  if (transmission.how === 'nothing') return finish(request.socket, transmission.ending);
  if (reply === undefined) return finish(request.socket, 'close');

  const wire = encode(request, reply, options);
  if (transmission.how !== 'whole') return sendFaulty(request.socket, wire, transmission);

  // The service dates its answers itself; one without a date is meant to be without.
  response.sendDate = false;
  response.writeHead(wire.status, wire.headers);
  response.end(wire.body);
  return undefined;
}
