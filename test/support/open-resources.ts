import { getEventListeners } from 'node:events';
import { eventLoopTurn } from './scripted-server.ts';

const KINDS = ['TCPSocketWrap', 'TLSWrap', 'Timeout'];

/** How many sockets and timers keep this process alive. */
export function openResources(): number {
  return process.getActiveResourcesInfo().filter((kind) => KINDS.includes(kind)).length;
}

/** Waits until no more of them is open than before: a test with a leak never gets past this. */
export async function closedAgain(before: number): Promise<void> {
  while (openResources() > before) await eventLoopTurn();
}

/** Listeners that were left behind on a signal. */
export const listenersOn = (signal: AbortSignal) => getEventListeners(signal, 'abort').length;
