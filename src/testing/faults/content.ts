import { is } from '../checks.ts';
import { errorBody, foreignResponse } from '../error-body.ts';
import { decodeText, encodeText, type ServiceResponse } from '../message.ts';
import { PROBLEMS, type ProblemName, problemResponse } from '../service/problem.ts';
import { defineFault } from './define-fault.ts';
import { whole } from './delivery.ts';

type RetryAfter = number | string;

const retryAfterCheck = is.check<RetryAfter>(
  'a number of seconds or a string',
  (value) => typeof value === 'string' || (typeof value === 'number' && Number.isFinite(value)),
);

/** Named, because TypeScript 5.4 does not know `Uint8Array<ArrayBufferLike>`, which the declarations would say. */
type NewBody = string | Uint8Array | ((body: string) => string | Uint8Array);

/** Faults of what a response says. */
export const contentFaults = {
  /** Any status, such as 429, 500 while the database is away, or 404 from a gateway. */
  status: defineFault({
    required: {
      /** The status. */
      status: is.status,
    },
    optional: {
      /** The error type. @default that of the status */
      type: is.string,
      /** The body: see the option `notFoundBody`. @default a problem document */
      body: errorBody,
      /** `Retry-After`: a number of seconds, or any string such as an HTTP date, `'1.5'` or `'soon'`. @default none */
      retryAfter: retryAfterCheck,
      /** Whether the request is processed. @default false */
      committed: is.flag,
    },
    effect: async (fault, { respondWith, state }) => {
      const { status, body, type: name = typeOf(status), committed = false } = fault;
      const title = Object.hasOwn(PROBLEMS, name) ? PROBLEMS[name as ProblemName][1] : 'An error';
      const problem = { name, status, title, detail: 'A fault of the sandbox.' };
      const response =
        body === undefined ? problemResponse(problem, state.options) : foreignResponse(status, body);
      const headers = { ...response.headers, ...retryAfterHeader(fault.retryAfter) };
      return whole(await respondWith({ ...response, headers }, committed));
    },
  }),
  /** Any other change of a response, such as a redirect: a status, and the header `Location`. */
  rewrite: defineFault({
    optional: {
      /** The status. @default that of the response */
      status: is.status,
      /** Headers to set, or with null to remove. @default none */
      headers: is.check<Readonly<Record<string, string | null>>>(
        'an object of strings, or null to remove a header',
        (value) =>
          typeof value === 'object' &&
          value !== null &&
          Object.values(value).every((header) => header === null || typeof header === 'string'),
      ),
      /** The body, or a function that computes it from the body of the response. @default that of the response */
      body: is.check<NewBody>(
        'a string, bytes or a function',
        (value) => typeof value === 'string' || typeof value === 'function' || value instanceof Uint8Array,
      ),
      /** Whether the request is processed; if not, the response to change is an empty 200. @default true */
      committed: is.flag,
    },
    effect: async ({ committed = true, ...changes }, { respond, respondWith }) =>
      whole(
        committed
          ? rewritten(await respond(), changes)
          : await respondWith(rewritten(foreignResponse(200), changes), false),
      ),
  }),
};

/** The header as it is sent; empty for none. */
function retryAfterHeader(value: RetryAfter | undefined): Record<string, string> {
  return value === undefined ? {} : { 'Retry-After': String(value) };
}

function typeOf(status: number): string {
  const known = Object.entries(PROBLEMS).find(([, [its]]) => its === status);
  return known?.[0] ?? (status >= 500 ? 'internal_error' : 'error');
}

interface Changes {
  readonly status?: number | undefined;
  readonly headers?: Readonly<Record<string, string | null>> | undefined;
  readonly body?: NewBody | undefined;
}

/** A response with changes; header names are compared without case. */
function rewritten(response: ServiceResponse, { status, headers = {}, body }: Changes): ServiceResponse {
  const kept = Object.entries(response.headers).filter(
    ([name]) => !Object.keys(headers).some((other) => other.toLowerCase() === name.toLowerCase()),
  );
  const set = Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== null);
  const before = response.body === undefined ? '' : decodeText(response.body);
  const after = typeof body === 'function' ? body(before) : body;
  return {
    ...response,
    status: status ?? response.status,
    headers: Object.fromEntries([...kept, ...set]),
    body: typeof after === 'string' ? encodeText(after) : (after ?? response.body),
  };
}
