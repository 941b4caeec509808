import type { ServiceReply } from '../service/message.ts';
import type { Transmission } from './delivery.ts';
import type { DeliveryFault } from './fault.ts';

/** How a fault of delivery sends an answer; undefined for a request that was not carried out. */
export function transmissionOf(fault: DeliveryFault, reply: ServiceReply | undefined): Transmission {
  const half = Math.floor((reply?.body?.byteLength ?? 0) / 2);
  switch (fault.kind) {
    case 'close-in-headers':
      return { how: 'cut', in: 'headers', atByte: fault.afterBytes ?? 20, ending: 'close' };
    case 'close-in-body':
      return { how: 'cut', in: 'body', atByte: fault.atByte ?? half, ending: 'close' };
    case 'reset-in-body':
      return { how: 'cut', in: 'body', atByte: fault.atByte ?? half, ending: 'reset' };
    case 'stall':
      if (fault.in === 'body' && reply !== undefined)
        return { how: 'cut', in: 'body', atByte: fault.atByte ?? half, ending: 'stall' };
      return { how: 'nothing', ending: 'stall' };
    case 'slow-body':
      return { how: 'slow-body', bytes: fault.bytes ?? 1, everyMs: fault.everyMs ?? 100 };
    case 'wrong-length':
      return { how: 'wrong-length', by: fault.by ?? 10 };
    case 'corrupt-gzip':
      return { how: 'corrupt-gzip' };
  }
}
