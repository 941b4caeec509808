import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { hashOf } from '../../src/guides/.vitepress/playground/link.ts';
import { PROGRAM_SETTINGS } from '../../src/guides/.vitepress/playground/programs/settings.ts';
import { DEFAULTS } from '../../src/guides/.vitepress/playground/settings.ts';
import { snippets } from '../../src/guides/.vitepress/playground/snippets.ts';
import { read } from '../package/docs/code-blocks.ts';
import { accessibilityFaults } from './support/axe.ts';
import { open } from './support/browser.ts';
import { serveSite } from './support/site.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const site = await serveSite();
const playground = `${site}/playground`;

const programs = Object.entries(PROGRAM_SETTINGS).map(([name, { settings }]) => ({
  name,
  settings,
  code: read(`src/guides/.vitepress/playground/programs/${name}.ts`),
}));
const guides = Object.entries(snippets()).map(([name, code]) => ({ name, code, settings: DEFAULTS }));

/** What each program prints in Node. */
let expected: Readonly<Record<string, readonly string[]>> = {};
beforeAll(async () => {
  const file = `${root}.generated/programs.json`;
  writeFileSync(file, JSON.stringify([...programs, ...guides]));
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--import', './test/support/from-source.mjs', 'test/browser/support/expected.ts', file],
    { cwd: root, maxBuffer: 2 ** 26 },
  );
  expected = JSON.parse(stdout) as typeof expected;
});

const lines = (page: Page) => page.locator('.console p:not(.note)').allInnerTexts();
const button = (page: Page, name: string) => page.locator('.playground').getByRole('button', { name });

/** Waits until a program has ended, and returns what it printed. */
async function ended(page: Page): Promise<readonly string[]> {
  await page
    .getByText(/^(?:Done after|Stopped)/)
    .or(page.locator('.console .error'))
    .first()
    .waitFor();
  return await lines(page);
}

