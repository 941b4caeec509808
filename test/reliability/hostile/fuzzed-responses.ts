import { inspect, isDeepStrictEqual } from 'node:util';
import { isAccountingError } from 'accounting-data-sdk';
import { echoHeaders, echoMembers, formsOf } from '../../support/echoes.ts';
import { product } from '../../support/records.ts';
import { networkError, noResponse } from '../../support/scripted-fetch.ts';
import { SeededRandom } from '../../support/seeded-random.ts';
import { shown } from '../../support/shown.ts';

export const CALLS = ['list', 'get', 'find', 'create', 'update', 'delete'] as const;
export type CallKind = (typeof CALLS)[number];

/** Every character that looks different in a URL or in quoted JSON. */
export const API_KEYS = ['fuzz/key+"1"=first%', 'fuzz/key+"2"=second%'] as const;

/** More bytes than this in a response are too many: the client option of every fuzzed call. */
export const MAX_BODY_BYTES = 4_096;

/** How a response arrives. */
export type Ending =
  /** Whole. */
  | 'whole'
  /** The connection breaks after `sent` bytes of the body. */
  | 'broken'
  /** Nothing follows after `sent` bytes, and the connection stays open. */
  | 'stalled'
  /** The body ends after `sent` bytes without an error. */
  | 'short'
  /** A custom `fetch` has a stream of something other than bytes. */
  | 'no_bytes';

/** How no response arrives; a request that is `unsent` does not reach the service. */
const LOSSES = ['unsent', 'reset', 'stalled', 'late', 'thrown', 'not_a_response'] as const;
export type Loss = (typeof LOSSES)[number];

export interface FuzzedResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly ending: Ending;
  /** Bytes of the body that are sent. */
  readonly sent: number;
  /** A `fetch` that followed a redirect, or a browser's opaque one. */
  readonly redirect?: 'followed' | 'opaque' | undefined;
}

export type Fuzzed = { readonly loss: Loss } | FuzzedResponse;

interface Drawn {
  readonly fuzzed: Fuzzed;
  /** Whether the service processes the request. */
  readonly commits: boolean;
  /** Whether the response can only mean that it did not. */
  readonly rejects?: boolean;
  /** Whether the response is the service's own 2xx. */
  readonly succeeds?: boolean;
}

export interface FuzzedRequest {
  readonly method: string;
  readonly url: string;
  readonly apiKey: string;
  readonly idempotencyKey: string | undefined;
  readonly body: string | undefined;
}

const record = { ...product, unknownField: { deep: [1, null] } };
/** What the list contains, page by page. */
const PAGES: readonly (readonly object[])[] = [
  [{ id: '1', name: 'Cash' }, { id: '2' }, { id: '3', balance: '1.0000' }],
  [{ id: '4' }, { id: '5' }],
];

const PAGE_TYPES = ['text/html; charset=utf-8', 'text/html', 'application/xhtml+xml', 'text/xml'];
/** Types of a 2xx of the service. */
const SERVICE_TYPES = ['application/json; charset=utf-8', 'application/ld+json', undefined, 'text/plain'];
const REJECTIONS = [
  400, 401, 402, 403, 404, 404, 405, 406, 409, 409, 410, 411, 412, 413, 415, 417, 418, 421, 422, 422, 423,
  424, 425, 426, 428, 429, 429, 431, 451,
];
const OUTAGES = [408, 500, 500, 501, 502, 503, 503, 504, 505, 506, 507, 508, 511, 520, 524, 599];
/** The types that decide what a status means for the request, and some that do not. */
const ERROR_TYPES = ['not_found', 'validation_failed', 'rate_limited', 'unauthenticated', '', undefined, 7];

const TODAY = 'Sat, 31 Jan 2026 12:00:00 GMT';
/** Headers that mean something to the client, in good forms and bad. */
const HEADERS: Readonly<Record<string, readonly string[]>> = {
  'retry-after': ['0', '1', '2', '99999999999', '-1', '1.5', 'soon', '', TODAY, ' 1 '],
  'x-ratelimit-limit': ['100', '1', '0', '-1', 'many', '1e3', '99999999999999999999'],
  'x-ratelimit-remaining': ['99', '1', '0', '-1', 'none', ''],
  date: [TODAY, 'Mon, 30 Feb 2026 24:00:00 GMT', 'today', 'Thu Jan  1 00:00:00 1970'],
  age: ['0', '5', '-1', 'x'],
  location: ['/elsewhere', 'https://evil.example/', '//', 'http://['],
};

