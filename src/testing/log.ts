import type { FaultKind } from './faults/fault.ts';
import type { ServiceRequest, ServiceResponse } from './service/message.ts';

/** A request that reached the sandbox. It does not contain the API key. */
export interface LoggedRequest {
  readonly method: string;
  /** The path as sent, without the query. */
  readonly path: string;
  /** The query parameters, decoded; the last one if a parameter was sent twice. */
  readonly query: Readonly<Record<string, string>>;
  /** By lower-case name, without `x-auth-token`. */
  readonly headers: Readonly<Record<string, string>>;
  /** The name of the key, such as `full`; undefined for a missing or unknown one. */
  readonly key: string | undefined;
  readonly idempotencyKey: string | undefined;
  /** The body: parsed JSON, or a string if it is not JSON; undefined if it is empty. */
  readonly body: unknown;
  /** When the request arrived, by the sandbox's clock. */
  readonly at: Date;
  /** The status of the response; undefined before there is one, and if a fault kept the request from the service. */
  readonly status: number | undefined;
  /** The error type of the response. */
  readonly error: string | undefined;
  /** The number of records in the response to a list request. */
  readonly records: number | undefined;
  /** The fault that the request met. */
  readonly fault: FaultKind | undefined;
}

/** A request in the log, as it arrived: most entries are never read. */
export interface LogEntry {
  readonly request: ServiceRequest;
  /** In ms since the epoch. */
  readonly at: number;
  readonly key: string | undefined;
  fault?: FaultKind;
  /** Without the body, which the log would keep in memory. */
  response?: Pick<ServiceResponse, 'status' | 'note'>;
}

/** An entry of the log as a test sees it. */
export function readEntry({ request, at, key, fault, response }: LogEntry): LoggedRequest {
  const { method, path, query, body } = request;
  const { 'x-auth-token': _, ...headers } = request.headers;
  return {
    method,
    path,
    query: Object.fromEntries(new URLSearchParams(query)),
    headers,
    key,
    idempotencyKey: headers['idempotency-key'],
    body: readBody(body),
    at: new Date(at),
    status: response?.status,
    error: response?.note?.error,
    records: response?.note?.records,
    fault,
  };
}

function readBody(bytes: Uint8Array): unknown {
  if (bytes.byteLength === 0) return undefined;
  const text = new TextDecoder().decode(bytes);
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
