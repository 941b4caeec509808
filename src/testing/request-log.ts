import type { FaultKind } from './faults/fault.ts';
import type { ServiceReply, ServiceRequest } from './service/message.ts';

/** A request that reached the sandbox. The API key is nowhere in it. */
export interface LoggedRequest {
  readonly method: string;
  /** The path as sent, without the query. */
  readonly path: string;
  /** The query parameters, decoded; of one sent twice the last. */
  readonly query: Readonly<Record<string, string>>;
  /** By lower-case name, without `x-auth-token`. */
  readonly headers: Readonly<Record<string, string>>;
  /** The name of the key, such as `full`; undefined for a missing or unknown one. */
  readonly key: string | undefined;
  readonly idempotencyKey: string | undefined;
  /** The body: parsed JSON, or the text where it is none; undefined for an empty one. */
  readonly body: unknown;
  /** When it came in, by the sandbox's clock. */
  readonly at: Date;
  /** What the service answered; undefined while it has not, and where a fault kept the request from it. */
  readonly status: number | undefined;
  /** The error type of the answer. */
  readonly error: string | undefined;
  /** How many records a list answer held. */
  readonly records: number | undefined;
  /** The fault that met it. */
  readonly fault: FaultKind | undefined;
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

/** An entry under way. It is written down as it comes and read out only when somebody asks: most never are. */
export class LogEntry {
  readonly #request: ServiceRequest;
  readonly #at: number;
  readonly #key: string | undefined;
  #fault: FaultKind | undefined;
  #reply: ServiceReply | undefined;
  #read: LoggedRequest | undefined;

  constructor(request: ServiceRequest, facts: { at: number; key: string | undefined }) {
    this.#request = request;
    this.#at = facts.at;
    this.#key = facts.key;
  }

  met(fault: FaultKind): void {
    this.#fault = fault;
    this.#read = undefined;
  }

  answered({ status, headers, note }: ServiceReply): void {
    // Not the body: ten thousand pages would be kept alive by the log.
    this.#reply = { status, headers, note, body: undefined };
    this.#read = undefined;
  }

  /** The entry as a plain object. */
  read(): LoggedRequest {
    const { method, path, query, headers, body } = this.#request;
    const { 'x-auth-token': _, ...shown } = headers;
    this.#read ??= {
      method,
      path,
      query: Object.fromEntries(new URLSearchParams(query)),
      headers: shown,
      key: this.#key,
      idempotencyKey: headers['idempotency-key'],
      body: readBody(body),
      at: new Date(this.#at),
      status: this.#reply?.status,
      error: this.#reply?.note?.error,
      records: this.#reply?.note?.records,
      fault: this.#fault,
    };
    return this.#read;
  }
}
