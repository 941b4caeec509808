import { collectionNames, createClient, InvalidInputError } from 'accounting-data-sdk';
import { type ProbePlan, probe } from 'accounting-data-sdk/explore';
import { createSandbox } from 'accounting-data-sdk/testing';
import { describe, expect, test } from 'vitest';
import { MONEY_FIELDS } from '../support/generated-fields.ts';
import { clientBehind, productSandbox } from './support/products.ts';

describe('a probe', () => {
  test('says beforehand how many requests there will be, and sends no more', async () => {
    await using sandbox = createSandbox({ records: 4000, pageSize: 5 });
    const plans: [ProbePlan, number][] = [];
    const report = await probe(createClient(sandbox.clientOptions), {
      onPlan: (plan) => void plans.push([plan, sandbox.count()]),
    });

    const [[plan, sentBefore] = []] = plans;
    expect(plans.length).toBe(1);
    expect(sentBefore).toBe(0);
    expect(report.requests).toBe(sandbox.count());
    expect(report.requests).toBeLessThanOrEqual(plan?.atMost ?? 0);
    // Only products show the timestamps that the last two requests need.
    expect(report.requests).toBe((plan?.requests ?? 0) - 2 * (collectionNames.length - 1));
    expect(sandbox.requests.every(({ method }) => method === 'GET')).toBe(true);
  });

  test('stays within its announcement if nothing works as documented', async () => {
    const { sandbox } = productSandbox();
    const rejecting = clientBehind(sandbox, (url) =>
      [...url.searchParams.keys()].some((name) => name !== '_page')
        ? Response.json({ type: 'malformed_request' }, { status: 400 })
        : url,
    );
    let atMost = 0;
    const report = await probe(rejecting, {
      collections: ['accounts', 'products'],
      onPlan: (plan) => {
        atMost = plan.atMost;
      },
    });
    expect(report.requests).toBeLessThanOrEqual(atMost);
    expect(report.requests).toBeGreaterThan(20);
  });

  test('waits for the quota, and learns the same', async () => {
    const collections = ['accounts', 'boms', 'products'] as const;
    await using paced = createSandbox({ records: 600, rateLimit: { limit: 20, windowMs: 200 } });
    await using free = createSandbox({ records: 600 });
    const reports = await Promise.all(
      [paced, free].map(({ clientOptions }) => probe(createClient(clientOptions), { collections })),
    );
    const withoutTimes = reports.map((report) =>
      JSON.stringify(report.collections).replaceAll(/20\d\d-[\d:TZ-]+/g, ''),
    );
    expect(withoutTimes[0]).toBe(withoutTimes[1]);
    expect(paced.count()).toBeGreaterThan(25);
  });

  test('stops when asked, with the reason given and no further request', async () => {
    await using sandbox = createSandbox({ records: 600 });
    const stop = new AbortController();
    // Even one that looks like an error of the service.
    const reason = new InvalidInputError('stop', 'was wanted');
    const learned: string[] = [];
    const running = probe(createClient(sandbox.clientOptions), {
      signal: stop.signal,
      onCollection: ({ collection }) => void learned.push(collection),
      onProgress: ({ requests }) => requests === 15 && stop.abort(reason),
    });

    await expect(running).rejects.toBe(reason);
    expect(sandbox.count()).toBe(15);
    expect(learned).toEqual(['accounts']);
  });

  test('is not begun with a signal that has fired', async () => {
    await using sandbox = createSandbox();
    const running = probe(createClient(sandbox.clientOptions), { signal: AbortSignal.abort('no') });
    await expect(running).rejects.toBe('no');
    expect(sandbox.count()).toBe(0);
  });

  test('reports the error type of each collection that the key may not read', async () => {
    await using sandbox = createSandbox({ records: 200, problemContentType: 'application/ld+json' });
    const client = createClient({ ...sandbox.clientOptions, apiKey: sandbox.keys.productsOnly });
    const { collections, problems } = await probe(client);
    expect(collections.map(({ collection, access }) => [collection, access])).toEqual(
      collectionNames.map((name) => [name, name === 'products' ? 'readable' : 'scope_required']),
    );
    expect(problems.forbidden.value).toBe('application/ld+json');
    expect(problems.seen.find(({ status }) => status === 403)).toMatchObject({
      code: 'scope_required',
      type: 'scope_required',
    });
  });

  test('rejects if every collection would fail in the same way', async () => {
    await using sandbox = createSandbox();
    const revoked = createClient({ ...sandbox.clientOptions, apiKey: sandbox.keys.revoked });
    await expect(probe(revoked)).rejects.toMatchObject({ code: 'unauthenticated' });
    expect(sandbox.count()).toBe(1);

    const page = clientBehind(sandbox, () => Response.redirect('https://elsewhere.invalid/'));
    await expect(probe(page)).rejects.toMatchObject({ code: 'redirected' });
  });

  test('reports a collection whose response is something else', async () => {
    await using sandbox = createSandbox({ records: 100 });
    sandbox.faults.add(
      { kind: 'html-response' },
      { collection: 'accounts', times: Number.POSITIVE_INFINITY },
    );
    sandbox.faults.add(
      { kind: 'rewrite', body: '{"rows":[]}' },
      { collection: 'boms', times: Number.POSITIVE_INFINITY },
    );
    const { collections } = await probe(createClient(sandbox.clientOptions), {
      collections: ['accounts', 'boms', 'products'],
    });
    expect(collections.map(({ access }) => access)).toEqual([
      'unexpected_response',
      'unexpected_response',
      'readable',
    ]);
  });

  test('rejects collections that do not exist, and an empty list', async () => {
    const { client } = productSandbox();
    await expect(probe(client, { collections: ['invoices' as 'accounts'] })).rejects.toMatchObject({
      code: 'invalid_input',
    });
    await expect(probe(client, { collections: [] })).rejects.toMatchObject({ code: 'invalid_input' });
  });

  test('returns a report of plain JSON', async () => {
    const { client } = productSandbox();
    const report = await probe(client, { collections: ['products'] });
    expect(JSON.parse(JSON.stringify(report))).toEqual(report);
  });
});

