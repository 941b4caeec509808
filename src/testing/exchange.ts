import { type Delivery, whole } from './faults/delivery.ts';
import { applyFaults } from './faults/fault.ts';
import type { FaultRules } from './faults/fault-rules.ts';
import { type LoggedRequest, logEntry } from './log.ts';
import type { ServiceRequest, ServiceResponse } from './message.ts';
import type { ResolvedSandboxOptions, SandboxOptions } from './options.ts';
import type { Recent } from './recent.ts';
import { handle } from './service/handle.ts';
import type { ServiceState } from './service/state.ts';
import { wait } from './wait.ts';

/** What an adapter needs: the service, the faults and the log. */
export interface Core {
  /** Another one after `reset`: a request that is running ends in the service that it reached. */
  readonly state: ServiceState;
  /** As they were given when it was created, or with the last reset: `state` may have other quotas. */
  readonly options: ResolvedSandboxOptions;
  readonly faults: FaultRules;
  readonly requests: Recent<LoggedRequest>;
  readonly observers: Set<RequestObserver>;
  reset(changes?: SandboxOptions): void;
  clearLogs(): void;
  /** Gives every key a new quota; without limits, that of the options. */
  renewQuotas(limits?: ResolvedSandboxOptions['rateLimit']): void;
}

/** What follows each request through the sandbox. */
export interface RequestObserver {
  arrived?(entry: LoggedRequest, request: ServiceRequest): void;
  /** The faults that it meets are known. */
  met?(entry: LoggedRequest, rules: ReturnType<FaultRules['pick']>): void;
  /** The response is known, and is about to be sent. */
  responded?(entry: LoggedRequest, delivery: Delivery): void;
  /** The last byte was sent, or the connection has ended before. */
  ended?(entry: LoggedRequest, how: { readonly isWhole: boolean }): void;
  /** The log of requests was emptied. */
  cleared?(): void;
}

/** How an adapter takes a request through the sandbox. */
interface ExchangeOptions {
  /** The response to a request that the adapter handles itself: it neither reaches the service nor meets a fault. */
  readonly instead?: ServiceResponse | undefined;
  /** Aborts if the adapter is closed, which ends waits: a service that was shut down carries nothing out. */
  readonly closing?: AbortSignal;
  /** Calls the listener when nothing more will be sent. */
  readonly onEnd?: (listener: (isWhole: boolean) => void) => void;
}

/** Takes a request through the log, the faults and the service. */
export async function exchange(
  core: Core,
  request: ServiceRequest,
  { instead, closing, onEnd }: ExchangeOptions = {},
): Promise<Delivery> {
  const { faults, observers, requests, state } = core;
  const name = state.keyring.authenticate(request)?.name;
  const entry = logEntry(request, name, new Date(state.clock.now()));
  requests.add(entry);
  for (const observer of observers) observer.arrived?.(entry, request);
  onEnd?.((isWhole) => {
    for (const observer of observers) observer.ended?.(entry, { isWhole });
  });
  const respond = (replacement?: ServiceResponse) => {
    const response = handle(state, request, replacement);
    entry.status = response.status;
    entry.error = response.note?.error;
    entry.records = response.note?.records;
    entry.ids = response.note?.ids;
    return response;
  };
  const met = instead === undefined ? faults.pick(request) : [];
  entry.fault = met.at(-1)?.fault.kind;
  for (const observer of observers) observer.met?.(entry, met);
  // Without a fault at once, so that listeners are called in the order of the requests.
  const delivery =
    met.length === 0
      ? whole(respond(instead))
      : await applyFaults(
          met.map(({ fault }) => fault),
          {
            request,
            state,
            respond: () => respond(),
            respondWith(response, committed) {
              if (!committed) return respond(response);
              return { ...response, headers: { ...respond().headers, ...response.headers } };
            },
            async wait(ms) {
              await wait(ms, closing);
              closing?.throwIfAborted();
            },
          },
        );
  const { response } = delivery;
  // A fault may have responded with something else than the service.
  if (response !== undefined) [entry.status, entry.error] = [response.status, response.note?.error];
  for (const observer of observers) observer.responded?.(entry, delivery);
  return delivery;
}
