import { subscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';

/** The connections that this process has opened since. */
export interface Sockets {
  readonly open: number;
  readonly most: number;
  readonly opened: number;
  /** Not connected yet: those of calls that were given up meanwhile among them. */
  readonly connecting: number;
}

export function watchSockets(): Sockets {
  const alive = new Set<Socket>();
  let most = 0;
  let opened = 0;
  // One that was destroyed is closed as soon as the event loop turns.
  const open = () => [...alive].filter(({ destroyed }) => !destroyed).length;
  subscribe('net.client.socket', (message) => {
    const { socket } = message as { socket: Socket };
    alive.add(socket);
    socket.once('close', () => alive.delete(socket));
    opened += 1;
    most = Math.max(most, open());
  });
  return {
    get open() {
      return open();
    },
    get most() {
      return most;
    },
    get opened() {
      return opened;
    },
    get connecting() {
      return [...alive].filter(({ connecting }) => connecting).length;
    },
  };
}
