import { InvalidInputError } from '../errors/invalid-input-error.ts';
import { checkText, given, resolved, schema } from '../input/checks.ts';
import { type Check, is, type OptionInputs, option, optional, required } from '../internal/options.ts';
import type { StandardSchema } from '../schemas/standard-schema.ts';
import { readOutput, validate } from '../schemas/validate.ts';
import { callSettings, type RequestOptions, requestOptions } from '../transport/call-options.ts';
import { checkIdempotencyKey, newIdempotencyKey } from '../transport/idempotency-key.ts';
import { cleared } from '../transport/redact.ts';
import type { Expected } from '../transport/request.ts';
import { displayPath } from '../transport/url.ts';
import type { ClientContext } from './context.ts';
import { jsonOf } from './write-body.ts';

export const rawRequest = {
  /** Default: GET. */
  method: option(is.oneOf('GET', 'POST', 'PATCH', 'DELETE'), 'GET'),
  /** Under `/api/public/v1`: segments, which are encoded, or a path like `/products/42` that is encoded already. */
  path: required(
    is.check<string | readonly string[]>(
      'segments, or a path that begins with / and is encoded already',
      (path) =>
        (is.strings.allows(path) && path.length > 0) || (is.string.allows(path) && path.startsWith('/')),
    ),
  ),
  /** Parameters by name; `undefined` leaves one out. Default: none. */
  query: option(is.object as Check<Readonly<Record<string, string | number | boolean | undefined>>>, {}),
  /** A JSON value, for any method but GET; `undefined` sends none. */
  body: optional(is.check<unknown>('a JSON value', () => true)),
  /** The media type of `body`, such as `application/merge-patch+json`. Default: the one of other calls. */
  contentType: optional(
    is.check<string>(
      'a media type such as application/merge-patch+json',
      (type) => is.string.allows(type) && /^[\w.+-]+\/[\w.+-]+$/.test(type),
    ),
  ),
  schema: optional(schema()),
  /** For POST. Default: a random one. */
  idempotencyKey: optional(is.verified<string>(checkIdempotencyKey)),
  /**
   * Whether the API key is replaced by `[redacted]` wherever the response contains it, for a response that is printed or
   * passed on. Values that are nested deeper than 20 levels are replaced too. Default: false.
   */
  redactKey: option(is.flag, false),
};

/** A request of the caller's own, for what this version does not know yet. */
export interface RawRequest<T = unknown> extends OptionInputs<Omit<typeof rawRequest, 'schema'>> {
  /** What the body of the response must be. Without one it is `unknown`, and `undefined` if there is none. */
  schema?: StandardSchema<T> | undefined;
}

/** Sends a request with everything that other calls have: key, rate limiter, retries, timeouts, typed errors. */
export async function sendRaw<T>(
  context: ClientContext,
  request: RawRequest<T>,
  callerOptions: RequestOptions,
): Promise<T> {
  const checked = resolved(rawRequest, request, {
    of: 'request',
    argument: 'request',
    elsewhere: [{ names: requestOptions, advice: 'Pass it in the second argument of request.' }],
  });
  const options = given(requestOptions, callerOptions, {
    of: 'request',
    elsewhere: [{ names: rawRequest, advice: 'Pass it in the first argument of request.' }],
  });
  const { method, path, query, body, contentType, idempotencyKey } = checked;
  for (const segment of [path].flat()) checkText(segment, 'path');
  if (method === 'GET' && body !== undefined) {
    throw new InvalidInputError('body', 'is for POST, PATCH and DELETE: fetch sends none with GET');
  }
  if (method !== 'POST' && idempotencyKey !== undefined) {
    throw new InvalidInputError('idempotencyKey', 'is for POST');
  }
  const { value } = await context.transport.send<T>({
    method,
    path,
    // By its first segment alone, so that not every id becomes a time series of its own in metrics.
    template: displayPath(
      typeof path === 'string' ? path.split('/').slice(0, 2).join('/') : path.slice(0, 1),
    ),
    query: queryPairs(query),
    body: body === undefined ? undefined : jsonOf(body, 'body'),
    contentType,
    idempotencyKey: method === 'POST' ? (idempotencyKey ?? newIdempotencyKey()) : undefined,
    expected: expectedOf(request),
    settings: callSettings(context.settings, options),
    options,
  });
  return value;
}

function expectedOf<T>({ schema, redactKey }: RawRequest<T>): Expected<T> {
  const read = (body: unknown) =>
    schema === undefined ? (body as T) : validate(schema, body, { row: body, ofCaller: true });
  const expected: Expected<T> = { kind: 'json', mayBeEmpty: true, read };
  if (redactKey !== true) return expected;
  return {
    ...expected,
    cleared: (value, clear) => readOutput(value, () => cleared(value, clear) as T),
  };
}

function queryPairs(query: Readonly<Record<string, unknown>>): [string, string][] {
  return Object.entries(query).flatMap(([name, value]): [string, string][] => {
    if (value === undefined) return [];
    checkText(name, 'query');
    if (typeof value !== 'boolean' && typeof value !== 'string' && !Number.isFinite(value)) {
      throw new InvalidInputError(`query.${name}`, 'must be a string, a finite number or a boolean');
    }
    return [[name, checkText(String(value), `query.${name}`)]];
  });
}
