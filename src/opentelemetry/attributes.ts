import type { Attributes } from '@opentelemetry/api';
import type { CallEvent } from '../events.ts';

/** Names of OpenTelemetry's HTTP semantic conventions; a test holds them equal to the published ones. */
export const HTTP = {
  method: 'http.request.method',
  resendCount: 'http.request.resend_count',
  status: 'http.response.status_code',
  errorType: 'error.type',
  address: 'server.address',
  port: 'server.port',
  scheme: 'url.scheme',
  url: 'url.full',
  template: 'url.template',
  requestDuration: 'http.client.request.duration',
} as const;

/** What the conventions have no name for. */
export const OWN = {
  /** Attempts of a call; a 429 and a refreshed key cost none. */
  attempts: 'accounting.call.attempts',
  /** Requests of a call that went out. */
  requests: 'accounting.call.requests',
  /** Seconds that a call waited: backoff, Retry-After, the rate limiter. */
  waited: 'accounting.call.waited',
  /** What the service may have done in a call that failed: `not_sent`, `rejected`, `applied` or `unknown`. */
  outcome: 'accounting.call.outcome',
  /** The service's own id of a request. */
  requestId: 'accounting.request_id',
  /** Why a call waits: `rate_limit` or `retry`. */
  waitReason: 'accounting.wait.reason',
  /** How long a wait was announced to take, in seconds. */
  waitExpected: 'accounting.wait.expected',
  collection: 'accounting.collection',
  budget: 'accounting.rate_limit.limit',
  remaining: 'accounting.rate_limit.remaining',
} as const;

/** The attributes of a call in spans and metrics. */
export function callAttributes(event: CallEvent): Attributes {
  return {
    [HTTP.method]: event.method,
    [HTTP.template]: `${event.basePath}${event.template}`,
    ...serverAttributes(event.origin),
  };
}

/** The address of the service. Spans of a client come by the thousand and all name the same one. */
export function serverAttributes(origin: string): Attributes {
  let attributes = servers.get(origin);
  if (attributes === undefined) {
    const { hostname, port, protocol } = new URL(origin);
    attributes = {
      // The conventions want an IPv6 address bare, a URL wants it in brackets.
      [HTTP.address]: hostname.replace(/^\[|\]$/g, ''),
      [HTTP.port]: port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port),
      [HTTP.scheme]: protocol.slice(0, -1),
    };
    if (servers.size >= MAX_SERVERS) servers.clear();
    servers.set(origin, attributes);
  }
  return attributes;
}

const servers = new Map<string, Attributes>();
/** Who tests against a hundred sandboxes in one process must not fill the memory. */
const MAX_SERVERS = 100;
