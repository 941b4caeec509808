import { createClient, type Product, push, sync } from 'accounting-data-sdk';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { accessibilityFaults } from './support/axe.ts';
import { open } from './support/browser.ts';
import { type Started, startSandbox } from './support/sandbox.ts';

const clientOf = ({ baseUrl, apiKey }: Started) =>
  createClient({ baseUrl, apiKey, retry: { baseDelayMs: 20 } });

/** A browser reports each error response. */
const isRejection = (message: string) => message.includes('status of 422');

const rows = (page: Page) => page.locator('.request-table tbody tr:not(.gap)');

interface Place {
  readonly x: number;
  readonly y: number;
}

/** The first pixel of the timeline from the top that has a colour of the style sheet. */
const pixelOf = async (page: Page, name: string): Promise<Place | undefined> =>
  (await pixels(page, name)).first;

/** How many of its pixels have it. */
const pixelsOf = async (page: Page, name: string): Promise<number> => (await pixels(page, name)).count;

async function pixels(page: Page, name: string): Promise<{ count: number; first: Place | undefined }> {
  return await page.evaluate((variable) => {
    const canvas = document.querySelector('canvas') as HTMLCanvasElement;
    const context = canvas.getContext('2d') as CanvasRenderingContext2D;
    const probe = document.createElement('i');
    probe.style.color = `var(--${variable})`;
    document.body.append(probe);
    const [red, green, blue] = (getComputedStyle(probe).color.match(/\d+/g) ?? []).map(Number);
    probe.remove();
    const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
    let count = 0;
    let first: Place | undefined;
    for (let at = 0; at < data.length; at += 4) {
      if (data[at] !== red || data[at + 1] !== green || data[at + 2] !== blue) continue;
      count += 1;
      const ratio = globalThis.devicePixelRatio;
      const [x, y] = [(at / 4) % canvas.width, Math.floor(at / 4 / canvas.width)];
      first ??= { x: x / ratio, y: y / ratio };
    }
    return { count, first };
  }, name);
}

test('each request of a connector is in the timeline and the table with its status', async () => {
  const started = await startSandbox('--records', '200');
  const client = clientOf(started);
  const { page } = await open(started.window);
  // Nothing has happened, and the page says what to do first.
  await page.getByRole('heading', { name: 'Point your connector at this sandbox' }).waitFor();
  const [lines = ''] = await page.locator('.code pre').allTextContents();
  expect(lines).toBe(`ACCOUNTING_BASE_URL=${started.baseUrl}\nACCOUNTING_API_KEY=${started.apiKey}`);

  await client.accounts.list().toArray({ limit: Infinity });
  await expect(client.products.get('9999')).rejects.toThrow('404');
  const wrong = createClient({ baseUrl: started.baseUrl, apiKey: 'wrong' });
  await expect(wrong.boms.get('1')).rejects.toThrow('401');
  await expect.poll(() => rows(page).count()).toBeGreaterThan(2);
  const texts = await rows(page).allInnerTexts();
  expect(texts[0]).toMatch(/GET\s+\/boms\/1\s+401[\s\S]*none/);
  expect(texts[1]).toMatch(/GET\s+\/products\/9999\s+404[\s\S]*full/);
  expect(texts.at(-1)).toMatch(/1\s+[\d:.]+\s+GET\s+\/accounts\S*\s+200\s+[\d.]+ ms\s+\d+\s+full/);
  const label = await page.getByRole('img', { name: 'Timeline' }).getAttribute('aria-label');
  expect(label).toBe(`Timeline of requests: ${texts.length - 1} of key full, 1 of key no valid key`);
  await expect.poll(() => pixelsOf(page, 'success')).toBeGreaterThan(50);
  expect(await pixelsOf(page, 'rejected')).toBeGreaterThan(20);

  // A bar is clicked: in a view that stands still it stays where it is.
  await page.getByRole('button', { name: 'Fit' }).click();
  await expect.poll(() => pixelOf(page, 'rejected')).toBeDefined();
  await page.locator('canvas').click({ position: (await pixelOf(page, 'rejected')) as Place });
  await page.locator('.facts').getByText('404').waitFor();
  await page.getByRole('link', { name: 'Close' }).click();

  // Filters by status and text, and the details with what is copied.
  await page.getByRole('button', { name: /^404/ }).click();
  expect(await rows(page).count()).toBe(1);
  await page.getByRole('button', { name: /^all/ }).click();
  await page.getByLabel('Filter requests').fill('boms none');
  expect(await rows(page).count()).toBe(1);
  await page.getByLabel('Filter requests').fill('9999');
  await rows(page).first().click();
  await page.getByRole('heading', { name: 'Request' }).first().waitFor();
  expect(await page.locator('.json').innerText()).toContain('"not_found"');
  const [address, key] = (await copied(page, 'Copy as curl')).split(' \\\n  ');
  expect([address, key]).toEqual([
    `curl ${started.baseUrl}/api/public/v1/products/9999`,
    `-H 'X-AUTH-TOKEN: ${started.apiKey}'`,
  ]);
  expect(await copied(page, 'Copy as test')).toBe("await client.products.get('9999');");
});

