import { type CallFacts, isOneRecord, outcomeAdvice, requestOf } from '../errors/accounting-error.ts';
import { apiErrorOf } from '../errors/api-error-of.ts';
import { ConnectionError } from '../errors/connection-error.ts';
import type { AnyAccountingError } from '../errors/guards.ts';
import { RateLimitedError } from '../errors/rate-limited-error.ts';
import { RedirectError } from '../errors/redirect-error.ts';
import { TimeoutError } from '../errors/timeout-error.ts';
import { UnexpectedResponseError } from '../errors/unexpected-response-error.ts';
import { oneLine, sentence, visible } from '../internal/text.ts';
import type { CallSettings } from './call-options.ts';
import type { ContentProblem, Failure, FailureDetails, UnusableContent } from './failure.ts';
import { isTransient, mustLookFirst } from './retry-policy.ts';

/**
 * The error that a call ends with, made of its last failure and of what is known of the whole call. `retryable` of the
 * facts is set if the retry policy knows; otherwise the kind of failure decides.
 */
export function errorOf(failure: Failure, facts: CallFacts, limits: Timeouts): AnyAccountingError {
  const { details } = failure;
  switch (details.kind) {
    case 'network':
      return connectionError(failure, details, facts);
    case 'not_a_response': {
      const message = `${requestOf(facts)} got no response: ${details.by} did not return a Response of the Fetch standard.`;
      const hint = withOutcome('Correct that function.', facts);
      return new ConnectionError(message, { ...facts, retryable: false, hint });
    }
    case 'time':
      return timeoutError(failure, details, facts, limits);
    case 'throttled':
      return throttledError(details, facts, limits);
    case 'redirect': {
      const { locationOrigin, locationPath } = details;
      const address = locationOrigin === undefined ? '' : ` to ${locationOrigin}`;
      const where = locationPath === undefined ? address : ` to ${oneLine(locationPath)} at the same address`;
      const message = `${requestOf(facts)} was redirected${where}. Redirects are never followed, because they would forward the API key.`;
      const advice = redirectAdvice(locationPath, facts);
      return new RedirectError(message, { ...facts, hint: withOutcome(advice, facts) }, details);
    }
    case 'status':
      return apiErrorOf(details.response, {
        ...facts,
        retryable: facts.retryable ?? isTransient(details.response),
      });
    case 'content':
      return contentError(failure, details, facts);
  }
}

function redirectAdvice(locationPath: string | undefined, { path }: CallFacts): string {
  if (locationPath === undefined) return 'Correct baseUrl.';
  return locationPath.endsWith(`${path}/`)
    ? 'The service wants a slash at the end of the path, and no option adds one: let it accept paths without it, or add it in a fetch of your own.'
    : 'Correct baseUrl, or what redirects there.';
}

/** The limits of the call, for messages, and how many of its attempts `timeoutMs` has ended. */
type Timeouts = Pick<CallSettings, 'timeoutMs' | 'deadlineMs'> & { readonly timeouts: number };
type Details<Kind> = Extract<FailureDetails, { kind: Kind }>;

/** What to do after the last failure of a write that may have been applied. */
function adviceAfter(failure: Failure, facts: CallFacts): string | undefined {
  return outcomeAdvice(facts, mustLookFirst(facts.method, failure));
}

function withOutcome(advice: string, facts: CallFacts): string {
  return [advice, outcomeAdvice(facts)].filter(Boolean).join(' ');
}

function connectionError({ fault }: Failure, details: Details<'network'>, facts: CallFacts): ConnectionError {
  const { reason, proxyStatus, cause, target } = details;
  const message = `${requestOf(facts)} got no response (${whatBroke(details)}).`;
  const known = {
    ...facts,
    retryable: facts.retryable ?? (fault === 'unsent' || fault === 'lost'),
    hint: connectionAdvice(fault, details, facts),
  };
  return new ConnectionError(message, known, { reason, proxyStatus, cause, ...target });
}

