import { createClient } from 'accounting-data-sdk';
import { discover, type ExploreProgress, type ProbePlan, probe, whoami } from 'accounting-data-sdk/explore';
import { createSandbox, type Fault } from 'accounting-data-sdk/testing';
import { describe, expect, test } from 'vitest';
import { caught } from '../support/caught.ts';
import { MONEY_FIELDS } from '../support/generated-fields.ts';
import { MONEY_AS_NUMBERS } from '../support/money-as-numbers.ts';
import { runToEnd, useVirtualClock } from '../support/virtual-clock.ts';
import { clientBehind, productSandbox } from './support/products.ts';

test.each([
  ['works', () => false],
  ['is rejected', (name: string) => name !== '_page'],
])('a probe says how many requests it sends at most, if everything %s', async (_, fails) => {
  const { sandbox } = productSandbox({ pageSize: 5 });
  const rejected = () => Response.json({ type: 'malformed_request' }, { status: 400 });
  const client = clientBehind(sandbox, (url) =>
    [...url.searchParams.keys()].some(fails) ? rejected() : url,
  );
  const plans: (readonly [ProbePlan, sent: number])[] = [];
  const onPlan = (plan: ProbePlan) => plans.push([plan, sandbox.count()]);
  const { requests } = await probe(client, { onPlan });
  expect(plans).toEqual([[expect.anything(), 0]]);
  expect(requests).toBeLessThanOrEqual(plans[0]?.[0].atMost ?? 0);
  expect(requests).toBeGreaterThan(20);
  expect([...new Set(sandbox.requests.map(({ method }) => method))]).toEqual(['GET']);
});

test('a probe counts its requests with retries and writes, and reports how far it is', async () => {
  const sandbox = createSandbox({ records: { accounts: 60, products: 20 } });
  sandbox.faults.add({ kind: 'status', status: 503 }, { skip: 4, times: 2 });
  const client = createClient({ ...sandbox.clientOptions, retry: { baseDelayMs: 1 } });
  const plans: ProbePlan[] = [];
  const progress: ExploreProgress[] = [];
  const probed = (write: boolean) =>
    probe(client, {
      collections: ['products', 'accounts', 'products'],
      write,
      onPlan: (plan) => void plans.push(plan),
      onProgress: (now) => void progress.push(now),
    });
  const { requests, collections } = await probed(true);
  expect(requests).toBe(sandbox.count());
  // The one with more records first, and the report in the order of the caller.
  const seen = new Set(progress.map(({ collection, done, of }) => `${collection} ${done} of ${of}`));
  expect([...seen]).toEqual(['undefined 0 of 2', 'accounts 0 of 2', 'products 1 of 2', 'undefined 2 of 2']);
  expect(progress.at(-1)?.requests).toBe(requests);
  expect(collections.map(({ collection }) => collection)).toEqual(['products', 'accounts']);
  await probed(false);
  expect(plans).toMatchObject([{ collections: ['products', 'accounts'], writes: true }, { writes: false }]);
  expect((plans[0]?.atMost ?? 0) - (plans[1]?.atMost ?? 0)).toBeGreaterThan(20);
});

describe('an error', () => {
  useVirtualClock();

  test.each<[code: string, fault?: Fault]>([
    ['unauthenticated', { kind: 'status', status: 401 }],
    ['connection_failed', { kind: 'disconnect' }],
    ['timeout', { kind: 'stall' }],
    ['redirected', { kind: 'rewrite', status: 302, headers: { Location: 'https://elsewhere.invalid/' } }],
    // A key that cannot be sent.
    ['invalid_input'],
  ])(
    'that every collection would have ends a probe and a discovery at the first one: %s',
    async (code, fault) => {
      const sandbox = createSandbox();
      if (fault !== undefined) sandbox.faults.add(fault);
      const apiKey = fault === undefined ? () => '' : sandbox.keys.full;
      const client = createClient({ ...sandbox.clientOptions, apiKey, retry: { maxAttempts: 1 } });
      const [one, all] = [{ collections: ['boms'] }, {}] as const;
      for (const run of [() => probe(client, all), () => probe(client, one), () => discover(client, all)]) {
        sandbox.clearLogs();
        expect(await runToEnd(caught(run()))).toMatchObject({ code });
        expect(sandbox.count()).toBeLessThanOrEqual(1);
      }
    },
  );
});

test.each([
  ['probe', probe],
  ['discover', discover],
])('%s rejects an empty list of collections', async (_, explore) => {
  const { sandbox, client } = productSandbox();
  await expect(explore(client, { collections: [] })).rejects.toMatchObject({ code: 'invalid_input' });
  expect(sandbox.count()).toBe(0);
});

