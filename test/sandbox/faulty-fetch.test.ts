import { createClient } from 'accounting-data-sdk';
import { createSandbox, type FaultyFetchRule, faultyFetch } from 'accounting-data-sdk/testing';
import { expect, onTestFinished, test } from 'vitest';

/** A service on a port, which stands for a real one, and a client whose requests meet faults. */
async function serve(...rules: readonly FaultyFetchRule[]) {
  const sandbox = createSandbox({ records: { accounts: 40 } });
  await sandbox.listen();
  onTestFinished(() => sandbox.close());
  const fetchWithFaults = faultyFetch((...args) => fetch(...args), rules);
  const retry = { baseDelayMs: 1 };
  const client = createClient({
    ...sandbox.clientOptions,
    fetch: fetchWithFaults,
    retry,
    rateLimiter: false,
  });
  return { sandbox, client };
}

test('requests that match no rule reach the service unchanged', async () => {
  const { sandbox, client } = await serve({ fault: { kind: 'status', status: 500 }, method: 'DELETE' });
  const { id } = await client.products.create({ name: 'Desk' }, { idempotencyKey: 'one' });
  expect(await client.accounts.list().toArray({ limit: 100 })).toHaveLength(40);
  await client.products.update(id, { name: 'Table' });
  expect(sandbox.store.products.all()).toMatchObject([{ name: 'Table' }]);
  expect(sandbox.requests[0]?.idempotencyKey).toBe('one');
});

test('a committed fault comes after the real service has processed the request, and no other reaches it', async () => {
  const of = { method: 'POST', times: 1 } as const;
  const { sandbox, client } = await serve(
    { fault: { kind: 'lost-response', committed: true }, ...of },
    { fault: { kind: 'lost-response', committed: false }, ...of },
    { fault: { kind: 'status', status: 429, retryAfter: 0 }, ...of },
    { fault: { kind: 'status', status: 503 }, ...of },
  );
  await client.products.create({ name: 'Desk' });
  expect([sandbox.count(), sandbox.store.products.count]).toEqual([2, 1]);
});

test('a body is cut, rewritten or slow after the real service has sent it', async () => {
  const { sandbox, client } = await serve(
    { fault: { kind: 'disconnect', in: 'body' }, path: '/api/public/v1/accounts/1', times: 1 },
    { fault: { kind: 'slow-body', bytes: 200, everyMs: 1 }, path: '/api/public/v1/accounts/1' },
    { fault: { kind: 'rewrite', body: (body) => body.replace('"id":"2"', '"id":"two"') }, path: /s\/2$/ },
  );
  expect((await client.accounts.get('1')).id).toBe('1');
  expect(sandbox.count()).toBe(2);
  await expect(client.accounts.get('2')).rejects.toMatchObject({ code: 'unexpected_response' });
});

test('an abort ends the wait for a late response, with its reason', async () => {
  const { sandbox } = await serve();
  for (const before of ['commit', 'response'] as const) {
    const enough = new Error(before);
    const controller = new AbortController();
    const respond: typeof fetch = (url, init) => sandbox.fetch(String(url), init);
    const delayed = faultyFetch(respond, [{ fault: { kind: 'delay', ms: 3_600_000, before } }]);
    const late = delayed(`${sandbox.baseUrl}/api/public/v1/accounts`, { signal: controller.signal });
    controller.abort(enough);
    await expect(late).rejects.toBe(enough);
    // A request that meets no fault takes the signal to the service.
    const passed = faultyFetch(respond, [])(new Request(sandbox.baseUrl, { signal: controller.signal }));
    await expect(passed).rejects.toBe(enough);
  }
});

test('the response of a fault has the headers of the real one, but those of its encoding, or else the time', async () => {
  const real = { 'Content-Encoding': 'gzip', 'Content-Length': '9', 'X-Request-Id': '7', Date: 'some day' };
  const headersOf = async (committed: boolean) => {
    const fault = { kind: 'status', status: 503, committed } as const;
    const service = async () => new Response('{}', { headers: real });
    return Object.fromEntries((await faultyFetch(service, [{ fault }])('https://x.example')).headers);
  };
  const type = { 'content-type': 'application/problem+json' };
  expect(await headersOf(true)).toEqual({ ...type, 'x-request-id': '7', date: 'some day' });
  expect(await headersOf(false)).toEqual({ ...type, date: expect.stringMatching(/ GMT$/) });
});

test('the seed decides which requests meet a fault, and is 1 by default', async () => {
  const rule = { fault: { kind: 'status', status: 503 }, probability: 0.5 } as const;
  const met = async (...options: [object?]) => {
    const withFaults = faultyFetch(async () => new Response('[]'), [rule], ...options);
    const statuses = [];
    for (let sent = 0; sent < 40; sent += 1) statuses.push((await withFaults('https://x.example')).status);
    return statuses;
  };
  expect(await met({ seed: 1 })).toEqual(await met());
  expect(await met({ seed: 2 })).not.toEqual(await met());
});

test('the path of a rule does not contain a prefix of the base URL', async () => {
  const sandbox = createSandbox();
  const toSandbox: typeof fetch = (url, init) => sandbox.fetch(String(url).replace('/books/', '/'), init);
  const client = createClient({
    ...sandbox.clientOptions,
    baseUrl: `${sandbox.baseUrl}/books`,
    fetch: faultyFetch(toSandbox, [{ fault: { kind: 'status', status: 404 }, collection: 'accounts' }]),
  });
  await expect(client.accounts.list().first()).rejects.toMatchObject({ code: 'not_found' });
  expect(await client.products.list().first()).toBeUndefined();
});
