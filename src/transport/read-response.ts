import { errorTypeOf } from '../errors/api-error-of.ts';
import { isNotFoundStatus } from '../errors/not-found-error.ts';
import { oneLine } from '../internal/text.ts';
import { contentOf, parseProblem } from '../schemas/problem.ts';
import { ShapeError } from '../schemas/shape-error.ts';
import { isObject } from '../schemas/validate.ts';
import { type AttemptFault, type ContentProblem, Failure, type UnusableContent } from './failure.ts';
import { networkFailure } from './network-failure.ts';
import type { Body } from './read-body.ts';
import type { Received } from './received.ts';
import type { Expected } from './request.ts';

/** Turns a response into the expected value, or throws a Failure. The one place that reads bodies. */
export async function readResponse<T>(received: Received, expected: Expected<T>): Promise<T> {
  const { response, status, body, config } = received;
  // Never followed, and never read: in browsers it is opaque and its status 0. A 304 leads nowhere.
  // `redirected`: the caller's own `fetch` followed one anyway.
  const isRedirect = status >= 300 && status < 400 && status !== 304;
  if (response.type === 'opaqueredirect' || response.redirected || isRedirect) {
    body.cancel();
    throw redirected(received);
  }
  if (!response.ok) {
    const whole = body.bytes(Math.min(config.maxBodyBytes, MAX_PROBLEM_BYTES));
    const bytes = await whole.catch(() => 'cut' as const);
    if (bytes === 'cut') throw statusFailure(received, undefined, false);
    const failure = statusFailure(received, parseJson(bytes), bytes !== undefined);
    if (expected.kind === 'json' && isEmptyList(received, failure, expected.emptyIf404))
      return expected.read([]);
    throw failure;
  }
  if (expected.kind === 'nothing') {
    await readNothing(received, expected);
    return expected.value;
  }
  return readValue(received, expected, await readJson(received, expected.mayBeEmpty === true));
}

/** Whether a 404 says that a list has no records: a page of a proxy does not, unless the list was seen to exist. */
function isEmptyList(
  { isJson }: Received,
  { details }: Failure,
  emptyIf404: 'json' | 'any' | undefined,
): boolean {
  if (emptyIf404 === undefined || details.kind !== 'status' || !isNotFoundStatus(details.response.status))
    return false;
  return errorTypeOf(details.response) === 'not_found' && (isJson || emptyIf404 === 'any');
}

/** The failure of a response whose body timed out. Its status and headers are known. */
export function timedOutFailure(received: Received, limit: 'attempt' | 'deadline'): Failure {
  if (!received.response.ok) return statusFailure(received, undefined, false);
  return new Failure(unreadFault(received), { kind: 'time', limit, waitingFor: 'response' });
}

/** The JSON value of a 2xx; undefined if it has no body and need not have one. */
async function readJson(received: Received, mayBeEmpty: boolean): Promise<unknown> {
  const { response, body, config } = received;
  let bytes: Uint8Array | undefined;
  try {
    bytes = await body.bytes(config.maxBodyBytes);
  } catch {
    throw unread(received, 'truncated');
  }
  if (bytes === undefined) throw unread(received, 'too_large');
  if (bytes.byteLength === 0 && mayBeEmpty) return undefined;
  if (response.body !== null && !received.isJson)
    throw unusable(received, 'wrong_content', { came: nonJson(received), isPage: true });
  if (bytes.byteLength === 0) throw unusable(received, 'empty');

  let text: string;
  try {
    text = decodeUtf8(bytes);
  } catch {
    throw unread(received, 'not_utf8');
  }
  try {
    return JSON.parse(text);
  } catch {
    // The parser's message quotes the body, so it is not passed on.
    throw unread(received, 'truncated');
  }
}

/** A page of a proxy is neither JSON that was cut nor JSON that is not UTF-8, whatever type it claims. */
function unread(received: Received, reason: ContentProblem): Failure {
  const isPage = unreadFault(received) === 'wrong_content';
  const came = isPage ? nonJson(received) : undefined;
  return unusable(received, isPage ? 'wrong_content' : reason, { isPage, came });
}