describe('what responses carry', () => {
  test('names fields that look like amounts and came as numbers', async () => {
    await using sandbox = createSandbox({ records: 500 });
    sandbox.faults.add({ kind: 'money-as-number' }, { probability: 1 });
    const { collections, client } = await probe(createClient(sandbox.clientOptions));
    const found = collections.flatMap(({ collection, details }) => {
      const { value = [] } = details?.moneyAsNumbers ?? {};
      return value === undefined ? [] : value.map((field) => `${collection}.${field}`);
    });
    expect(found).toEqual(MONEY_FIELDS);
    expect(client.validation).toBe('report');
  });

  test('names none if amounts are strings and other numbers are numbers', async () => {
    await using sandbox = createSandbox({ records: 500 });
    const { collections } = await probe(createClient(sandbox.clientOptions));
    expect(collections.map(({ details }) => details?.moneyAsNumbers.value)).toEqual(
      collections.map(() => []),
    );
  });

  test.each([
    ['without Date', { Date: null }],
    ['if a cache sent every response, and counts these', { Age: '30' }],
  ])('says that the clock is unknown %s', async (_, headers) => {
    const { sandbox, client } = productSandbox();
    sandbox.faults.add({ kind: 'rewrite', headers }, { probability: 1 });
    const { clock, cachedResponses, requests } = await probe(client, { collections: ['products'] });
    expect(clock).toMatchObject({ known: false, reason: 'no response carried a Date of its own' });
    expect(cachedResponses).toBe('Age' in headers ? requests : 0);
  });

  test('says that the quota is unknown without its headers', async () => {
    const { sandbox, client } = productSandbox();
    const headers = { 'X-RateLimit-Limit': null };
    sandbox.faults.add({ kind: 'rewrite', headers }, { probability: 1 });
    const { quota } = await probe(client, { collections: ['products'] });
    expect([quota.limit.value, quota.remaining.value, quota.windowMs.value]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  test('reports the form of ids of one kind only, and of numbers', async () => {
    const { sandbox, client } = productSandbox();
    sandbox.store.accounts.insert({ id: 'ACC-1', name: 'By hand' });
    sandbox.faults.add(
      { kind: 'rewrite', body: (text) => text.replaceAll(/"id":"(\d+)"/g, '"id":$1') },
      { collection: 'products', probability: 1 },
    );
    const { collections } = await probe(client, { collections: ['products'] });
    expect(collections[0]?.details?.idForm).toEqual({
      known: true,
      value: 'numeric',
      evidence: 'ids came as JSON numbers',
    });
  });
});
