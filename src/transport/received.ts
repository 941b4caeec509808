import type { RateLimit } from '../schemas/rate-limit.ts';
import { Body } from './read-body.ts';
import type { Redactor } from './redact.ts';
import type { Method } from './request.ts';
import { parseHttpDate, parseRetryAfter } from './retry-after.ts';

/** Where services put their own id of a request. The API documentation does not say. */
const REQUEST_ID = 'x-request-id request-id x-correlation-id x-trace-id x-amzn-requestid cf-ray'.split(' ');

/** Response headers that errors and events show: what support asks for. Only the caller of a request gets the others. */
const SHOWN = [
  ...'age content-type date deprecation retry-after sunset'.split(' '),
  ...'x-ratelimit-limit x-ratelimit-remaining x-ratelimit-reset'.split(' '),
  ...REQUEST_ID,
];

/** X-RateLimit-Limit and -Remaining, if both are whole numbers. */
export function rateLimitOf(headers: Headers): RateLimit | undefined {
  const limit = wholeNumber(headers.get('x-ratelimit-limit'));
  const remaining = wholeNumber(headers.get('x-ratelimit-remaining'));
  return limit === undefined || remaining === undefined
    ? undefined
    : { limit, remaining, observedAt: new Date() };
}

function wholeNumber(value: string | null): number | undefined {
  // Some runtimes leave the whitespace after a header's value in place, and a proxy may send a header twice.
  const [, digits] = /^\s*(\d{1,15})(?:\s*,\s*\1)*\s*$/.exec(value ?? '') ?? [];
  return digits === undefined ? undefined : Number(digits);
}

/**
 * The longest pause that a 429 from something other than the service can ask for. A proxy or firewall that returns a page
 * with `Retry-After: 86400` must not stop the key for a day.
 */
const LONGEST_FOREIGN_PAUSE_MS = 60_000;

/** See the client option `bareNotFound`. */
export type BareNotFound = 'error' | 'missing';

/** How the responses of one client are read. */
export interface ReadingConfig {
  readonly maxBodyBytes: number;
  /** What a 404 without a problem document means. */
  readonly bareNotFound: BareNotFound;
  /** Removes the keys of the client from everything that a response echoes. */
  readonly redactor: Redactor;
}

/** The request that a response belongs to. */
interface Sent {
  readonly url: string;
  readonly method: Method;
}

/** A response whose headers have arrived. Nothing that it shows of them contains the API key. */
export class Received {
  readonly response: Response;
  readonly sent: Sent;
  readonly config: ReadingConfig;
  readonly body: Body;
  readonly status: number;
  readonly rateLimit: RateLimit | undefined;

  constructor(response: Response, sent: Sent, config: ReadingConfig) {
    this.response = response;
    this.sent = sent;
    this.config = config;
    this.body = new Body(response);
    this.status = response.status;
    this.rateLimit = rateLimitOf(response.headers);
  }

  /** What errors and events show of the response. */
  get shown() {
    const { status, rateLimit, requestId } = this;
    const headers: Record<string, string> = {};
    for (const name of SHOWN) {
      const value = this.#header(name);
      if (value !== undefined) headers[name] = value;
    }
    return { status, rateLimit, requestId, headers };
  }

  /** Every header by its name in lower case, for the caller of the request. The key of a test must not spoil a link. */
  get headers(): Readonly<Record<string, string>> {
    const { response, config } = this;
    const clear = (text: string) => config.redactor.ownText(text);
    // Set-Cookie comes once for each cookie.
    return Object.fromEntries(
      [...response.headers.keys()].map((name) => [clear(name), clear(response.headers.get(name) ?? '')]),
    );
  }

  get requestId(): string | undefined {
    return REQUEST_ID.map((name) => this.#header(name)).find((value) => value !== undefined);
  }

  /** How long the response asks to wait; undefined if it does not say, or in no form of RFC 9110. */
  get retryAfterMs(): number | undefined {
    const { headers } = this.response;
    const retryAfterMs = parseRetryAfter(headers.get('retry-after'), headers.get('date'));
    const isOfService = this.isJson || this.rateLimit !== undefined;
    if (retryAfterMs === undefined || this.status !== 429 || isOfService) return retryAfterMs;
    return Math.min(retryAfterMs, LONGEST_FOREIGN_PAUSE_MS);
  }

  /** A response without a content type may be JSON. */
  get isJson(): boolean {
    const type = this.response.headers.get('content-type');
    return type === null || /^\s*application\/(?:[\w.+-]+\+)?json\s*(?:[;,]|$)/i.test(type);
  }

  /** The service's clock when it sent the response: `Date`, less the `Age` that a cache adds. */
  get serverTime(): Date | undefined {
    const { headers } = this.response;
    const at = parseHttpDate(headers.get('date') ?? '');
    if (at === undefined) return undefined;

    const age = headers.get('age')?.trim() ?? '';
    return new Date(at - (/^\d{1,9}$/.test(age) ? Number(age) * 1000 : 0));
  }

  #header(name: string): string | undefined {
    const value = this.response.headers.get(name);
    return value === null ? undefined : this.config.redactor.text(value);
  }
}
