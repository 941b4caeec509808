import type { CallFacts } from '../errors/accounting-error.ts';
import { apiErrorOf, errorTypeOf, lastSegment } from '../errors/api-error-of.ts';
import { outcomeAdvice } from '../errors/outcome-advice.ts';
import { RedirectError } from '../errors/redirect-error.ts';
import { type UnexpectedDetails, UnexpectedResponseError } from '../errors/unexpected-response-error.ts';
import { contentOf, parseProblem } from '../schemas/problem.ts';
import { ShapeError } from '../schemas/shape-error.ts';
import { Failure, type Fault } from './failure.ts';
import { allowedHeaders, rateLimitOf, requestIdOf } from './headers.ts';
import { BodyTooLarge, readBody } from './read-body.ts';
import { redact, redactText } from './redact.ts';
import type { Expected } from './request.ts';
import { parseRetryAfter } from './retry-after.ts';

/** What reading an answer needs to know. */
export interface Reading<T> {
  readonly expected: Expected<T>;
  readonly maxBodyBytes: number;
  /** Removed from whatever an error response echoes. */
  readonly apiKey: string;
  /** What a 404 without a problem document means. */
  readonly bareNotFound: BareNotFound;
}

/** See the client option `bareNotFound`. */
export type BareNotFound = 'error' | 'missing';

/**
 * Turns a response into the value that is due, or throws the Failure that it is. The one place that reads bodies.
 * `received` holds the body of a 2xx as far as it has arrived: its beginning counts even if its end is missing.
 */
export async function readResponse<T>(
  response: Response,
  reading: Reading<T>,
  received: Uint8Array[] = [],
): Promise<T> {
  // Never followed, and never read: in browsers it is opaque and its status 0.
  // `redirected`: a `fetch` of the caller's own followed one all the same.
  if (response.type === 'opaqueredirect' || response.redirected || isRedirect(response.status)) {
    discard(response);
    throw redirected(response, reading.apiKey);
  }
  if (!response.ok) throw await errorAnswer(response, reading);

  const answer = { response, apiKey: reading.apiKey, received };
  if (reading.expected.kind === 'nothing') {
    await readNothing(answer, reading);
    return reading.expected.value;
  }
  const body = await readSuccess(answer, reading, reading.expected.mayBeEmpty === true);
  try {
    return await reading.expected.read(body);
  } catch (error) {
    if (error instanceof ShapeError) throw misshapen(answer, error);
    throw error;
  }
}

function isRedirect(status: number): boolean {
  return status >= 300 && status < 400;
}

/** A 2xx, and the key that must not be shown where the service echoes it. */
interface Success {
  readonly response: Response;
  readonly apiKey: string;
  readonly received: Uint8Array[];
}

/** The JSON value of a 2xx. */
async function readSuccess<T>(answer: Success, reading: Reading<T>, mayBeEmpty: boolean): Promise<unknown> {
  const { response, received } = answer;
  const bytes = await readBody(response, reading.maxBodyBytes, received).catch((error: unknown) => {
    const fault = unreadFault(response, reading.expected, received);
    if (fault === 'wrong_content') throw unexpected(answer, fault, 'wrong_content');
    if (error instanceof BodyTooLarge) throw unexpected(answer, 'too_large', 'too_large');
    throw unexpected(answer, 'cut', 'truncated');
  });
  if (bytes.byteLength === 0 && mayBeEmpty) return undefined;
  const isForeign = response.body !== null && !isJson(response);
  // A page of a proxy is not JSON that was cut, nor JSON that is not UTF-8, whatever type it claims.
  if (isForeign || isMarkup([bytes])) throw unexpected(answer, 'wrong_content', 'wrong_content');
  if (bytes.byteLength === 0) throw unexpected(answer, 'empty', 'empty');

  let text: string;
  try {
    text = UTF8.decode(bytes);
  } catch {
    throw unexpected(answer, 'unreadable', 'not_utf8');
  }
  try {
    return JSON.parse(text);
  } catch {
    // The parser's message quotes the body, so it ends here.
    throw unexpected(answer, 'cut', 'truncated');
  }
}

