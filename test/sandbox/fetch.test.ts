import { createSandbox, type Fault } from 'accounting-data-sdk/testing';
import { expect, test } from 'vitest';
import { call } from './support/call.ts';

const redirectTo = (Location: string, status = 302): Fault => ({
  kind: 'rewrite',
  committed: false,
  status,
  headers: { Location },
});

test('sandbox.fetch serves no origin but its own, which no other sandbox has', async () => {
  const sandbox = createSandbox();
  const elsewhere = sandbox.fetch('https://elsewhere.example/api/public/v1/accounts');
  await expect(elsewhere).rejects.toMatchObject({ cause: { code: 'ENOTFOUND' } });
  expect(sandbox.requests).toEqual([]);
  expect(createSandbox().baseUrl).not.toBe(sandbox.baseUrl);
  expect(createSandbox({ origin: 'https://books.example.com/' }).baseUrl).toBe('https://books.example.com');
});

test('sandbox.fetch follows a redirect as fetch does, and forwards nothing to another origin', async () => {
  const sandbox = createSandbox();
  sandbox.store.accounts.insert({ name: 'a' });
  const get = (init: RequestInit = {}) =>
    sandbox.fetch(`${sandbox.baseUrl}/api/public/v1/boms`, {
      headers: { 'X-AUTH-TOKEN': sandbox.keys.full },
      ...init,
    });
  const redirect = redirectTo('/api/public/v1/accounts');

  sandbox.faults.next(redirect);
  const followed = await get();
  expect([followed.url, followed.redirected]).toEqual([`${sandbox.baseUrl}/api/public/v1/accounts`, true]);
  expect(await followed.json()).toEqual([{ id: '1', name: 'a' }]);
  sandbox.faults.next(redirect);
  await expect(get({ redirect: 'error' })).rejects.toThrow('fetch failed');
  sandbox.faults.next(redirectTo('https://elsewhere.example/'));
  await expect(get()).rejects.toThrow('fetch failed');
  sandbox.faults.add(redirect);
  await expect(get()).rejects.toThrow('fetch failed');
});

test.each([
  [302, 'GET', ''],
  [307, 'POST', '{"name":"a"}'],
])('a POST through sandbox.fetch that is redirected with %i becomes a %s', async (status, method, body) => {
  const sandbox = createSandbox();
  sandbox.faults.next(redirectTo('/api/public/v1/products', status));
  const headers = { 'X-AUTH-TOKEN': sandbox.keys.full, 'Content-Type': 'application/json' };
  await sandbox.fetch(`${sandbox.baseUrl}/elsewhere`, { method: 'POST', headers, body: '{"name":"a"}' });
  const second = sandbox.requests[1];
  expect([second?.method, JSON.stringify(second?.body) ?? '']).toEqual([method, body]);
});

test('an aborted signal stops a request before the sandbox logs it', async () => {
  const sandbox = createSandbox();
  const reason = new Error('never mind');
  await expect(call(sandbox, '/accounts', { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  expect(sandbox.requests).toEqual([]);
});