/** What a button puts into the clipboard. */
async function copied(page: Page, button: string): Promise<string> {
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.evaluate(() => navigator.clipboard.writeText(''));
  await page.getByRole('button', { name: button }).click();
  const read = () => page.evaluate(() => navigator.clipboard.readText());
  await expect.poll(read).not.toBe('');
  return await read();
}

test('a drag of the timeline goes on outside it, and ends where the button is released', async () => {
  const started = await startSandbox('--records', '0');
  const client = clientOf(started);
  await client.products.find('1');
  const { page } = await open(started.window);
  await rows(page).first().waitFor();
  await page.getByRole('button', { name: 'Fit' }).click();
  await expect.poll(() => pixelOf(page, 'rejected')).toBeDefined();
  const barX = async () => Math.round((await pixelOf(page, 'rejected'))?.x ?? NaN);
  const before = await barX();
  const box = await page.locator('canvas').boundingBox();
  const { x, y, height } = box as NonNullable<typeof box>;
  await page.mouse.move(x + 400, y + 5);
  await page.mouse.down();
  await page.mouse.move(x + 420, y + 5);
  await page.mouse.move(x + 520, y + height + 60, { steps: 4 });
  await expect.poll(barX).toBe(before + 120);
  await page.mouse.move(x + 440, y + height + 60, { steps: 2 });
  await expect.poll(barX).toBe(before + 40);
  await page.mouse.up();
  // Nothing is held any more, and a drag is no click on what lies under its end.
  await page.mouse.move(x + 600, y + 5, { steps: 3 });
  await page.getByRole('button', { name: 'Follow' }).waitFor();
  await page.waitForTimeout(100);
  expect([await barX(), new URL(page.url()).hash]).toEqual([before + 40, '']);
  await page.mouse.click(x + before + 41, y + ((await pixelOf(page, 'rejected'))?.y ?? 0) + 2);
  await page.getByRole('heading', { name: 'Request 1' }).waitFor();
});