const UTF8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Any 2xx confirms a delete, whether or not its body can be read. Only HTML or XML does not: that is a page of a proxy
 * or a captive portal.
 */
async function readNothing<T>(answer: Success, reading: Reading<T>): Promise<void> {
  const { response, received } = answer;
  const bytes = await readBody(response, reading.maxBodyBytes, received).catch(() => undefined);
  const isPage =
    bytes === undefined
      ? unreadFault(response, reading.expected, received) === 'wrong_content'
      : bytes.byteLength > 0 && (isMarkupType(response) || isMarkup([bytes]));
  if (isPage) throw unexpected(answer, 'wrong_content', 'wrong_content');
}

/** What became of a 2xx whose body did not arrive whole: its headers are known, and perhaps how it begins. */
export function unreadFault<T>(
  response: Response,
  expected: Expected<T>,
  received: readonly Uint8Array[],
): 'cut' | 'wrong_content' {
  const isForeign = expected.kind === 'nothing' ? isMarkupType(response) : !isJson(response);
  return isForeign || isMarkup(received) ? 'wrong_content' : 'cut';
}

function isMarkupType({ headers }: Response): boolean {
  return /^\s*(?:text\/html|(?:text|application)\/(?:[\w.-]+\+)?xml)\b/i.test(
    headers.get('content-type') ?? '',
  );
}

/** Whether a body begins as HTML and XML do. Templates often leave blank lines before the page, so all are skipped. */
function isMarkup(chunks: readonly Uint8Array[]): boolean {
  for (const chunk of chunks) {
    const first = chunk.find((byte) => !SKIPPED.has(byte));
    if (first !== undefined) return first === 0x3c;
  }
  return false;
}

/** Whitespace, the bytes of byte order marks, and NUL, which UTF-16 has beside each of these. */
const SKIPPED: ReadonlySet<number> = new Set([
  ...[0x00, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x20],
  ...[0xef, 0xbb, 0xbf, 0xfe, 0xff],
]);

/** An answer that names no type is taken at its word: it may be JSON. */
function isJson(response: Response): boolean {
  const type = response.headers.get('content-type');
  return type === null || /^\s*application\/(?:[\w.+-]+\+)?json\s*(?:[;,]|$)/i.test(type);
}

async function errorAnswer<T>(response: Response, reading: Reading<T>): Promise<Failure> {
  const body = await readBody(response, Math.min(reading.maxBodyBytes, MAX_PROBLEM_BYTES)).then(
    parseJson,
    () => undefined,
  );
  return statusFailure(response, body, reading);
}

/** What an error status means; `body` is undefined if it could not be read: the status is known even then. */
export function statusFailure(
  response: Response,
  body: unknown,
  { apiKey, bareNotFound }: Pick<Reading<unknown>, 'apiKey' | 'bareNotFound'>,
): Failure {
  const { status, headers } = response;
  const problem = parseProblem(redact(body, apiKey));
  const trusted = bareNotFound === 'missing' && (status === 404 || status === 410);
  const retryAfterMs = parseRetryAfter(headers.get('retry-after'), headers.get('date'));
  const answer = {
    status,
    problem,
    content: trusted ? 'problem' : isJson(response) ? contentOf(body, status) : 'other',
    requestId: requestIdOf(headers, apiKey),
    rateLimit: rateLimitOf(headers),
    headers: allowedHeaders(headers, apiKey),
    retryAfterMs,
  } as const;
  const toError = (facts: CallFacts) =>
    apiErrorOf(answer, { ...facts, retryable: facts.retryable ?? isTransient(status) });
  return new Failure('status', toError, {
    status,
    problemType: lastSegment(problem.type),
    retryAfterMs,
    missing: errorTypeOf(answer) === 'not_found' && answer.content === 'problem',
  });
}