/** Such as "ECONNREFUSED 127.0.0.1:8080". */
function whatBroke({ reason, proxyStatus, thrown, target }: Details<'network'>): string {
  const where = `${target.host}:${target.port}`;
  if (proxyStatus !== undefined) return `the proxy rejected the connection to ${where} with ${proxyStatus}`;
  return thrown === undefined ? `${reason ?? 'connection to'} ${where}` : `${thrown}; ${where}`;
}

/** What Chromium, Firefox and Safari say of every failure. */
const OF_BROWSERS = /threw TypeError: (?:Failed to fetch|NetworkError when attempting|Load failed)/;

function connectionAdvice(
  fault: Failure['fault'],
  { proxyStatus, reason, thrown = '' }: Details<'network'>,
  facts: CallFacts,
): string {
  if (fault === 'not_a_response') {
    const advice =
      'The headers of the response are larger than this runtime reads: raise its limit (in Node --max-http-header-size).';
    return withOutcome(advice, facts);
  }
  if (fault === 'lost' && OF_BROWSERS.test(thrown)) {
    const advice =
      'A browser does not say why: check the network, and whether the service allows this page (CORS).';
    return withOutcome(advice, facts);
  }
  if (fault === 'lost') {
    const broke = reason === undefined ? '' : 'The connection broke. ';
    return `${broke}${outcomeAdvice(facts) ?? 'Try again.'}`;
  }
  if (facts.outcome !== 'not_sent') {
    const advice = outcomeAdvice(facts) ?? 'Check baseUrl and the network.';
    return `This attempt was not sent, but one before it was. ${advice}`;
  }
  if (proxyStatus === 407) return 'Nothing was sent: give the proxy its user name and password.';
  if (proxyStatus !== undefined) {
    return 'Nothing was sent: ask the operator of the proxy, or exclude the host with NO_PROXY.';
  }
  if (reason === 'too many subrequests') return 'Nothing was sent: send fewer requests in one invocation.';
  if (reason === 'content security policy')
    return 'Nothing was sent: add the service to connect-src of the page.';
  if (reason === 'no permission' || reason === 'ERR_ACCESS_DENIED')
    return 'Nothing was sent: let the process use this address, for example with --allow-net.';
  if (reason === 'no fetch')
    return 'Nothing was sent: this environment has no Fetch API. In tests use one that does, such as node or jest-fixed-jsdom, or pass fetch.';
  if (reason === 'bad arguments')
    return 'Nothing was sent: fetch rejected its arguments. Under jsdom, take fetch and AbortSignal of one implementation, as jest-fixed-jsdom does.';
  if (fault === 'blocked') return 'Nothing was sent: check the scheme, port and certificate of baseUrl.';
  return /^(?:ENOTFOUND|EAI_)/.test(reason ?? '')
    ? 'Nothing was sent: check the host name in baseUrl and the DNS. If they are right, try again later.'
    : 'Nothing was sent: check baseUrl and the network. If they are right, the service may be down: try again later.';
}

function timeoutError(
  failure: Failure,
  { limit, waitingFor }: Details<'time'>,
  facts: CallFacts,
  limits: Timeouts,
): TimeoutError {
  const option = limit === 'attempt' ? 'timeoutMs' : 'deadlineMs';
  const within = `within ${option} (${limits[option]} ms)`;
  const known = { ...facts, retryable: facts.retryable ?? true };
  // The deadline cuts the last attempt short, but a longer one would end no better.
  const { timeouts, timeoutMs, deadlineMs } = limits;
  if (waitingFor === 'response' && limit === 'deadline' && timeouts > 0 && timeouts + 1 === facts.attempts) {
    const hint = outcomeAdvice(facts) ?? 'Try again, or raise timeoutMs.';
    const message = `${requestOf(facts)} got no complete response within timeoutMs (${timeoutMs} ms) in ${timeouts} attempts, and none in the rest of deadlineMs (${deadlineMs} ms).`;
    return new TimeoutError(message, { ...known, hint }, { limit });
  }
  if (waitingFor === 'response') {
    const hint = adviceAfter(failure, facts) ?? `Try again, or raise ${option}.`;
    const message = `${requestOf(facts)} got no complete response ${within}.`;
    return new TimeoutError(message, { ...known, hint }, { limit });
  }
  const message = `${requestOf(facts)} was not sent: the function given as apiKey returned no key ${within}.`;
  return new TimeoutError(message, { ...known, hint: 'Check that function.' }, { limit });
}

