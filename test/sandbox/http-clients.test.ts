import { execFile, execFileSync } from 'node:child_process';
import { promisify } from 'node:util';
import { createSandbox } from 'accounting-data-sdk/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const run = promisify(execFile);

const isInstalled = (name: string) => {
  try {
    execFileSync(name, ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
};

const sandbox = createSandbox({ records: 600 });
const key = sandbox.keys.full;
beforeAll(() => sandbox.listen());
afterAll(() => sandbox.close());

const api = (path: string) => `${sandbox.baseUrl}/api/public/v1${path}`;
const idOf = (text: string) => String(JSON.parse(text).id);

describe.skipIf(!isInstalled('curl'))('curl', () => {
  const curl = async (...args: string[]) =>
    (await run('curl', ['-sS', '-H', `X-AUTH-TOKEN: ${key}`, ...args])).stdout;

  test('reads pages, single records and headers, compressed and through a proxy', async () => {
    expect(JSON.parse(await curl(api('/accounts?_page=2')))[0].id).toBe('31');
    expect(idOf(await curl('--compressed', api('/accounts/7')))).toBe('7');
    expect(JSON.parse(await curl('--compressed', api('/accounts')))).toHaveLength(30);
    expect(await curl('-I', api('/accounts'))).toMatch(/^HTTP\/1\.1 200 OK[\s\S]*X-RateLimit-Remaining: \d+/);
    const proxied = 'http://books.example.com/api/public/v1/accounts/7';
    expect(idOf(await curl('-x', sandbox.baseUrl, proxied))).toBe('7');
    expect(await curl('-o', '/dev/null', '-w', '%{http_code}', api('/accounts/987654'))).toBe('404');
  });

  test('creates, updates and deletes a product', async () => {
    const json = ['-H', 'Content-Type: application/json'];
    const expecting = ['-H', 'Idempotency-Key: curl-1', '-H', 'Expect: 100-continue'];
    const id = idOf(await curl(...json, ...expecting, '-d', '{"name":"Désk"}', api('/products')));
    const patched = await curl('-X', 'PATCH', ...json, '-d', '{"name":null}', api(`/products/${id}`));
    expect(JSON.parse(patched)).toMatchObject({ id, name: null });
    expect(await curl('-X', 'DELETE', '-w', '%{http_code}', api(`/products/${id}`))).toBe('204');
    expect(await curl('-X', 'FROB', '-w', '%{http_code}', '-o', '/dev/null', api('/products'))).toBe('501');
  });
});

describe.skipIf(!isInstalled('wget'))('wget', () => {
  const wget = async (...args: string[]) =>
    (await run('wget', ['-qO-', '--header', `X-AUTH-TOKEN: ${key}`, ...args])).stdout;

  test('reads a list and a record, and checks that one exists', async () => {
    expect(JSON.parse(await wget(api('/accounts')))).toHaveLength(30);
    expect(idOf(await wget(api('/accounts/7')))).toBe('7');
    await expect(wget('--spider', api('/accounts/7'))).resolves.toBe('');
    await expect(wget('--spider', api('/accounts/987654'))).rejects.toMatchObject({ code: 8 });
  });

  test('creates, updates and deletes a product', async () => {
    const headers = ['--header', 'Content-Type: application/json', '--header', 'Idempotency-Key: wget-1'];
    const id = idOf(await wget(...headers, '--post-data', '{"name":"Desk"}', api('/products')));
    const patch = ['--method=PATCH', '--body-data={"name":null}'];
    const patched = await wget(...headers, ...patch, api(`/products/${id}`));
    expect(JSON.parse(patched)).toMatchObject({ id, name: null });
    await expect(wget('--method=DELETE', api(`/products/${id}`))).resolves.toBe('');
    await expect(wget(api(`/products/${id}`))).rejects.toMatchObject({ code: 8 });
  });
});