async function readValue<T>(
  received: Received,
  { read, cleared }: Pick<Extract<Expected<T>, { kind: 'json' }>, 'read' | 'cleared'>,
  json: unknown,
): Promise<T> {
  const { redactor } = received.config;
  try {
    const value = await read(json);
    return cleared === undefined ? value : cleared(value, (text) => redactor.ownText(text));
  } catch (error) {
    // What says why a record is invalid is loaded when it is needed.
    if (!(error instanceof ShapeError)) throw networkFailure(error, { ...received.sent, redactor });
    const { reason, issues, recordId, ofCaller, cause } = error;
    const isOther = recordId === undefined || reason === 'wrong_record' || statusIn(json) !== undefined;
    if (isOther && isProblem(received, json)) throw statusFailure(received, json, true);
    const isWrite = received.sent.method !== 'GET' && reason !== 'wrong_content' && !ofCaller;
    const details = {
      ...(isOther && !ofCaller ? whatCame(received, json, reason) : undefined),
      issues: issues.map((issue) => redactor.text(issue)),
      recordId: recordId === undefined ? undefined : redactor.text(recordId),
      ofCaller,
      cause: redactor.causeOfSchema(cause),
    };
    throw unusable(received, reason, details, isOther && isWrite ? 'wrong_record' : undefined);
  }
}

/** A body that is not JSON: its type, and the service's or the proxy's own words. */
function nonJson(received: Received): string {
  const type = received.response.headers.get('content-type') ?? 'no content type';
  return `${oneLine(received.config.redactor.text(type)).slice(0, 100)}: ${beginningOf(received)}`;
}

/** Members by which a service says that something went wrong, in a 200. */
const OF_ERRORS =
  /^(?:errors?|error_?(?:code|description|message)|exception|fault|messages?|msg|success|ok)$/i;

/** What a JSON body is that is not the expected one. The values of a record are its owner's: only its names are shown. */
function whatCame(received: Received, json: unknown, reason: ContentProblem): Partial<UnusableContent> {
  if (!isObject(json)) return reason === 'wrong_content' ? { came: beginningOf(received) } : {};
  const names = Object.keys(json);
  if (names.some((name) => OF_ERRORS.test(name)) && !Object.hasOwn(json, 'id'))
    return { came: beginningOf(received), inWords: true };
  if (reason !== 'wrong_content') return {};
  const members = oneLine(received.config.redactor.text(names.slice(0, 8).join(', '))).slice(0, 200);
  return { came: `an object with ${members === '' ? 'no members' : members}`, list: listIn(json) };
}

/** The member of an object that is a list, or a member of one of its members, such as `data.items`. */
function listIn(json: Readonly<Record<string, unknown>>, isInner = false): string | undefined {
  const names = Object.keys(json);
  const list = names.find((name) => Array.isArray(json[name]));
  if (list !== undefined || isInner) return list;
  const inner = names.map((name) => [name, isObject(json[name]) && listIn(json[name], true)] as const);
  const [outer, path] = inner.find(([, within]) => within) ?? [];
  return path ? `${outer}.${path}` : undefined;
}

/** Whether the JSON of a 2xx is a problem document. A product has `type` and `status` too, but as strings of its own. */
function isProblem({ shown, response }: Received, json: unknown): boolean {
  const isOfType = /^\s*application\/problem\+json\b/i.test(response.headers.get('content-type') ?? '');
  if (isOfType || statusIn(json) !== undefined) return true;
  const problem = parseProblem(json);
  const isOfHydra = isObject(json) && typeof json['hydra:description'] === 'string';
  return isOfHydra || errorTypeOf({ ...shown, problem, retryAfterMs: undefined }) !== undefined;
}

/** The error status that a JSON body names. */
function statusIn(json: unknown): number | undefined {
  if (!isObject(json) || typeof json.status !== 'number') return undefined;
  return json.status >= 400 && json.status <= 599 ? json.status : undefined;
}

/** Created when it is used: the environment of a test may lack it when this module is loaded. */
let utf8: TextDecoder | undefined;
function decodeUtf8(bytes: Uint8Array): string {
  utf8 ??= new TextDecoder('utf-8', { fatal: true });
  return utf8.decode(bytes);
}