test('a probe takes the form of a 404 from no other error and no record that is listed, and the quota from any response that names it', async () => {
  const { sandbox } = productSandbox();
  const noLimit = { 'X-RateLimit-Limit': null, 'X-RateLimit-Remaining': null };
  sandbox.faults.add({ kind: 'rewrite', headers: noLimit }, { skip: 1 });
  const client = clientBehind(sandbox, ({ href, pathname }) => {
    if (href.includes('not-a-timestamp')) return new Response('<h1>No</h1>', { status: 400 });
    if (pathname.endsWith('/2147483646')) return Response.json({ type: 'not_found' }, { status: 404 });
    if (/\/products\/\d+$/.test(pathname))
      return new Response('<h1>No route</h1>', { status: 404, headers: { 'Content-Type': 'text/html' } });
    return new URL(href);
  });
  const { problems, quota } = await probe(client, { collections: ['products'] });
  expect(problems).toMatchObject({ notFound: { value: 'application/json' }, bareNotFound: { value: false } });
  expect(quota.limit.value).toBe(10_000);
});

describe('a response that is something else', () => {
  useVirtualClock();

  test('makes its collection unusable in the report of a probe', async () => {
    const sandbox = createSandbox({ records: 100 });
    sandbox.faults.add({ kind: 'status', status: 200, body: '<h1>Oops</h1>' }, { collection: 'accounts' });
    sandbox.faults.add({ kind: 'rewrite', body: '{"rows":[]}' }, { collection: 'boms' });
    const client = createClient(sandbox.clientOptions);
    const { collections } = await runToEnd(probe(client, { collections: ['accounts', 'boms', 'products'] }));
    const unusable = 'unexpected_response';
    expect(collections.map(({ access }) => access)).toEqual([unusable, unusable, 'readable']);
  });
});

test.each([
  ['whoami', whoami],
  ['probe', probe],
  ['discover', discover],
])('%s stops with the reason of its signal and sends no further request', async (_, explore) => {
  const sandbox = createSandbox({ records: 600 });
  const client = createClient(sandbox.clientOptions);
  const stop = new AbortController();
  // Even one that is an error of the service.
  const denied = createClient({ ...sandbox.clientOptions, apiKey: sandbox.keys.forbidden });
  const reason = await caught(denied.accounts.get('1'));
  sandbox.clearLogs();
  let sent = 0;
  const onProgress = ({ requests }: { requests: number }) => {
    if (requests < 5 || stop.signal.aborted) return;
    sent = sandbox.count();
    stop.abort(reason);
  };
  await expect(explore(client, { signal: stop.signal, onProgress })).rejects.toBe(reason);
  await expect(explore(client, { signal: stop.signal })).rejects.toBe(reason);
  expect([sent > 0, sandbox.count()]).toEqual([true, sent]);
});

test('a probe names fields that look like amounts and came as numbers, and no other', async () => {
  const sandbox = createSandbox({ records: 500 });
  const found = async () => {
    const { collections, client } = await probe(createClient(sandbox.clientOptions));
    const fields = collections.flatMap(({ collection, details }) =>
      (details?.moneyAsNumbers.value ?? ['unknown']).map((field) => `${collection}.${field}`),
    );
    return [fields, client.validation];
  };
  expect(await found()).toEqual([[], undefined]);
  sandbox.faults.add(MONEY_AS_NUMBERS);
  expect(await found()).toEqual([MONEY_FIELDS, 'report']);
});

test.each([
  ['"id":null', 'id is null'],
  ['"Id":"3"', 'id is missing, but there is "Id"'],
])('a probe names ids that cannot be read: %s', async (sent, why) => {
  const sandbox = createSandbox({ records: { accounts: 20 } });
  sandbox.faults.add({ kind: 'rewrite', body: (text) => text.replaceAll('"id":"3"', sent) });
  const report = await probe(createClient(sandbox.clientOptions), { collections: ['accounts'] });
  const evidence = expect.stringContaining(why);
  expect(report.collections[0]?.details?.idType).toMatchObject({ value: 'unreadable', evidence });
  expect(report.client).not.toHaveProperty('ids');
  expect(report.advice.join()).toContain('The id of some records of accounts cannot be read');
});

test.each([
  ['whoami', whoami],
  ['probe', probe],
  ['discover', discover],
])('%s sends the parameters and the page parameter of the client with each list', async (name, explore) => {
  const sandbox = createSandbox({
    records: { accounts: 95 },
    pageParameter: 'p',
    pageSizeParameter: 'itemsPerPage',
  });
  const parameters = { 'tenant.id': 'a.b' };
  const client = createClient({ ...sandbox.clientOptions, parameters, pageParameter: 'p' });
  // One of them without records.
  const found = await explore(client, name === 'whoami' ? {} : { collections: ['accounts', 'boms'] });
  const lists = sandbox.requests.filter(({ path }) => /\/v1\/[a-z-]+$/.test(path));
  expect(lists.filter(({ query }) => query['tenant.id'] !== 'a.b')).toEqual([]);
  expect(lists.some(({ query }) => query.p === '2')).toBe(name !== 'whoami');
  expect(lists.filter(({ query }) => '_page' in query || 'page' in query)).toEqual([]);
  // The options replace those of the client.
  if ('profile' in found)
    expect(found.client).toEqual({ pageParameter: 'p', parameters: { ...parameters, itemsPerPage: '100' } });
});

test('discover samples a list along its links', async () => {
  const sandbox = createSandbox({ records: { accounts: 95 }, cursor: 'header' });
  const { collections } = await discover(createClient(sandbox.clientOptions), { collections: ['accounts'] });
  expect(collections).toMatchObject([{ collection: 'accounts', records: 95 }]);
});
