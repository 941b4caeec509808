import type { Attributes } from '@opentelemetry/api';
import type { CallEvent } from '../events.ts';

/** Names of OpenTelemetry's HTTP semantic conventions. */
export const HTTP = {
  method: 'http.request.method',
  status: 'http.response.status_code',
  errorType: 'error.type',
  address: 'server.address',
  port: 'server.port',
  scheme: 'url.scheme',
  template: 'url.template',
} as const;

/** What the conventions have no name for. */
export const OWN = {
  /** Attempts of a call. A 429 and a refreshed key consume none. */
  attempts: 'accounting.call.attempts',
  /** Requests of a call that were sent. */
  requests: 'accounting.call.requests',
  /** Seconds that a call waited: backoff, Retry-After, the rate limiter. */
  waited: 'accounting.call.waited',
  /** What the service may have done in a call that failed: `not_sent`, `rejected`, `applied` or `unknown`. */
  outcome: 'accounting.call.outcome',
  /** The id that the service gave a request. */
  requestId: 'accounting.request_id',
  /** Why a call waits: `rate_limit` or `retry`. */
  waitReason: 'accounting.wait.reason',
  /** The expected length of a wait, in seconds. */
  waitExpected: 'accounting.wait.expected',
  /** The page or the bounds of ids that a list requests. */
  query: 'accounting.call.query',
  /** Of a sync or a push. */
  tenant: 'accounting.tenant',
  collections: 'accounting.collections',
  /** The statuses of a sync's collections, each once. */
  statuses: 'accounting.sync.statuses',
  records: 'accounting.sync.records',
  /** Rows that a push has read. */
  rows: 'accounting.push.rows',
  collection: 'accounting.collection',
  quota: 'accounting.rate_limit.limit',
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

/** The address of the service. Cached, because all spans of a client name the same one. */
export function serverAttributes(origin: string): Attributes {
  let attributes = servers.get(origin);
  if (attributes === undefined) {
    const { hostname, port, protocol } = new URL(origin);
    attributes = {
      // The conventions write an IPv6 address without brackets, a URL with them.
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
/** Bounds the cache, for tests that create hundreds of sandboxes. */
const MAX_SERVERS = 100;
