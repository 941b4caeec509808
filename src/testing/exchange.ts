import { distort, insteadOf } from './faults/content.ts';
import { type Delivery, WHOLE } from './faults/delivery.ts';
import type { ContentFault, DelayFault, Fault } from './faults/fault.ts';
import type { FaultRules } from './faults/rules.ts';
import { transmissionOf } from './faults/transmit.ts';
import type { Recent } from './recent.ts';
import { LogEntry } from './request-log.ts';
import { authenticate, handle } from './service/handle.ts';
import type { ServiceReply, ServiceRequest } from './service/message.ts';
import { Refusal, refusalReply } from './service/problem.ts';
import { logicalRequest } from './service/products.ts';
import type { ServiceState } from './service/state.ts';

/** What an adapter needs: the service, the faults and the log. */
export interface Core {
  readonly state: ServiceState;
  readonly faults: FaultRules;
  readonly requests: Recent<LogEntry>;
  /** Told of each request once its answer is known. */
  readonly onRequest: (entry: LogEntry) => void;
}

/** A request under way. */
export interface Exchange {
  /** How long the adapter waits before it calls `deliver`, in ms. */
  readonly waitMs: number;
  /** Carries the request out, if that has not happened, and says what goes out and how. Called once. */
  readonly deliver: () => Delivery;
}

/** A request and the service that it is for. */
interface Serving {
  readonly state: ServiceState;
  readonly request: ServiceRequest;
  /** Asks the service, or has it answer with something else. */
  readonly ask: (instead?: ServiceReply) => ServiceReply;
}

/** Takes a request in: writes it down, finds its fault, and asks the service unless the fault keeps it away. */
export function begin(core: Core, request: ServiceRequest): Exchange {
  const { state } = core;
  const entry = new LogEntry(request, { at: state.clock.now(), key: authenticate(state, request)?.name });
  core.requests.add(entry);
  const fault = core.faults.pick(request);
  if (fault !== undefined) entry.met(fault.kind);

  const ask = (instead?: ServiceReply) => {
    const reply = handle(state, request, instead);
    entry.answered(reply);
    return reply;
  };
  const { waitMs, deliver } = plan(fault, { state, request, ask });
  return {
    waitMs,
    deliver() {
      const delivery = deliver();
      core.onRequest(entry);
      return delivery;
    },
  };
}

/** Rejects a request before the service or a fault sees it. */
export function reject(core: Core, request: ServiceRequest, refusal: Refusal): ServiceReply {
  const { state } = core;
  const entry = new LogEntry(request, { at: state.clock.now(), key: authenticate(state, request)?.name });
  core.requests.add(entry);
  const reply = handle(state, request, refusalReply(refusal, state.options));
  entry.answered(reply);
  core.onRequest(entry);
  return reply;
}

function plan(fault: Fault | undefined, serving: Serving): Exchange {
  if (fault === undefined)
    return { waitMs: 0, deliver: () => ({ reply: serving.ask(), transmission: WHOLE }) };
  if (fault.kind === 'delay') return late(fault, serving);
  return { waitMs: 0, deliver: () => faulty(fault, serving) };
}

/** What goes out, and how, of a request that a fault has met. */
function faulty(fault: Exclude<Fault, DelayFault>, { ask, state }: Serving): Delivery {
  switch (fault.kind) {
    case 'connection-refused':
      return { reply: undefined, transmission: { how: 'refuse' } };
    case 'lost-response':
      if (fault.committed) ask();
      return { reply: undefined, transmission: { how: 'nothing', ending: 'close' } };
    case 'connection-reset':
      if (fault.committed === true) ask();
      return { reply: undefined, transmission: { how: 'nothing', ending: 'reset' } };
    case 'stall':
    case 'close-in-headers':
    case 'close-in-body':
    case 'reset-in-body':
    case 'slow-body':
    case 'wrong-length':
    case 'corrupt-gzip': {
      const undone = fault.kind === 'stall' && fault.committed === false;
      const reply = undone ? undefined : ask();
      return { reply, transmission: transmissionOf(fault, reply) };
    }
    default:
      return { reply: content(fault, ask, state), transmission: WHOLE };
  }
}

function content(fault: ContentFault, ask: Serving['ask'], { options }: ServiceState): ServiceReply {
  const instead = insteadOf(fault, options);
  return instead === undefined ? distort(fault, ask(), options) : ask(instead);
}

/** A late answer. Late before the commit, a create holds its Idempotency-Key meanwhile. */
function late({ ms: waitMs, before }: DelayFault, serving: Serving): Exchange {
  if (before !== 'commit') {
    const reply = serving.ask();
    return { waitMs, deliver: () => ({ reply, transmission: WHOLE }) };
  }
  const release = hold(serving);
  const deliver = () => {
    release();
    return { reply: serving.ask(), transmission: WHOLE };
  };
  return { waitMs, deliver };
}

const NOTHING_HELD = () => {};

/** Marks the Idempotency-Key of a create as taken until the function returned is called. */
function hold({ state, request }: Serving): () => void {
  const credential = authenticate(state, request);
  if (credential === undefined || request.method !== 'POST') return NOTHING_HELD;
  try {
    const logical = logicalRequest(credential.company, request, state.options);
    return logical === undefined ? NOTHING_HELD : state.idempotency.running(logical, state.clock.now());
  } catch (error) {
    // A body that cannot be read: the service will say so when its turn comes.
    if (error instanceof Refusal) return NOTHING_HELD;
    throw error;
  }
}