/** Without what differs in each run: times, addresses, random ids, and which of several collections comes first. */
const stable = (printed: readonly string[]) =>
  printed
    .toSorted()
    .join('\n')
    .replaceAll(/\bok \d+$/gm, 'ok <ms>')
    .replaceAll(/https?:\/\/(?:127\.0\.0\.1:\d+|sandbox-\d+\.invalid)/g, '<origin>')
    .replaceAll(/[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/g, '<uuid>')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
    .replaceAll(/\d+(?:\.\d+)? ?ms\b/g, '<ms>')
    .replaceAll(/(\w+Ms): [\d.]+/g, '$1: <ms>')
    .trim();

/** What stand-ins say about themselves. */
const ofPage = (line: string) => !line.includes('keeps everything in memory here');

test.each(programs.map(({ name }) => name))('the program %s prints what it prints in Node', async (name) => {
  const { page } = await open(playground);
  await page.locator('#program').selectOption(name);
  await button(page, 'Run').click();
  expect(stable(await ended(page))).toBe(stable(expected[name] ?? []));
  expect(expected[name]).not.toEqual([]);
  await page.getByText('Run the program: its requests').waitFor({ state: 'detached' });
  const label = await page.getByRole('img', { name: 'Timeline' }).getAttribute('aria-label');
  expect(label).toMatch(/\d+ of key full/);
});

test('each program of the guides with a button prints what it prints in Node', async () => {
  expect(guides.length).toBeGreaterThan(25);
  const { page } = await open(playground);
  await page.locator('.cm-content').waitFor();
  const wrong: unknown[] = [];
  for (const { name } of guides) {
    const before = await page.locator('.playground').getAttribute('data-run');
    await page.evaluate((hash) => {
      location.hash = hash;
    }, `guide=${name}`);
    await page.locator(`.playground[data-state="ended"]:not([data-run="${before}"])`).waitFor();
    const [seen, wanted] = [stable((await lines(page)).filter(ofPage)), stable(expected[name] ?? [])];
    if (seen !== wanted) wrong.push({ name, seen, wanted });
  }
  expect(wrong).toEqual([]);
}, 300_000);

/** Replaces the program in the editor. */
async function write(page: Page, code: string): Promise<void> {
  const editor = page.locator('.cm-content');
  await editor.click();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.insertText(code);
}

test('the editor marks a number as money, in the words of the package, and completes collections with their docs', async () => {
  const { page } = await open(playground);
  const start = "import { createClient } from 'accounting-data-sdk';\nconst client = createClient();\n";
  await write(page, `${start}await client.products.create({ name: 'Desk', salePrice: 129 });`);
  const mark = page.locator('.cm-lintRange-error');
  await mark.waitFor();
  expect(await mark.innerText()).toBe('salePrice');
  await mark.hover();
  expect(await page.locator('.cm-tooltip-lint').innerText()).toMatch(/number.*not assignable[\s\S]*string/i);
  await write(page, start);
  await page.keyboard.type('client.');
  const list = page.locator('.cm-tooltip-autocomplete');
  await list.waitFor();
  const options = await list.locator('li').allInnerTexts();
  expect(options).toEqual(expect.arrayContaining(['accounts', 'bomLines', 'products', 'withOptions']));
  await page.keyboard.type('accou');
  await list.locator('li[aria-selected]').waitFor();
  await expect
    .poll(() => page.locator('.cm-completionInfo').innerText())
    .toMatch(/Ledger accounts|ReadOnlyCollection/);
});

test('a link opens the program in another profile without running it', async () => {
  const code = "console.log('from a link');\n";
  const { page } = await open(playground);
  await write(page, code);
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await button(page, 'Share').click();
  await page.getByText('The link was copied.').waitFor();
  const link = await page.evaluate(() => navigator.clipboard.readText());
  expect(link).toBe(page.url());

  const other = await open(link);
  await other.page.getByText('This program came with a link.').waitFor();
  await other.page.waitForTimeout(500);
  expect(await lines(other.page)).toEqual([]);
  await button(other.page, 'Run').click();
  expect(await ended(other.page)).toEqual(['from a link']);
  // Settings are part of it, and what cannot be read is no program.
  const shared = { code: 'console.log(1);', settings: { ...DEFAULTS, records: 7 } };
  for (const [hash, text] of [
    [await hashOf(shared), '7 records'],
    ['code=broken', '900 records'],
  ]) {
    const { page: third } = await open(`${playground}#${hash}`);
    await third.getByText(text ?? '').waitFor();
  }
});

test.each([
  ['loops for ever', 'for (;;);', undefined],
  ['prints without end', "for (;;) console.log('x'.repeat(1000));", undefined],
  [
    'allocates without end',
    'const all = []; for (;;) all.push(new Array(100_000).fill(all.length));',
    undefined,
  ],
  ['throws in a timer', "setTimeout(() => { throw new Error('Too late.'); }, 20);", 'Error: Too late.'],
  ['rejects without a handler', "Promise.reject(new Error('Nobody waits.'));", 'Error: Nobody waits.'],
  ['does not compile', 'const = 5;', 'SyntaxError'],
  ['throws', "throw new TypeError('At once.');", 'TypeError: At once.'],
  ['imports what is not there', "import 'node:fs';", 'The playground has no module node:fs'],
])('a program that %s leaves the page usable', async (_what, code, message) => {
  const { page } = await open(playground);
  await write(page, code);
  await button(page, 'Run').click();
  if (message === undefined) {
    await page.locator('.playground[data-state="running"]').waitFor();
    await page.waitForTimeout(1_500);
    const stop = button(page, 'Stop');
    if (await stop.isVisible()) await stop.click();
    await page.getByText(/^Stopped\.|used too much memory/).waitFor();
  } else {
    await expect.poll(async () => (await lines(page)).join('\n')).toContain(message);
  }
  await write(page, "console.log('still here');");
  await button(page, 'Run').click();
  await expect.poll(() => lines(page)).toContain('still here');
});

test('a program cannot reach another host, whatever it tries', async () => {
  const { page } = await open(playground, { allows: (text) => /Content Security Policy/.test(text) });
  await write(
    page,
    `const tries: Record<string, () => unknown> = {
  fetch: () => fetch('https://other.example/'),
  module: () => import('https://other.example/x.js'),
  evaluated: () => (0, eval)("import('https://other.example/x.js')"),
  request: () => new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.onload = resolve;
    request.onerror = reject;
    request.open('GET', 'https://other.example/');
    request.send();
  }),
  socket: () => new Promise((resolve, reject) => {
    const socket = new WebSocket('wss://other.example/');
    socket.onopen = resolve;
    socket.onerror = reject;
  }),
  script: () => (globalThis as any).importScripts('https://other.example/x.js'),
};
for (const [name, attempt] of Object.entries(tries)) {
  try {
    await attempt();
    console.log(name, 'LEFT');
  } catch {
    console.log(name, 'stayed');
  }
}`,
  );
  await button(page, 'Run').click();
  expect(await ended(page)).toEqual(
    ['fetch', 'module', 'evaluated', 'request', 'socket', 'script'].map((name) => `${name} stayed`),
  );
});

test.each([1440, 390])('from the home page to a changed program that has run, at %i px', async (width) => {
  const { page } = await open(`${site}/`, { width });
  const startedAt = Date.now();
  await page.locator('.front-program a.run').click();
  await ended(page);
  // The first run, with everything that it loads.
  console.log(`The first run ended after ${Date.now() - startedAt} ms.`);
  const printed = await lines(page);
  expect(printed.at(-1)).toMatch(/^\d+$/);
  // The timeline grows with its lanes, and the last line stays in view.
  const below = () =>
    page
      .locator('.console')
      .evaluate(({ scrollHeight, scrollTop, clientHeight }) => scrollHeight - scrollTop - clientHeight);
  await expect.poll(below).toBeLessThan(2);
  await write(
    page,
    "import { createClient } from 'accounting-data-sdk';\nconsole.log(await createClient().boms.list().first());",
  );
  await button(page, 'Run').click();
  await expect.poll(async () => (await lines(page)).join()).toContain("id: '1'");
  const room = await page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    return clientWidth - scrollWidth;
  });
  expect(room).toBe(0);
});

test('other pages load nothing of the playground', async () => {
  const { page, context } = await open(site);
  const loaded: string[] = [];
  context.on('response', (response) => loaded.push(response.url()));
  for (const path of ['/', '/reading', '/testing']) {
    await page.goto(`${site}${path}`, { waitUntil: 'networkidle' });
    expect(await page.locator('a.run').count()).toBeGreaterThan(0);
  }
  expect(loaded.length).toBeGreaterThan(10);
  // VitePress looks at what the links of a page lead to: here a small file that loads the rest.
  const isLoader = (url: string) => /playground\.md\.[\w.-]+\.js$/.test(url);
  expect(loaded.filter((url) => /playground|worker|zod/.test(url) && !isLoader(url))).toEqual([]);
  const loader = loaded.find(isLoader);
  if (loader !== undefined) expect((await (await fetch(loader)).text()).length).toBeLessThan(3_000);
});

test.each([
  ['light', 1440],
  ['dark', 390],
] as const)('the playground has no fault of accessibility, %s, at %i px', async (colorScheme, width) => {
  const { page } = await open(playground, { colorScheme, width });
  await page.locator('.cm-content').waitFor();
  await page.locator('.settings summary').click();
  await page.locator('#program').selectOption('errors');
  await button(page, 'Run').click();
  await ended(page);
  expect(await accessibilityFaults(page, '.playground')).toEqual([]);
});