function throttledError(
  { limit, retryAfterMs, rateLimit }: Details<'throttled'>,
  facts: CallFacts,
  { deadlineMs }: Timeouts,
): TimeoutError | RateLimitedError {
  const what = `${requestOf(facts)} was not sent`;
  const known = { ...facts, retryable: true };
  if (limit !== undefined) {
    const message = `${what}: deadlineMs (${deadlineMs} ms) ran out while the call waited for the first response with this key.`;
    return new TimeoutError(message, { ...known, hint: 'Try again, or raise deadlineMs.' }, { limit });
  }
  const when = retryAfterMs === undefined ? 'later' : `in ${retryAfterMs} ms, when it is expected back`;
  const message = `${what}: the quota of the key is used up for longer than maxWaitMs or deadlineMs allow.`;
  const hint = `Try again ${when}, or allow longer waits.`;
  return new RateLimitedError(message, { ...known, hint }, { retryAfterMs, rateLimit });
}

function contentError(failure: Failure, details: UnusableContent, facts: CallFacts): UnexpectedResponseError {
  const { status, reason, issues = [], recordId, ofCaller = false, cause, came } = details;
  const shown = issues.length === 0 ? '' : ` (${oneLine(issues.join('; '))})`;
  const record = recordId === undefined ? undefined : `record ${visible(recordId.slice(0, 100))}`;
  const shape = ofCaller
    ? `${record ?? 'it'} does not match the schema that you passed`
    : `${record ?? 'a record'} does not have the documented shape`;
  const what = reason === 'wrong_shape' ? shape : WHAT[reason];
  const ofBody = failure.fault === 'page' ? MAINTENANCE : contentAdvice(details);
  const advice = ofCaller ? 'Correct the schema or the record.' : ofBody;
  const isOfList = facts.method === 'GET' && !isOneRecord(facts);
  const around = reason === 'wrong_shape' && came === undefined && isOfList ? GO_ON : undefined;
  const retryable = facts.retryable ?? failure.fault === 'cut';
  const next = adviceAfter(failure, facts) ?? (retryable ? 'Try again.' : undefined);
  const hint = [advice, around, next].filter(Boolean).join(' ');
  return new UnexpectedResponseError(
    sentence(
      `${requestOf(facts)} returned ${status}, but ${what}${shown}${came === undefined ? '' : `: ${came}`}`,
    ),
    { ...facts, retryable, hint },
    details,
    cause === undefined ? undefined : { cause },
  );
}

const WHAT: Readonly<Record<Exclude<ContentProblem, 'wrong_shape'>, string>> = {
  empty: 'its body is empty',
  truncated: 'its body ended early or is not JSON',
  wrong_content: 'its body is not the expected JSON',
  not_utf8: 'its body is not UTF-8',
  wrong_record: 'it is another record than the one requested',
  too_large: 'its body is larger than maxBodyBytes',
};

/** Of the body that came, if it says more than the kind of problem. */
function contentAdvice({ reason, inWords, list }: UnusableContent): string {
  if (inWords) return 'Do what it says, or ask the operator of the service.';
  if (list !== undefined)
    return `Return the member ${oneLine(list).slice(0, 50)} alone from the client option fetch.`;
  return ADVICE[reason];
}

const MAINTENANCE = 'The service has returned JSON before, so it may be down for maintenance.';

const GO_ON =
  "With validation: 'report' a list continues: such records are in page.invalid, in a sync in batch.invalid.";

const ADVICE: Readonly<Record<ContentProblem, string>> = {
  empty: 'Check that baseUrl points at the service, and any proxy on the way.',
  truncated: 'Check any proxy between client and service.',
  wrong_content: 'Check that baseUrl points at the service.',
  not_utf8: 'Ask the operator of the service.',
  wrong_shape: 'Ask the operator of the service.',
  wrong_record: 'Check the id: the service may read only the number at its beginning.',
  too_large: 'Raise maxBodyBytes.',
};
