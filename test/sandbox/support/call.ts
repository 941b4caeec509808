import type { Sandbox } from 'accounting-data-sdk/testing';
import { expect } from 'vitest';

/** A record or a problem document, as far as a test looks into it. */
export type Json = Readonly<Record<string, unknown>>;

/** A response with its body. Its getters and its checks throw if it has another form. */
export class CallResponse {
  readonly status: number;
  readonly headers: Headers;
  /** The body as JSON; undefined for an empty one. */
  readonly json: unknown;
  /** `GET /accounts?_page=2`, for messages. */
  readonly call: string;

  constructor(call: string, { status, headers }: Response, text: string) {
    this.call = call;
    this.status = status;
    this.headers = headers;
    this.json = text === '' ? undefined : JSON.parse(text);
  }

  /** The body as an object. */
  get record(): Json {
    const { json } = this;
    if (typeof json === 'object' && json !== null && !Array.isArray(json)) return json as Json;
    throw new Error(`${this.call}: no object: ${JSON.stringify(json)}`);
  }

  /** The body as a list of records. */
  get list(): readonly Json[] {
    if (Array.isArray(this.json)) return this.json;
    throw new Error(`${this.call}: no list: ${JSON.stringify(this.json)}`);
  }

  /** The media type, without parameters. */
  get mediaType(): string {
    return (this.headers.get('content-type') ?? '').split(';', 1)[0] ?? '';
  }

  /** The error type: the last segment of `type`, whose form the specification leaves open. */
  get errorType(): string {
    return String(this.record.type).split(/[/#:]/).at(-1) ?? '';
  }

  expectStatus(status: number): this {
    expect([this.call, this.status]).toEqual([this.call, status]);
    return this;
  }

  /** A problem document of this status and one of these types. */
  expectProblem(status: number, ...types: string[]): this {
    expect([this.call, types.includes(this.errorType)]).toEqual([this.call, true]);
    return this.expectStatus(status);
  }

  expectUnauthenticated = () => this.expectProblem(401, 'unauthenticated');
  expectForbidden = () => this.expectProblem(403, 'forbidden', 'scope_required');
  expectNotFound = () => this.expectProblem(404, 'not_found');
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

/** Sends a request over plain fetch; `path` is what follows `/api/public/v1`. */
export async function send(sandbox: Sandbox, path: string, sent: Sent = {}): Promise<Response> {
  const { method = 'GET', key = sandbox.keys.full, idempotencyKey, body, signal = null } = sent;
  const headers: Record<string, string> = { ...sent.headers };
  if (key !== null) headers['X-AUTH-TOKEN'] = key;
  if (idempotencyKey !== undefined) headers['Idempotency-Key'] = idempotencyKey;
  if (body !== undefined) headers['Content-Type'] ??= 'application/json';

  const { baseUrl, fetch = globalThis.fetch } = sandbox.clientOptions;
  return await fetch(`${baseUrl}${API}${path}`, {
    method,
    headers,
    redirect: 'manual',
    signal,
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
}

/** Sends a request and reads its response, which is JSON. */
export async function call(sandbox: Sandbox, path: string, sent: Sent = {}): Promise<CallResponse> {
  const response = await send(sandbox, path, sent);
  return new CallResponse(`${sent.method ?? 'GET'} ${path}`, response, await response.text());
}

export const ids = (response: CallResponse) => response.list.map((record) => record.id);

let made = 0;

/** Creates a product, with a key of its own unless one is given. */
export function createProduct(sandbox: Sandbox, body: unknown, sent: Sent = {}): Promise<CallResponse> {
  made += 1;
  return call(sandbox, '/products', { method: 'POST', idempotencyKey: `test-${made}`, body, ...sent });
}
