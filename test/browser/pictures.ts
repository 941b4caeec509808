// Writes the pictures of the guide "Testing a connector in any language": `node test/browser/pictures.ts`, after a build.

import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

// The build, because only there the window is beside the sandbox.
const built = (name: string) => import(new URL(`../../dist/${name}.js`, import.meta.url).href);
const { createClient } = (await built('index')) as typeof import('accounting-data-sdk');
const { createSandbox } = (await built('testing')) as typeof import('accounting-data-sdk/testing');

const folder = fileURLToPath(new URL('../../src/guides/pictures/', import.meta.url));
const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';

await using sandbox = createSandbox({
  seed: 1,
  records: { accounts: 240, products: 90, boms: 40, budgets: 12 },
  rateLimit: { limit: 16, windowMs: 2_000, kind: 'fixed-from-first' },
});
const { url } = await sandbox.listen({ control: true });
const own = { baseUrl: url, retry: { baseDelayMs: 250 } };
const shop = createClient({ ...own, apiKey: sandbox.keys.full });
const report = createClient({ ...own, apiKey: sandbox.keys.readOnly, rateLimiter: false });

// A slow service, so that the bars have a width.
sandbox.faults.add({ kind: 'delay', ms: 45 }, { probability: 0.5 });
await shop.accounts.list().toArray({ limit: Infinity });
sandbox.faults.next({ kind: 'lost-response', committed: true });
await shop.products.create({ name: 'Oak desk', productNumber: 'DESK-160', salePrice: '129.00' });
sandbox.faults.clear();
sandbox.faults.add({ kind: 'delay', ms: 60 }, { collection: 'boms' });
await Promise.all(Array.from({ length: 20 }, (_, index) => report.boms.get(String(index + 1))));
await shop.products.update('2', { salePrice: '349.00' });
sandbox.faults.next({ kind: 'status', status: 503 });
await shop.budgets.list().first();
const change = { method: 'PATCH', headers: { 'Content-Type': 'application/json' } };
await fetch(`${url}/_sandbox/records/products/4`, { ...change, body: '{"name":"Renamed by a colleague"}' });

const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });

async function picture(
  name: string,
  address: string,
  options: { width: number; height: number; dark?: boolean },
) {
  const { width, height, dark = false } = options;
  const page = await browser.newPage({
    viewport: { width, height },
    colorScheme: dark ? 'dark' : 'light',
    deviceScaleFactor: 1.5,
  });
  await page.goto(`${url}/_sandbox/${address}`);
  await page.getByText('Live').waitFor({ state: 'attached' });
  await page.waitForTimeout(2_500);
  await page.screenshot({ path: join(folder, `${name}.png`), animations: 'disabled' });
  await page.close();
}

const lost = sandbox.requests.findIndex(({ fault }) => fault === 'lost-response') + 1;
await picture('window-timeline', `#requests/${lost}`, { width: 1280, height: 760 });
await picture('window-records', '#records/products/4', { width: 1280, height: 620 });
await picture('window-narrow', '#requests', { width: 390, height: 760, dark: true });
await browser.close();
