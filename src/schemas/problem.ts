import { isObject } from './validate.ts';

/** One validation error of a request body (RFC 9457 extension, as frameworks of this kind send it). */
export interface Violation {
  /** The field, as a path such as `salePrice`. */
  readonly propertyPath: string;
  readonly message: string;
  /** A machine-readable reason, if the service gives one. */
  readonly code?: string | undefined;
}

/** A problem document (RFC 9457, which replaced RFC 7807). Members of a wrong type are ignored, as the RFC requires. */
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
  const isProblem = PROOFS.some((name) => typeof body[name] === 'string');
  return isProblem || typeof body.status === 'number' ? 'problem' : 'json';
}

/** The members by which a JSON body is a problem document; API Platform 3 has the last two in JSON-LD. */
const PROOFS = ['type', 'title', 'detail', 'hydra:title', 'hydra:description'];

/** Reads a problem document out of any JSON value. Never throws: what is not a problem document has no members. */
export function parseProblem(body: unknown): Problem {
  const members = isObject(body) ? body : {};
  const standard = {
    type: text(members.type),
    title: text(members.title),
    detail: text(members.detail),
    instance: text(members.instance),
    status: typeof members.status === 'number' ? members.status : undefined,
    violations: Array.isArray(members.violations) ? members.violations : undefined,
  };
  const isExtension = ([name, value]: [string, unknown]) =>
    name !== '__proto__' &&
    !(value === null && Object.hasOwn(standard, name)) &&
    standard[name as keyof typeof standard] === undefined;
  return {
    type: standard.type,
    title: standard.title ?? text(members['hydra:title']),
    detail: standard.detail ?? reasonOf(members),
    instance: standard.instance,
    violations: violationsOf(members),
    extensions: Object.fromEntries(Object.entries(members).filter(isExtension)),
  };
}

/** The reason where frameworks without problem documents have it: `{"message":"JWT Token not found"}`. */
function reasonOf({ message, error, ...others }: Record<string, unknown>): string | undefined {
  const inError = isObject(error) ? error.message : undefined;
  return [others['hydra:description'], message, inError, others.error_description, error]
    .map(text)
    .find((reason) => reason !== undefined && reason.trim() !== '');
}

/** The violations of API Platform and Symfony, of FastAPI in `detail`, and of ASP.NET, Laravel and Rails in `errors`. */
function violationsOf({ violations, errors, detail }: Record<string, unknown>): Violation[] {
  const found = [violations, detail].find((member) => Array.isArray(member));
  if (Array.isArray(found)) return found.flatMap(violation);
  if (Array.isArray(errors)) {
    return errors.flatMap((item) =>
      typeof item === 'string' ? { propertyPath: '', message: item } : violation(item),
    );
  }
  if (!isObject(errors)) return [];
  return Object.entries(errors).flatMap(([propertyPath, messages]) =>
    [messages].flat().flatMap((message) => (typeof message === 'string' ? { propertyPath, message } : [])),
  );
}

function violation(value: unknown): Violation[] {
  if (!isObject(value)) return [];
  // FastAPI calls it msg; Symfony's own documents call it title.
  const message = text(value.message) ?? text(value.msg) ?? text(value.title);
  if (message === undefined) return [];

  const code = text(value.code);
  const propertyPath = text(value.propertyPath) ?? text(value.field) ?? locationOf(value.loc);
  return [{ propertyPath, message, ...(code === undefined ? {} : { code }) }];
}

/** `items.0.price` of FastAPI's `["body", "items", 0, "price"]`. */
function locationOf(loc: unknown): string {
  if (!Array.isArray(loc)) return '';
  const parts = loc.filter((part) => typeof part === 'string' || typeof part === 'number');
  return (parts[0] === 'body' ? parts.slice(1) : parts).join('.');
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