/**
 * A 2xx of the service confirms a delete, even if its JSON is cut. A body that is not JSON is that of a proxy or a
 * captive portal, such as `blocked`, and confirms nothing, whatever type it claims.
 */
async function readNothing<T>(
  received: Received,
  { check = () => undefined }: Extract<Expected<T>, { kind: 'nothing' }>,
): Promise<void> {
  const { body, config } = received;
  const bytes = await body.bytes(config.maxBodyBytes).catch(() => undefined);
  if (bytes?.every((byte) => SKIPPED.has(byte))) return;
  const json = parseJson(bytes);
  if (json !== undefined) return readValue(received, { read: check }, json);
  if (received.isJson && BEGINS_AS_JSON.test(textOf(body))) return;

  throw unusable(received, 'wrong_content', { came: nonJson(received) });
}

/** The beginning of an object, an array or a string, or nothing yet. */
const BEGINS_AS_JSON = /^\s*(?:$|"|\{\s*(?:$|["}])|\[\s*(?:$|[[\]{"\d-]|true|false|null))/;

/** What a 2xx is whose body did not arrive whole: its headers are known, and perhaps how its body begins. */
function unreadFault({ isJson, body }: Received): 'cut' | 'wrong_content' {
  return !isJson || isMarkup(body.received) ? 'wrong_content' : 'cut';
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

/** An error response is read for what it says, not kept: a megabyte is more than any problem document needs. */
const MAX_PROBLEM_BYTES = 2 ** 20;

/** Undefined if it is not JSON, or did not arrive whole. */
function parseJson(bytes: Uint8Array | undefined): unknown {
  if (bytes === undefined) return undefined;
  try {
    return JSON.parse(decodeUtf8(bytes));
  } catch {
    return undefined;
  }
}

function textOf({ received }: Body): string {
  const decoder = new TextDecoder();
  return received.map((chunk) => decoder.decode(chunk, { stream: true })).join('');
}

/** What an error status means, or a problem document in a 2xx; `body` is undefined if it could not be read. */
function statusFailure(received: Received, body: unknown, isWhole: boolean): Failure {
  const { shown, retryAfterMs, config } = received;
  const within = received.response.ok ? received.status : undefined;
  const status = (received.response.ok ? statusIn(body) : undefined) ?? received.status;
  const isTrusted = config.bareNotFound === 'missing' && isNotFoundStatus(status);
  // Half a document does not prove that a record is missing.
  const sent = received.isJson && isWhole ? contentOf(body, status) : 'other';
  const content = isTrusted ? 'missing' : sent;
  const problem = parseProblem(config.redactor.value(body));
  const saysAll = sent === 'problem' && Object.keys(problem.extensions).length === 0;
  const beginning = saysAll ? undefined : beginningOf(received);
  const response = { ...shown, status, within, problem, content, beginning, retryAfterMs };
  return new Failure('status', { kind: 'status', response });
}

/** How a body begins, for a message: the service's own words, without the key. */
function beginningOf({ body, config }: Received): string {
  return oneLine(config.redactor.text(textOf(body))).slice(0, 200);
}

function redirected({ response, sent: { url }, config }: Received): Failure {
  // Without the key before it is parsed: a URL parser writes host names in lower case.
  const location = config.redactor.text(response.headers.get('location') ?? '');
  const target = location !== '' && URL.canParse(location, url) ? new URL(location, url) : undefined;
  return new Failure('redirect', {
    kind: 'redirect',
    status: response.status,
    locationOrigin: /^https?:/i.test(location) ? target?.origin : undefined,
    locationPath: target?.origin === new URL(url).origin ? target.pathname : undefined,
  });
}

function unusable(
  { status, requestId }: Received,
  reason: ContentProblem,
  details: Partial<UnusableContent> = {},
  fault = FAULTS[reason],
): Failure {
  return new Failure(fault, { kind: 'content', status, reason, requestId, ...details });
}

/** The row of the table in retry-policy.ts. */
const FAULTS: Readonly<Record<ContentProblem, AttemptFault>> = {
  empty: 'empty',
  truncated: 'cut',
  wrong_content: 'wrong_content',
  not_utf8: 'unreadable',
  wrong_shape: 'unreadable',
  wrong_record: 'unreadable',
  too_large: 'too_large',
};
