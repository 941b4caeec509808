import { AccountingError, type CallFacts } from './accounting-error.ts';

/**
 * No answer arrived: DNS, refused, reset, TLS; or a bundle lacks the file that sends requests. Not thrown for an answer
 * that could not be read: see UnexpectedResponseError.
 */
export class ConnectionError extends AccountingError {
  static override readonly brand: string = 'ConnectionError';
  override readonly code = 'connection_failed';
  /** The runtime's own word, such as `ECONNREFUSED`; undefined where it has none. */
  readonly reason: string | undefined;

  constructor(message: string, facts: CallFacts, reason?: string) {
    super(message, facts);
    this.reason = reason;
  }
}
