import type { Credential } from '../keys.ts';
import { list } from './list.ts';
import type { ServiceReply, ServiceRequest } from './message.ts';
import { Refusal, refusalReply } from './problem.ts';
import { type Call, create, remove, update } from './products.ts';
import type { BudgetAnswer } from './rate-limit.ts';
import { negotiate, recordReply } from './represent.ts';
import { type Route, route } from './route.ts';
import type { ServiceState } from './state.ts';

/** Who sends a request, or undefined: the header is missing, malformed, unknown, revoked or of another company. */
export function authenticate(state: ServiceState, request: ServiceRequest): Credential | undefined {
  return state.keyring.find(request.headers['x-auth-token']);
}

/** 403 where the key may not do this (contract: Authentication, 5). */
function authorize(credential: Credential, { operation, collection }: Route): void {
  const writes = operation !== 'list' && operation !== 'get';
  const allowed = credential.access === 'full' || (credential.access === 'read' && !writes);
  const reached = credential.collections?.has(collection) ?? true;
  if (allowed && reached) return;
  throw new Refusal(credential.refusal, `The API key may not ${writes ? 'write' : 'read'} ${collection}.`);
}

function get({ options }: ServiceState, { collection, format, id }: Call): ServiceReply {
  const row = collection.rows.visible(id);
  if (row === undefined) throw new Refusal('not_found', `There is no record ${id}.`);
  return recordReply(200, row.record, { collection: collection.name, format, options });
}

function listPage(state: ServiceState, { collection, company, format, request }: Call): ServiceReply {
  const { query } = request;
  const key = `${format} ${company}/${collection.name}?${query}`;
  return state.pages.get(key, collection.rows.version, () =>
    list(collection, { query, format }, state.options),
  );
}

const OPERATIONS: Readonly<Record<Route['operation'], (state: ServiceState, call: Call) => ServiceReply>> = {
  list: listPage,
  get,
  create,
  update,
  remove,
};

const TOO_LARGE = { 400: 'malformed_request', 413: 'request_too_large', 422: 'validation_failed' } as const;

/** What is refused before anybody looks at what is asked for. */
function admit(state: ServiceState, request: ServiceRequest, budget: BudgetAnswer): void {
  if (budget.refusedForMs !== undefined) {
    const seconds = Math.max(1, Math.ceil(budget.refusedForMs / 1000));
    throw new Refusal('rate_limited', `Try again in ${seconds} s.`, {
      headers: { 'Retry-After': String(seconds) },
    });
  }
  const { maxRequestBytes, tooLargeStatus } = state.options;
  if (request.body.byteLength > maxRequestBytes) {
    throw new Refusal(TOO_LARGE[tooLargeStatus], `A body may have at most ${maxRequestBytes} bytes.`);
  }
}

function answer(state: ServiceState, request: ServiceRequest, credential: Credential): ServiceReply {
  const found = route(request.method, request.path);
  authorize(credential, found);
  const format = negotiate(request, state.options);

  const { company } = credential;
  const collection = state.companies[company].collections[found.collection];
  collection.rows.settle(state.clock.now());
  return OPERATIONS[found.operation](state, {
    request,
    credential,
    company,
    collection,
    id: found.id,
    format,
  });
}

/** The headers of every answer, errors included (contract: Limits). */
function withCommonHeaders(state: ServiceState, reply: ServiceReply, budget: BudgetAnswer): ServiceReply {
  const { status, headers, body, note } = reply;
  const common = {
    Date: state.httpDate(state.clock.now()),
    'X-RateLimit-Limit': String(budget.limit),
    'X-RateLimit-Remaining': String(budget.remaining),
    // A fault may say otherwise.
    ...headers,
  };
  return { status, headers: common, body, note };
}

/**
 * The service: one request in, one answer out, nothing of sockets, timers or faults. `instead` stands for the answer
 * of the contract where a fault wants another one that is counted and headed like any.
 */
export function handle(state: ServiceState, request: ServiceRequest, instead?: ServiceReply): ServiceReply {
  const credential = authenticate(state, request);
  const budget = state.limits.take(credential?.key, state.clock.now());
  if (instead !== undefined) return withCommonHeaders(state, instead, budget);
  try {
    if (credential === undefined) throw new Refusal('unauthenticated', 'X-AUTH-TOKEN is missing or invalid.');
    admit(state, request, budget);
    return withCommonHeaders(state, answer(state, request, credential), budget);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return withCommonHeaders(state, refusalReply(error, state.options), budget);
  }
}