/** Whether the same call may succeed later, by its status alone. */
function isTransient(status: number): boolean {
  return (
    status === 408 ||
    status === 425 ||
    status === 429 ||
    (status >= 500 && status <= 599 && status !== 501 && status !== 505)
  );
}

/** An error answer is read for what it says, not kept: a megabyte is more than any problem document needs. */
const MAX_PROBLEM_BYTES = 2 ** 20;

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(UTF8.decode(bytes));
  } catch {
    return undefined;
  }
}

function redirected(response: Response, apiKey: string): Failure {
  const { status } = response;
  // Cleared of the key before it is parsed: a URL parser writes host names in lower case.
  const location = redactText(response.headers.get('location') ?? '', apiKey);
  const locationOrigin =
    /^https?:/i.test(location) && URL.canParse(location) ? new URL(location).origin : undefined;
  return new Failure(
    'redirect',
    (facts) => {
      const where = locationOrigin === undefined ? '' : ` to ${locationOrigin}`;
      const message = `${facts.method} ${facts.path} was redirected${where}. Redirects are never followed, for they would carry the API key along: correct baseUrl.`;
      return new RedirectError(message, facts, { status, locationOrigin });
    },
    { status, problemType: '', retryAfterMs: undefined, missing: false },
  );
}

function misshapen(answer: Success, { reason, issues, recordId, ofCaller, cause }: ShapeError): Failure {
  return unexpected(answer, reason === 'wrong_content' ? 'wrong_content' : 'unreadable', reason, {
    issues: issues.map((issue) => redactText(issue, answer.apiKey)),
    recordId: recordId === undefined ? undefined : redactText(recordId, answer.apiKey),
    ofCaller,
    cause,
  });
}

/** What the schemas found. */
interface Found extends Pick<UnexpectedDetails, 'issues' | 'recordId'> {
  readonly ofCaller?: boolean;
  /** What the caller's schema threw. */
  readonly cause?: unknown;
}

function unexpected(
  { response, apiKey }: Success,
  fault: Fault,
  reason: UnexpectedDetails['reason'],
  { ofCaller = false, cause, ...found }: Found = {},
): Failure {
  const details = {
    status: response.status,
    reason,
    requestId: requestIdOf(response.headers, apiKey),
    ...found,
  };
  return new Failure(fault, (facts) => {
    const issues =
      found.issues === undefined || found.issues.length === 0 ? '' : ` (${found.issues.join('; ')})`;
    const what = ofCaller ? 'it does not fit the schema that you gave' : WHAT[reason];
    const advice = ofCaller ? 'Correct the schema or the record.' : ADVICE[reason];
    const called = `${facts.method} ${facts.path} returned ${response.status}, but ${what}${issues}.`;
    const message = [called, advice, outcomeAdvice(facts)].filter(Boolean).join(' ');
    return new UnexpectedResponseError(
      message,
      { ...facts, retryable: facts.retryable ?? fault === 'cut' },
      details,
      cause === undefined ? undefined : { cause },
    );
  });
}

const WHAT: Readonly<Record<UnexpectedDetails['reason'], string>> = {
  empty: 'without the body that is due',
  truncated: 'its body ended early or is not JSON',
  wrong_content: 'with something other than the JSON that is due',
  not_utf8: 'its body is not UTF-8',
  wrong_shape: 'a record does not have the shape of the contract',
  too_large: 'its body is larger than maxBodyBytes',
};

const ADVICE: Readonly<Record<UnexpectedDetails['reason'], string>> = {
  empty: 'Check that baseUrl points at the service, and what stands between.',
  truncated: 'Try again, and check what stands between client and service.',
  wrong_content: 'Check that baseUrl points at the service.',
  not_utf8: 'Ask who runs the service.',
  wrong_shape: "Ask who runs the service; a list skips such records with validation: 'report'.",
  too_large: 'Raise maxBodyBytes.',
};

/** Frees the connection of a body that nobody wants. */
export function discard(response: Response): void {
  Promise.resolve(response.body?.cancel()).catch(() => {});
}
