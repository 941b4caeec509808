// A service of products with the traits that make doubles: late commits, replicas that lag, stored errors, ignored
// idempotency keys, reused ids. Within `visibleAfterMs` each write is carried out and shown.

import { jsonResponse, networkError } from '../../../support/scripted-fetch.ts';
import type { SeededRandom } from '../../../support/seeded-random.ts';
import { after, later } from './process.ts';

/** What happens to one request. */
export type Fault =
  /** No connection. */
  | 'unsent'
  /** The connection breaks before the request is carried out, or after it. */
  | 'lost_before'
  | 'lost_after'
  /** A gateway or the service rejects it. */
  | '503'
  | '429'
  /** An error instead of carrying it out, or after it. A service can store it for the idempotency key. */
  | '500'
  | '500_after'
  /** It is carried out late; a gateway gives up before. */
  | 'slow'
  | 'gateway'
  /** A 2xx without the record. */
  | 'empty'
  | 'cut'
  /** A 2xx that reports a failure. */
  | 'false';

export const FAULTS: readonly Fault[] = [
  ...(['unsent', 'lost_before', 'lost_after', '503', '429', '500', '500_after'] as const),
  ...(['slow', 'slow', 'gateway', 'empty', 'cut', 'false'] as const),
];

export interface ServiceTraits {
  readonly visibleAfterMs: number;
  readonly honoursKeys: boolean;
  /** Errors that are stored for an idempotency key and returned again. */
  readonly stores5xx: boolean;
  readonly stores422: boolean;
  /** The form in which a key is stored. */
  readonly keyForm: 'as_sent' | 'trimmed' | 'upper';
  /** `forms`: a list has whole seconds. `changes`: an update sets it. */
  readonly createdAt: 'sent' | 'missing' | 'changes' | 'forms';
  readonly reusesIds: boolean;
  /** Which route shows a write late. */
  readonly lags: 'list' | 'item' | 'both';
  /** How many creates take long. */
  readonly slowness: number;
  /** How long the response to a write takes otherwise, on average. */
  readonly writeMs: number;
}

/** A product as it is from one moment on. */
interface Version {
  readonly listedAt: number;
  readonly foundAt: number;
  readonly key: string | null;
  readonly name: string;
  readonly createdAt: number;
}

export interface Product {
  readonly id: string;
  /** Who created it; `other` for another writer. */
  readonly by: string;
  /** The key that it was created with, in one form. */
  readonly origin: string;
  readonly versions: Version[];
  /** Another writer has changed its key. */
  isRenumbered: boolean;
  goneAt: number;
}

/** The form of a key by which products are told apart. */
export const formOf = (key: string | null) => (key ?? '').trim().toLowerCase();

interface Draft {
  readonly productNumber?: string | null;
  readonly name?: string;
  /** Not valid. */
  readonly status?: string;
}

type Stored = { readonly response: () => Response } | 'running';

export class Service {
  readonly products: Product[] = [];
  /** Until then each create gets a 500, which a service can store. */
  brokenUntil = 0;
  readonly #traits: ServiceTraits;
  readonly #random: SeededRandom;
  readonly #stored = new Map<string, Stored>();
  readonly #freeIds: string[] = [];
  #nextId = 1;

  constructor(traits: ServiceTraits, random: SeededRandom) {
    this.#traits = traits;
    this.#random = random;
  }

  get existing(): Product[] {
    return this.products.filter(({ goneAt }) => goneAt === Number.POSITIVE_INFINITY);
  }

  nowOf({ versions }: Product): Version {
    return versions.at(-1) as Version;
  }

  /** Another writer's changes are shown at once. */
  insert(key: string, name: string): Product {
    return this.#create({ productNumber: key, name }, 'other', 0);
  }

  change(product: Product, fields: Draft): void {
    if ('productNumber' in fields) product.isRenumbered = true;
    this.#update(product, fields, true);
  }

