import { is } from '../checks.ts';
import { startCreate } from '../service/records.ts';
import { defineFault } from './define-fault.ts';
import { nothing } from './delivery.ts';

/** Faults of the connection and of the bytes on it. */
export const connectionFaults = {
  /** The connection closes without a byte of a response. */
  'lost-response': defineFault({
    required: {
      /** Whether the request is processed. */
      committed: is.flag,
    },
    optional: {
      /**
       * Whether the `Idempotency-Key` stays marked as running, as after a crash of the service: for 24
       * hours, the same key is then a 409 `request_in_progress`.
       * @default false
       */
      marker: is.flag,
    },
    effect: async ({ committed, marker = false }, { request, respond, state }) => {
      if (committed) await respond();
      if (marker) startCreate(state, request, { over: true });
      return nothing('close');
    },
  }),
  /** The connection ends before the response is complete. */
  disconnect: defineFault({
    optional: {
      /** Within the status line and headers, or within the body. @default 'headers' */
      in: is.oneOf('headers', 'body'),
      /** How many bytes of that part are sent, at most all but the last. @default none of the headers, half of the body */
      atByte: is.integerFrom(0),
      /** Whether the connection is reset (RST) instead of closed. @default false */
      reset: is.flag,
      /** Whether the request is processed; if not, no byte is sent. @default true */
      committed: is.flag,
    },
    effect: async ({ in: part = 'headers', atByte, reset = false, committed = true }, { respond }) => {
      const ending = reset ? 'reset' : 'close';
      if (!committed) return nothing(ending);
      const response = await respond();
      if (part === 'headers' && !atByte) return nothing(ending);
      return { response, transmission: { how: 'cut', in: part, atByte, ending } };
    },
  }),
  /**
   * The service does not accept connections. A port cannot distinguish requests: on a listening sandbox a fault without
   * conditions closes the port and all connections at once, whatever `times` says; a fault with conditions resets the
   * connection.
   */
  'connection-refused': defineFault({
    effect: () => ({ response: undefined, transmission: { how: 'refused' } }),
  }),
};
