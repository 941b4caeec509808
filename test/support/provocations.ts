import { createClient } from '../../src/client.ts';
import { type ClientOptions, changes, memoryStore, reconcile, sync } from '../../src/index.ts';
import { json, misbehave, problem, redirect } from './answers.ts';
import { caught, thrown } from './caught.ts';
import { echoHeaders, echoMembers } from './echoes.ts';
import { type ScriptedAnswer, scriptedServer } from './scripted-server.ts';

/** Brings about one error with a key and, where that is due, a service that echoes it. Gives the error. */
type Provoke = (canary: string, own?: ClientOptions) => Promise<unknown>;

const clientOf = (baseUrl: string, apiKey: string, options: ClientOptions = {}) =>
  createClient({
    baseUrl,
    apiKey,
    rateLimiter: false,
    retry: { maxAttempts: 2, baseDelayMs: 1 },
    ...options,
  });

/** What a create fails with against a service that answers so. */
const answered =
  (answerTo: (canary: string) => ScriptedAnswer, options: ClientOptions = {}): Provoke =>
  async (canary, own) => {
    await using server = await scriptedServer(answerTo(canary));
    return await caught(
      clientOf(server.url, canary, { ...options, ...own }).products.create({ name: 'Desk' }),
    );
  };

const refused = (status: number, type: string) =>
  answered((canary) =>
    problem(status, { ...echoMembers(canary), type }, { ...echoHeaders(canary), 'retry-after': '9999' }),
  );

/** Two runs over one store, of which the second moves the checkpoint of the first. */
const concurrentRuns: Provoke = async (canary, own) => {
  const rows: ScriptedAnswer = (request, wire) => {
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
  MalformedRequestError: refused(400, 'malformed_request'),
  UnauthenticatedError: refused(401, 'unauthenticated'),
  ForbiddenError: refused(403, 'forbidden'),
  ScopeRequiredError: refused(403, 'scope_required'),
  NotFoundError: refused(404, 'not_found'),
  ValidationFailedError: refused(422, 'validation_failed'),
  IdempotencyKeyRequiredError: refused(422, 'idempotency_key_required'),
  RateLimitedError: refused(429, 'rate_limited'),
  UnknownApiError: answered((canary) =>
    problem(409, { ...echoMembers(canary), type: `https://errors.example/${canary}` }, echoHeaders(canary)),
  ),
  ConnectionError: answered(() => misbehave.reset),
  TimeoutError: answered(() => misbehave.stall, { timeoutMs: 20, retry: { maxAttempts: 1 } }),
  RedirectError: answered((canary) =>
    redirect(
      307,
      `https://${encodeURIComponent(canary)}.example/${canary}?token=${encodeURIComponent(canary)}`,
    ),
  ),
  UnexpectedResponseError: answered((canary) =>
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
  SyncError: async (canary, own) => {
    await using server = await scriptedServer(
      problem(403, { ...echoMembers(canary), type: 'forbidden' }, echoHeaders(canary)),
    );
    const options = { store: memoryStore(), tenant: 'acme', onBatch: () => undefined };
    return await caught(sync(clientOf(server.url, canary, own), options));
  },
};
