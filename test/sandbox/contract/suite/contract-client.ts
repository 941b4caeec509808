import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { ContractResponse, type ServiceRecord } from './contract-response.ts';
import type { Target } from './target.ts';

/** A request beyond a plain GET with the main key. */
export interface CallOptions {
  readonly method?: string;
  /** Null for none. Default: the main key. */
  readonly key?: string | null | undefined;
  /** A string is sent as it is, any other value as JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Instead of `v1`. */
  readonly version?: string;
}

/** Query parameters; undefined ones are left out. */
export type Query = Readonly<Record<string, string | undefined>>;

/** An id that no record has. */
export const UNKNOWN_ID = '2147483646';

/** The prefix of every path. */
const API = '/api/public';

/** A check gives up after this number of pages, because it is not a load test. */
const MOST_PAGES = 60;

/** Sends requests to a service and deletes the products that it created. */
export class ContractClient {
  readonly target: Target;
  readonly #created: string[] = [];

  constructor(target: Target) {
    this.target = target;
  }

  async send(path: string, call: CallOptions = {}): Promise<ContractResponse> {
    const { method = 'GET', key = this.target.keys.main, body, version = 'v1' } = call;
    const headers: Record<string, string> = { Accept: 'application/json' };
    if (key !== null) headers['X-AUTH-TOKEN'] = key;
    if (body !== undefined) headers['Content-Type'] = 'application/json';
    Object.assign(headers, call.headers);
    const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
    const init = {
      method,
      headers,
      redirect: 'manual' as const,
      ...(text === undefined ? {} : { body: text }),
    };
    const response = await this.target.send(`${this.target.baseUrl}${API}/${version}${path}`, init);
    return new ContractResponse(`${method} ${path}`, response, await response.text());
  }

  list(segment: string, query: Query = {}, call: CallOptions = {}): Promise<ContractResponse> {
    const given = Object.entries(query).filter(([, value]) => value !== undefined) as [string, string][];
    const text = new URLSearchParams(given).toString();
    return this.send(`/${segment}${text === '' ? '' : `?${text}`}`, call);
  }

  get(segment: string, id: string, call: CallOptions = {}): Promise<ContractResponse> {
    return this.send(`/${segment}/${encodeURIComponent(id)}`, call);
  }

  /** Every record of a list, page by page to the end. */
  async readAll(segment: string, query: Query = {}): Promise<readonly ServiceRecord[]> {
    const records: ServiceRecord[] = [];
    for (let page = 1; page <= MOST_PAGES; page += 1) {
      const response = await this.list(segment, { ...query, _page: String(page) });
      // The specification leaves open whether the page after the last one is empty or a 404.
      if (page > 1 && response.status === 404) return records;
      if (response.list.length === 0) return records;
      records.push(...response.list);
    }
    assert.fail(`more than ${MOST_PAGES} pages`);
  }

  /** The first page of a collection, which must not be empty. */
  async some(segment: string, least = 1, call: CallOptions = {}): Promise<readonly ServiceRecord[]> {
    const { list } = await this.list(segment, {}, call);
    if (list.length < least) assert.fail(`fewer than ${least} records in ${segment}`);
    return list;
  }

  /** Creates a product; it is deleted after the check. */
  async create(body: unknown, call: CallOptions = {}): Promise<ContractResponse> {
    const headers = { 'Idempotency-Key': `contract-${randomUUID()}`, ...call.headers };
    const response = await this.send('/products', { ...call, method: 'POST', body, headers });
    if (response.status >= 200 && response.status < 300) this.#created.push(response.record.id);
    return response;
  }

  /** A product to work with. */
  async product(body: Readonly<Record<string, unknown>> = {}): Promise<ServiceRecord> {
    return (await this.create({ name: 'Contract check', ...body })).record;
  }

  update(id: string, body: unknown, call: CallOptions = {}): Promise<ContractResponse> {
    return this.send(`/products/${encodeURIComponent(id)}`, { method: 'PATCH', body, ...call });
  }

  delete(id: string, call: CallOptions = {}): Promise<ContractResponse> {
    return this.send(`/products/${encodeURIComponent(id)}`, { method: 'DELETE', ...call });
  }

  key(name: keyof Target['keys']): string {
    return this.target.keys[name];
  }

  /** Deletes the created products. One that is already deleted is ignored. */
  async deleteCreated(): Promise<void> {
    for (const id of new Set(this.#created.splice(0))) {
      const { status } = await this.delete(id);
      assert.ok(status < 300 || status === 404, `product ${id} could not be deleted: ${status}`);
    }
  }
}
