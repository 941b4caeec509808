import {
  type ClientOptions,
  changes,
  createClient,
  memoryStore,
  push,
  reconcile,
  sync,
} from 'accounting-data-sdk';
import { caught, thrown } from './caught.ts';
import { echoHeaders, echoMembers } from './echoes.ts';
import { json, misbehave, problem, redirect } from './responses.ts';
import { type ScriptedResponse, scriptedServer } from './scripted-server.ts';

/** Causes one error with a key and, if it matters, a service that echoes the key. Resolves to the error. */
type Provoke = (canary: string, own?: ClientOptions) => Promise<unknown>;

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
  const options = { store: memoryStore(), tenant: 'acme', pagination: 'page' } as const;
  const first = changes(clientOf(server.url, canary, own).accounts, options)[Symbol.asyncIterator]();
  await first.next();
  for await (const _ of changes(clientOf(server.url, canary, own).accounts, options));
  return await caught(
    (async () => {
      while ((await first.next()).done !== true);
    })(),
  );
};

/** One for every class that can be thrown. */
export const provocations: Readonly<Record<string, Provoke>> = {
  MalformedRequestError: problemWith(400, 'malformed_request'),
  UnauthenticatedError: problemWith(401, 'unauthenticated'),
  ForbiddenError: problemWith(403, 'forbidden'),
  ScopeRequiredError: problemWith(403, 'scope_required'),
  NotFoundError: problemWith(404, 'not_found'),
  ValidationFailedError: problemWith(422, 'validation_failed'),
  IdempotencyKeyRequiredError: problemWith(422, 'idempotency_key_required'),
  RateLimitedError: problemWith(429, 'rate_limited'),
  UnknownApiError: failedCreate((canary) =>
    problem(409, { ...echoMembers(canary), type: `https://errors.example/${canary}` }, echoHeaders(canary)),
  ),
  ConnectionError: failedCreate(() => misbehave.reset),
  TimeoutError: failedCreate(() => misbehave.stall, { timeoutMs: 20, retry: { maxAttempts: 1 } }),
  RedirectError: failedCreate((canary) =>
    redirect(
      307,
      `https://${encodeURIComponent(canary)}.example/${canary}?token=${encodeURIComponent(canary)}`,
    ),
  ),
  UnexpectedResponseError: failedCreate((canary) =>
    json({ id: canary, name: 7, salePrice: canary, [canary]: canary }, 200, echoHeaders(canary)),
  ),
  InvalidInputError: async (canary, own) =>
    thrown(() => clientOf(`https://${encodeURIComponent(canary)}@x.example`, canary, own)),
  FilterIgnoredError: async (canary, own) => {
    await using server = await scriptedServer(json([{ id: '1', name: canary }], 200, echoHeaders(canary)));
    return await caught(
      clientOf(server.url, canary, own)
        .accounts.list({ id: { gt: '5' } })
        .toArray({ limit: 5 }),
    );
  },
  CheckpointError: async (canary, own) => {
    await using server = await scriptedServer(json([]));
    const store = { get: () => canary };
    const run = changes(clientOf(server.url, canary, own).accounts, { store, tenant: 'acme' });
    return await caught(run[Symbol.asyncIterator]().next() as Promise<unknown>);
  },
  ConcurrentRunError: concurrentRuns,
  ReconcileAbortedError: async (canary, own) => {
    await using server = await scriptedServer(json([], 200, echoHeaders(canary)));
    const options = { localIds: () => [canary], onDelete: () => undefined };
    return await caught(reconcile(clientOf(server.url, canary, own).accounts, options));
  },
  PushError: async (canary, own) => {
    await using server = await scriptedServer(
      problem(403, { ...echoMembers(canary), type: 'forbidden' }, echoHeaders(canary)),
    );
    const options = { tenant: 'acme', rows: [], key: () => canary };
    return await caught(push(clientOf(server.url, canary, own).products, options));
  },
  SyncError: async (canary, own) => {
    await using server = await scriptedServer(
      problem(403, { ...echoMembers(canary), type: 'forbidden' }, echoHeaders(canary)),
    );
    const options = { store: memoryStore(), tenant: 'acme', onBatch: () => undefined };
    return await caught(sync(clientOf(server.url, canary, own), options));
  },
};

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
