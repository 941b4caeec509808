import type { Credential } from '../keys.ts';
import type { ServiceRequest, ServiceResponse } from '../message.ts';
import { listPage } from './list.ts';
import { ProblemError, problemResponse } from './problem.ts';
import type { QuotaState } from './rate-limit.ts';
import { create, get, remove, update } from './records.ts';
import { negotiate } from './represent.ts';
import { type Route, route } from './route.ts';
import type { RoutedRequest, ServiceState } from './state.ts';

const OPERATIONS: Readonly<
  Record<Route['operation'], (call: RoutedRequest, state: ServiceState) => ServiceResponse>
> = {
  list: listPage,
  get,
  create,
  update,
  remove,
};

/**
 * The service: a request in, a response out, without sockets, timers or faults. `instead` replaces the response of the
 * service: it is counted and gets the common headers, but the request is not processed.
 */
export function handle(
  state: ServiceState,
  request: ServiceRequest,
  instead?: ServiceResponse,
): ServiceResponse {
  const credential = state.keyring.authenticate(request);
  const quota = state.limits.count(credential?.key, state.clock.now());
  const { status, headers, body, note } = instead ?? respond(state, request, { credential, quota });
  // The headers of every response, errors included (specification: Limits).
  const common = {
    Date: new Date(state.clock.now()).toUTCString(),
    ...(state.options.rateLimitHeaders && {
      'X-RateLimit-Limit': String(quota.limit),
      'X-RateLimit-Remaining': String(quota.remaining),
    }),
  };
  return { status, headers: { ...common, ...headers }, body, note };
}

/** Carries a request out, or rejects it with a problem response. */
function respond(
  state: ServiceState,
  request: ServiceRequest,
  { credential, quota }: { readonly credential: Credential | undefined; readonly quota: QuotaState },
): ServiceResponse {
  try {
    if (credential === undefined) {
      throw new ProblemError('unauthenticated', 'X-AUTH-TOKEN is missing or invalid.');
    }
    if (quota.retryAfterMs !== undefined) {
      const seconds = String(Math.ceil(quota.retryAfterMs / 1000));
      const headers = { 'Retry-After': seconds };
      throw new ProblemError('rate_limited', `Try again in ${seconds} s.`, { headers });
    }
    return carryOut(state, request, credential);
  } catch (error) {
    if (error instanceof ProblemError) return problemResponse(error.problem, state.options);
    throw error;
  }
}

function carryOut(state: ServiceState, request: ServiceRequest, credential: Credential): ServiceResponse {
  const found = route(request.method, request.path);
  authorize(credential, found);
  const format = negotiate(request, state.options);
  const collection = state.companies[credential.grant.company][found.collection];
  return OPERATIONS[found.operation]({ request, credential, collection, id: found.id, format }, state);
}

/** 403 if the key has no permission (specification: Authentication, 5). */
function authorize({ grant }: Credential, { operation, collection }: Route): void {
  const { access, collections, error } = grant;
  const verb = operation === 'list' || operation === 'get' ? 'read' : 'write';
  const allowed = access === 'full' || access === verb;
  if (allowed && (collections?.includes(collection) ?? true)) return;
  throw new ProblemError(error, `The API key may not ${verb} ${collection}.`);
}
