import { expect, test } from 'vitest';
import { createClient } from '../../src/client.ts';
import * as errors from '../../src/errors/all.ts';
import { type ClientOptions, changes, memoryStore, sync } from '../../src/index.ts';
import { json, misbehave, problem, redirect } from '../support/answers.ts';
import { caught, thrown } from '../support/caught.ts';
import { CANARIES, echoHeaders, echoMembers, formsOf } from '../support/echoes.ts';
import { type ScriptedAnswer, scriptedServer } from '../support/scripted-server.ts';
import { shown } from '../support/shown.ts';

/** Every class that can be thrown: the abstract ones are extended by others. */
const classes = Object.entries(errors)
  .filter(([, value]) => typeof value === 'function' && value.prototype instanceof Error)
  .map(([name]) => name)
  .filter((name) => !['AccountingError', 'ApiError'].includes(name))
  .sort();

type Provoke = (canary: string) => Promise<unknown>;

const clientOf = (baseUrl: string, apiKey: string, options: ClientOptions = {}) =>
  createClient({ baseUrl, apiKey, rateGate: false, retry: { attempts: 2, baseMs: 1 }, ...options });

/** What a create fails with against a service that answers so. */
const answered =
  (answerTo: (canary: string) => ScriptedAnswer, options: ClientOptions = {}): Provoke =>
  async (canary) => {
    await using server = await scriptedServer(answerTo(canary));
    return await caught(clientOf(server.url, canary, options).products.create({ name: 'Desk' }));
  };

const refused = (status: number, type: string) =>
  answered((canary) =>
    problem(status, { ...echoMembers(canary), type }, { ...echoHeaders(canary), 'retry-after': '9999' }),
  );

/** Two runs over one store, of which the second moves the checkpoint of the first. */
const concurrentRuns: Provoke = async (canary) => {
  const rows: ScriptedAnswer = (request, wire) => {
    const page = Number(new URL(request.url, 'http://x').searchParams.get('_page'));
    return json(page > 2 ? [] : [{ id: String(page) }], 200, echoHeaders(canary))(request, wire);
  };
  await using server = await scriptedServer(rows);
  const options = { store: memoryStore(), tenant: 'acme', walk: 'pages' } as const;
  const first = changes(clientOf(server.url, canary).accounts, options)[Symbol.asyncIterator]();
  await first.next();
  for await (const _ of changes(clientOf(server.url, canary).accounts, options));
  return await caught(
    (async () => {
      while ((await first.next()).done !== true);
    })(),
  );
};

const provocations: Readonly<Record<string, Provoke>> = {
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
  TimeoutError: answered(() => misbehave.stall, { timeoutMs: 20, retry: { attempts: 1 } }),
  RedirectError: answered((canary) =>
    redirect(
      307,
      `https://${encodeURIComponent(canary)}.example/${canary}?token=${encodeURIComponent(canary)}`,
    ),
  ),
  UnexpectedResponseError: answered((canary) =>
    json({ id: canary, name: 7, salePrice: canary, [canary]: canary }, 200, echoHeaders(canary)),
  ),
  InvalidInputError: async (canary) =>
    thrown(() => clientOf(`https://${encodeURIComponent(canary)}@x.example`, canary)),
  FilterIgnoredError: async (canary) => {
    await using server = await scriptedServer(json([{ id: '1', name: canary }], 200, echoHeaders(canary)));
    return await caught(
      clientOf(server.url, canary)
        .accounts.list({ id: { gt: '5' } })
        .toArray({ limit: 5 }),
    );
  },
  CheckpointError: async (canary) => {
    await using server = await scriptedServer(json([]));
    const store = { get: () => canary };
    const run = changes(clientOf(server.url, canary).accounts, { store, tenant: 'acme' });
    return await caught(run[Symbol.asyncIterator]().next() as Promise<unknown>);
  },
  ConcurrentRunError: concurrentRuns,
  SyncError: async (canary) => {
    await using server = await scriptedServer(
      problem(403, { ...echoMembers(canary), type: 'forbidden' }, echoHeaders(canary)),
    );
    const options = { store: memoryStore(), tenant: 'acme', onBatch: () => undefined };
    return await caught(sync(clientOf(server.url, canary), options));
  },
};

test('there is a case for every class that can be thrown', () => {
  expect(Object.keys(provocations).sort()).toEqual(classes);
  expect(classes.length).toBeGreaterThan(15);
});

const cases = CANARIES.flatMap((canary) => classes.map((name) => ({ canary, name })));

test.each(cases)('$name shows no key, also where everything echoes it: $canary', async ({ canary, name }) => {
  const error = await provocations[name]?.(canary);
  expect((error as Error).name).toBe(name);
  const lines = shown(error).split('\n');
  expect(lines.length).toBeGreaterThan(5);
  expect(lines.filter((line) => formsOf(canary).some((form) => line.includes(form)))).toEqual([]);
  // Wrapped by somebody else, as loggers and test runners do.
  const wrapped = shown(new AggregateError([error], 'outer', { cause: error }));
  expect(wrapped.split('\n').filter((line) => formsOf(canary).some((form) => line.includes(form)))).toEqual(
    [],
  );
});
