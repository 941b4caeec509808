import {
  type AccountingErrorCode,
  type CallOutcome,
  type ClientOptions,
  changes,
  createClient,
  idempotencyKeyFor,
  isAccountingError,
  memoryStore,
  push,
  sync,
} from 'accounting-data-sdk';
import { caught, thrown } from './caught.ts';
import { echoHeaders, echoMembers } from './echoes.ts';
import { empty, html, json, misbehave, problem, redirect, respond } from './responses.ts';
import { networkError, scriptedFetch } from './scripted-fetch.ts';
import { closedPort, type ScriptedResponse, scriptedServer } from './scripted-server.ts';

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
  readonly words: readonly (string | RegExp)[];
  readonly provoke: Provoke;
}

const clientOf = (baseUrl: string, apiKey: string, options: ClientOptions = {}) =>
  createClient({
    baseUrl,
    apiKey,
    rateLimiter: false,
    retry: { maxAttempts: 2, baseDelayMs: 1 },
    ...options,
  });

/** The error of a create that gets this response. */
const failedCreate =
  (responseTo: (canary: string) => ScriptedResponse, options: ClientOptions = {}): Provoke =>
  async (canary, own) => {
    await using server = await scriptedServer(responseTo(canary));
    return await caught(
      clientOf(server.url, canary, { ...options, ...own }).products.create({ name: 'Desk' }),
    );
  };

const problemWith = (status: number, type: string) =>
  failedCreate((canary) =>
    problem(status, { ...echoMembers(canary), type }, { ...echoHeaders(canary), 'retry-after': '9999' }),
  );

/** Two runs over one store, of which the second moves the checkpoint of the first. */
const concurrentRuns: Provoke = async (canary, own) => {
  const rows: ScriptedResponse = (request, wire) => {
    const page = Number(new URL(request.url, 'http://x').searchParams.get('_page'));
    return json(page > 2 ? [] : [{ id: String(page) }], 200, echoHeaders(canary))(request, wire);
  };
  await using server = await scriptedServer(rows);
  const options = { store: memoryStore(), tenant: 'acme' };
  const { accounts } = clientOf(server.url, canary, { ...own, pagination: 'page' });
  const first = changes(accounts, options)[Symbol.asyncIterator]();
  await first.next();
  for await (const _ of changes(accounts, options));
  return await caught(
    (async () => {
      while ((await first.next()).done !== true);
    })(),
  );
};

/** The error of a read that gets this response, or whose `fetch` rejects with this error. */
const failedRead =
  (response: ScriptedResponse | Error, options: ClientOptions = {}): Provoke =>
  async (canary, own) => {
    const single = { retry: { maxAttempts: 1 }, ...options, ...own };
    if (response instanceof Error) {
      const fetch = () => Promise.reject(response);
      return await caught(
        clientOf('https://boks.example.com', canary, { fetch, ...single }).accounts.get('1'),
      );
    }
    await using server = await scriptedServer(response);
    return await caught(clientOf(server.url, canary, single).accounts.get('1'));
  };

const fails = (message: string) => () => {
  throw new TypeError(message);
};

/** A sync, push or similar run against a service that rejects its key. */
const failedRun =
  (run: (client: ReturnType<typeof createClient>, canary: string) => PromiseLike<unknown>): Provoke =>
  async (canary, own) => {
    await using server = await scriptedServer(
      problem(403, { ...echoMembers(canary), type: 'forbidden' }, echoHeaders(canary)),
    );
    return await caught(run(clientOf(server.url, canary, own), canary));
  };

const OUTCOME_UNKNOWN =
  'may have applied it (outcome: unknown): repeat it only under the same idempotencyKey';

/** The class of each code. */
const CLASSES: Readonly<Record<AccountingErrorCode, string>> = {
  malformed_request: 'MalformedRequestError',
  unauthenticated: 'UnauthenticatedError',
  forbidden: 'ForbiddenError',
  scope_required: 'ScopeRequiredError',
  not_found: 'NotFoundError',
  validation_failed: 'ValidationFailedError',
  idempotency_key_required: 'IdempotencyKeyRequiredError',
  rate_limited: 'RateLimitedError',
  unknown_problem: 'UnknownApiError',
  connection_failed: 'ConnectionError',
  timeout: 'TimeoutError',
  redirected: 'RedirectError',
  unexpected_response: 'UnexpectedResponseError',
  invalid_input: 'InvalidInputError',
  filter_ignored: 'FilterIgnoredError',
  checkpoint: 'CheckpointError',
  concurrent_run: 'ConcurrentRunError',
  deletions_aborted: 'DeletionsAbortedError',
  push_failed: 'PushError',
  sync_failed: 'SyncError',
};