/**
 * One call, and the service that responds to it at random. The service decides for itself whether it carries a request
 * out, as a real one may before a 5xx or a lost response, and records it: the judgement compares this with the error.
 */
export class FuzzedCall {
  readonly kind: CallKind;
  readonly seed: number;
  readonly random: SeededRandom;
  /** Whether the client may send a write again that the service may have applied. */
  readonly mayRepeat: boolean;
  /** The last responses, for the report of a failure. */
  readonly log: string[] = [];
  readonly #keys = new Set<string | undefined>();
  readonly #bodies = new Set<string | undefined>();
  /** Records that a service created which honours the key. */
  readonly #createdByKey = new Map<string | undefined, string>();
  /** Requests that were applied, by URL: each page of a list is a call of its own. */
  readonly #committed = new Set<string>();
  #commits = 0;
  /** JSON values of the service's own 2xx that were sent whole. */
  readonly #served: unknown[] = [];
  #reached = false;
  /** Whether any response left open what the service did, or was a 2xx. */
  #uncertain = false;
  #succeeded = false;
  #exists: boolean;
  /** How often a request gets a correct response. */
  readonly #health: number;
  #lastUrl = '';
  #apiKey = '';

  constructor(kind: CallKind, seed: number) {
    this.kind = kind;
    this.seed = seed;
    // The same seed gives each kind of call other responses.
    this.random = new SeededRandom(seed * CALLS.length + CALLS.indexOf(kind));
    this.mayRepeat = this.random.chance(0.8);
    this.#exists = this.random.chance(0.9);
    this.#health = this.random.pick([0, 0, 0, 0.5]);
  }

  respond(request: FuzzedRequest): Fuzzed {
    this.#apiKey = request.apiKey;
    // A PATCH that got no record back is followed by a GET of the same URL, which commits nothing.
    const isReread = this.kind === 'update' && request.method === 'GET';
    if (!isReread) {
      this.#lastUrl = request.url;
      this.#keys.add(request.idempotencyKey);
      this.#bodies.add(request.body);
    }
    const { fuzzed, commits, rejects, succeeds } = this.#draw(request);
    this.log.push(
      `${request.method} ${describe(fuzzed)}${commits ? ' [done]' : ''}${succeeds ? ' [service]' : ''}`,
    );
    if (!isUnsent(fuzzed)) {
      this.#reached = true;
      if (rejects !== true) this.#uncertain = true;
    }
    if (commits && !isReread) this.#commit(request);
    if (succeeds && !isReread) this.#succeeded = true;
    if (succeeds && 'body' in fuzzed && fuzzed.sent >= fuzzed.body.length) {
      try {
        this.#served.push(JSON.parse(fuzzed.body.toString()));
      } catch {
        // Not every body is JSON.
      }
    }
    return fuzzed;
  }

