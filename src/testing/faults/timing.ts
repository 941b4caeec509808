import { is } from '../checks.ts';
import { startCreate } from '../service/records.ts';
import { defineFault } from './define-fault.ts';
import { nothing } from './delivery.ts';

/** Faults of the time that a response takes. */
export const timingFaults = {
  /** The response is late. */
  delay: defineFault({
    required: {
      /** How late, in ms. */
      ms: is.durationFrom(0),
    },
    optional: {
      /** Whether the request is also processed late, or only its response sent late. @default 'response' */
      before: is.oneOf('commit', 'response'),
    },
    effect: async ({ ms, before = 'response' }, { request, state, next, wait }) => {
      if (before === 'response') {
        const delivery = await next();
        await wait(ms);
        return delivery;
      }
      const finish = startCreate(state, request);
      try {
        await wait(ms);
      } finally {
        finish();
      }
      return await next();
    },
  }),
  /** The response stops, and the connection stays open. */
  stall: defineFault({
    optional: {
      /** Before the first byte, or within the body. @default 'headers' */
      in: is.oneOf('headers', 'body'),
      /** With `in: 'body'`, how many bytes of it are sent, at most all but the last. @default half of it */
      atByte: is.integerFrom(0),
      /** Whether the request is processed. @default true */
      committed: is.flag,
    },
    effect: async ({ in: part = 'headers', atByte, committed = true }, { respond }) => {
      if (!committed) return nothing('stall');
      const response = await respond();
      if (part === 'headers') return nothing('stall');
      return { response, transmission: { how: 'cut', in: 'body', atByte, ending: 'stall' } };
    },
  }),
  /** The body arrives in pieces. */
  'slow-body': defineFault({
    optional: {
      /** Bytes in a piece. @default 1 */
      bytes: is.integerFrom(1),
      /** The time between pieces, in ms. @default 100 */
      everyMs: is.durationFrom(0),
    },
    effect: async ({ bytes = 1, everyMs = 100 }, { respond }) => ({
      response: await respond(),
      transmission: { how: 'slow-body', bytes, everyMs },
    }),
  }),
};