/** Problem documents in response to a create, which say what to do. */
const problems = (
  [
    [400, 'malformed_request', 'a malformed request', 'Check the query and the body'],
    [401, 'unauthenticated', 'a 401', 'Check the API key'],
    [403, 'forbidden', 'a key that may not do this', 'Use a key that may'],
    [403, 'scope_required', 'a key without the permission', 'Use a key with the permission'],
    [404, 'not_found', 'a collection that does not exist', /Check baseUrl.*"products"/],
    [422, 'validation_failed', 'rejected fields', /\[.+\].*Correct the fields named in violations/],
    [422, 'idempotency_key_required', 'a missing Idempotency-Key', /removed .*make it pass on this header/],
    [429, 'rate_limited', 'a 429 that names a long wait', 'Wait for 9999000 ms'],
  ] as const
).map(([status, code, what, advice]) => ({
  what,
  code,
  outcome: 'rejected' as const,
  words: [`POST /products returned ${status} (${code})`, advice],
  provoke: problemWith(status, code),
}));

/**
 * Everything that can go wrong, at least once for each class. The words are stated here: other tests assert the code
 * and the fields of an error, and those of a SyncError or PushError also what it counts.
 */
const rows: readonly Omit<Provocation, 'name'>[] = [
  ...problems,
  {
    what: 'an error of a type that this version does not know',
    code: 'unknown_problem',
    outcome: 'rejected',
    words: ['POST /products returned 409 (https:', 'ask the operator of the service what it means'],
    provoke: failedCreate((canary) =>
      problem(409, { ...echoMembers(canary), type: `https://errors.example/${canary}` }, echoHeaders(canary)),
    ),
  },
  {
    what: 'a create whose connection breaks',
    code: 'connection_failed',
    outcome: 'unknown',
    words: [
      /POST \/products got no response \(\w+ 127\.0\.0\.1:\d+\)\. The connection broke/,
      OUTCOME_UNKNOWN,
    ],
    provoke: failedCreate(() => misbehave.reset),
  },
  {
    what: 'a create that gets no response in time',
    code: 'timeout',
    outcome: 'unknown',
    words: ['POST /products got no complete response within timeoutMs (20 ms).', OUTCOME_UNKNOWN],
    provoke: failedCreate(() => misbehave.stall, { timeoutMs: 20, retry: { maxAttempts: 1 } }),
  },
  {
    what: 'a redirect',
    code: 'redirected',
    outcome: 'rejected',
    words: ['POST /products was redirected', 'Correct baseUrl'],
    provoke: failedCreate((canary) => {
      const encoded = encodeURIComponent(canary);
      return redirect(307, `https://${encoded}.example/${canary}?token=${encoded}`);
    }),
  },
  {
    what: 'a record of another shape',
    code: 'unexpected_response',
    outcome: 'applied',
    words: [
      /POST \/products returned 200, but record ".*" does not have the documented shape \(.*name: /,
      /Ask the operator of the service.*has applied it \(outcome: applied\)/,
    ],
    provoke: failedCreate((canary) =>
      json({ id: canary, name: 7, salePrice: canary, [canary]: canary }, 200, echoHeaders(canary)),
    ),
  },
  {
    what: 'a base URL with credentials',
    code: 'invalid_input',
    outcome: 'not_sent',
    words: [/^\w+: baseUrl: must not/, 'apiKey'],
    provoke: async (canary, own) =>
      thrown(() => clientOf(`https://${encodeURIComponent(canary)}@x.example`, canary, own)),
  },
  {
    what: 'a list whose bounds are ignored',
    code: 'filter_ignored',
    outcome: 'applied',
    words: [
      'GET /accounts returned',
      'outside the requested bounds on id: the service ignored the filter',
      "Use pagination: 'page'",
    ],
    provoke: async (canary, own) => {
      await using server = await scriptedServer(json([{ id: '1', name: canary }], 200, echoHeaders(canary)));
      const list = clientOf(server.url, canary, own).accounts.list({ id: { gt: '5' } });
      return await caught(list.toArray({ limit: 5 }));
    },
  },
  {
    what: 'a damaged checkpoint',
    code: 'checkpoint',
    outcome: 'not_sent',
    words: ['under accounting-data-sdk:acme:accounts is damaged', 'a sync then reads everything again'],
    provoke: async (canary, own) => {
      await using server = await scriptedServer(json([]));
      const store = { get: () => canary };
      return await caught(
        changes(clientOf(server.url, canary, own).accounts, { store, tenant: 'acme' }).next(),
      );
    },
  },
  {
    what: 'two runs over one store',
    code: 'concurrent_run',
    outcome: 'not_sent',
    words: [
      'Another run wrote the state under accounting-data-sdk:acme:accounts',
      'one of each tenant at a time',
    ],
    provoke: concurrentRuns,
  },
  {
    what: 'a full sync that would delete everything',
    code: 'deletions_aborted',
    outcome: 'not_sent',
    words: ['accounts', 'nothing was deleted', 'API key'],
    provoke: async (canary, own) => {
      await using server = await scriptedServer(json([], 200, echoHeaders(canary)));
      const error = await caught(
        sync(clientOf(server.url, canary, own), {
          store: memoryStore(),
          tenant: 'acme',
          collections: ['accounts'],
          mode: 'full',
          onBatch: () => undefined,
          localIds: () => [canary],
          onDelete: () => undefined,
        }),
      );
      return isAccountingError(error, 'sync_failed') ? error.errors[0]?.error : error;
    },
  },
  {
    what: 'a push whose key may not read',
    code: 'push_failed',
    outcome: 'not_sent',
    words: [
      /The push of acme stopped \(0 rows read; 0 created, 0 updated\): .*GET \/products returned 403/,
      /[Uu]se a key that may/,
    ],
    provoke: failedRun((client, canary) =>
      push(client.products, { tenant: 'acme', rows: [], key: () => canary, store: new Map() }),
    ),
  },
  {
    what: 'a sync whose key may not read',
    code: 'sync_failed',
    outcome: 'not_sent',
    words: [
      /The sync of acme failed for \d+ of \d+ collections: .*GET \/accounts returned 403/,
      /[Uu]se a key that may/,
    ],
    provoke: failedRun((client) =>
      sync(client, { store: memoryStore(), tenant: 'acme', onBatch: () => undefined }),
    ),
  },
  {
    what: 'a service that is down',
    code: 'connection_failed',
    outcome: 'not_sent',
    words: [
      'ECONNREFUSED 127.0.0.1:',
      'Nothing was sent: check baseUrl and the network. If they are right, the service may be down: try again later.',
    ],
    provoke: async (canary, own) =>
      caught(clientOf(`http://127.0.0.1:${await closedPort()}`, canary, own).accounts.get('1')),
  },
  {
    what: 'a host name that does not exist',
    code: 'connection_failed',
    outcome: 'not_sent',
    words: [
      'ENOTFOUND boks.example.com:443',
      'Nothing was sent: check the host name in baseUrl and the DNS. If they are right, try again later.',
    ],
    provoke: failedRead(networkError('ENOTFOUND')),
  },
  {
    what: 'a service that goes down after a lost response',
    code: 'connection_failed',
    outcome: 'unknown',
    words: ['This attempt was not sent, but one before it was.', OUTCOME_UNKNOWN],
    provoke: async (canary, own) => {
      const fetch = scriptedFetch(networkError('ECONNRESET'), networkError('ECONNREFUSED'));
      return await caught(
        clientOf('https://boks.example.com', canary, { fetch, ...own }).products.create({}),
      );
    },
  },
  {
    what: 'a certificate that is not trusted',
    code: 'connection_failed',
    outcome: 'not_sent',
    words: ['DEPTH_ZERO_SELF_SIGNED_CERT boks.example.com:443', 'certificate of baseUrl'],
    provoke: failedRead(networkError('DEPTH_ZERO_SELF_SIGNED_CERT')),
  },
  {
    what: 'a proxy that requires a password',
    code: 'connection_failed',
    outcome: 'not_sent',
    words: ['the proxy rejected the connection to boks.example.com:443 with 407', 'user name and password'],
    provoke: failedRead(new Error('Proxy response (407) !== 200 when HTTP Tunneling')),
  },
  {
    what: 'a fetch function of the caller that throws',
    code: 'connection_failed',
    outcome: 'unknown',
    words: ['the function given as fetch threw TypeError: the pool is empty'],
    provoke: failedRead(new TypeError('the pool is empty')),
  },
  {
    what: 'a 404 page',
    code: 'not_found',
    outcome: 'rejected',
    words: ['returned 404', 'not a problem document', 'check baseUrl'],
    provoke: failedRead(html(404)),
  },
  {
    what: 'a page of a firewall',
    code: 'unknown_problem',
    outcome: 'rejected',
    words: ['returned 403', 'check what a proxy or firewall on the way allows'],
    provoke: failedRead(html(403)),
  },
  {
    what: 'a deployment',
    code: 'unknown_problem',
    outcome: 'unknown',
    words: ['GET /accounts/1 returned 503', 'Try again later'],
    provoke: failedRead(html(503)),
  },
  {
    what: 'several rejected fields',
    code: 'validation_failed',
    outcome: 'rejected',
    words: ['[name: is blank; salePrice: is negative; is a duplicate]'],
    provoke: failedCreate(() => {
      const violations = [
        { propertyPath: 'name', message: 'is blank' },
        { propertyPath: 'salePrice', message: 'is negative' },
        { propertyPath: '', message: 'is a duplicate' },
      ];
      return problem(422, { type: 'validation_failed', violations });
    }),
  },
  {
    what: 'a 429 that names no wait',
    code: 'rate_limited',
    outcome: 'rejected',
    words: ['returned 429 (rate_limited)', 'Try again later', 'maxWaitMs'],
    provoke: failedRead(problem(429, { type: 'rate_limited' }), { maxWaitMs: 50 }),
  },
  {
    what: 'a quota that is used up',
    code: 'rate_limited',
    outcome: 'not_sent',
    words: ['was not sent', 'quota of the key is used up', 'maxWaitMs'],
    provoke: async (canary, own) => {
      const quota = { 'x-ratelimit-limit': '10', 'x-ratelimit-remaining': '0', 'retry-after': '900' };
      await using server = await scriptedServer(problem(429, { type: 'rate_limited' }, quota));
      const client = clientOf(server.url, canary, { ...own, rateLimiter: 'client', maxWaitMs: 50 });
      await caught(client.accounts.get('1'));
      return await caught(client.accounts.get('1'));
    },
  },
  {
    what: 'a deadline that ends first',
    code: 'timeout',
    outcome: 'unknown',
    words: ['within deadlineMs (100 ms)', 'raise deadlineMs'],
    provoke: failedRead(misbehave.stall, { deadlineMs: 100 }),
  },
  {
    what: 'an apiKey function that never returns',
    code: 'timeout',
    outcome: 'not_sent',
    words: ['was not sent', 'apiKey returned no key within timeoutMs (20 ms)'],
    provoke: failedRead(json({ id: '1' }), { apiKey: () => new Promise<never>(() => {}), timeoutMs: 20 }),
  },
  {
    what: 'a sign-in page',
    code: 'unexpected_response',
    outcome: 'unknown',
    words: ['returned 200', 'its body is not the expected JSON', 'Check that baseUrl points at the service'],
    provoke: failedRead(html()),
  },
  {
    what: 'a body that is cut',
    code: 'unexpected_response',
    outcome: 'applied',
    words: ['its body ended early', 'Try again'],
    provoke: failedRead(misbehave.closeInBody),
  },
  {
    what: 'a response without a body',
    code: 'unexpected_response',
    outcome: 'applied',
    words: ['its body is empty'],
    provoke: failedRead(empty(200)),
  },
  {
    what: 'a body that is not UTF-8',
    code: 'unexpected_response',
    outcome: 'applied',
    words: ['its body is not UTF-8', 'Ask the operator of the service'],
    provoke: failedRead(
      respond(200, { 'content-type': 'application/json' }, Buffer.from([0x22, 0xff, 0x22])),
    ),
  },
  {
    what: 'a body that is too large',
    code: 'unexpected_response',
    outcome: 'applied',
    words: ['larger than maxBodyBytes', 'Raise maxBodyBytes'],
    provoke: failedRead(json({ id: '1', note: 'x'.repeat(2_000) }), { maxBodyBytes: 1_000 }),
  },
  {
    what: 'a schema of the caller that throws',
    code: 'unexpected_response',
    outcome: 'applied',
    words: ['the schema that you passed', 'TypeError: rates are not loaded', 'Correct the schema'],
    provoke: failedRead(json({ id: '1' }), {
      schemas: {
        accounts: {
          '~standard': { version: 1, vendor: 'own', validate: fails('rates are not loaded') },
        } as never,
      },
    }),
  },
  {
    what: 'a store that throws',
    code: 'checkpoint',
    outcome: 'not_sent',
    words: [
      'under accounting-data-sdk:acme:',
      'could not be read: the store threw TypeError: Redis is loading',
      'Check the store',
    ],
    provoke: async (canary, own) => {
      const store = { get: fails('Redis is loading') };
      const { accounts } = clientOf('https://boks.example.com', canary, own);
      return await caught(changes(accounts, { store, tenant: 'acme' }).next());
    },
  },
  {
    what: 'an idempotency key of no parts',
    code: 'invalid_input',
    outcome: 'not_sent',
    words: ['parts: must not be empty.'],
    provoke: async () => thrown(() => idempotencyKeyFor()),
  },
];

export const provocations: readonly Provocation[] = rows.map((row) => ({ ...row, name: CLASSES[row.code] }));

/** One of each: a 503, two 429s, a page with an invalid row, its end, and a 403; all of them echo the key. */
export function everyKindOfResponse(canary: string): ScriptedResponse[] {
  const echo = echoHeaders(canary);
  const tooMany = problem(
    429,
    { ...echoMembers(canary), type: 'rate_limited' },
    { ...echo, 'retry-after': '0' },
  );
  return [
    problem(503, echoMembers(canary), echo),
    tooMany,
    tooMany,
    json([{ id: '1' }, { id: canary, name: 7, [canary]: canary }], 200, echo),
    json([], 200, echo),
    problem(403, { ...echoMembers(canary), type: 'forbidden' }, echo),
  ];
}
