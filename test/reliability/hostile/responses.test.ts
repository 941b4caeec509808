import { inspect, isDeepStrictEqual } from 'node:util';
import { type Client, createClient, type FetchFunction, isAccountingError } from 'accounting-data-sdk';
import { beforeAll, expect, test, vi } from 'vitest';
import { product } from '../../support/records.ts';
import { networkError, newOrigin, noResponse } from '../../support/scripted-fetch.ts';
import { settle } from '../../support/scripted-server.ts';
import { echoHeaders, echoMembers, formsOf, shown } from '../../support/secrets.ts';
import { SeededRandom } from '../../support/seeded-random.ts';
import { loadTransport } from '../../support/virtual-clock.ts';

/** Calls of each kind: SOAK_RESPONSES of them in the long form, SEED draws them again. */
const COUNT = Number(process.env.SOAK_RESPONSES ?? 200);
const SEED = Number(
  process.env.SEED ??
    (process.env.SOAK_RESPONSES === undefined ? 20260131 : Math.floor(Math.random() * 2 ** 31)),
);

const CALLS = ['list', 'get', 'find', 'create', 'update', 'delete'] as const;
type CallKind = (typeof CALLS)[number];

/** Every character that looks different in a URL or in quoted JSON. */
const API_KEYS = ['fuzz/key+"1"=first%', 'fuzz/key+"2"=second%'] as const;
const SECRETS = API_KEYS.flatMap(formsOf);

/** More bytes than this in a response are too many: the client option of every call. */
const MAX_BODY_BYTES = 4_096;

/**
 * How a response arrives: whole; broken off, stalled or short after `sent` bytes of its body; or as a stream of something
 * other than bytes, as only a `fetch` of the caller has it.
 */
type Ending = 'whole' | 'broken' | 'stalled' | 'short' | 'no_bytes';

/** How no response arrives. A request that is `unsent` does not reach the service. */
const LOSSES = ['unsent', 'reset', 'stalled', 'late', 'thrown', 'not_a_response'] as const;

interface FuzzedResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly ending: Ending;
  readonly sent: number;
  /** A `fetch` that followed a redirect, or a browser's opaque one. */
  readonly redirect?: 'followed' | 'opaque' | undefined;
}

interface Drawn {
  readonly response: (typeof LOSSES)[number] | FuzzedResponse;
  /** Whether the service processes the request. */
  readonly commits: boolean;
  /** Whether the response can only mean that it did not. */
  readonly rejects?: boolean;
  /** Whether the response is the service's own 2xx. */
  readonly succeeds?: boolean;
}

const record = { ...product, unknownField: { deep: [1, null] } };
/** What the list contains, page by page. */
const PAGES: readonly (readonly object[])[] = [
  [{ id: '1', name: 'Cash' }, { id: '2' }, { id: '3', balance: '1.0000' }],
  [{ id: '4' }, { id: '5' }],
];
const pageOf = (url: string) => PAGES[Number(new URL(url).searchParams.get('_page') ?? 1) - 1] ?? [];

