import type { ProblemType } from '../options.ts';
import type { ResolvedSandboxOptions } from '../resolve-options.ts';
import { encodeText, jsonReply, type ServiceReply } from './message.ts';

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
  not_acceptable: [406, 'Not acceptable'],
  request_in_progress: [409, 'The first request with this Idempotency-Key is still running'],
  request_too_large: [413, 'The request is too large'],
  request_timeout: [408, 'The request took too long to arrive'],
  expectation_failed: [417, 'The expectation cannot be met'],
  headers_too_large: [431, 'The headers are too large'],
  unsupported_media_type: [415, 'Unsupported media type'],
  internal_error: [500, 'Internal error'],
  not_implemented: [501, 'Method not implemented'],
} as const satisfies Record<string, readonly [status: number, title: string]>;

/** The name of an error type, without the form in which `type` goes out. */
export type ProblemName = keyof typeof PROBLEMS;

/** What is wrong with one field of a body. */
export interface Violation {
  /** The field. */
  readonly propertyPath: string;
  readonly message: string;
  /** The UUID of the violated constraint, which only API Platform shows. */
  readonly code?: string | undefined;
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
function typeOf({ name, status, violations }: ProblemParts, form: ProblemType): string | undefined {
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

/** The UUID of a violated constraint; of several as PHP writes a list into a query. */
function constraintsOf(violations: readonly Violation[]): string {
  const codes = violations.map(({ code }) => code ?? OTHER_CONSTRAINT);
  return codes.length === 1 ? codes.join() : codes.map((code, index) => `${index}=${code}`).join(';');
}

/** The constraint of a violation that belongs to none of Symfony's. */
const OTHER_CONSTRAINT = '7703c766-b5d5-4cef-ace7-ae0dd82304e9';

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
  const reply = bareReply(parts, options) ?? documentReply(parts, options);
  return { ...reply, headers: { ...reply.headers, ...parts.headers }, note: { error: parts.name } };
}

function documentReply(parts: ProblemParts, options: ResolvedSandboxOptions): ServiceReply {
  const { status, title, detail, violations } = parts;
  const varies = status === 403 || status === 404;
  const type = typeOf(parts, options.problemType);
  const isApiPlatform = options.problemType.startsWith('api-platform');
  const document = {
    ...(type === undefined ? {} : { type }),
    title,
    ...(options.problemType === 'api-platform-3.1' ? {} : { status }),
    detail,
    ...(violations === undefined
      ? {}
      : {
          violations: violations.map(({ propertyPath, message, code = OTHER_CONSTRAINT }) =>
            isApiPlatform ? { propertyPath, message, code } : { propertyPath, message },
          ),
        }),
  };
  return jsonReply(status, document, varies ? options.problemContentType : 'application/problem+json');
}

/** An error without a problem document: of a router that does not know the path, or of API Platform's firewall. */
function bareReply(
  { status, detail }: ProblemParts,
  options: ResolvedSandboxOptions,
): ServiceReply | undefined {
  if (status === 401 && options.problemType.startsWith('api-platform')) {
    return jsonReply(status, { message: detail });
  }
  if (status !== 404) return undefined;

  switch (options.notFoundBody) {
    case 'problem':
      return undefined;
    case 'html':
      return { status, headers: { 'Content-Type': 'text/html' }, body: encodeText('<h1>Not Found</h1>') };
    case 'json':
      return jsonReply(status, { message: 'Not Found' });
    case 'empty':
      return { status, headers: {}, body: undefined };
  }
}

/** A refusal as a problem document. */
export function refusalReply(refusal: Refusal, options: ResolvedSandboxOptions): ServiceReply {
  const [status, title] = PROBLEMS[refusal.problem];
  const { problem: name, message: detail, violations, headers } = refusal;
  return problemReply({ name, status, title, detail, violations, headers }, options);
}
