import {
  checkFlag,
  checkObject,
  checkOneOf,
  checkOptionNames,
  checkSchema,
  checkText,
} from '../errors/check-input.ts';
import { InvalidInputError } from '../errors/invalid-input-error.ts';
import { exactJson } from '../internal/json-text.ts';
import type { OptionNames } from '../internal/option-names.ts';
import type { StandardSchema } from '../schemas/standard-schema.ts';
import { readOutput, validate } from '../schemas/validate.ts';
import {
  callSettings,
  checkRequestOptions,
  REQUEST_OPTIONS,
  type RequestOptions,
} from '../transport/call-options.ts';
import { checkIdempotencyKey, newIdempotencyKey } from '../transport/idempotency-key.ts';
import { clearStrings } from '../transport/redact.ts';
import type { Expected, Method } from '../transport/request.ts';
import type { ClientContext } from './context.ts';

/** A request of the caller's own, for what this version does not know yet. */
export interface RawRequest<T = unknown> {
  /** Default: GET. */
  method?: Method | undefined;
  /** Under `/api/public/v1`: segments, which are encoded, or a path like `/products/42` that is encoded already. */
  path: string | readonly string[];
  query?: Readonly<Record<string, string | number | boolean | undefined>> | undefined;
  /** A JSON value, for any method but GET; `undefined` sends none. */
  body?: unknown;
  /** The media type of `body`, such as `application/merge-patch+json`. Default: the one of other calls. */
  contentType?: string | undefined;
  /** What the body of the response must be. Without one it is `unknown`, and `undefined` if there is none. */
  schema?: StandardSchema<T> | undefined;
  /** For POST. Default: a random one. */
  idempotencyKey?: string | undefined;
  /**
   * Whether the API key is replaced by `[redacted]` wherever the response contains it, for a response that is printed or
   * passed on. Values that are nested deeper than 20 levels are replaced too. Default: false.
   */
  redactKey?: boolean | undefined;
}

export const RAW_REQUEST: OptionNames<RawRequest> = {
  method: true,
  path: true,
  query: true,
  body: true,
  contentType: true,
  schema: true,
  idempotencyKey: true,
  redactKey: true,
};

const METHODS: readonly Method[] = ['GET', 'POST', 'PATCH', 'DELETE'];

/** Sends a request with everything that other calls have: key, rate limiter, retries, timeouts, typed errors. */
export async function sendRaw<T>(
  context: ClientContext,
  request: RawRequest<T>,
  options: RequestOptions,
): Promise<T> {
  checkRequest(request, options);
  const { method = 'GET', query = {} } = request;
  const path = checkPath(request.path);
  const { value } = await context.transport.send<T>({
    method,
    path,
    // By its first segment alone, so that not every id becomes a time series of its own in metrics.
    template: `/${typeof path === 'string' ? path.split('/')[1] : path[0]}`,
    query: queryPairs(query),
    body: bodyText(request.body),
    contentType: checkContentType(request.contentType),
    idempotencyKey: method === 'POST' ? idempotencyKeyOf(request) : undefined,
    expected: expectedOf(request),
    priority: 'interactive',
    settings: callSettings(context.settings, options),
    options,
  });
  return value;
}

/** Everything that can be wrong with a request, before anything is sent. */
function checkRequest(request: RawRequest<unknown>, options: RequestOptions): void {
  checkObject(request, 'request');
  checkOptionNames(request, RAW_REQUEST, {
    of: 'request',
    elsewhere: [{ names: REQUEST_OPTIONS, advice: 'Pass it in the second argument of request.' }],
  });
  checkOptionNames(options, REQUEST_OPTIONS, {
    of: 'request',
    elsewhere: [{ names: RAW_REQUEST, advice: 'Pass it in the first argument of request.' }],
  });
  const { method = 'GET', schema, redactKey = false } = request;
  checkOneOf(method, 'method', METHODS);
  if (method === 'GET' && request.body !== undefined) {
    throw new InvalidInputError('body', 'is for POST, PATCH and DELETE: fetch sends none with GET');
  }
  if (method !== 'POST' && request.idempotencyKey !== undefined) {
    throw new InvalidInputError('idempotencyKey', 'is for POST');
  }
  if (schema !== undefined) checkSchema(schema, 'schema');
  checkFlag(redactKey, 'redactKey');
  checkRequestOptions(options);
}

function expectedOf<T>({ schema, redactKey }: RawRequest<T>): Expected<T> {
  const read = (body: unknown) =>
    schema === undefined ? (body as T) : validate(schema, body, { row: body, ofCaller: true });
  const expected: Expected<T> = { kind: 'json', mayBeEmpty: true, read };
  if (redactKey !== true) return expected;
  return {
    ...expected,
    cleared: (value, clear) => readOutput(value, () => clearStrings(value, clear) as T),
  };
}

function checkPath(path: unknown): string | readonly string[] {
  if (Array.isArray(path) && path.length > 0) return path.map((segment) => checkText(segment, 'path'));
  if (typeof path === 'string' && path.startsWith('/')) return checkText(path, 'path');

  throw new InvalidInputError(
    'path',
    'must be segments, or a path that begins with / and is encoded already',
  );
}

function queryPairs(query: Readonly<Record<string, unknown>>): [string, string][] {
  checkObject(query, 'query');
  return Object.entries(query).flatMap(([name, value]): [string, string][] => {
    if (value === undefined) return [];
    checkText(name, 'query');
    if (typeof value !== 'boolean' && typeof value !== 'string' && !Number.isFinite(value)) {
      throw new InvalidInputError(`query.${name}`, 'must be a string, a finite number or a boolean');
    }
    return [[name, checkText(String(value), `query.${name}`)]];
  });
}

function checkContentType(contentType: string | undefined): string | undefined {
  if (contentType === undefined || /^[\w.+-]+\/[\w.+-]+$/.test(contentType)) return contentType;
  throw new InvalidInputError('contentType', 'must be a media type such as application/merge-patch+json');
}

function idempotencyKeyOf({ idempotencyKey }: RawRequest): string {
  return idempotencyKey === undefined ? newIdempotencyKey() : checkIdempotencyKey(idempotencyKey);
}

function bodyText(body: unknown): string | undefined {
  if (body === undefined) return undefined;

  let text: string | undefined;
  try {
    text = exactJson(body);
  } catch {
    // Reported below.
  }
  if (text === undefined) {
    throw new InvalidInputError(
      'body',
      'is or contains a value that JSON cannot represent, such as NaN, a function, a BigInt or a cycle',
    );
  }
  return text;
}
