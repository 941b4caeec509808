import {
  type AccountingErrorCode,
  type CallOutcome,
  type Client,
  type ClientOptions,
  changes,
  createClient,
  memoryStore,
  push,
  type SyncError,
  sync,
} from 'accounting-data-sdk';
import { caught } from './caught.ts';
import { empty, html, json, misbehave, problem, redirect, respond } from './responses.ts';
import { networkError, scriptedFetch } from './scripted-fetch.ts';
import { type ScriptedResponse, scriptedServer } from './scripted-server.ts';
import { echoHeaders, echoMembers } from './secrets.ts';

/**
 * Causes one error and resolves to it. `canary` is the API key, which the service echoes if that matters: no error may
 * contain it. `own` are further options of the client, such as listeners in which a test looks for the key.
 */
type Provoke = (canary: string, own?: ClientOptions) => Promise<unknown>;

/** One way to an error, and what the caller learns from it. */
export interface Provocation {
  /** What goes wrong. */
  readonly what: string;
  /** The class of the error. */
  readonly name: string;
  readonly code: AccountingErrorCode;
  readonly outcome: CallOutcome;
  /** What its message must say: what happened, where, and what to do next. */
  readonly words: readonly RegExp[];
  readonly provoke: Provoke;
}

/** A call to a service that responds like this, or through a `fetch` that rejects with these errors. */
const calling =
  (
    call: (client: Client, canary: string) => unknown,
    service: (canary: string) => ScriptedResponse | readonly Error[] = () => [],
    options: ClientOptions = {},
  ): Provoke =>
  async (canary, own) => {
    const responds = service(canary);
    const retry = { maxAttempts: 2, baseDelayMs: 1 };
    const common = { apiKey: canary, rateLimiter: false, retry, ...options, ...own } as const;
    await using server = await scriptedServer(typeof responds === 'function' ? responds : empty(500));
    const fetch = typeof responds === 'function' ? options.fetch : scriptedFetch(...responds);
    const baseUrl = typeof responds === 'function' ? server.url : 'https://boks.example.com';
    // Also what a call throws before it returns a promise.
    return await caught((async () => call(createClient({ baseUrl, ...common, fetch }), canary))());
  };

const create = ({ products }: Client) => products.create({ name: 'Desk' });
const read = ({ accounts }: Client) => accounts.get('1');
const reads = (response: ScriptedResponse | Error, options: ClientOptions = {}) =>
  calling(read, () => (response instanceof Error ? [response] : response), {
    retry: { maxAttempts: 1 },
    ...options,
  });

const problemOf =
  (status: number, type: string, more: Record<string, string> = {}) =>
  (canary: string) =>
    problem(status, { ...echoMembers(canary), type }, { ...echoHeaders(canary), ...more });

const fails = (message: string) => () => {
  throw new TypeError(message);
};
const never = () => new Promise<never>(() => {});
const run = { tenant: 'acme' } as const;
const accountsTo = { collections: ['accounts'], onBatch: () => {} } as const;
const quota = { 'x-ratelimit-limit': '10', 'x-ratelimit-remaining': '0', 'retry-after': '900' };

/** Two runs over one store, of which the second moves the checkpoint of the first. */
async function runTwice({ accounts }: Client): Promise<void> {
  const options = { ...run, store: memoryStore() };
  const first = changes(accounts, options)[Symbol.asyncIterator]();
  await first.next();
  for await (const _ of changes(accounts, options));
  while ((await first.next()).done !== true);
}

/** The error of the collection. */
const deleteAll = (client: Client, canary: string) =>
  sync(client, {
    ...run,
    ...accountsTo,
    store: memoryStore(),
    mode: 'full',
    localIds: () => [canary],
    onDelete: () => {},
  }).catch(({ errors: [failure] }: SyncError) => {
    throw failure?.error;
  });

const throwingSchema = {
  '~standard': { version: 1, vendor: 'own', validate: fails('rates are not loaded') },
} as never;

const OPEN = 'may have applied it \\(outcome: unknown\\): repeat it only under the same idempotencyKey';
const [STATE, RUNS] = ['accounting-data-sdk:acme:accounts', 'one of each tenant at a time'];

type Rows = Readonly<Record<string, readonly [says: RegExp | string, provoke: Provoke]>>;

