import { type ClientOptions, createClient } from 'accounting-data-sdk';
import { jsonResponse, newOrigin, problemResponse } from '../../support/scripted-fetch.ts';

export type Row = Record<string, unknown> & { readonly id: string };

/** A request as a hook sees it. */
export interface Call {
  readonly segment: string;
  /** Of a request for one record. */
  readonly id: string | undefined;
  readonly query: URLSearchParams;
  /** Which list request it is, from 1. */
  readonly count: number;
  /** The rows that the service would list, before they are cut into pages. */
  readonly rows: readonly Row[];
}

/** Another response in place of that of the service: rows, or a whole one. */
export type Hook = (call: Call) => readonly Row[] | Response | undefined;

interface ServiceOptions {
  readonly data: Record<string, Row[]>;
  readonly pageSize?: number;
  readonly hook?: Hook;
}

/** Rows with the ids `from` … `to`, or with those that are given. */
export function rows(from: number, to: number, more: (id: number) => object = () => ({})): Row[] {
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, n) => row(String(from + n), more(from + n)));
}

export const row = (id: string, more: object = {}): Row => ({
  id,
  name: `N${id}`,
  productNumber: `P${id}`,
  createdAt: '2026-01-01T00:00:00Z',
  updatedAt: '2026-01-01T00:00:00Z',
  ...more,
});

/** A service of a few lines that lists rows in the order in which they are, with a hook that makes it behave oddly. */
export function serviceOf({ data, pageSize = 30, hook = () => undefined }: ServiceOptions) {
  const log: string[] = [];
  let lists = 0;
  const respond = (method: string, url: URL, body: unknown): Response => {
    const [segment = '', id] = url.pathname
      .replace(/^.*\/v1\//, '')
      .split('/')
      .map(decodeURIComponent);
    data[segment] ??= [];
    const all = data[segment];
    const query = url.searchParams;
    const listed = all.filter((one) => isListed(one, query));
    if (id === undefined && method === 'GET') lists += 1;
    const instead = method === 'GET' ? hook({ segment, id, query, count: lists, rows: listed }) : undefined;
    if (instead instanceof Response) return instead;
    if (method === 'POST') {
      const made = row(`${100_000 + all.length}`, body as object);
      all.push(made);
      return jsonResponse(made, 201);
    }
    if (id !== undefined) {
      const [found] = all.filter((one) => one.id === id);
      return found === undefined ? notFound() : jsonResponse(found);
    }
    const page = Number(query.get('_page') ?? 1);
    return jsonResponse(instead ?? listed.slice((page - 1) * pageSize, page * pageSize));
  };
  const client = (options: ClientOptions = {}) =>
    createClient({
      baseUrl: newOrigin(),
      apiKey: 'key-of-the-company',
      rateLimiter: false,
      retry: { baseDelayMs: 0, maxDelayMs: 0 },
      async fetch(url, { method = 'GET', body }) {
        log.push(`${method} ${decodeURIComponent(url.slice(url.indexOf('/v1/') + 4))}`);
        return respond(method, new URL(url), typeof body === 'string' ? JSON.parse(body) : undefined);
      },
      ...options,
    });
  return { data, log, client };
}

export const notFound = () => problemResponse(404, { type: 'not_found', title: 'Not found' });

function isListed({ id, updatedAt }: Row, query: URLSearchParams): boolean {
  const compare = (bound: string) => (Number(id) === Number(bound) ? 0 : Number(id) < Number(bound) ? -1 : 1);
  const passes = (name: string, test: (order: number) => boolean) => {
    const bound = query.get(`id[${name}]`);
    return bound === null || test(compare(bound));
  };
  const since = query.get('updatedSince');
  return (
    passes('gt', (order) => order > 0) &&
    passes('gte', (order) => order >= 0) &&
    passes('lt', (order) => order < 0) &&
    passes('lte', (order) => order <= 0) &&
    (since === null || Date.parse(String(updatedAt)) >= Date.parse(since))
  );
}
