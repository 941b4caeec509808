import type { Client } from 'accounting-data-sdk';
import { describe, expect, test } from 'vitest';
import { caught } from '../support/caught.ts';
import { numbered, setUpPush } from '../support/push.ts';
import {
  type FetchedRequest,
  jsonResponse,
  scriptedClient,
  scriptedFetch,
} from '../support/scripted-fetch.ts';

const product = { id: '1', productNumber: 'P-0', name: 'Desk' };

/** Bodies of a 2xx that say nothing about product 1. */
const OTHERS: Readonly<Record<string, unknown>> = {
  'success: false': { success: false, error: 'The period is locked' },
  errors: { errors: [{ message: 'The period is locked' }] },
  'an object without members': {},
  'the id of a job': { jobId: 'a1' },
  'a product without an id': { productNumber: 'P-0', name: 'Table', type: 'physical', status: 'active' },
  'an id that is null': { ...product, id: null },
  'an id that is a number': { ...product, id: 1 },
  'another record': { ...product, id: '999' },
  'a message': { code: 200, message: 'ok' },
};

const PROBLEMS: Readonly<Record<string, readonly [body: unknown, code: string, type?: string]>> = {
  'its type and status': [{ type: '/errors/validation_failed', status: 422 }, 'validation_failed'],
  'its type alone': [{ type: 'forbidden', title: 'Locked' }, 'forbidden'],
  'a status alone': [{ title: 'Unprocessable', status: 422, detail: 'Locked.' }, 'unknown_problem'],
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
  'an id of its own': [{ id: 'e-17', type: '/errors/scope_required', status: 403 }, 'scope_required'],
};

const scripted = (body: unknown, write: string, type = 'application/json') =>
  scriptedFetch(({ init: { method } }: FetchedRequest) =>
    jsonResponse(method === write ? body : product, 200, method === write ? { 'content-type': type } : {}),
  );

describe.each(Object.entries(OTHERS))('a 200 with %s', (name, body) => {
  test('leaves the outcome of an update unknown', async () => {
    const fetch = scripted(body, 'PATCH');
    const error = await caught(scriptedClient(fetch).products.update('1', { name: 'Table' }));
    expect(error).toMatchObject({ code: 'unexpected_response', outcome: 'unknown', retryable: false });
    expect((error as Error).message).toContain('may have applied it');
    expect(fetch.requests).toHaveLength(1);
  });

  test('leaves the outcome of a delete unknown while the product exists', async () => {
    const fetch = scripted(body, 'DELETE');
    const error = await caught(scriptedClient(fetch).products.delete('1'));
    expect(error).toMatchObject({ code: 'unexpected_response', outcome: 'unknown' });
    expect(fetch.requests.map(({ init }) => init.method)).toEqual(['DELETE', 'GET']);
  });

  test('is not the product of a create, unless it has an id', async () => {
    const fetch = scripted(body, 'POST');
    const created = scriptedClient(fetch).products.create({ name: 'Table' });
    if (name === 'another record') return expect(await created).toEqual(body);
    expect(await caught(created)).toMatchObject({ code: 'unexpected_response', outcome: 'unknown' });
    const keys = fetch.requests.map(({ headers }) => headers.get('idempotency-key'));
    expect([keys.length, new Set(keys).size]).toEqual([2, 1]);
  });

  test('lets a push look at the product again', async () => {
    for (const isApplied of [true, false]) {
      const { report, names } = await pushed(body, 'PATCH', isApplied);
      expect(report.counts).toMatchObject(isApplied ? { updated: 1, failed: 0 } : { updated: 0, failed: 1 });
      expect(names).toEqual([isApplied ? 'Table' : 'Desk']);
    }
  });

  test('lets a push look for the product that it deletes', async () => {
    for (const isApplied of [true, false]) {
      const { report, names } = await pushed(body, 'DELETE', isApplied);
      expect(report.counts).toMatchObject(isApplied ? { deleted: 1, failed: 0 } : { deleted: 0, failed: 1 });
      expect(names).toHaveLength(isApplied ? 0 : 1);
    }
  });
});

/** Pushes to a service that responds to one kind of write with a body of its own, whether or not it applies it. */
async function pushed(body: unknown, write: 'PATCH' | 'DELETE', isApplied: boolean) {
  const setUp = setUpPush([{ productNumber: 'P-0', name: 'Desk' }, ...numbered(20).slice(1)], {
    client: {
      fetch: async (url, init) => {
        if (init?.method !== write) return setUp.sandbox.fetch(url, init);
        if (isApplied) await setUp.sandbox.fetch(url, init);
        return jsonResponse(body);
      },
    },
  });
  const rows = numbered(20).slice(1);
  const { report } =
    write === 'PATCH'
      ? await setUp.run([{ productNumber: 'P-0', name: 'Table' }, ...rows])
      : await setUp.run(rows, { missing: 'delete' });
  const left = setUp.sandbox.store.products.all().filter(({ productNumber }) => productNumber === 'P-0');
  return { report, names: left.map(({ name }) => name) };
}

describe.each(Object.entries(PROBLEMS))('a problem document in a 200 with %s', (_, [body, code, type]) => {
  const calls: readonly (readonly [string, (client: Client) => Promise<unknown>])[] = [
    ['GET', ({ products }) => products.get('1')],
    ['POST', ({ products }) => products.create({ name: 'Table' })],
    ['PATCH', ({ products }) => products.update('1', { name: 'Table' })],
    ['DELETE', ({ products }) => products.delete('1')],
  ];

  test.each(calls)('is that problem to a %s, which is not sent again', async (method, call) => {
    const fetch = scripted(body, method, type);
    const error = await caught(call(scriptedClient(fetch) as unknown as Client));
    expect(error).toMatchObject({ code, message: expect.stringContaining('returned 200 with') });
    expect(fetch.requests).toHaveLength(1);
  });
});

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
