import type { FaultKind } from './faults/fault.ts';
import type { ServiceRequest } from './message.ts';

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
  /**
   * The status of the response, or the one that a fault has put in its place; undefined before there is one, and if a
   * fault kept the request from the service.
   */
  readonly status: number | undefined;
  /** The error type of the response. */
  readonly error: string | undefined;
  /** The number of records in the response to a list request. */
  readonly records: number | undefined;
  /** Their ids. */
  readonly ids: readonly string[] | undefined;
  /** The fault that the request met. */
  readonly fault: FaultKind | undefined;
}

/** An entry of the log. Its response is set once it is known. */
type LogEntry = { -readonly [Name in keyof LoggedRequest]: LoggedRequest[Name] };

/** A request as the log shows it, before there is a response. */
export function logEntry(request: ServiceRequest, key: string | undefined, at: Date): LogEntry {
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
    at,
    status: undefined,
    error: undefined,
    records: undefined,
    ids: undefined,
    fault: undefined,
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
