import assert from 'node:assert/strict';
import { collectionNames } from 'accounting-data-sdk';
import { createSandbox, type Sandbox, type SandboxOptions } from 'accounting-data-sdk/testing';
import { type CallResponse, call, createProduct, type Json, type Sent } from '../support/call.ts';

/** A record: what every resource has is an id. */
export type ServiceRecord = Json & { readonly id: string };

type Query = Readonly<Record<string, string>>;

/** Two full pages and five records of what is filtered or changed, and a few of every other collection. */
const RECORDS = {
  ...Object.fromEntries(collectionNames.map((name) => [name, 4])),
  bomLines: 65,
  products: 65,
};

/** Sends requests to a sandbox of its own, whose clock stands still, so that no check depends on the machine. */
export class ContractClient {
  readonly sandbox: Sandbox;
  readonly #options: SandboxOptions;

  constructor(options: SandboxOptions = {}) {
    const common = { clock: '2026-01-31T12:00:00Z', timestampsEverywhere: true };
    this.sandbox = createSandbox({ records: RECORDS, otherRecords: RECORDS, ...common, ...options });
    this.#options = options;
  }

  get keys() {
    return this.sandbox.keys;
  }

  /** A service like this one, after its quota of five calls a minute has been used up; and the 429 that followed. */
  async exhausted(
    send = (client: ContractClient) => client.list('accounts'),
  ): Promise<{ readonly client: ContractClient; readonly rejected: CallResponse }> {
    const kind = typeof this.#options.rateLimit === 'object' ? this.#options.rateLimit.kind : undefined;
    const client = new ContractClient({ ...this.#options, rateLimit: { limit: 5, windowMs: 60_000, kind } });
    for (let sent = 0; sent < 5; sent += 1) assert.notEqual((await send(client)).status, 429);
    return { client, rejected: (await send(client)).expectProblem(429, 'rate_limited') };
  }

  send(path: string, sent: Sent = {}): Promise<CallResponse> {
    return call(this.sandbox, path, sent);
  }

  list(segment: string, query: Query = {}, sent: Sent = {}): Promise<CallResponse> {
    return this.send(`/${segment}?${new URLSearchParams(query)}`, sent);
  }

  get(segment: string, id: string, sent: Sent = {}): Promise<CallResponse> {
    return this.send(`/${segment}/${encodeURIComponent(id)}`, sent);
  }

  /** Every record of a list, page by page to the end. */
  async readAll(segment: string, query: Query = {}): Promise<readonly ServiceRecord[]> {
    const records: ServiceRecord[] = [];
    for (let page = 1; ; page += 1) {
      const response = await this.list(segment, { ...query, _page: String(page) });
      // The specification leaves open whether the page after the last one is empty or a 404.
      if ((page > 1 && response.status === 404) || response.list.length === 0) return records;
      records.push(...recordsOf(response));
    }
  }

  /** The first page of a collection, which must not be empty. */
  async some(segment: string, sent: Sent = {}): Promise<readonly [ServiceRecord, ...ServiceRecord[]]> {
    const [first, ...others] = recordsOf(await this.list(segment, {}, sent));
    assert.ok(first, `no records in ${segment}`);
    return [first, ...others];
  }

  create(body: unknown, sent: Sent = {}): Promise<CallResponse> {
    return createProduct(this.sandbox, body, sent);
  }

  /** A product to work with. */
  async product(body: Json = {}): Promise<ServiceRecord> {
    const { record } = await this.create({ name: 'Contract check', ...body });
    assert.equal(typeof record.id, 'string');
    return record as ServiceRecord;
  }

  update(id: string, body: unknown, sent: Sent = {}): Promise<CallResponse> {
    return this.send(`/products/${encodeURIComponent(id)}`, { method: 'PATCH', body, ...sent });
  }

  delete(id: string, sent: Sent = {}): Promise<CallResponse> {
    return this.send(`/products/${encodeURIComponent(id)}`, { method: 'DELETE', ...sent });
  }
}

/** The records of a list, each with a string as its id. */
function recordsOf(response: CallResponse): readonly ServiceRecord[] {
  const { list, call } = response.expectStatus(200);
  for (const { id } of list) assert.equal(typeof id, 'string', `${call}: id is a string`);
  return list as ServiceRecord[];
}