  remove(product: Product): void {
    product.goneAt = Date.now();
    if (this.#traits.reusesIds) this.#freeIds.push(product.id);
  }

  /** Answers one request of a process. */
  async respond(url: string, init: RequestInit, by: string, fault: Fault | undefined): Promise<Response> {
    const { pathname, searchParams } = new URL(url);
    const [, id] = pathname.replace(/^.*\/v1\//, '').split('/');
    const { method } = init;
    await after(this.#random.int(1, 30));
    if (method === 'GET') {
      const response = id === undefined ? this.#list(searchParams) : this.#get(id);
      await after(this.#random.int(1, 30));
      return response;
    }
    const headers = new Headers(init.headers);
    const body = JSON.parse(String(init.body)) as Draft;
    const key = headers.get('idempotency-key') ?? '';
    const carryOut =
      method === 'POST'
        ? (budgetMs: number) => this.#post(key, body, { by, budgetMs, fault })
        : () => this.#patch(id ?? '', body);
    return await this.#write(carryOut, method === 'POST' ? key : '', fault);
  }

  /** Carries out a write, with a fault. `budgetMs` is left to show it. */
  async #write(
    carryOut: (budgetMs: number) => Response,
    key: string,
    fault: Fault | undefined,
  ): Promise<Response> {
    const random = this.#random;
    const { visibleAfterMs, slowness, honoursKeys } = this.#traits;
    const totalMs = 0.95 * visibleAfterMs * random.next() * (random.chance(slowness) ? 1 : 0.02);
    switch (fault) {
      case 'unsent':
        throw networkError('ECONNREFUSED');
      case '503':
        return jsonResponse({ title: 'Down', status: 503 }, 503);
      case '429':
        return jsonResponse({ type: 'rate_limited', status: 429 }, 429, {
          'retry-after': `${random.int(0, 4)}`,
        });
      case 'lost_before':
        await after(100);
        throw networkError('ECONNRESET');
      case 'false':
        return jsonResponse({ success: false });
      case 'slow':
      case 'gateway': {
        const startsAfterMs = totalMs * random.next();
        // A second request under the key is told that the first is in progress.
        const isFirst = honoursKeys && key !== '' && !this.#stored.has(key);
        if (isFirst) this.#stored.set(key, 'running');
        const done = new Promise<Response>((resolve) => {
          later(() => {
            if (isFirst) this.#stored.delete(key);
            resolve(carryOut(totalMs - startsAfterMs));
          }, startsAfterMs);
        });
        if (fault === 'slow') return await done;
        await after(500);
        return jsonResponse({ title: 'Gateway Timeout', status: 504 }, 504);
      }
      default: {
        const response = carryOut(totalMs);
        await after(this.#traits.writeMs * (0.5 + random.next()));
        if (fault === 'lost_after') throw networkError('ECONNRESET');
        if (!response.ok || (fault !== 'empty' && fault !== 'cut')) return response;
        if (fault === 'empty') return new Response(null, { status: 201 });
        return new Response('{"id":', { status: 201, headers: { 'content-type': 'application/json' } });
      }
    }
  }

  #post(
    key: string,
    draft: Draft,
    {
      by,
      budgetMs,
      fault,
    }: { readonly by: string; readonly budgetMs: number; readonly fault: Fault | undefined },
  ): Response {
    const { honoursKeys, stores422, stores5xx } = this.#traits;
    const stored = honoursKeys ? this.#stored.get(key) : undefined;
    if (stored === 'running') return jsonResponse({ type: 'idempotency_in_progress', status: 409 }, 409);
    if (stored !== undefined) return stored.response();
    const answer = (response: () => Response, isStored: boolean) => {
      if (isStored) this.#stored.set(key, { response });
      return response();
    };
    const serverError = () => jsonResponse({ title: 'Error', status: 500 }, 500);
    if (draft.status === 'invalid')
      return answer(() => jsonResponse({ type: 'validation_failed', status: 422 }, 422), stores422);
    if (fault === '500' || Date.now() < this.brokenUntil) return answer(serverError, stores5xx);
    const product = this.#create(draft, by, budgetMs);
    const record = this.#recordOf(product, this.nowOf(product));
    const created = () => jsonResponse(record, 201);
    if (fault !== '500_after') return answer(created, true);
    this.#stored.set(key, { response: stores5xx ? serverError : created });
    return serverError();
  }

  #patch(id: string, fields: Draft): Response {
    const product = this.#find(id);
    if (product === undefined) return notFound();
    if (fields.status === 'invalid') return jsonResponse({ type: 'validation_failed', status: 422 }, 422);
    this.#update(product, fields, false);
    return jsonResponse(this.#recordOf(product, this.nowOf(product)));
  }

  #get(id: string): Response {
    const product = this.#find(id);
    const version = product && this.#versionOf(product, 'foundAt');
    if (product === undefined || version === undefined) return notFound();
    return jsonResponse(this.#recordOf(product, version));
  }

  #list(query: URLSearchParams): Response {
    const bound = (name: string, ifMissing: number) => Number(query.get(`id[${name}]`) ?? ifMissing);
    const isWithin = ({ id }: Product) =>
      Number(id) > bound('gt', -1) &&
      Number(id) >= bound('gte', -1) &&
      Number(id) < bound('lt', 1e9) &&
      Number(id) <= bound('lte', 1e9);
    const rows = this.products
      .filter((product) => isWithin(product) && product.goneAt > Date.now())
      .sort((a, b) => Number(a.id) - Number(b.id))
      .flatMap((product) => {
        const version = this.#versionOf(product, 'listedAt');
        const isCut = this.#traits.createdAt === 'forms';
        return version === undefined ? [] : [this.#recordOf(product, version, isCut)];
      });
    const page = Number(query.get('_page') ?? 1);
    return jsonResponse(rows.slice((page - 1) * PAGE, page * PAGE));
  }

  /** A product as a response shows it; `isCut`: without milliseconds. */
  #recordOf({ id }: Product, { key, name, createdAt }: Version, isCut = false) {
    const moment = new Date(isCut ? Math.floor(createdAt / 1_000) * 1_000 : createdAt).toISOString();
    const known = this.#traits.createdAt === 'missing' ? {} : { createdAt: moment };
    return { id, ...known, productNumber: key, name };
  }

  #find(id: string): Product | undefined {
    const isFound = (product: Product) =>
      product.id === id && product.goneAt > Date.now() && this.#versionOf(product, 'foundAt') !== undefined;
    return this.products.find(isFound);
  }

  #versionOf({ versions }: Product, route: 'listedAt' | 'foundAt'): Version | undefined {
    return versions.findLast((version) => version[route] <= Date.now());
  }

