import { createSandbox, type Sandbox } from 'accounting-data-sdk/testing';
import { afterEach, beforeEach, expect, test } from 'vitest';

const ORIGIN = 'https://books.example.com';

/** What every version of msw has of a server. */
interface MockServer {
  listen(options?: object): void;
  close(): void;
}

/**
 * What holds with msw, whichever version is installed. Each version has a test file, and so a process, of its own:
 * two of them in one would both replace what the runtime calls `fetch`.
 */
export function holdsWithMsw(setupServer: (sandbox: Sandbox) => MockServer): void {
  let sandbox: Sandbox;
  let server: MockServer;

  beforeEach(() => {
    sandbox = createSandbox({ origin: ORIGIN });
    server = setupServer(sandbox);
    server.listen();
  });
  afterEach(() => server.close());

  const get = (path: string, init: RequestInit = {}) =>
    fetch(`${ORIGIN}/api/public/v1${path}`, { headers: { 'X-AUTH-TOKEN': sandbox.keys.full }, ...init });
  const create = (body: string) => {
    const json = { 'Idempotency-Key': 'k', 'Content-Type': 'application/json' };
    return get('/products', {
      method: 'POST',
      headers: { 'X-AUTH-TOKEN': sandbox.keys.full, ...json },
      body,
    });
  };

  test('serves lists, records and problems, and receives a body', async () => {
    for (const name of ['a', 'b', 'c']) sandbox.store.accounts.insert({ name });
    expect(await (await get('/accounts?id[gte]=2')).json()).toMatchObject([{ id: '2' }, { id: '3' }]);
    const missing = await get('/accounts/9');
    expect([missing.status, await missing.json()]).toMatchObject([404, { type: 'not_found' }]);
    expect((await create(JSON.stringify({ name: 'Désk' }))).status).toBe(201);
    expect(sandbox.store.products.get('1')?.name).toBe('Désk');
    const deleted = await get('/products/1', { method: 'DELETE' });
    expect([deleted.status, await deleted.text()]).toEqual([204, '']);
  });

  test('loses a response after the commit, and truncates a body', async () => {
    sandbox.faults.next({ kind: 'lost-response', committed: true });
    await expect(create('{}')).rejects.toThrow(TypeError);
    expect(sandbox.store.products.count).toBe(1);
    sandbox.faults.next({ kind: 'disconnect', in: 'body' });
    // msw 3 rejects the fetch, msw 2 the body: the client never takes it for a whole response.
    const read = async () => (await get('/products')).text();
    await expect(read()).rejects.toThrow();
  });
}
