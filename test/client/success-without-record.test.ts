import { expect, test, vi } from 'vitest';
import { caught } from '../support/caught.ts';
import { callWith, METHODS } from '../support/four-methods.ts';
import { numbered, setUpPush } from '../support/push.ts';
import {
  type FetchedRequest,
  jsonResponse,
  problemResponse,
  scriptedClient,
  scriptedFetch,
} from '../support/scripted-fetch.ts';

const product = { id: '1', productNumber: 'P-0', name: 'Desk' };

/** Bodies of a 2xx that say nothing about product 1. */
const OTHERS: Readonly<Record<string, unknown>> = {
  'success: false': { success: false, error: 'The period is locked' },
  'the id of a job': { jobId: 'a1' },
  'an id that is null': { ...product, id: null },
  'an id that is a number': { ...product, id: 7 },
  'a record in a member': { data: product },
  'success: true': { success: true },
  'a list': [],
  'another record': { ...product, id: '999' },
};

const PROBLEMS: Readonly<Record<string, readonly [body: unknown, code: string, type?: string]>> = {
  'its type and status': [{ type: '/errors/validation_failed', status: 422 }, 'validation_failed'],
  'a status that is otherwise sent again': [{ title: 'Busy', status: 503 }, 'unknown_problem'],
  'its type alone': [{ type: 'forbidden', title: 'Locked' }, 'forbidden'],
  violations: [
    {
      type: '/validation_errors/x',
      status: 422,
      violations: [{ propertyPath: 'name', message: 'Too long' }],
    },
    'validation_failed',
  ],
  'a media type': [{ title: 'Locked' }, 'unknown_problem', 'application/problem+json'],
  'a type of API Platform': [{ '@type': 'hydra:Error', 'hydra:description': 'Locked' }, 'unknown_problem'],
};

const scripted = (body: unknown, write: string, type = 'application/json') =>
  scriptedFetch(({ init: { method } }: FetchedRequest) =>
    jsonResponse(method === write ? body : product, 200, method === write ? { 'content-type': type } : {}),
  );

test.each(Object.entries(OTHERS))(
  'a 200 with %s leaves the outcome of a write unknown',
  async (name, body) => {
    const patched = scripted(body, 'PATCH');
    const error = await caught(scriptedClient(patched).products.update('1', { name: 'Table' }));
    expect(error).toMatchObject({ code: 'unexpected_response', outcome: 'unknown', retryable: false });
    expect((error as Error).message).toContain('may have applied it');
    expect(patched.requests).toHaveLength(1);

    // While the product exists.
    const deleted = scripted(body, 'DELETE');
    const ofDelete = await caught(scriptedClient(deleted).products.delete('1'));
    expect(ofDelete).toMatchObject({ code: 'unexpected_response', outcome: 'unknown' });
    expect(deleted.requests.map(({ init }) => init.method)).toEqual(['DELETE', 'GET']);

    const posted = scripted(body, 'POST');
    const created = scriptedClient(posted).products.create({ name: 'Table' });
    if (name === 'another record') return expect(await created).toEqual(body);
    const failed = await caught(created);
    expect(failed).toMatchObject({ code: 'unexpected_response', outcome: 'unknown', retryable: false });
    expect((failed as Error).message).toContain('look for the record before you repeat it');
    expect(posted.requests).toHaveLength(1);
  },
);

test('a delete that gets such a 200 is not done because a proxy has no such path', async () => {
  const bodies: Readonly<Record<string, Response>> = {
    DELETE: jsonResponse(OTHERS['success: false']),
    GET: new Response('<h1>Not Found</h1>', { status: 404, headers: { 'content-type': 'text/html' } }),
  };
  const deleted = scriptedFetch(
    ({ init: { method = '' } }: FetchedRequest) => bodies[method] ?? jsonResponse(product),
  );
  const error = await caught(scriptedClient(deleted).products.delete('1'));
  expect(error).toMatchObject({ code: 'unexpected_response', outcome: 'unknown' });
});

test('a delete that gets such a 200 is done if the product is gone, and nothing is reported as an error', async () => {
  const bodies: Readonly<Record<string, Response>> = {
    DELETE: jsonResponse(OTHERS['success: true']),
    GET: problemResponse(404, { type: 'not_found' }),
  };
  const deleted = scriptedFetch(
    ({ init: { method = '' } }: FetchedRequest) => bodies[method] ?? jsonResponse(product),
  );
  const [error, end] = [vi.fn(), vi.fn()];
  await scriptedClient(deleted, { on: { error, end } }).products.delete('1');
  expect(error).not.toHaveBeenCalled();
  expect(end.mock.calls.map(([{ method, result }]) => `${method} ${result}`)).toEqual([
    'GET ok',
    'DELETE ok',
  ]);
});

test('a push looks again at the product of an update that got such a 200', async () => {
  const { sandbox } = setUpPush([{ productNumber: 'P-0', name: 'Desk' }, ...numbered(20).slice(1)]);
  let isApplied = true;
  const fetch: typeof sandbox.fetch = async (url, init) => {
    const isUpdate = init?.method === 'PATCH';
    const response = isUpdate && !isApplied ? undefined : await sandbox.fetch(url, init);
    return isUpdate || response === undefined ? jsonResponse(OTHERS['success: false']) : response;
  };
  const { run } = setUpPush([], { client: { ...sandbox.clientOptions, fetch } });
  const push = (name: string) => run([{ productNumber: 'P-0', name }, ...numbered(20).slice(1)]);
  expect((await push('Table')).report.counts).toMatchObject({ updated: 1, failed: 0 });
  expect(sandbox.store.products.get('1')).toMatchObject({ name: 'Table' });
  isApplied = false;
  const { report, results } = await push('Chair');
  expect(report.counts).toMatchObject({ updated: 0, failed: 1 });
  expect(results.at(-1)).toMatchObject({ error: { code: 'unexpected_response', outcome: 'unknown' } });
  // Each round sends it once more.
  expect(sandbox.count(({ method }) => method === 'GET')).toBeGreaterThanOrEqual(3);
});

const problems = Object.entries(PROBLEMS).flatMap(([what, problem]) =>
  METHODS.map((method) => [method, what, problem] as const),
);

test.each(problems)(
  'a %s that gets a problem document with %s in a 200 fails with it at once',
  async (...row) => {
    const [method, , [body, code, type]] = row;
    const fetch = scripted(body, method, type);
    const error = await caught(callWith(scriptedClient(fetch), method));
    expect(error).toMatchObject({ code, message: expect.stringContaining('returned 200 with') });
    expect(fetch.requests).toHaveLength(1);
  },
);

test('a problem document in a 200 that names no status leaves the outcome of a write unknown', async () => {
  const outcomeOf = async (body: unknown) =>
    ((await caught(scriptedClient(scripted(body, 'PATCH')).products.update('1', {}))) as { outcome: string })
      .outcome;
  expect(await outcomeOf({ '@type': 'hydra:Error', 'hydra:description': 'Locked' })).toBe('unknown');
  expect(await outcomeOf({ type: 'about:blank', status: 503 })).toBe('unknown');
  expect(await outcomeOf({ type: 'validation_failed' })).toBe('rejected');
});

test('a product whose fields look like those of a problem document is a product', async () => {
  const body = { ...product, type: 'forbidden', status: 'active' };
  expect(await scriptedClient(scripted(body, 'PATCH')).products.update('1', {})).toEqual(body);
});