test('a fault that is added with a click is met by the next request, whose retry is joined to it', async () => {
  const started = await startSandbox('--records', '0');
  const { page } = await open(`${started.window}#faults`);
  await page.getByRole('button', { name: 'Responses lost' }).click();
  await page.getByRole('heading', { name: '1 active fault' }).waitFor();

  const rowsToPush = [{ productNumber: 'DESK-160', name: 'Desk', salePrice: '129.00' }];
  const store = new Map<string, string>();
  const report = await push(clientOf(started).products, {
    tenant: 'shop',
    key: 'productNumber',
    rows: rowsToPush,
    store: {
      get: async (key: string) => store.get(key),
      set: async (key: string, value: string) => void store.set(key, value),
      delete: async (key: string) => void store.delete(key),
    },
  });
  expect(report.counts.created).toBe(1);
  await page.getByRole('heading', { name: 'No active fault' }).waitFor();
  expect(await page.locator('.fault-row').innerText()).toContain('1\nmet');

  await page.getByRole('link', { name: 'Requests' }).click();
  const lost = rows(page).filter({ hasText: 'no response' });
  expect(await lost.innerText()).toMatch(/POST\s+\/products\s+201, no response[\s\S]*lost-response/);
  await expect.poll(() => pixelsOf(page, 'accent')).toBeGreaterThan(20);
  await lost.click();
  await page.locator('.attempts').getByText('Sent again as').waitFor();
  expect(await copied(page, 'Copy as test')).toMatch(
    /^sandbox\.faults\.add\(\{ kind: 'lost-response', committed: true \}, \{ method: 'POST', times: 1 \}\);\nawait client\.products\.create\(\{.*'Desk'/,
  );
  await page.getByRole('link', { name: 'Records' }).click();
  await page.getByText('by key full').first().waitFor();
  await expect.poll(() => page.locator('.record-table tbody tr').count()).toBe(1);
});

test('a fault of every kind is built by the form, switched off and on, and shown as code', async () => {
  const started = await startSandbox('--records', '20');
  const client = clientOf(started);
  const { page } = await open(`${started.window}#faults`, { allows: isRejection });
  await page.getByLabel('status', { exact: true }).or(page.getByLabel('committed')).first().waitFor();
  const kinds = await page.getByLabel('What happens').locator('option').allTextContents();
  expect(kinds.length).toBeGreaterThan(7);
  await page.getByLabel('What happens').selectOption('status');
  await page.getByLabel('status', { exact: true }).fill('404');
  await page.getByLabel('method').selectOption('GET');
  await page.getByLabel('collection').selectOption('accounts');
  await page.getByLabel('times').fill('5');
  const [typescript, http] = await page.locator('.builder .rule-code pre').allTextContents();
  expect(typescript).toBe(
    "sandbox.faults.add({ kind: 'status', status: 404 }, { method: 'GET', collection: 'accounts', times: 5 });",
  );
  expect(http).toContain(`${started.baseUrl}/_sandbox/faults`);
  await page.getByRole('button', { name: 'Add the fault' }).click();
  await page.getByRole('heading', { name: '1 active fault' }).waitFor();
  expect(await client.accounts.find('1')).toBeUndefined();
  await page.getByRole('switch').click();
  await page.getByRole('heading', { name: 'No active fault' }).waitFor();
  expect(await client.accounts.find('1')).toMatchObject({ id: '1' });
  await page.getByRole('switch').click();
  await page.getByRole('heading', { name: '1 active fault' }).waitFor();
  expect(await client.accounts.find('1')).toBeUndefined();

  // What the sandbox rejects is said, and the page goes on.
  await page.getByLabel('times', { exact: true }).fill('none');
  await page.getByRole('button', { name: 'Add the fault' }).click();
  await page.getByText('times must be').waitFor();
  await page.getByRole('button', { name: 'End all' }).click();
  await page.getByRole('heading', { name: 'No active fault' }).waitFor();
  await page.getByRole('button', { name: 'One record broken' }).click();
  await page.getByRole('heading', { name: '1 active fault' }).waitFor();
  expect((await client.products.get('2')).id).toBe('2');
  await expect(client.withOptions({ retry: false }).products.get('1')).rejects.toThrow('500');
  await page.getByRole('button', { name: 'Quota of 10' }).click();
  await page.getByText('limit 10').waitFor();
  await page.getByRole('switch', { name: 'quota' }).click();
  await page.getByText('limit 10').waitFor({ state: 'detached' });
});

test('a record that is changed, added or deleted in the page is in the next sync', async () => {
  const started = await startSandbox('--records', '400');
  const client = clientOf(started);
  const stored = new Map<string, string>();
  const seen = new Map<string, Product>();
  const read = async (mode: 'incremental' | 'full') => {
    seen.clear();
    const deleted: string[] = [];
    const report = await sync(client, {
      tenant: 'acme',
      collections: ['products'],
      mode,
      store: {
        get: async (key: string) => stored.get(key),
        set: async (key: string, value: string) => void stored.set(key, value),
        delete: async (key: string) => void stored.delete(key),
      },
      onBatch: async ({ records }) => {
        for (const record of records) seen.set(record.id, record);
      },
      ...(mode === 'full' && {
        localIds: () => ['1', '2', '3'],
        onDelete: (ids: readonly string[]) => void deleted.push(...ids),
      }),
    });
    return { report, deleted };
  };
  await read('incremental');
  const { page } = await open(`${started.window}#records/products/2`, { allows: isRejection });
  const editor = page.getByLabel('Record as JSON');
  await expect.poll(() => editor.inputValue()).toContain('"id": "2"');
  await editor.fill(
    (await editor.inputValue()).replace(/"name": "[^"]*"/, '"name": "Changed in the window"'),
  );
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Changed name.').waitFor();
  await page.getByRole('link', { name: 'Add a record' }).click();
  await editor.fill('{"name":"New","salePrice":5}');
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  // An amount is a string.
  await page.getByText('salePrice is money').waitFor();
  await editor.fill('{"name":"New","salePrice":"5"}');
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await page.getByText('The record was added.').waitFor();
  await page.getByText('window or HTTP').first().waitFor();

  await read('incremental');
  expect(
    [...seen.values()].filter(({ name }) => name === 'New' || name === 'Changed in the window'),
  ).toHaveLength(2);
  await page.goto(`${started.window}#records/products/3`);
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByText('products 3 was deleted.').waitFor();
  const lastChange = page.locator('.changes header');
  await expect.poll(() => lastChange.innerText()).toMatch(/deleted\s+products 3\s+by window or HTTP/);
  expect((await read('full')).deleted).toEqual(['3']);
});

test('records are searched and divided into pages, and changed in the other company too', async () => {
  const started = await startSandbox('--records', '1000');
  const { page } = await open(`${started.window}#records/products`);
  const ids = () => page.locator('.record-table tbody td:first-child').allInnerTexts();
  const firstOf = async () => (await ids())[0];
  await expect.poll(async () => (await ids()).length).toBe(50);
  await page.getByRole('button', { name: 'Next' }).click();
  await expect.poll(firstOf).toBe('51');
  await page.getByText(/^51 to \d+ of \d+$/).waitFor();
  // A search begins on the first page.
  const search = page.getByLabel('Search records');
  await search.fill('p-100051');
  await expect.poll(ids).toEqual(['52']);
  await search.fill('no such text');
  await page.getByText('No record contains “no such text”.').waitFor();
  await search.fill('');
  await page.getByRole('button', { name: 'Next' }).click();
  await page.getByRole('button', { name: 'Other' }).click();
  await expect.poll(firstOf).toBe('1000000001');

  await page.getByRole('link', { name: '1000000001' }).click();
  const editor = page.getByLabel('Record as JSON');
  await expect.poll(() => editor.inputValue()).toContain('"id": "1000000001"');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Nothing has changed.').waitFor();
  // A field that is taken out is cleared.
  await editor.fill((await editor.inputValue()).replace(/\n *"name": .*/, ''));
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Changed name.').waitFor();
  const record = `${started.baseUrl}/_sandbox/records/products/1000000001?company=other`;
  expect(await (await fetch(record)).json()).toMatchObject({ name: null, brand: expect.any(String) });
  expect((await clientOf(started).products.get('1')).name).not.toBeNull();
  await editor.fill('{');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('This is not JSON').waitFor();
});

test('the clock, keys and a reset', async () => {
  const started = await startSandbox('--records', '50');
  const client = clientOf(started);
  const { page } = await open(`${started.window}#service`);
  const clock = async () =>
    Date.parse((await page.locator('.clock').innerText()).replace(' UTC', 'Z').replace(' ', 'T'));
  const before = await clock();
  await page.getByRole('button', { name: '+1 h' }).click();
  await expect.poll(clock).toBeGreaterThan(before + 3_500_000);
  const product = await client.products.update('1', { name: 'Later' });
  expect(Date.parse(String(product.updatedAt))).toBeGreaterThan(Date.now() + 3_500_000);
  await page.getByLabel('Set to').fill('2030-01-31T12:00:00Z');
  await page.getByRole('button', { name: 'Set', exact: true }).click();
  await expect.poll(clock).toBeGreaterThanOrEqual(Date.UTC(2030, 0, 31, 12));
  await page.getByLabel('Another key').selectOption('only reads');
  await page.getByRole('button', { name: 'Issue' }).click();
  await page.getByRole('button', { name: 'Revoke key-7' }).waitFor();
  expect(await page.locator('.keys li').last().innerText()).toContain('reads everything');
  await page.getByRole('button', { name: 'Revoke full' }).click();
  await page.getByText('revoked: 401').nth(1).waitFor();
  await expect(client.products.get('1')).rejects.toThrow('401');
  await page.getByRole('button', { name: 'Reset …' }).click();
  await page.getByRole('button', { name: 'Reset everything' }).click();
  await expect.poll(clock).toBeLessThan(before + 600_000);
  expect((await client.products.get('1')).name).not.toBe('Later');
  await page.getByText(/options with the default/).click();
  expect(await page.locator('.option-list').last().innerText()).toMatch(/pageSize\s+30/);
});

test.each([
  ['light', 1440],
  ['dark', 1440],
  ['light', 390],
  ['dark', 390],
] as const)(
  'the pages have no fault of accessibility or layout, %s, at %i px',
  async (colorScheme, width) => {
    const started = await startSandbox('--records', '300', '--options', '{"rateLimit":{"limit":100}}');
    const client = clientOf(started);
    const { page } = await open(started.window, { colorScheme, width });
    const check = async () => {
      const room = await page.evaluate(() => {
        const { scrollWidth, clientWidth } = document.querySelector('main') as HTMLElement;
        return clientWidth - scrollWidth;
      });
      const faults = [...(await accessibilityFaults(page)), ...(room < 0 ? [`${-room} px too wide`] : [])];
      expect([page.url(), faults]).toEqual([page.url(), []]);
    };
    await check();
    await client.accounts.list().toArray({ limit: Infinity });
    await client.products.update('1', { name: 'x' });
    await client.boms.find('999');
    for (const address of [
      '#requests',
      '#requests/1',
      '#records/products',
      '#records/products/1',
      '#faults',
      '#service',
    ]) {
      await page.goto(`${started.window}${address}`);
      if (address === '#faults') await page.getByRole('button', { name: 'Slow' }).click();
      if (address === '#service') await page.locator('.options details summary').click();
      await page.waitForTimeout(400);
      await check();
    }
  },
);

test('works by keyboard alone', async () => {
  const started = await startSandbox('--records', '100');
  await clientOf(started).accounts.list().toArray({ limit: Infinity });
  const { page } = await open(started.window);
  await rows(page).first().waitFor();
  const focused = () =>
    page.evaluate(() => {
      const element = document.activeElement as HTMLElement;
      return element.getAttribute('aria-label') ?? element.innerText;
    });
  const reached = new Set<string>();
  for (let step = 0; step < 25; step += 1) {
    await page.keyboard.press('Tab');
    reached.add(await focused());
  }
  for (const name of [
    'Copy',
    'Records',
    'Faults',
    'Pause',
    'Zoom in',
    'Fit',
    'Filter requests',
    'List of requests',
  ])
    expect([...reached].map((text) => text.split('\n')[0])).toContain(name);
  await page.locator('.request-table').focus();
  await page.keyboard.press('ArrowDown');
  await page.getByRole('heading', { name: /^Request \d/ }).waitFor();
  await page.locator('canvas').focus();
  await page.keyboard.press('f');
  await page.getByRole('button', { name: 'Follow' }).waitFor();
  await page.keyboard.press('f');
  await page.getByRole('button', { name: 'Pause' }).waitFor();
});

test('finds a sandbox again that was stopped and started', async () => {
  const started = await startSandbox('--records', '100');
  const { port } = new URL(started.baseUrl);
  await clientOf(started).accounts.list().first();
  const { page } = await open(started.window, {
    allows: (text) => /ERR_CONNECTION|Failed to load/.test(text),
  });
  await rows(page).first().waitFor();
  await started.stop();
  await page.getByText('Not reachable').waitFor();
  const again = await startSandbox('--records', '100', '--port', port);
  await page.getByText('Live').waitFor();
  // Its log begins again.
  await page.getByRole('heading', { name: 'Point your connector' }).waitFor();
  await clientOf(again).boms.list().first();
  await expect.poll(() => rows(page).count()).toBe(1);
});

test('ten thousand requests are moved and zoomed at 30 frames a second', async () => {
  const started = await startSandbox('--records', '100', '--quiet', '--options', '{"rateLimit":false}');
  const url = `${started.baseUrl}/api/public/v1/accounts/1`;
  const send = async () => {
    for (let sent = 0; sent < 1_000; sent += 1)
      await (await fetch(url, { headers: { 'X-AUTH-TOKEN': started.apiKey } })).arrayBuffer();
  };
  await Promise.all(Array.from({ length: 10 }, send));
  const { page } = await open(started.window);
  await page.getByText('10,000 of 10,000').waitFor();
  const canvas = page.locator('canvas');
  await page.getByRole('button', { name: 'Fit' }).click();
  await canvas.hover();
  const frames = page.evaluate(
    () =>
      new Promise<number[]>((resolve) => {
        const times: number[] = [];
        let last = performance.now();
        const next = (now: number) => {
          times.push(now - last);
          last = now;
          if (times.length < 90) requestAnimationFrame(next);
          else resolve(times);
        };
        requestAnimationFrame(next);
      }),
  );
  const keys = ['+', 'ArrowRight', '+', 'ArrowLeft', '-', '-', '0'];
  await canvas.focus();
  for (let step = 0; step < 42; step += 1) await page.keyboard.press(keys[step % keys.length] ?? '');
  const times = (await frames).toSorted((one, other) => one - other);
  const median = times[times.length >> 1] ?? Infinity;
  console.log(
    `A frame takes ${median.toFixed(1)} ms; nine of ten at most ${times[Math.floor(times.length * 0.9)]?.toFixed(1)} ms.`,
  );
  expect(median).toBeLessThan(1000 / 30);
});
