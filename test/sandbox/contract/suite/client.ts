import assert from 'node:assert/strict';
import { collectionNames } from 'accounting-data-sdk';
import {
  createSandbox,
  type Sandbox,
  type SandboxKeys,
  type SandboxOptions,
} from 'accounting-data-sdk/testing';
import { type CallResponse, call, createProduct, type Json, type Sent } from '../../support/call.ts';

/** A record: what every resource has is an id. */
export type ServiceRecord = Json & { readonly id: string };

/** Query parameters; undefined ones are left out. */
export type Query = Readonly<Record<string, string | undefined>>;

/** An id that no record has. */
export const UNKNOWN_ID = '2147483646';

/** Every collection has two full pages and five records. */
const RECORDS = Object.fromEntries(collectionNames.map((name) => [name, 65]));

/** Sends requests to a sandbox of its own, whose clock stands still, so that no check depends on the machine. */
export class ContractClient {
  readonly sandbox: Sandbox;
  readonly keys: SandboxKeys;
  readonly #options: SandboxOptions;

  constructor(options: SandboxOptions = {}) {
    const common = { clock: '2026-01-31T12:00:00Z', timestampsEverywhere: true };
    this.sandbox = createSandbox({ records: RECORDS, otherRecords: RECORDS, ...common, ...options });
    this.keys = this.sandbox.keys;
    this.#options = options;
  }

  /** A client of a service like this one whose quota is five calls a minute. */
  limited(): ContractClient {
    const kind = typeof this.#options.rateLimit === 'object' ? this.#options.rateLimit.kind : undefined;
    return new ContractClient({ ...this.#options, rateLimit: { limit: 5, windowMs: 60_000, kind } });
  }

  /** Sends requests until the quota is used up; returns the 429. */
  async exhaust(
    send: (client: ContractClient) => Promise<ContractResponse> = () => this.list('accounts'),
  ): Promise<ContractResponse> {
    for (let sent = 0; sent < 50; sent += 1) {
      const response = await send(this);
      if (response.status === 429) return response.expectProblem(429, 'rate_limited');
    }
    assert.fail('50 requests and no 429');
  }

  async send(path: string, sent: Sent = {}): Promise<ContractResponse> {
    return new ContractResponse(`${sent.method ?? 'GET'} ${path}`, await call(this.sandbox, path, sent));
  }

  list(segment: string, query: Query = {}, sent: Sent = {}): Promise<ContractResponse> {
    const given = Object.entries(query).filter(([, value]) => value !== undefined) as [string, string][];
    return this.send(`/${segment}?${new URLSearchParams(given)}`, sent);
  }

  get(segment: string, id: string, sent: Sent = {}): Promise<ContractResponse> {
    return this.send(`/${segment}/${encodeURIComponent(id)}`, sent);
  }

  /** Every record of a list, page by page to the end. */
  async readAll(segment: string, query: Query = {}): Promise<readonly ServiceRecord[]> {
    const records: ServiceRecord[] = [];
    for (let page = 1; ; page += 1) {
      const response = await this.list(segment, { ...query, _page: String(page) });
      // The specification leaves open whether the page after the last one is empty or a 404.
      if ((page > 1 && response.status === 404) || response.list.length === 0) return records;
      records.push(...response.list);
    }
  }

  /** The first page of a collection, which must not be empty. */
  async some(segment: string, least = 1, sent: Sent = {}): Promise<readonly ServiceRecord[]> {
    const { list } = await this.list(segment, {}, sent);
    if (list.length < least) assert.fail(`fewer than ${least} records in ${segment}`);
    return list;
  }

  async create(body: unknown, sent: Sent = {}): Promise<ContractResponse> {
    return new ContractResponse('POST /products', await createProduct(this.sandbox, body, sent));
  }

  /** A product to work with. */
  async product(body: Json = {}): Promise<ServiceRecord> {
    return (await this.create({ name: 'Contract check', ...body })).record;
  }

  update(id: string, body: unknown, sent: Sent = {}): Promise<ContractResponse> {
    return this.send(`/products/${encodeURIComponent(id)}`, { method: 'PATCH', body, ...sent });
  }

  delete(id: string, sent: Sent = {}): Promise<ContractResponse> {
    return this.send(`/products/${encodeURIComponent(id)}`, { method: 'DELETE', ...sent });
  }
}

/** The response to a request. Its getters fail the check if the response has another form. */
export class ContractResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly json: unknown;
  /** `GET /accounts?_page=2`, for messages. */
  readonly call: string;
  readonly #response: CallResponse;

  constructor(call: string, response: CallResponse) {
    this.call = call;
    this.status = response.status;
    this.headers = response.headers;
    this.json = response.json;
    this.#response = response;
  }

  /** The media type, without parameters. */
  get mediaType(): string {
    return (this.headers.get('content-type') ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  }

  /** The body of a success as one record. */
  get record(): ServiceRecord {
    this.expectSuccess();
    const { record } = this.#response;
    assert.equal(typeof record.id, 'string', `${this.call}: id is a string`);
    return record as ServiceRecord;
  }

  /** The body of a success as a list of records. */
  get list(): readonly ServiceRecord[] {
    this.expectStatus(200);
    const { list } = this.#response;
    for (const { id } of list) assert.equal(typeof id, 'string', `${this.call}: id is a string`);
    return list as ServiceRecord[];
  }

  get ids(): readonly string[] {
    return this.list.map(({ id }) => id);
  }

  /** The error type: the last segment of `type`, whose form the specification leaves open. */
  get errorType(): string {
    const { type } = this.#response.record;
    assert.equal(typeof type, 'string', `${this.call}: the problem has a type`);
    return String(type).split(/[/#:]/).at(-1) ?? '';
  }

  expectStatus(status: number): this {
    assert.equal(this.status, status, this.call);
    return this;
  }

  expectSuccess(): this {
    assert.ok(this.status >= 200 && this.status < 300, `${this.call}: ${this.status} instead of a success`);
    return this;
  }

  /** A problem document of this status and one of these types. */
  expectProblem(status: number, ...types: string[]): this {
    this.expectStatus(status);
    assert.ok(types.includes(this.errorType), `${this.call}: type ${this.errorType}`);
    return this;
  }

  expectUnauthenticated(): this {
    return this.expectProblem(401, 'unauthenticated');
  }

  expectForbidden(): this {
    return this.expectProblem(403, 'forbidden', 'scope_required');
  }

  expectNotFound(): this {
    return this.expectProblem(404, 'not_found');
  }
}