const PAGE_TYPES = ['text/html; charset=utf-8', 'text/html', 'application/xhtml+xml', 'text/xml'];
const SUCCESSES = [200, 200, 200, 201, 201, 202, 203, 204, 205, 206, 226, 299];
const REDIRECTS = [300, 301, 302, 303, 304, 305, 307, 308, 399];
const REJECTIONS = [
  ...[
    400, 401, 402, 403, 404, 404, 405, 406, 409, 409, 410, 411, 412, 413, 415, 417, 418, 421, 422, 422, 423,
  ],
  ...[424, 425, 426, 428, 429, 429, 431, 451],
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
class FuzzedCall {
  readonly kind: CallKind;
  readonly seed: number;
  readonly random: SeededRandom;
  /** Whether the client may send a write again that the service may have applied. */
  readonly mayRepeat: boolean;
  /** The responses, for the report of a failure. */
  readonly log: string[] = [];
  /** What was sent, without the GET that follows a PATCH: keys and bodies. */
  readonly #keys = new Set<string | null>();
  readonly #bodies = new Set<unknown>();
  /** Keys under which a record was created: the service honours them. */
  readonly #created = new Set<string | null>();
  /** Requests that were applied, by URL: each page of a list is a call of its own. */
  readonly #committed: string[] = [];
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

  readonly fetch: FetchFunction = async (url, { method = '', headers, body, signal }) => {
    const sent = new Headers(headers);
    const key = sent.get('idempotency-key');
    this.#apiKey = sent.get('x-auth-token') ?? '';
    const { response, commits, rejects, succeeds } = this.#draw(url, method);
    const isLost = typeof response === 'string';
    const shownBody = isLost
      ? response
      : `${response.status} ${response.ending} ${response.body.subarray(0, 60)}`;
    this.log.push(`${method} ${shownBody} ${commits ? '[done]' : ''} ${succeeds ? '[service]' : ''}`);
    if (response !== 'unsent') {
      this.#reached = true;
      if (rejects !== true) this.#uncertain = true;
    }
    // A PATCH that got no record back is followed by a GET of the same URL, which commits nothing.
    if (this.kind !== 'update' || method !== 'GET') {
      this.#lastUrl = url;
      this.#keys.add(key);
      this.#bodies.add(body?.toString());
      if (commits) this.#committed.push(url);
      if (commits && this.kind === 'create') this.#created.add(key);
      if (commits && this.kind === 'delete') this.#exists = false;
      if (succeeds) this.#succeeded = true;
    }
    if (isLost) return await this.#lost(response, signal as AbortSignal);
    if (succeeds && response.sent === response.body.length)
      this.#served.push(parsed(response.body.toString()));
    return this.#received(response);
  };

  #draw(url: string, method: string): Drawn {
    const { random } = this;
    const text = JSON.stringify(this.kind === 'list' ? pageOf(url) : record);
    if (random.chance(this.#health)) {
      const body = Buffer.from(text);
      const headers = { 'content-type': 'application/json' };
      const response = { status: 200, headers, body, ending: 'whole', sent: body.length } as const;
      return { response, commits: true, succeeds: true };
    }
    const draw = random.next();
    if (draw < 0.3) return { response: this.#success(text, method), commits: true, succeeds: true };
    if (draw < 0.42) return { response: this.#page(), commits: random.chance(0.3) };
    if (draw < 0.5) return this.#redirect();
    if (draw < 0.72) return this.#rejection();
    if (draw < 0.86) return { response: this.#error(random.pick(OUTAGES)), commits: random.chance(0.4) };

    const response = random.pick(LOSSES);
    return { response, commits: response !== 'unsent' && random.chance(0.5) };
  }

  /** The service's own 2xx: it processed the request, whatever becomes of the body. */
  #success(text: string, method: string): FuzzedResponse {
    const { random } = this;
    const one = text.startsWith('[') ? JSON.stringify(parsed(text)) : `[${text}]`;
    const other = [
      ...[
        '',
        'null',
        '7',
        '[[]]',
        'OK',
        '['.repeat(2_000),
        one.slice(1, -1),
        text.slice(0, random.int(1, 9)),
      ],
      JSON.stringify({ ...record, salePrice: 129 }),
      JSON.stringify({ ...record, id: this.#apiKey, tags: this.#apiKey }),
      JSON.stringify([{ name: this.#apiKey }, { id: 7 }, null]),
      `{"id":"42","tags":${'['.repeat(900)}${']'.repeat(900)},"salePrice":{}}`,
      JSON.stringify({ ...record, description: 'x'.repeat(MAX_BODY_BYTES) }),
    ];
    const isWrong = random.chance(method === 'DELETE' ? 0.7 : 0.45);
    const body =
      isWrong && random.chance(0.1)
        ? Buffer.from(text.replace('{', '{"é":1,'), 'latin1')
        : Buffer.from(isWrong ? random.pick(other) : text);
    // Frameworks name HTML as the type of a response without a body.
    const types = ['application/json; charset=utf-8', 'application/ld+json', undefined, 'text/plain'];
    const odd = body.length === 0 ? ['text/html'] : types;
    const type = random.chance(0.8) ? 'application/json' : random.pick(odd);
    const response = this.#response(random.pick(SUCCESSES), type, body);
    const isOdd = response.body.length > 0 && random.chance(0.03);
    return isOdd ? { ...response, ending: 'no_bytes', sent: 0 } : response;
  }

  /** A page of a captive portal or a proxy in the place of the service's response. */
  #page(): FuzzedResponse {
    const { random } = this;
    const page = random.pick([
      `\ufeff<html><p>${this.#apiKey}</p></html>`,
      `${'\r\n '.repeat(200)}<!-- page --><html></html>`,
      '<?xml version="1.0"?><error/>',
      `<html>${'<p>Sign in</p>'.repeat(500)}</html>`,
    ]);
    const body = Buffer.from(page, random.chance(0.2) ? 'latin1' : 'utf8');
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
    const status = redirect === 'opaque' ? 302 : random.pick(REDIRECTS);
    const seen = redirect === 'followed' ? 200 : status;
    const response = { ...this.#response(seen, random.pick(PAGE_TYPES), Buffer.from('<a/>')), redirect };
    const rejects = redirect === undefined && [301, 307, 308].includes(status);
    return { response, commits: !rejects && random.chance(0.5), rejects };
  }

  /** A 4xx: not applied. */
  #rejection(): Drawn {
    const { random } = this;
    const canBeMissing = this.kind === 'delete' || this.kind === 'find';
    const status = canBeMissing && random.chance(0.4) ? random.pick([404, 410]) : random.pick(REJECTIONS);
    const rejects = { commits: false, rejects: true };
    const says = (text: string) => this.#response(status, 'application/problem+json', Buffer.from(text));
    if (canBeMissing && (status === 404 || status === 410)) {
      // The service says only of a record that does not exist that it does not; a router or a proxy may say anything.
      const text = this.#exists
        ? random.pick(['{"type":"route_not_found"}', '{"message":"no route"}', '<h1>404</h1>', ''])
        : random.pick(['{"type":"not_found"}', '{"title":"Not Found","status":404}']);
      return { response: says(text), ...rejects };
    }
    if (status !== 409 || random.chance(0.5)) return { response: this.#error(status), ...rejects };
    // The first request with the key still runs: it may end well.
    const running = says('{"type":"/errors/request_in_progress","status":409}');
    return {
      response: { ...running, ending: 'whole', sent: running.body.length },
      commits: random.chance(0.5),
    };
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
      ...['', '<html>502</html>', 'null', '[]', this.#apiKey, '{"a":'.repeat(3_000)],
      'x'.repeat(MAX_BODY_BYTES * 2),
      `{"type":"forbidden","detail":${'['.repeat(900)}${']'.repeat(900)}}`,
    ];
    const body = random.chance(0.3) ? problem : random.pick(other);
    const type = random.pick(['application/problem+json', 'application/json', 'text/html', undefined]);
    return this.#response(status, type, Buffer.from(body, random.chance(0.05) ? 'latin1' : 'utf8'));
  }

  #response(status: number, type: string | undefined, wanted: Buffer): FuzzedResponse {
    const { random } = this;
    const headers: Record<string, string> = type === undefined ? {} : { 'content-type': type };
    if (random.chance(0.15)) Object.assign(headers, echoHeaders(this.#apiKey));
    for (const [name, values] of Object.entries(HEADERS))
      if (random.chance(0.15)) headers[name] = random.pick(values);
    const body = [204, 205, 304].includes(status) ? Buffer.alloc(0) : wanted;
    const ending = random.chance(0.7) ? 'whole' : random.pick(['broken', 'stalled', 'short'] as const);
    if (ending === 'whole' || body.length === 0)
      return { status, headers, body, ending: 'whole', sent: body.length };
    return { status, headers, body, ending, sent: random.int(0, body.length - 1) };
  }

  /** The response as a custom `fetch` would return it. */
  #received({ status, headers, body, ending, sent, redirect }: FuzzedResponse): Response {
    const { random } = this;
    let at = 0;
    const step = random.chance(0.5) ? Math.max(1, sent) : random.int(1, 1 + sent);
    const stream = new ReadableStream({
      pull(controller) {
        if (at < sent) {
          controller.enqueue(new Uint8Array(body.subarray(at, Math.min(sent, at + step))));
          at += step;
          return undefined;
        }
        if (ending === 'no_bytes') controller.enqueue('no bytes');
        if (ending === 'stalled') return new Promise(() => {});
        if (ending === 'broken') controller.error(new TypeError('terminated'));
        else controller.close();
        return undefined;
      },
    });
    const response = new Response([204, 205, 304].includes(status) ? null : stream, { status, headers });
    if (redirect === 'followed') Object.defineProperty(response, 'redirected', { value: true });
    if (redirect === 'opaque')
      Object.defineProperties(response, { type: { value: 'opaqueredirect' }, status: { value: 0 } });
    return response;
  }

  /** What comes instead of a response. */
  #lost(loss: (typeof LOSSES)[number], signal: AbortSignal): Promise<Response> {
    const { random } = this;
    const apiKey = this.#apiKey;
    const error = (...codes: readonly string[]) =>
      Promise.reject(networkError(random.pick(codes), `header ${apiKey}`));
    switch (loss) {
      case 'unsent':
        return error('ECONNREFUSED', 'ENOTFOUND', 'EHOSTUNREACH', 'CERT_HAS_EXPIRED');
      case 'reset':
        return error('ECONNRESET', 'UND_ERR_SOCKET', 'EPIPE', 'UND_ERR_HEADERS_TIMEOUT', 'HPE_X', '');
      case 'stalled':
        return noResponse(signal);
      case 'late':
        // Ignores the signal, and responds when the attempt has been given up.
        return new Promise((resolve) => {
          signal.addEventListener('abort', () => resolve(Response.json(record)));
        });
      case 'thrown':
        return Promise.reject(
          random.pick<unknown>([
            ...[undefined, null, apiKey, {}, new Error(apiKey), new DOMException('x', 'AbortError')],
            new AggregateError([new Error(apiKey)]),
          ]),
        );
      case 'not_a_response':
        return Promise.resolve(random.pick<unknown>([undefined, null, {}, 'ok', record]) as Response);
    }
  }

  /** What is wrong about how the call ended; empty if nothing is. */
  judge(end: { readonly value: unknown } | { readonly error: unknown }): readonly string[] {
    const isWrite = this.kind === 'create' || this.kind === 'update';
    const wrong: readonly (readonly [boolean, string])[] = [
      [this.#keys.size > 1, 'sent more than one idempotency key'],
      [this.#bodies.size > 1, 'sent more than one body'],
      [this.#created.size > 1, 'made the service create a second record'],
      [isWrite && !this.mayRepeat && this.#committed.length > 1, 'sent a write again without leave'],
      ...('value' in end ? this.#judgeValue(end.value) : this.#judgeError(end.error)),
    ];
    return wrong.flatMap(([is, what]) => (is ? [what] : []));
  }

  #judgeValue(value: unknown): readonly (readonly [boolean, string])[] {
    const isMissing = this.kind === 'delete' || (this.kind === 'find' && value === undefined);
    if (isMissing) return [[this.#exists, 'resolved as if the record did not exist']];
    const expected = this.kind === 'list' ? [PAGES.flat()] : this.#served;
    return [
      [!this.#succeeded, 'resolved without a 2xx of the service'],
      [
        !expected.some((one) => isDeepStrictEqual(one, value)),
        'resolved with other data than the service has',
      ],
    ];
  }

  #judgeError(error: unknown): readonly (readonly [boolean, string])[] {
    if (!isAccountingError(error)) return [[true, `rejected with an untyped error: ${inspect(error)}`]];
    const { outcome } = error;
    const isCommitted = this.#committed.includes(this.#lastUrl);
    const isKnown = outcome === 'not_sent' || outcome === 'rejected';
    // Printing everything takes long, so most errors are printed as usual.
    const text =
      this.seed % 20 === 0 ? shown(error) : `${JSON.stringify(error)}\n${inspect(error)}\n${error.stack}`;
    const hasKey = this.#keys.size === 0 || this.#keys.has(error.idempotencyKey ?? null);
    return [
      [outcome === 'applied' && !isCommitted, 'says applied of what was not'],
      [isKnown && isCommitted, `says ${outcome} of what was applied`],
      [outcome === 'not_sent' && this.#reached && this.kind !== 'list', 'says not_sent of what was sent'],
      [!this.#uncertain && !isKnown, `says ${outcome} of what the service can only have rejected`],
      [this.kind === 'create' && !hasKey, 'does not name the idempotency key'],
      [SECRETS.some((secret) => text.includes(secret)), 'shows the API key'],
    ];
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Not every body is JSON.
    return undefined;
  }
}

function clientOf({ fetch, random, mayRepeat }: FuzzedCall): Client {
  let asked = 0;
  return createClient({
    baseUrl: newOrigin(),
    apiKey: random.chance(0.5) ? API_KEYS[0] : () => API_KEYS[asked++ % 2] as string,
    fetch,
    timeoutMs: 1_000,
    deadlineMs: random.pick([120_000, 3_000]),
    maxWaitMs: random.pick([60_000, 500]),
    maxBodyBytes: MAX_BODY_BYTES,
    rateLimiter: random.pick(['client', false] as const),
    retry: {
      maxAttempts: random.pick([1, 2, 3, 5]),
      baseDelayMs: 1,
      maxDelayMs: 5,
      creates: mayRepeat,
      updates: mayRepeat,
    },
  });
}

const SENDS: Readonly<Record<CallKind, (client: Client) => Promise<unknown>>> = {
  list: ({ accounts }) => accounts.list({}, { prefetch: 0 }).toArray({ limit: Number.POSITIVE_INFINITY }),
  get: ({ products }) => products.get('42'),
  find: ({ products }) => products.find('42'),
  create: ({ products }) => products.create({ name: 'Desk', salePrice: '129.0000' }),
  update: ({ products }) => products.update('42', { name: 'Desk', brand: null }),
  delete: ({ products }) => products.delete('42'),
};

/** `resolved`, or outcome and code. Fails with the seed, what the service did, and what is wrong. */
async function endOf(call: FuzzedCall): Promise<string> {
  const { kind, seed, log } = call;
  const end = await SENDS[kind](clientOf(call)).then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  const wrong = call.judge(end);
  const ended = 'error' in end ? String(end.error) : `resolved ${JSON.stringify(end.value)}`;
  if (wrong.length > 0)
    throw new Error(
      `${kind} ${wrong.join(', ')}. SEED=${seed} SOAK_RESPONSES=1 repeats it.\n${log.join('\n')}\n${ended}`,
    );
  return 'error' in end ? `${Reflect.get(Object(end.error), 'code')}` : 'resolved';
}

beforeAll(loadTransport);

test.each(CALLS)(
  'a %s that gets random responses ends, and its outcome is true',
  async (kind) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] });
    vi.spyOn(Math, 'random').mockReturnValue(0.5);
    const ends: string[] = [];
    try {
      for (let from = 0; from < COUNT; from += 100) {
        const seeds = Array.from({ length: Math.min(100, COUNT - from) }, (_, index) => SEED + from + index);
        const running = Promise.allSettled(seeds.map((seed) => endOf(new FuzzedCall(kind, seed))));
        const ended = vi.fn<() => void>();
        void running.then(ended);
        // An hour of the clock: no call has leave to take longer.
        for (let minute = 0; minute < 60 && ended.mock.calls.length === 0; minute += 1) {
          await settle(3);
          await vi.advanceTimersByTimeAsync(60_000);
          await settle(3);
        }
        expect(ended, `every call from SEED=${SEED + from} ends`).toHaveBeenCalled();
        for (const result of await running) {
          if (result.status === 'rejected') throw result.reason;
          ends.push(result.value);
        }
      }
    } finally {
      vi.useRealTimers();
    }
    expect(ends).toHaveLength(COUNT);
    // Or it was no test of outcomes.
    if (COUNT >= 200) expect(new Set(ends).size).toBeGreaterThan(5);
  },
  1_800_000,
);
