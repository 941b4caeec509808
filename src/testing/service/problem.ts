import { foreignResponse } from '../error-body.ts';
import { jsonResponse, type ServiceResponse } from '../message.ts';
import type { ProblemType, ResolvedSandboxOptions } from '../options.ts';

/** Status and title of each error type. The specification names the first eight. */
export const PROBLEMS = {
  malformed_request: [400, 'The request could not be read'],
  unauthenticated: [401, 'Authentication failed'],
  forbidden: [403, 'Not allowed'],
  scope_required: [403, 'The API key lacks a scope'],
  not_found: [404, 'No such record'],
  validation_failed: [422, 'The content was rejected'],
  idempotency_key_required: [422, 'Idempotency-Key is required'],
  rate_limited: [429, 'Rate limit exceeded'],
  method_not_allowed: [405, 'Method not allowed'],
  not_acceptable: [406, 'Not acceptable'],
  request_in_progress: [409, 'The first request with this Idempotency-Key is still running'],
  content_too_large: [413, 'The body is too large'],
  unsupported_media_type: [415, 'Unsupported media type'],
  misdirected_request: [421, 'The request is meant for another host'],
  internal_error: [500, 'Internal error'],
} as const satisfies Record<string, readonly [status: number, title: string]>;

/** The name of an error type, without the form in which `type` is sent. */
export type ProblemName = keyof typeof PROBLEMS;

/** What is wrong with one field of a body. */
export interface Violation {
  readonly propertyPath: string;
  readonly message: string;
  /** The UUID of the violated constraint, which only API Platform sends. */
  readonly code?: string | undefined;
}

/** The parts of a problem document, and headers to send with it. */
export interface Problem {
  readonly name: string;
  readonly status: number;
  readonly title: string;
  readonly detail: string;
  readonly violations?: readonly Violation[] | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** The service rejects a request. Thrown only inside the service: `handle` turns it into a problem response. */
export class ProblemError extends Error {
  readonly problem: Problem;

  constructor(name: ProblemName, detail: string, more: Pick<Problem, 'violations' | 'headers'> = {}) {
    super(detail);
    const [status, title] = PROBLEMS[name];
    this.problem = { name, status, title, detail, ...more };
  }
}

/** How errors are written. */
type ProblemForm = Pick<ResolvedSandboxOptions, 'problemType' | 'notFoundBody'>;

export function problemResponse(problem: Problem, options: ProblemForm): ServiceResponse {
  const response = undocumentedResponse(problem, options) ?? documentResponse(problem, options);
  return { ...response, headers: { ...response.headers, ...problem.headers }, note: { error: problem.name } };
}

/** An error without a problem document: of a router that does not know the path, or of API Platform's security layer. */
function undocumentedResponse(
  { status, detail }: Problem,
  { problemType, notFoundBody }: ProblemForm,
): ServiceResponse | undefined {
  if (status === 401 && problemType.startsWith('api-platform'))
    return jsonResponse(status, { message: detail });
  return status === 404 && notFoundBody !== undefined ? foreignResponse(status, notFoundBody) : undefined;
}

function documentResponse(problem: Problem, { problemType }: Pick<ProblemForm, 'problemType'>) {
  const { status, title, detail, violations } = problem;
  const withCodes = problemType.startsWith('api-platform');
  // JSON leaves out what is undefined.
  const document = {
    type: typeOf(problem, problemType),
    title,
    status: problemType === 'api-platform-3.1' ? undefined : status,
    detail,
    violations: violations?.map(({ propertyPath, message, code = OTHER_CONSTRAINT }) =>
      withCodes ? { propertyPath, message, code } : { propertyPath, message },
    ),
  };
  return jsonResponse(status, document, 'application/problem+json');
}

/** The value of `type`; undefined if the form leaves the member out. */
function typeOf({ name, status, violations }: Problem, form: ProblemType): string | undefined {
  switch (form) {
    case 'bare':
      return name;
    case 'path':
      return `/errors/${name}`;
    case 'url':
      return `https://docs.example.com/errors#${name}`;
    case 'urn':
      return `urn:accounting:error:${name}`;
    case 'about:blank':
      return 'about:blank';
    case 'rfc-url':
      return `https://datatracker.ietf.org/doc/html/rfc9110#section-15.${Math.floor(status / 100) + 1}`;
    case 'status':
      return `/errors/${status}`;
    case 'absent':
      return undefined;
    case 'api-platform':
      return violations === undefined
        ? `/errors/${status}`
        : `/validation_errors/${constraintsOf(violations)}`;
    case 'api-platform-3.1':
      return 'https://tools.ietf.org/html/rfc2616#section-10';
  }
}

/** The constraint of a violation that does not belong to one of Symfony's. */
const OTHER_CONSTRAINT = '7703c766-b5d5-4cef-ace7-ae0dd82304e9';

/** The UUID of a violated constraint; several are written as PHP writes a list into a query. */
function constraintsOf(violations: readonly Violation[]): string {
  const codes = violations.map(({ code }) => code ?? OTHER_CONSTRAINT);
  return codes.length === 1 ? codes.join() : codes.map((code, index) => `${index}=${code}`).join(';');
}
