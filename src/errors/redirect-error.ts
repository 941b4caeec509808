import { AccountingError, type CallFacts } from './accounting-error.ts';

/** The service returned a redirect. Never followed: `fetch` would carry the API key to wherever it points. */
export class RedirectError extends AccountingError {
  static override readonly brand: string = 'RedirectError';
  override readonly code = 'redirected';
  /** The HTTP status; 0 in browsers, which hide it. */
  readonly status: number;
  /** The origin it points to, if it can be read: perhaps the right `baseUrl`. */
  readonly locationOrigin: string | undefined;

  constructor(
    message: string,
    facts: CallFacts,
    details: { status: number; locationOrigin?: string | undefined },
  ) {
    super(message, facts);
    this.status = details.status;
    this.locationOrigin = details.locationOrigin;
  }
}
