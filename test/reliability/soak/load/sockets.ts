import { subscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';

/** The connections that this process has opened since. */
export interface Sockets {
  readonly open: number;
  /** Not connected yet: those of calls that were given up meanwhile among them. */
  readonly connecting: number;
  /** With a request whose response is not read to its end. */
  readonly inUse: number;
  readonly seen: SocketsSeen;
}

/** What was seen of them until now. */
export interface SocketsSeen {
  readonly opened: number;
  readonly mostOpen: number;
  readonly mostInUse: number;
  /** Requests that were given up on a connection. */
  readonly givenUp: number;
  /** Connections on which a request was given up, and which were still open a moment later. */
  readonly lingering: number;
}

/** The message that Node's HTTP client publishes about a request. */
interface ClientMessage {
  readonly request: object;
  readonly socket: Socket;
}

/**
 * Watches every connection. More can be open than there are callers: one whose call was given up while it was being
 * opened is finished anyway and kept for a later call. At most one for each caller has a request.
 */
export function watchSockets(): Sockets {
  const alive = new Set<Socket>();
  const inUse = new Map<object, Socket>();
  const seen = { mostOpen: 0, opened: 0, mostInUse: 0, givenUp: 0, lingering: 0 };
  // A destroyed socket closes in the next turn of the event loop.
  const count = (sockets: Iterable<Socket>) => [...sockets].filter(({ destroyed }) => !destroyed).length;

  subscribe('net.client.socket', (message) => {
    const { socket } = message as ClientMessage;
    alive.add(socket);
    socket.once('close', () => alive.delete(socket));
    seen.opened += 1;
    seen.mostOpen = Math.max(seen.mostOpen, count(alive));
  });
  subscribe('undici:client:sendHeaders', (message) => {
    const { request, socket } = message as ClientMessage;
    inUse.set(request, socket);
    seen.mostInUse = Math.max(seen.mostInUse, count(inUse.values()));
  });
  subscribe('undici:request:trailers', (message) => void inUse.delete((message as ClientMessage).request));
  subscribe('undici:request:error', (message) => {
    const { request } = message as ClientMessage;
    const socket = inUse.get(request);
    if (socket === undefined) return;
    inUse.delete(request);
    seen.givenUp += 1;
    queueMicrotask(() => {
      if (!socket.destroyed) seen.lingering += 1;
    });
  });
  return {
    get open() {
      return count(alive);
    },
    get connecting() {
      return [...alive].filter(({ connecting }) => connecting).length;
    },
    get inUse() {
      return count(inUse.values());
    },
    seen,
  };
}