/** The problem documents of the specification in response to a create: status, code, and what to do. */
const documented = (
  [
    [400, 'malformed_request', 'Check the body'],
    [401, 'unauthenticated', 'Check the API key'],
    [403, 'forbidden', 'Use a key that may'],
    [403, 'scope_required', 'Use a key with the permission'],
    [404, 'not_found', 'Check baseUrl.*"products"'],
    [422, 'validation_failed', '\\[.+\\].*Correct the fields named in violations'],
    [422, 'idempotency_key_required', 'removed .*make it pass on this header'],
    [429, 'rate_limited', 'Wait for 9999000 ms'],
  ] as const
).map(([status, code, advice]): [string, Rows] => {
  const says = `POST /products returned ${status} \\(${code}\\).*${advice}`;
  const provoke = calling(create, problemOf(status, code, { 'retry-after': '9999' }));
  return [`${code} rejected`, { [`a ${status} ${code}`]: [says, provoke] }];
});

/**
 * Everything that can go wrong, by code and outcome, at least once for each class. The words are stated here: other tests
 * assert the code and the fields of an error, and those of a SyncError or PushError also what it counts.
 */
const others: Partial<Record<`${AccountingErrorCode} ${CallOutcome}`, Rows>> = {
  'not_found rejected': {
    'a 404 page': [/returned 404.*not a problem document.*check baseUrl/, reads(html(404))],
  },
  'rate_limited rejected': {
    'a 429 that names no wait': [
      /returned 429 \(rate_limited\).*Try again later.*maxWaitMs/,
      reads(problem(429, { type: 'rate_limited' }), { maxWaitMs: 50 }),
    ],
  },
  'rate_limited not_sent': {
    'a quota that is used up': [
      /was not sent.*quota of the key is used up.*maxWaitMs/,
      calling(
        (client) => caught(read(client)).then(() => read(client)),
        () => problem(429, { type: 'rate_limited' }, quota),
        { rateLimiter: 'client', maxWaitMs: 50 },
      ),
    ],
  },
  'unknown_problem rejected': {
    'an error of a type that this version does not know': [
      /POST \/products returned 409 \(https:.*ask the operator of the service what it means/,
      calling(create, (canary) => problemOf(409, `https://errors.example/${canary}`)(canary)),
    ],
    'a page of a firewall': [/returned 403.*check what a proxy or firewall on the way/, reads(html(403))],
  },
  'unknown_problem unknown': {
    'a deployment': [/GET \/accounts\/1 returned 503.*Try again later/, reads(html(503))],
  },
  'connection_failed unknown': {
    'a create whose connection breaks': [
      `POST /products got no response \\(\\w+ 127\\.0\\.0\\.1:\\d+\\)\\. The connection broke.*${OPEN}`,
      calling(create, () => misbehave.reset),
    ],
    'a service that goes down after a lost response': [
      `This attempt was not sent, but one before it was\\..*${OPEN}`,
      calling(create, () => [networkError('ECONNRESET'), networkError('ECONNREFUSED')]),
    ],
  },
  'connection_failed not_sent': {
    'a service that is down': [
      /ECONNREFUSED boks.*Nothing was sent: check baseUrl and the network\. .*try again later\./,
      reads(networkError('ECONNREFUSED')),
    ],
    'a certificate that is not trusted': [
      /DEPTH_ZERO_SELF_SIGNED_CERT boks.*certificate of baseUrl/,
      reads(networkError('DEPTH_ZERO_SELF_SIGNED_CERT')),
    ],
    'a proxy that requires a password': [
      /the proxy rejected the connection to boks.* with 407.*user name and password/,
      reads(new Error('Proxy response (407) !== 200 when HTTP Tunneling')),
    ],
  },
  'timeout unknown': {
    'a create that gets no response in time': [
      `POST /products got no complete response within timeoutMs \\(20 ms\\)\\..*${OPEN}`,
      calling(create, () => misbehave.stall, { timeoutMs: 20, retry: { maxAttempts: 1 } }),
    ],
    'a deadline that ends first': [
      /within deadlineMs \(100 ms\).*raise deadlineMs/,
      reads(misbehave.stall, { deadlineMs: 100 }),
    ],
  },
  'timeout not_sent': {
    'an apiKey function that never returns': [
      /was not sent.*apiKey returned no key within timeoutMs \(20 ms\)/,
      reads(json({ id: '1' }), { apiKey: never, timeoutMs: 20 }),
    ],
  },
  'redirected rejected': {
    'a redirect': [
      /POST \/products was redirected.*Correct baseUrl/,
      calling(create, (canary) => {
        const encoded = encodeURIComponent(canary);
        return redirect(307, `https://${encoded}.example/${canary}?token=${encoded}`);
      }),
    ],
  },
  'unexpected_response unknown': {
    'a sign-in page that quotes the key': [
      /returned 200.*its body is not the expected JSON.*Check that baseUrl points at the service/,
      calling(read, (canary) => respond(200, { 'content-type': 'text/html' }, `<h1>${canary}</h1>`)),
    ],
  },
  'unexpected_response applied': {
    'a record of another shape': [
      /returned 200, but record ".*" does not have the documented shape \(.*name: .*\(outcome: applied\)/,
      calling(create, (canary) => json({ id: canary, name: 7, [canary]: canary }, 200, echoHeaders(canary))),
    ],
    'a body that is cut': [/its body ended early.*Try again/, reads(misbehave.closeInBody)],
    'a response without a body': [/its body is empty/, reads(empty(200))],
    'a body that is not UTF-8': [
      /its body is not UTF-8.*Ask the operator of the service/,
      reads(respond(200, { 'content-type': 'application/json' }, Buffer.from([0x22, 0xff, 0x22]))),
    ],
    'a body that is too large': [
      /larger than maxBodyBytes.*Raise maxBodyBytes/,
      reads(json({ id: '1', note: 'x'.repeat(2_000) }), { maxBodyBytes: 1_000 }),
    ],
    'a schema of the caller that throws': [
      /the schema that you passed.*TypeError: rates are not loaded.*Correct the schema/,
      reads(json({ id: '1' }), { schemas: { accounts: throwingSchema } }),
    ],
  },
  'invalid_input not_sent': {
    'a base URL with credentials': [
      /^\w+: baseUrl: must not.*apiKey/,
      calling((_, canary) => createClient({ baseUrl: `https://${encodeURIComponent(canary)}@x.example` })),
    ],
  },
  'filter_ignored applied': {
    'a list whose bounds are ignored': [
      /GET \/accounts returned .*the requested bounds on id: the service ignored.*Use pagination: 'page'/,
      calling(
        ({ accounts }) => accounts.list({ id: { gt: '5' } }).toArray({ limit: 5 }),
        (canary) => json([{ id: '1', name: canary }], 200, echoHeaders(canary)),
      ),
    ],
  },
  'checkpoint not_sent': {
    'a damaged checkpoint': [
      `under ${STATE} is damaged.*a sync then reads everything again`,
      calling(({ accounts }, canary) => changes(accounts, { ...run, store: { get: () => canary } }).next()),
    ],
    'a store that throws': [
      `under ${STATE} could not be read: the store threw TypeError: Redis is loading.*Check the store`,
      calling(({ accounts }) =>
        changes(accounts, { ...run, store: { get: fails('Redis is loading') } }).next(),
      ),
    ],
  },
  'concurrent_run not_sent': {
    'two runs over one store': [
      `Another run wrote the state under ${STATE}.*${RUNS}`,
      calling(
        runTwice,
        (canary) => (request, wire) => {
          const isPast = /_page=[34]/.test(request.url);
          return json(isPast ? [] : [{ id: request.url }], 200, echoHeaders(canary))(request, wire);
        },
        { pagination: 'page' },
      ),
    ],
  },
  'deletions_aborted not_sent': {
    'a full sync that would delete everything': [
      /The deletions of accounts.*nothing was deleted.*API key/,
      calling(deleteAll, (canary) => json([], 200, echoHeaders(canary))),
    ],
  },
  'push_failed not_sent': {
    'a push whose key may not read': [
      /The push of acme stopped \(0 rows read; 0 created, 0 updated\): .*returned 403.*[Uu]se a key that may/,
      calling(
        ({ products }, canary) => push(products, { ...run, rows: [], key: () => canary, store: new Map() }),
        problemOf(403, 'forbidden'),
      ),
    ],
  },
  'sync_failed rejected': {
    'a sync whose key may not read': [
      /The sync of acme failed for 1 of 1 collections.*returned 403.*[Uu]se a key that may/,
      calling(
        (client) => sync(client, { ...run, ...accountsTo, store: memoryStore() }),
        problemOf(403, 'forbidden'),
      ),
    ],
  },
};

/** The class of a code: `NotFoundError` of `not_found`. */
function classOf(code: string): string {
  const others = { unknown_problem: 'unknown_api', connection_failed: 'connection', redirected: 'redirect' };
  const name = { ...others, push_failed: 'push', sync_failed: 'sync' }[code] ?? code;
  return `${name.replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase())}Error`;
}

export const provocations = [...documented, ...Object.entries(others)].flatMap(([of, rows]) =>
  Object.entries(rows).map(([what, [says, provoke]]): Provocation => {
    const [code, outcome] = of.split(' ') as [AccountingErrorCode, CallOutcome];
    return { what, name: classOf(code), code, outcome, words: [new RegExp(says)], provoke };
  }),
);
