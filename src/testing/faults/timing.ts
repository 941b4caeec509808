import { is } from '../checks.ts';
import { authenticate } from '../service/handle.ts';
import { ProblemError } from '../service/problem.ts';
import { keyedCreate } from '../service/records.ts';
import { cutInBody } from './connection.ts';
import { nothing, whole } from './delivery.ts';
import type { Effects, FaultedRequest } from './family.ts';

/** Faults of the time that a response takes. */
export const timingFaults = {
  /** The response is late. */
  delay: {
    required: {
      /** How late, in ms. */
      ms: is.duration,
    },
    optional: {
      /** Whether the request is also carried out late, or only its response sent late. @default 'response' */
      before: is.oneOf('commit', 'response'),
    },
  },
  /** The response stops, and the connection stays open. */
  stall: {
    optional: {
      /** Before the first byte, or within the body. @default 'headers' */
      in: is.oneOf('headers', 'body'),
      /** With `in: 'body'`, how many bytes of it are sent. @default half of it */
      atByte: is.integerFrom(0),
      /** Whether the request is carried out. @default true */
      committed: is.flag,
    },
  },
  /** The body arrives in pieces. */
  'slow-body': {
    optional: {
      /** Bytes in a piece. @default 1 */
      bytes: is.integerFrom(1),
      /** The time between pieces, in ms. @default 100 */
      everyMs: is.duration,
    },
  },
};

export const timingEffects: Effects<typeof timingFaults> = {
  delay: ({ ms: waitMs, before = 'response' }, faulted) => {
    if (before === 'response') {
      const response = faulted.respond();
      return { waitMs, deliver: () => whole(response) };
    }
    const finish = startCreate(faulted);
    const deliver = () => {
      finish();
      return whole(faulted.respond());
    };
    return { waitMs, deliver };
  },
  stall: ({ in: part = 'headers', atByte, committed = true }, { respond }) => {
    if (!committed) return nothing('stall');
    const response = respond();
    return part === 'body' ? cutInBody(response, atByte, 'stall') : nothing('stall');
  },
  'slow-body': ({ bytes = 1, everyMs = 100 }, { respond }) => ({
    response: respond(),
    transmission: { how: 'slow-body', bytes, everyMs },
  }),
};

const NOTHING_STARTED = () => {};

/** Marks the Idempotency-Key of a create as running until the function returned is called. */
function startCreate({ request, state }: FaultedRequest): () => void {
  const credential = authenticate(state, request);
  if (credential === undefined || request.method !== 'POST') return NOTHING_STARTED;
  try {
    const create = keyedCreate(credential, request, state.options);
    return create === undefined ? NOTHING_STARTED : state.idempotency.start(create, state.clock.now());
  } catch (error) {
    // The service rejects an unreadable body when it carries the request out.
    if (error instanceof ProblemError) return NOTHING_STARTED;
    throw error;
  }
}
