/** One validation error of a request body (RFC 9457 extension, as frameworks of this kind send it). */
export interface Violation {
  /** The field, as a path such as `salePrice`. */
  readonly propertyPath: string;
  readonly message: string;
  /** A machine-readable reason, if the service gives one. */
  readonly code?: string | undefined;
}

/** A problem document (RFC 9457, which replaced RFC 7807). Members of a wrong type are ignored, as the RFC asks. */
export interface Problem {
  readonly type: string | undefined;
  readonly title: string | undefined;
  readonly detail: string | undefined;
  readonly instance: string | undefined;
  readonly violations: readonly Violation[];
  /** Every other member, as sent. */
  readonly extensions: Readonly<Record<string, unknown>>;
}

/** What the body of an error response is: a problem document, another JSON object, or anything else. */
export type ErrorContent = 'problem' | 'json' | 'other';

/**
 * A problem document has at least one of its standard members, and its `status`, if it has one, is that of the
 * response: a JSON body of a proxy or a router is not one.
 */
export function contentOf(body: unknown, status: number): ErrorContent {
  if (!isObject(body)) return 'other';
  if (typeof body.status === 'number' && body.status !== status) return 'json';
  const { type, title, detail } = parseProblem(body);
  const isProblem = [type, title, detail].some((member) => member !== undefined);
  return isProblem || typeof body.status === 'number' ? 'problem' : 'json';
}

const STANDARD_MEMBERS = new Set([
  'type',
  'title',
  'detail',
  'instance',
  'status',
  'violations',
  '__proto__',
]);

/** Reads a problem document out of any JSON value. Never throws: what is not a problem document has no members. */
export function parseProblem(body: unknown): Problem {
  const members = isObject(body) ? body : {};
  return {
    type: text(members.type),
    // API Platform 3 names them so in JSON-LD.
    title: text(members.title) ?? text(members['hydra:title']),
    detail: text(members.detail) ?? text(members['hydra:description']),
    instance: text(members.instance),
    violations: Array.isArray(members.violations) ? members.violations.flatMap(violation) : [],
    extensions: Object.fromEntries(Object.entries(members).filter(([name]) => !STANDARD_MEMBERS.has(name))),
  };
}

function violation(value: unknown): Violation[] {
  if (!isObject(value)) return [];
  // Symfony's own documents call it title.
  const message = text(value.message) ?? text(value.title);
  if (message === undefined) return [];

  const code = text(value.code);
  return [{ propertyPath: text(value.propertyPath) ?? '', message, ...(code === undefined ? {} : { code }) }];
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