  #commit({ url, idempotencyKey }: FuzzedRequest): void {
    this.#committed.add(url);
    this.#commits += 1;
    if (this.kind === 'create') this.#createdByKey.set(idempotencyKey, record.id);
    if (this.kind === 'delete') this.#exists = false;
  }

  #draw(request: FuzzedRequest): Drawn {
    const { random } = this;
    if (random.chance(this.#health)) return { fuzzed: this.#good(request), commits: true, succeeds: true };
    const draw = random.next();
    if (draw < 0.3) return { fuzzed: this.#success(request), commits: true, succeeds: true };
    if (draw < 0.42) return { fuzzed: this.#page(), commits: random.chance(0.3) };
    if (draw < 0.5) return this.#redirect();
    if (draw < 0.72) return this.#rejection();
    if (draw < 0.86) return { fuzzed: this.#error(random.pick(OUTAGES)), commits: random.chance(0.4) };

    const loss = random.pick(LOSSES);
    return { fuzzed: { loss }, commits: !isUnsent({ loss }) && random.chance(0.5) };
  }

  #good({ url }: FuzzedRequest): FuzzedResponse {
    const body = Buffer.from(JSON.stringify(this.kind === 'list' ? pageOf(url) : record));
    const headers = { 'content-type': 'application/json' };
    return { status: 200, headers, body, ending: 'whole', sent: body.length };
  }

  /** The service's own 2xx: it processed the request, whatever becomes of the body. */
  #success({ method, url }: FuzzedRequest): Fuzzed {
    const { random } = this;
    const status = random.pick([200, 200, 200, 201, 201, 202, 203, 204, 205, 206, 226, 299]);
    const good = this.kind === 'list' ? pageOf(url) : record;
    const text = JSON.stringify(good);
    const other = [
      '',
      text.slice(0, random.int(1, text.length - 1)),
      JSON.stringify(Array.isArray(good) ? (good[0] ?? {}) : [good]),
      JSON.stringify({ ...record, salePrice: 129 }),
      JSON.stringify({ ...record, id: this.#apiKey, tags: this.#apiKey }),
      JSON.stringify([{ name: this.#apiKey }, { id: 7 }, null]),
      'null',
      '7',
      '[[]]',
      'OK',
      '['.repeat(2_000),
      `{"id":"42","tags":${'['.repeat(900)}${']'.repeat(900)},"salePrice":{}}`,
      JSON.stringify({ ...record, description: 'x'.repeat(MAX_BODY_BYTES) }),
    ];
    const isWrong = random.chance(method === 'DELETE' ? 0.7 : 0.45);
    const body =
      isWrong && random.chance(0.1)
        ? Buffer.from(text.replace('{', '{"é":1,'), 'latin1')
        : Buffer.from(isWrong ? random.pick(other) : text);
    // Frameworks name HTML as the type of a response without a body.
    const odd = body.length === 0 ? ['text/html'] : SERVICE_TYPES;
    const type = random.chance(0.8) ? 'application/json' : random.pick(odd);
    const response = this.#response(status, type, body);
    return response.body.length > 0 && random.chance(0.03)
      ? { ...response, ending: 'no_bytes', sent: 0 }
      : response;
  }

  /** A page of a captive portal or a proxy in the place of the service's response. */
  #page(): Fuzzed {
    const { random } = this;
    const page = random.pick([
      '<!doctype html><h1>Sign in</h1>',
      `\ufeff<html><p>${this.#apiKey}</p></html>`,
      `${'\r\n '.repeat(200)}<!-- page --><html></html>`,
      '<?xml version="1.0"?><error/>',
      `<html>${'<p>Sign in</p>'.repeat(500)}</html>`,
    ]);
    const body = random.chance(0.2)
      ? Buffer.from(page.replace('<h', '<!-- Zugang für Gäste --><h'), 'latin1')
      : Buffer.from(page);
    const type = random.pick([...PAGE_TYPES, undefined, 'application/json', 'text/plain']);
    const response = this.#response(random.pick([200, 200, 200, 201, 202, 203]), type, body);
    if (response.sent > body.indexOf('<')) return response;
    // Nothing of the body arrives: only the headers show that it is a page, and only the connection that it has a body.
    const ending = response.ending === 'short' ? 'broken' : response.ending;
    return { ...response, ending, headers: { ...response.headers, 'content-type': random.pick(PAGE_TYPES) } };
  }

  #redirect(): Drawn {
    const { random } = this;
    const redirect = random.pick([undefined, undefined, undefined, 'followed', 'opaque'] as const);
    // Of an opaque redirect only a browser knows the status.
    const status = redirect === 'opaque' ? 302 : random.pick([300, 301, 302, 303, 304, 305, 307, 308, 399]);
    const fuzzed = this.#response(
      redirect === 'followed' ? 200 : status,
      random.pick(PAGE_TYPES),
      Buffer.from('<a/>'),
    );
    const rejects = redirect === undefined && (status === 301 || status === 307 || status === 308);
    return { fuzzed: { ...fuzzed, redirect }, commits: !rejects && random.chance(0.5), rejects };
  }

  /** A 4xx: not applied. */
  #rejection(): Drawn {
    const { random } = this;
    const canBeMissing = this.kind === 'delete' || this.kind === 'find';
    const status = canBeMissing && random.chance(0.4) ? random.pick([404, 410]) : random.pick(REJECTIONS);
    if (canBeMissing && (status === 404 || status === 410)) {
      // The service says only of a record that does not exist that it does not; a router or a proxy may say anything.
      const body = this.#exists
        ? random.pick(['{"type":"route_not_found"}', '{"message":"no route"}', '<h1>404</h1>', ''])
        : random.pick(['{"type":"not_found"}', '{"title":"Not Found","status":404}']);
      return {
        fuzzed: this.#response(status, 'application/problem+json', Buffer.from(body)),
        commits: false,
        rejects: true,
      };
    }
    if (status === 409 && random.chance(0.5)) {
      // The first request with the key still runs: it may end well.
      const body = Buffer.from('{"type":"/errors/request_in_progress","status":409}');
      const headers = { 'content-type': 'application/problem+json' };
      const fuzzed = { status, headers, body, ending: 'whole', sent: body.length } as const;
      return { fuzzed, commits: random.chance(0.5) };
    }
    return { fuzzed: this.#error(status), commits: false, rejects: true };
  }

  #error(status: number): FuzzedResponse {
    const { random } = this;
    const problem = JSON.stringify({
      ...echoMembers(this.#apiKey),
      type: random.pick<unknown>([...ERROR_TYPES, this.#apiKey]),
      status,
      ...random.pick([{}, {}, { title: 5, detail: [] }, { violations: [null, 7, { message: {} }] }]),
    });
    const other = [
      problem.slice(0, random.int(0, problem.length)),
      '',
      '<html>502</html>',
      'null',
      '[]',
      this.#apiKey,
      '{"a":'.repeat(3_000),
      'x'.repeat(MAX_BODY_BYTES * 2),
      `{"type":"forbidden","detail":${'['.repeat(900)}${']'.repeat(900)}}`,
    ];
    const body = random.chance(0.3) ? problem : random.pick(other);
    const type = random.pick(['application/problem+json', 'application/json', 'text/html', undefined]);
    const encoding = random.chance(0.05) ? 'latin1' : 'utf8';
    return this.#response(status, type, Buffer.from(body, encoding));
  }

  #response(status: number, type: string | undefined, wanted: Buffer): FuzzedResponse {
    const { random } = this;
    const headers: Record<string, string> = type === undefined ? {} : { 'content-type': type };
    if (random.chance(0.15)) Object.assign(headers, echoHeaders(this.#apiKey));
    for (const [name, values] of Object.entries(HEADERS))
      if (random.chance(0.15)) headers[name] = random.pick(values);
    const body = [204, 205, 304].includes(status) ? Buffer.alloc(0) : wanted;
    const ending = random.chance(0.7) ? 'whole' : random.pick(['broken', 'stalled', 'short'] as const);
    if (ending === 'whole' || body.length === 0) {
      return { status, headers, body, ending: 'whole', sent: body.length };
    }
    return { status, headers, body, ending, sent: random.int(0, body.length - 1) };
  }

  /** What is wrong about how the call ended; empty if nothing is. */
  judge(end: { readonly value: unknown } | { readonly error: unknown }): string[] {
    const wrong: string[] = [];
    if (this.#keys.size > 1) wrong.push('sent more than one idempotency key');
    if (this.#bodies.size > 1)
      wrong.push(
        `sent more than one body: ${[...this.#bodies].map((body) => JSON.stringify(body)).join(' and ')}`,
      );
    if (this.#createdByKey.size > 1) wrong.push('made the service create a second record');
    const isWrite = this.kind === 'create' || this.kind === 'update';
    if (isWrite && !this.mayRepeat && this.#commits > 1) wrong.push('sent a write again without leave');
    if ('value' in end) wrong.push(...this.#judgeValue(end.value));
    else wrong.push(...this.#judgeError(end.error));
    return wrong;
  }

  #judgeValue(value: unknown): string[] {
    if (this.kind === 'delete') return this.#exists ? ['resolved a delete, although the record exists'] : [];
    if (this.kind === 'find' && value === undefined) {
      return this.#exists ? ['found nothing, although the record exists'] : [];
    }
    if (!this.#succeeded) return ['resolved without a 2xx of the service'];
    if (this.kind === 'list') {
      return isDeepStrictEqual(value, PAGES.flat()) ? [] : ['resolved with other records than the list has'];
    }
    const isServed = this.#served.some((served) => isDeepStrictEqual(served, value));
    return isServed ? [] : ['resolved with another record than the service sent'];
  }

  #judgeError(error: unknown): string[] {
    if (!isAccountingError(error)) return [`rejected with an untyped error: ${inspect(error)}`];
    const wrong: string[] = [];
    const { outcome } = error;
    const isCommitted = this.#committed.has(this.#lastUrl);
    if (outcome === 'applied' && !isCommitted) wrong.push('says applied of what was not');
    if ((outcome === 'rejected' || outcome === 'not_sent') && isCommitted)
      wrong.push(`says ${outcome} of what was applied`);
    if (outcome === 'not_sent' && this.#reached && this.kind !== 'list')
      wrong.push('says not_sent of what was sent');
    const isKnown = outcome === 'not_sent' || outcome === 'rejected';
    if (!this.#uncertain && !isKnown)
      wrong.push(`says ${outcome} of what the service can only have rejected`);
    if (this.kind === 'create' && this.#keys.size > 0 && !this.#keys.has(error.idempotencyKey))
      wrong.push('does not name the idempotency key');
    // Printing everything takes long, so most errors are printed as usual.
    const text =
      this.seed % 20 === 0 ? shown(error) : `${JSON.stringify(error)}\n${inspect(error)}\n${error.stack}`;
    if (SECRETS.some((secret) => text.includes(secret))) wrong.push('shows the API key');
    return wrong;
  }
}

const SECRETS = API_KEYS.flatMap(formsOf);

function isUnsent(fuzzed: Fuzzed): boolean {
  return 'loss' in fuzzed && fuzzed.loss === 'unsent';
}

function pageOf(url: string): readonly object[] {
  const page = Number(new URL(url, 'http://localhost').searchParams.get('_page') ?? 1);
  return PAGES[page - 1] ?? [];
}

function describe(fuzzed: Fuzzed): string {
  if ('loss' in fuzzed) return fuzzed.loss;
  const { status, headers, body, ending, sent, redirect = '' } = fuzzed;
  const text = body.subarray(0, 60).toString();
  return `${status} ${JSON.stringify(headers)} ${JSON.stringify(text)} ${ending} ${sent}/${body.length} ${redirect}`;
}

interface FetchCircumstances {
  readonly signal: AbortSignal;
  readonly apiKey: string;
  readonly random: SeededRandom;
}

/** The response as a custom `fetch` would return it, or the way in which it would not. */
export function throughFetch(
  fuzzed: Fuzzed,
  { signal, apiKey, random }: FetchCircumstances,
): Promise<Response> {
  if ('loss' in fuzzed) return lostFetch(fuzzed.loss, { signal, apiKey, random });

  const { status, redirect, headers } = fuzzed;
  const hasNoBody = [204, 205, 304].includes(status);
  const response = new Response(hasNoBody ? null : bodyStream(fuzzed, random), { status, headers });
  if (redirect === 'followed') Object.defineProperty(response, 'redirected', { value: true });
  if (redirect === 'opaque') {
    Object.defineProperties(response, { type: { value: 'opaqueredirect' }, status: { value: 0 } });
  }
  return Promise.resolve(response);
}

function bodyStream(
  { body, ending, sent }: FuzzedResponse,
  random: SeededRandom,
): ReadableStream<Uint8Array> {
  let at = 0;
  const step = random.chance(0.5) ? Math.max(1, sent) : random.int(1, 1 + sent);
  return new ReadableStream({
    pull(controller) {
      if (at < sent) {
        controller.enqueue(new Uint8Array(body.subarray(at, Math.min(sent, at + step))));
        at += step;
        return undefined;
      }
      if (ending === 'no_bytes') controller.enqueue('no bytes' as unknown as Uint8Array);
      if (ending === 'stalled') return new Promise(() => {});
      if (ending === 'broken') controller.error(new TypeError('terminated'));
      else controller.close();
      return undefined;
    },
  });
}

const UNSENT = [
  'ECONNREFUSED',
  'ENOTFOUND',
  'EHOSTUNREACH',
  'CERT_HAS_EXPIRED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
];
const RESET = [
  'ECONNRESET',
  'UND_ERR_SOCKET',
  'EPIPE',
  'UND_ERR_HEADERS_TIMEOUT',
  'HPE_INVALID_CONSTANT',
  '',
];

async function lostFetch(loss: Loss, { signal, apiKey, random }: FetchCircumstances): Promise<Response> {
  switch (loss) {
    case 'unsent':
      throw networkError(random.pick(UNSENT), `header ${apiKey}`);
    case 'reset':
      throw networkError(random.pick(RESET), `header ${apiKey}`);
    case 'stalled':
      return noResponse(signal);
    case 'late':
      // Ignores the signal, and responds when the attempt has been given up.
      return new Promise((resolve) => {
        signal.addEventListener('abort', () => resolve(Response.json(record)));
      });
    case 'thrown':
      throw random.pick<unknown>([
        undefined,
        null,
        apiKey,
        {},
        new Error(apiKey),
        new DOMException('x', 'AbortError'),
        new AggregateError([new Error(apiKey)]),
      ]);
    case 'not_a_response':
      return random.pick<unknown>([undefined, null, {}, { status: 200 }, 'ok', record]) as Response;
  }
}
