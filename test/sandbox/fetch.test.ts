import { createSandbox, type Fault } from 'accounting-data-sdk/testing';
import { expect, test } from 'vitest';

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
  sandbox.faults.next({ kind: 'connection-refused' });
  const refused = sandbox.fetch(`${sandbox.baseUrl}/api/public/v1/accounts`);
  await expect(refused).rejects.toMatchObject({ cause: { code: 'ECONNREFUSED' } });
  expect(createSandbox().baseUrl).not.toBe(sandbox.baseUrl);
  // While it listens, it has two.
  await using listening = createSandbox();
  const { baseUrl } = listening;
  for (const origin of [baseUrl, (await listening.listen()).url])
    expect((await listening.fetch(`${origin}/api/public/v1/accounts`)).status).toBe(401);
  expect(createSandbox({ origin: 'https://books.example.com/' }).baseUrl).toBe('https://books.example.com');
});

test('a sandbox can listen after a port that is in use, and closes a port that is about to open', async () => {
  const sandbox = createSandbox();
  const { baseUrl } = sandbox;
  await using other = createSandbox();
  const { port } = await other.listen();
  await expect(sandbox.listen({ port })).rejects.toMatchObject({ code: 'EADDRINUSE' });
  const { url } = await sandbox.listen();
  expect(sandbox.baseUrl).toBe(url);
  await sandbox[Symbol.asyncDispose]();
  expect(sandbox.baseUrl).toBe(baseUrl);
  const opening = sandbox.listen();
  await sandbox.close();
  for (const closed of [url, (await opening).url])
    await expect(fetch(closed)).rejects.toThrow('fetch failed');
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
  const direct = await get();
  expect([direct.url, direct.redirected]).toEqual([`${sandbox.baseUrl}/api/public/v1/boms`, false]);

  sandbox.faults.next(redirect);
  const followed = await get();
  expect([followed.url, followed.redirected]).toEqual([`${sandbox.baseUrl}/api/public/v1/accounts`, true]);
  expect(await followed.json()).toEqual([{ id: '1', name: 'a' }]);
  // A POST becomes a GET.
  sandbox.faults.next(redirect);
  expect((await get({ method: 'POST' })).status).toBe(200);
  // Or it stays one with its body.
  for (const [status, method] of [
    [303, 'GET'],
    [307, 'POST'],
    [308, 'POST'],
  ] as const) {
    sandbox.faults.next(redirectTo('/api/public/v1/products', status));
    await get({ method: 'POST', body: 'some' });
    expect(sandbox.requests.at(-1)).toMatchObject({ method, body: method === 'GET' ? undefined : 'some' });
  }
  // A HEAD stays one.
  for (const status of [301, 302, 303, 307, 308]) {
    sandbox.faults.next(redirectTo('/api/public/v1/accounts', status));
    expect(await (await get({ method: 'HEAD' })).text()).toBe('');
    expect(sandbox.requests.at(-1)?.method).toBe('HEAD');
  }
  sandbox.faults.next(redirect);
  await expect(get({ redirect: 'error' })).rejects.toThrow('fetch failed');
  sandbox.faults.next(redirectTo('https://elsewhere.example/'));
  await expect(get()).rejects.toThrow('fetch failed');
  sandbox.faults.add(redirect);
  await expect(get()).rejects.toThrow('fetch failed');
});