  #create({ productNumber, name = '' }: Draft, by: string, budgetMs: number): Product {
    const { lags, reusesIds } = this.#traits;
    const now = Date.now();
    const lag = (route: 'list' | 'item') =>
      lags === route || lags === 'both' ? budgetMs * this.#random.next() : 0;
    const id = (reusesIds ? this.#freeIds.pop() : undefined) ?? String(this.#nextId++);
    const version = {
      listedAt: now + lag('list'),
      foundAt: now + lag('item'),
      key: this.#keyOf(productNumber ?? null),
      name,
      createdAt: now,
    };
    const product: Product = {
      id,
      by,
      origin: formOf(productNumber ?? null),
      versions: [version],
      isRenumbered: false,
      goneAt: Number.POSITIVE_INFINITY,
    };
    this.products.push(product);
    return product;
  }

  #update(product: Product, fields: Draft, isOfOther: boolean): void {
    const { key, name, createdAt } = this.nowOf(product);
    const now = Date.now();
    const { productNumber = key } = fields;
    product.versions.push({
      listedAt: now,
      foundAt: now,
      key: isOfOther ? productNumber : this.#keyOf(productNumber),
      name: fields.name ?? name,
      createdAt: this.#traits.createdAt === 'changes' ? now : createdAt,
    });
  }

  #keyOf(key: string | null): string | null {
    const { keyForm } = this.#traits;
    if (key === null || keyForm === 'as_sent') return key;
    return keyForm === 'trimmed' ? key.trim() : key.toUpperCase();
  }
}

/** Products of a page. */
const PAGE = 30;

function notFound(): Response {
  return new Response(JSON.stringify({ type: 'not_found', title: 'Not found', status: 404 }), {
    status: 404,
    headers: { 'content-type': 'application/problem+json' },
  });
}
