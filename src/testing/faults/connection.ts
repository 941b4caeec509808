import { is } from '../checks.ts';
import type { ServiceResponse } from '../service/message.ts';
import { type Ending, nothing } from './delivery.ts';
import type { Effects } from './family.ts';

/** Faults of the connection and of the bytes on it. */
export const connectionFaults = {
  /** The connection closes without a byte of a response. */
  'lost-response': {
    required: {
      /** Whether the request is carried out. */
      committed: is.flag,
    },
  },
  /** The connection is reset (RST) without a byte of a response. */
  'connection-reset': {
    optional: {
      /** Whether the request is carried out. @default false */
      committed: is.flag,
    },
  },
  /**
   * The service does not accept connections. A port cannot distinguish requests: on a listening sandbox a fault without
   * conditions closes the port and all connections at once, whatever `times` says; a fault with conditions resets the
   * connection.
   */
  'connection-refused': {
    optional: {
      /** How long it lasts, in ms. @default until the rule is removed */
      forMs: is.duration,
    },
  },
  /** The connection closes within the status line and headers. */
  'close-in-headers': {
    optional: {
      /** How many bytes are sent. @default 20 */
      afterBytes: is.integerFrom(0),
    },
  },
  /** The connection closes within the body. */
  'close-in-body': {
    optional: {
      /** How many bytes of the body are sent. @default half of it */
      atByte: is.integerFrom(0),
    },
  },
  /** The connection is reset (RST) within the body. */
  'reset-in-body': {
    optional: {
      /** How many bytes of the body are sent. @default half of it */
      atByte: is.integerFrom(0),
    },
  },
  /** `Content-Length` differs from the length of the body. */
  'wrong-length': {
    optional: {
      /** By how many bytes; a positive number announces more than is sent. @default 10 */
      by: is.integer,
    },
  },
  /** `Content-Encoding: gzip` with bytes that cannot be decompressed. */
  'corrupt-gzip': {},
};

export const connectionEffects: Effects<typeof connectionFaults> = {
  'lost-response': ({ committed }, { respond }) => {
    if (committed) respond();
    return nothing('close');
  },
  'connection-reset': ({ committed = false }, { respond }) => {
    if (committed) respond();
    return nothing('reset');
  },
  'connection-refused': () => ({ response: undefined, transmission: { how: 'refused' } }),
  'close-in-headers': ({ afterBytes: atByte = 20 }, { respond }) => ({
    response: respond(),
    transmission: { how: 'cut', in: 'headers', atByte, ending: 'close' },
  }),
  'close-in-body': ({ atByte }, { respond }) => cutInBody(respond(), atByte, 'close'),
  'reset-in-body': ({ atByte }, { respond }) => cutInBody(respond(), atByte, 'reset'),
  'wrong-length': ({ by = 10 }, { respond }) => ({
    response: respond(),
    transmission: { how: 'wrong-length', by },
  }),
  'corrupt-gzip': (_, { respond }) => ({ response: respond(), transmission: { how: 'corrupt-gzip' } }),
};

/** A response that ends in its body, by default after half of it. */
export function cutInBody(response: ServiceResponse, atByte: number | undefined, ending: Ending) {
  const half = Math.floor((response.body?.byteLength ?? 0) / 2);
  return { response, transmission: { how: 'cut', in: 'body', atByte: atByte ?? half, ending } } as const;
}
