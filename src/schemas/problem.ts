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

/**
 * What the body of an error response is: a problem document, another JSON object, or anything else. `missing` is a 404 or
 * 410 that the client treats as a missing record whatever its body: see its option `bareNotFound`.
 */
export type ErrorContent = 'problem' | 'json' | 'other' | 'missing';

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
    Object.hasOwn(standard, name)
      ? value !== null && standard[name as keyof typeof standard] === undefined
      : name !== '__proto__';
  return {
    type: standard.type,
    title: standard.title ?? text(members['hydra:title']),
    detail: standard.detail ?? text(members['hydra:description']),
    instance: standard.instance,
    violations: violationsOf(members),
    extensions: Object.fromEntries(Object.entries(members).filter(isExtension)),
  };
}

/** What frameworks and RFC 9457 call the members of a violation; the first that is there counts. */
const NAMES = { propertyPath: ['propertyPath', 'field', 'pointer'], message: ['message', 'detail', 'title'] };

/**
 * The fields that were rejected: `violations`, `errors` as RFC 9457 shows it or by the name of the field, or a body of
 * nothing but such names.
 */
function violationsOf(members: Readonly<Record<string, unknown>>): Violation[] {
  const { violations, errors } = members;
  if (Array.isArray(violations)) return violations.flatMap(violation);
  if (Array.isArray(errors)) return errors.flatMap(violation);
  if (isObject(errors)) return byField(errors);
  return Object.values(members).every(isTexts) ? byField(members) : [];
}

function violation(value: unknown): Violation[] {
  if (!isObject(value)) return [];
  const named = (names: readonly string[]) =>
    names.map((name) => text(value[name])).find((each) => each !== undefined);
  const message = named(NAMES.message);
  if (message === undefined) return [];

  const code = text(value.code);
  // A pointer of RFC 6901 in a URI fragment, such as `#/salePrice`.
  const propertyPath = (named(NAMES.propertyPath) ?? '').replace(/^#?\//, '').replaceAll('/', '.');
  return [{ propertyPath, message, ...(code === undefined ? {} : { code }) }];
}

function byField(fields: Readonly<Record<string, unknown>>): Violation[] {
  return Object.entries(fields).flatMap(([name, messages]) => {
    const propertyPath = name === 'non_field_errors' ? '' : name;
    return isTexts(messages) ? messages.map((message) => ({ propertyPath, message })) : [];
  });
}

const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.length > 0 && value.every((each) => typeof each === 'string');

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
