import { type DelayedDelivery, type Delivery, whole } from './faults/delivery.ts';
import { applyFault } from './faults/fault.ts';
import type { FaultRules } from './faults/fault-rules.ts';
import { type LogEntry, type LoggedRequest, logEntry } from './log.ts';
import type { Recent } from './recent.ts';
import { authenticate, handle } from './service/handle.ts';
import type { ServiceRequest, ServiceResponse } from './service/message.ts';
import type { ServiceState } from './service/state.ts';

/** What an adapter needs: the service, the faults and the log. */
export interface Core {
  readonly state: ServiceState;
  readonly faults: FaultRules;
  readonly requests: Recent<LoggedRequest>;
  /** Called with each request once its response is known. */
  readonly onRequest: (request: LoggedRequest) => void;
}

/** Takes a request through the log, the faults and the service. */
export function exchange(core: Core, request: ServiceRequest): Delivery | DelayedDelivery {
  const { entry, respond } = begin(core, request);
  const fault = core.faults.pick(request);
  if (fault === undefined) return finish(core, entry, whole(respond()));

  entry.fault = fault.kind;
  const delivery = applyFault(fault, { request, state: core.state, respond });
  if (!('waitMs' in delivery)) return finish(core, entry, delivery);
  return { waitMs: delivery.waitMs, deliver: () => finish(core, entry, delivery.deliver()) };
}

/** As `exchange`, for a request that neither reaches the service nor meets a fault. */
export function respondInstead(core: Core, request: ServiceRequest, instead: ServiceResponse): Delivery {
  const { entry, respond } = begin(core, request);
  return finish(core, entry, whole(respond(instead)));
}

function begin({ requests, state }: Core, request: ServiceRequest) {
  const key = authenticate(state, request)?.name;
  const entry = logEntry(request, key, new Date(state.clock.now()));
  requests.add(entry);
  const respond = (instead?: ServiceResponse) => {
    const response = handle(state, request, instead);
    entry.status = response.status;
    entry.error = response.note?.error;
    entry.records = response.note?.records;
    return response;
  };
  return { entry, respond };
}

function finish(core: Core, entry: LogEntry, delivery: Delivery): Delivery {
  core.onRequest(entry);
  return delivery;
}
