import { is } from '../checks.ts';
import { startCreate } from '../service/records.ts';
import { defineFault } from './define-fault.ts';
import { nothing } from './delivery.ts';

/** Faults of the connection and of the bytes on it. */
export const connectionFaults = {
  /** The connection closes without a byte of a response. */
  'lost-response': defineFault({
    required: {
      /** Whether the request is carried out. */
      committed: is.flag,
    },
    optional: {
      /**
       * Whether the `Idempotency-Key` stays marked as running, as after a crash of the service: until
       * `idempotency.lifetimeMs` is over, the same key is then a 409 `request_in_progress`.
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
  /** The connection is reset (RST) without a byte of a response. */
  'connection-reset': defineFault({
    optional: {
      /** Whether the request is carried out. @default false */
      committed: is.flag,
    },
    effect: async ({ committed = false }, { respond }) => {
      if (committed) await respond();
      return nothing('reset');
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
  /** The connection closes within the status line and headers. */
  'close-in-headers': defineFault({
    optional: {
      /** How many bytes are sent, at most all but the last. @default 20 */
      afterBytes: is.integerFrom(0),
    },
    effect: async ({ afterBytes: atByte = 20 }, { respond }) => ({
      response: await respond(),
      transmission: { how: 'cut', in: 'headers', atByte, ending: 'close' },
    }),
  }),
  /** The connection closes within the body. */
  'close-in-body': defineFault({
    optional: {
      /** How many bytes of the body are sent, at most all but the last. @default half of it */
      atByte: is.integerFrom(0),
    },
    effect: async ({ atByte }, { respond }) => ({
      response: await respond(),
      transmission: { how: 'cut', in: 'body', atByte, ending: 'close' },
    }),
  }),
  /** The connection is reset (RST) within the body. */
  'reset-in-body': defineFault({
    optional: {
      /** How many bytes of the body are sent, at most all but the last. @default half of it */
      atByte: is.integerFrom(0),
    },
    effect: async ({ atByte }, { respond }) => ({
      response: await respond(),
      transmission: { how: 'cut', in: 'body', atByte, ending: 'reset' },
    }),
  }),
  /** `Content-Length` differs from the length of the body. */
  'wrong-length': defineFault({
    optional: {
      /** By how many bytes; a positive number announces more than is sent. @default 10 */
      by: is.integer,
    },
    effect: async ({ by = 10 }, { respond }) => ({
      response: await respond(),
      transmission: { how: 'wrong-length', by },
    }),
  }),
  /** `Content-Encoding: gzip` with bytes that cannot be decompressed. */
  'corrupt-gzip': defineFault({
    effect: async (_, { respond }) => ({ response: await respond(), transmission: { how: 'corrupt-gzip' } }),
  }),
};
