import type { ResolvedSandboxOptions } from '../resolve-options.ts';
import { jsonReply, type ServiceReply } from './message.ts';

/** Status and title of each error type. The first nine are the contract's; of the others it says nothing. */
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
  request_in_progress: [409, 'The first request with this Idempotency-Key is still running'],
  request_too_large: [413, 'The request is too large'],
  internal_error: [500, 'Internal error'],
} as const satisfies Record<string, readonly [status: number, title: string]>;

/** The name of an error type, without the form in which `type` goes out. */
export type ProblemName = keyof typeof PROBLEMS;

/** What is wrong with one field of a body. */
export interface Violation {
  /** The field. */
  readonly propertyPath: string;
  readonly message: string;
}

/** The service says no. Thrown inside the service alone: `handle` turns it into a problem document. */
export class Refusal extends Error {
  readonly problem: ProblemName;
  readonly violations: readonly Violation[] | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    problem: ProblemName,
    detail: string,
    more: { violations?: readonly Violation[]; headers?: Readonly<Record<string, string>> } = {},
  ) {
    super(detail);
    this.problem = problem;
    this.violations = more.violations;
    this.headers = more.headers ?? {};
  }
}

/** The value of `type` for an error; undefined where the form leaves the member out. */
export function typeOf(
  name: string,
  status: number,
  form: ResolvedSandboxOptions['problemType'],
): string | undefined {
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
  }
}

/** What a problem document is made of. */
export interface ProblemParts {
  readonly name: string;
  readonly status: number;
  readonly title: string;
  readonly detail: string;
  readonly violations?: readonly Violation[] | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/**
 * A problem document as a reply. Only 403 and 404 vary in their content type (contract: Errors); every other error
 * goes out as `application/problem+json`.
 */
export function problemReply(parts: ProblemParts, options: ResolvedSandboxOptions): ServiceReply {
  const { name, status, title, detail, violations } = parts;
  const varies = status === 403 || status === 404;
  const contentType = varies ? options.problemContentType : 'application/problem+json';
  const type = typeOf(name, status, options.problemType);
  const reply = jsonReply(
    status,
    { ...(type === undefined ? {} : { type }), title, status, detail, ...(violations ? { violations } : {}) },
    contentType,
  );
  return { ...reply, headers: { ...reply.headers, ...parts.headers }, note: { error: name } };
}

/** A refusal as a problem document. */
export function refusalReply(refusal: Refusal, options: ResolvedSandboxOptions): ServiceReply {
  const [status, title] = PROBLEMS[refusal.problem];
  const { problem: name, message: detail, violations, headers } = refusal;
  return problemReply({ name, status, title, detail, violations, headers }, options);
}
