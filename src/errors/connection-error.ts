import { AccountingError, type CallFacts } from './accounting-error.ts';

/** Where a connection was to go, and why it failed. Never with credentials. */
export interface ConnectionDetails {
  readonly reason?: string | undefined;
  readonly host?: string | undefined;
  readonly port?: number | undefined;
  readonly proxyStatus?: number | undefined;
  /** A copy of what the caller's own `fetch` threw. */
  readonly cause?: unknown;
}

/**
 * No response arrived: DNS, connection refused or reset, TLS, a proxy that rejects. A response that cannot be read is an
 * UnexpectedResponseError.
 */
export class ConnectionError extends AccountingError {
  static override readonly brand: string = 'ConnectionError';
  override readonly code = 'connection_failed';
  /** The runtime's code for it, such as `ECONNREFUSED`; undefined if it has none. */
  readonly reason: string | undefined;
  /** The host of `baseUrl`; undefined if no connection was tried. */
  readonly host: string | undefined;
  /** The port of `baseUrl`; undefined if no connection was tried. */
  readonly port: number | undefined;
  /** The status with which a proxy rejected the connection, such as 407. */
  readonly proxyStatus: number | undefined;

  constructor(message: string, facts: CallFacts = {}, details: ConnectionDetails = {}) {
    super(message, facts, details.cause === undefined ? undefined : { cause: details.cause });
    this.reason = details.reason;
    this.host = details.host;
    this.port = details.port;
    this.proxyStatus = details.proxyStatus;
  }
}
