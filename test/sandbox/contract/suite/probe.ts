import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { Answer, type Rec } from './answer.ts';
import type { Target } from './target.ts';

/** A request beyond a plain GET with the main key. */
export interface Asked {
  readonly method?: string;
  /** Null for none. Default: the main key. */
  readonly key?: string | null | undefined;
  /** A text goes out as it is, anything else as JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Instead of `v1`. */
  readonly version?: string;
}

/** Query parameters; undefined ones are left out. */
export type Query = Readonly<Record<string, string | undefined>>;

/** The check cannot tell anything about this service: there is nothing in it to look at. */
export class NotApplicable extends Error {}

/**
 * An id that no record has. The last but one that a 32-bit column holds: a larger one gets a 500 from a service with
 * such a column.
 */
export const UNKNOWN_ID = '2147483646';

/** Where every path of the contract begins. */
const API = '/api/public';

/** Pages that a check walks before it gives up: a check is no load test. */
const MOST_PAGES = 60;

/** Asks a service, and clears up what it has made. */
export class Probe {
  readonly target: Target;
  readonly #created: string[] = [];

  constructor(target: Target) {
    this.target = target;
  }

  async ask(path: string, asked: Asked = {}): Promise<Answer> {
    const { method = 'GET', key = this.target.keys.main, body, version = 'v1' } = asked;
    const headers: Record<string, string> = { Accept: 'application/json' };
    if (key !== null) headers['X-AUTH-TOKEN'] = key;
    if (body !== undefined) headers['Content-Type'] = 'application/json';
    Object.assign(headers, asked.headers);
    const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
    const init = {
      method,
      headers,
      redirect: 'manual' as const,
      ...(text === undefined ? {} : { body: text }),
    };
    const response = await this.target.send(`${this.target.baseUrl}${API}/${version}${path}`, init);
    return new Answer(`${method} ${path}`, response, await response.text());
  }

  list(segment: string, query: Query = {}, asked: Asked = {}): Promise<Answer> {
    const given = Object.entries(query).filter(([, value]) => value !== undefined) as [string, string][];
    const text = new URLSearchParams(given).toString();
    return this.ask(`/${segment}${text === '' ? '' : `?${text}`}`, asked);
  }

  get(segment: string, id: string, asked: Asked = {}): Promise<Answer> {
    return this.ask(`/${segment}/${encodeURIComponent(id)}`, asked);
  }

  /** Every record of a list, page by page to the end. */
  async walk(segment: string, query: Query = {}): Promise<readonly Rec[]> {
    const records: Rec[] = [];
    for (let page = 1; page <= MOST_PAGES; page += 1) {
      const answer = await this.list(segment, { ...query, _page: String(page) });
      // Past the end an empty page or a 404: not shown.
      if (page > 1 && answer.status === 404) return records;
      if (answer.list.length === 0) return records;
      records.push(...answer.list);
    }
    throw new NotApplicable(`more than ${MOST_PAGES} pages`);
  }

  /** The first page of a collection, which must hold something to be looked at. */
  async some(segment: string, least = 1, asked: Asked = {}): Promise<readonly Rec[]> {
    const { list } = await this.list(segment, {}, asked);
    if (list.length < least) throw new NotApplicable(`fewer than ${least} records in ${segment}`);
    return list;
  }

  /** Sends a create; what comes of it is deleted in the end. */
  async create(body: unknown, asked: Asked = {}): Promise<Answer> {
    const headers = { 'Idempotency-Key': `contract-${randomUUID()}`, ...asked.headers };
    const answer = await this.ask('/products', { ...asked, method: 'POST', body, headers });
    if (answer.status >= 200 && answer.status < 300) this.#created.push(answer.record.id);
    return answer;
  }

  /** A product to work with. */
  async product(body: Readonly<Record<string, unknown>> = {}): Promise<Rec> {
    return (await this.create({ name: 'Contract check', ...body })).record;
  }

  update(id: string, body: unknown, asked: Asked = {}): Promise<Answer> {
    return this.ask(`/products/${encodeURIComponent(id)}`, { method: 'PATCH', body, ...asked });
  }

  delete(id: string, asked: Asked = {}): Promise<Answer> {
    return this.ask(`/products/${encodeURIComponent(id)}`, { method: 'DELETE', ...asked });
  }

  /** A key that the check has said that it needs. */
  key(name: keyof Target['keys']): string {
    const key = this.target.keys[name];
    assert.ok(key !== undefined, `there is no key ${name}`);
    return key;
  }

  /** Deletes what was made. A record that is gone already is none of this. */
  async clearUp(): Promise<void> {
    for (const id of new Set(this.#created.splice(0))) {
      let answer = await this.delete(id);
      if (answer.status === 429) {
        await this.target.wait(Number(answer.headers.get('retry-after') ?? 1) * 1000);
        answer = await this.delete(id);
      }
      const gone = answer.status < 300 || answer.status === 404;
      assert.ok(gone, `product ${id}, made by this check, could not be deleted again: ${answer.status}`);
    }
  }
}
