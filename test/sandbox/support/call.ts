import type { Sandbox } from 'accounting-data-sdk/testing';

/** A record or a problem document, as far as a test looks into it. */
export type Json = Readonly<Record<string, unknown>>;

/** A response with its body. */
export interface CallResponse {
  readonly status: number;
  readonly headers: Headers;
  /** The body as JSON; undefined for an empty one. */
  readonly json: unknown;
  /** The body as an object; throws if it is not. */
  readonly record: Json;
  /** The body as a list of records; throws if it is not. */
  readonly list: readonly Json[];
}

/** What a test sends. */
export interface Sent {
  readonly method?: string;
  /** Default: the full key; null for none. */
  readonly key?: string | null;
  readonly idempotencyKey?: string;
  /** An object is sent as JSON, a string as it is. */
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
  readonly signal?: AbortSignal;
}

const API = '/api/public/v1';

/** A call over plain fetch; `path` is what follows `/api/public/v1`. */
export async function call(sandbox: Sandbox, path: string, sent: Sent = {}): Promise<CallResponse> {
  const { method = 'GET', key = sandbox.keys.full, idempotencyKey, body, signal } = sent;
  const headers: Record<string, string> = { ...sent.headers };
  if (key !== null) headers['X-AUTH-TOKEN'] = key;
  if (idempotencyKey !== undefined) headers['Idempotency-Key'] = idempotencyKey;
  if (body !== undefined) headers['Content-Type'] ??= 'application/json';

  const { baseUrl, fetch = globalThis.fetch } = sandbox.clientOptions;
  const response = await fetch(`${baseUrl}${API}${path}`, {
    method,
    headers,
    redirect: 'manual',
    ...(signal === undefined ? {} : { signal }),
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const json: unknown = text === '' ? undefined : JSON.parse(text);
  return {
    status: response.status,
    headers: response.headers,
    json,
    get record() {
      if (typeof json !== 'object' || json === null || Array.isArray(json))
        throw new Error(`no object: ${text}`);
      return json as Json;
    },
    get list() {
      if (!Array.isArray(json)) throw new Error(`no list: ${text}`);
      return json as Json[];
    },
  };
}

export const ids = (response: CallResponse) => response.list.map((record) => record.id);

let made = 0;

/** Creates a product, with a key of its own unless one is given. */
export function createProduct(sandbox: Sandbox, body: unknown, sent: Sent = {}): Promise<CallResponse> {
  made += 1;
  return call(sandbox, '/products', { method: 'POST', idempotencyKey: `test-${made}`, body, ...sent });
}
