/** Run in a process of its own: prints how much memory a sandbox of a million records takes while it is read and changed. */
import { createSandbox } from '../../../src/testing/index.ts';

const PAGES = 200;

async function read(sandbox: ReturnType<typeof createSandbox>, page: number): Promise<void> {
  const url = `${sandbox.baseUrl}/api/public/v1/products?_page=${page}`;
  const response = await sandbox.fetch(url, { headers: { 'X-AUTH-TOKEN': sandbox.keys.full } });
  await response.json();
}

// What fetch and JSON take anyhow is there before the measuring begins.
const small = createSandbox({ records: 1000 });
for (let page = 1; page <= PAGES; page += 1) await read(small, 1 + (page % 3));
globalThis.gc?.();
const before = process.memoryUsage().rss;

const sandbox = createSandbox({ records: 1_000_000 });
const last = Math.ceil(sandbox.store.products.count / 30);
for (let i = 0; i < PAGES; i += 1) {
  await read(sandbox, 1 + Math.floor((last * i) / PAGES));
  sandbox.store.products.update(String(1 + i * 7), { name: 'changed' });
  sandbox.store.accounts.delete(String(1 + i * 11));
}
const url = `${sandbox.baseUrl}/api/public/v1/accounts?updatedSince=2022-01-01`;
await (await sandbox.fetch(url, { headers: { 'X-AUTH-TOKEN': sandbox.keys.full } })).json();

console.log(JSON.stringify({ megabytes: (process.memoryUsage().rss - before) / 2 ** 20 }));
