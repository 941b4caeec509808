// Looks at every page of the built site in a real browser, in two widths: no page may scroll sideways, no table may be
// cut, no short code and no code word in a table may be broken, and every link to a heading must find it. The search must
// answer the questions below. With `--screenshots FOLDER` it also writes a picture of one page of each kind, light and dark.

import { existsSync, globSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { chromium, type Page } from 'playwright-core';

const site = fileURLToPath(new URL('../../.generated/docs/', import.meta.url));
if (!existsSync(join(site, 'index.html'))) throw new Error('The site is not built. Run: npm run docs');
const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';
const WIDTHS = [1440, 390];
/** One page of each kind: home, prose, tables, options, an example, an index, a function, an interface, a class. */
const KINDS = [
  '/',
  '/reading',
  '/errors',
  '/options',
  '/examples/singer-tap',
  '/api/',
  '/api/Sync/accounting-data-sdk.sync',
  '/api/Client/accounting-data-sdk.Client',
  '/api/Errors/accounting-data-sdk.ApiError',
];

/** What users look for, and the guide that must be among the first results. */
const QUESTIONS: readonly (readonly [question: string, page: string])[] = [
  ['multiple companies', '/running-at-scale'],
  ['lambda', '/syncing'],
  ['test a 429', '/testing'],
  ['lock machines', '/running-at-scale'],
  ['start from zero', '/syncing'],
  ['rounding tax', '/writing'],
  ['timeout', '/options'],
  ['response headers etag', '/reading'],
  ['412', '/errors'],
  ['update product by number', '/pushing'],
  ['deleted records', '/syncing'],
  ['proxy certificate', '/runtimes'],
  ['custom field', '/writing'],
  ['postgres view', '/copy-in-a-database'],
  ['python', '/any-language'],
  ['csv decimal comma', '/command'],
  ['SyncReport', '/reports'],
  ['rotate api key', '/security'],
  ['browser api key', '/runtimes'],
  ['duplicate products', '/no-duplicates'],
  ['soft delete', '/syncing'],
  ['hard delete', '/syncing'],
  ['change the API key', '/security'],
  ['two-way sync', '/pushing'],
  ['SIGTERM', '/running-at-scale'],
  ['polling', '/syncing'],
  ['kubernetes', '/running-at-scale'],
];
const FIRST_RESULTS = 5;

const { screenshots } = parseArgs({ options: { screenshots: { type: 'string' } } }).values;

/** What is wrong with the layout of the page in the browser, a line for each place. */
function faultsOfLayout(): string[] {
  const faults: string[] = [];
  const { scrollWidth, clientWidth } = document.documentElement;
  if (scrollWidth > clientWidth) faults.push(`scrolls sideways: ${scrollWidth} px of ${clientWidth} px`);
  for (const table of document.querySelectorAll<HTMLElement>('.vp-doc table')) {
    const heading = table.querySelector('th')?.textContent ?? '';
    if (table.scrollWidth > table.clientWidth + 1) {
      faults.push(`a table is cut: "${heading}", ${table.scrollWidth} px of ${table.clientWidth} px`);
    }
    for (const code of table.querySelectorAll('code:not(.short)')) {
      const texts = document.createTreeWalker(code, NodeFilter.SHOW_TEXT);
      while (texts.nextNode()) {
        const node = texts.currentNode;
        // A break after a space, a hyphen or a dot breaks no word.
        for (const { index, 0: word } of (node.textContent ?? '').matchAll(/\w+/g)) {
          const range = document.createRange();
          range.setStart(node, index);
          range.setEnd(node, index + word.length);
          const lines = new Set([...range.getClientRects()].map(({ top }) => Math.round(top)));
          if (lines.size > 1) faults.push(`a code word in a table is broken: ${word}`);
        }
      }
    }
  }
  for (const code of document.querySelectorAll('.vp-doc code.short')) {
    if (code.getClientRects().length > 1) faults.push(`short code is broken: ${code.textContent}`);
  }
  return faults;
}

/** Waits for what changes the layout of a page: its scripts, which add to it, and its fonts, which have other widths. */
async function settle(page: Page): Promise<void> {
  await page.waitForFunction(() => Object.hasOwn(document.querySelector('#app') ?? {}, '__vue_app__'));
  await page.evaluate(() => document.fonts.ready.then(() => undefined));
}

/** The ids of every page that was looked at, and the links to one. */
const idsOf = new Map<string, ReadonlySet<string>>();
const linksToIds: { readonly from: string; readonly to: string; readonly id: string }[] = [];

async function collectAnchors(page: Page, path: string): Promise<void> {
  const found = await page.evaluate(() => ({
    ids: [...document.querySelectorAll('[id]')].map(({ id }) => id),
    links: [...document.querySelectorAll<HTMLAnchorElement>('a[href*="#"]')].map(({ href }) => href),
  }));
  idsOf.set(path, new Set(found.ids));
  for (const link of found.links) {
    const { origin, pathname, hash } = new URL(link);
    // A link to the playground has the name of its program.
    if (origin === 'http://site' && pathname !== '/playground' && hash !== '')
      linksToIds.push({ from: path, to: pathname, id: decodeURIComponent(hash.slice(1)) });
  }
}

/** Looks at a page in each width, and prints what is wrong. True if something is. */
async function isFaulty(page: Page, path: string): Promise<boolean> {
  await page.goto(`http://site${path}`);
  // The playground has a policy of its own, and no headings.
  if (path !== '/playground') await settle(page);
  await collectAnchors(page, path);
  const faults: string[] = [];
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 });
    await page.evaluate(() => document.fonts.ready.then(() => undefined));
    const found = new Set(await page.evaluate(faultsOfLayout));
    faults.push(...[...found].slice(0, 5).map((fault) => `${fault}, at ${width} px`));
    if (screenshots === undefined) continue;
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      const name = `${path.replaceAll(/\W+/g, '-')}-${width}-${colorScheme}.png`;
      await page.screenshot({ path: join(screenshots, name), animations: 'disabled' });
    }
  }
  if (faults.length > 0) console.log(`${path}: ${faults.join('; ')}`);
  return faults.length > 0;
}

/** Asks the search every question, and prints those whose guide is not among the first results. Returns how many. */
async function failedSearches(page: Page): Promise<number> {
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.goto('http://site/first-steps');
  await settle(page);
  let failed = 0;
  for (const [question, expected] of QUESTIONS) {
    await page.keyboard.press('Control+KeyK');
    await page.fill('.search-input', question);
    const first = page.locator('.VPLocalSearchBox .result');
    await first
      .first()
      .waitFor({ timeout: 5_000 })
      .catch(() => undefined);
    // The results follow the last key after a moment.
    await page.waitForTimeout(400);
    const links = await first.evaluateAll((all) =>
      all.map((one) => new URL((one as HTMLAnchorElement).href).pathname),
    );
    const pages = [...new Set(links)].slice(0, FIRST_RESULTS);
    await page.keyboard.press('Escape');
    if (pages.includes(expected)) continue;
    failed++;
    console.log(`search: "${question}" finds ${pages.join(', ') || 'nothing'} first, not ${expected}`);
  }
  return failed;
}

/** The file of an address: a page for each without the extension of another file. */
function fileOf(url: string): string {
  const { pathname } = new URL(url);
  const path = join(site, pathname.endsWith('/') ? `${pathname}index.html` : pathname);
  return existsSync(path) && extname(path) !== '' ? path : `${path}.html`;
}

const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
const context = await browser.newContext();
await context.route('http://site/**', (route) => route.fulfill({ path: fileOf(route.request().url()) }));
const pages = globSync('**/*.html', { cwd: site, exclude: ['404.html'] });
const addresses = pages.map((file) => `/${file.replace(/(?:(?<=^|\/)index)?\.html$/, '')}`).toSorted();
const next = (screenshots === undefined ? addresses : KINDS).values();
let broken = 0;
const look = async () => {
  const page = await context.newPage();
  for (const path of next) if (await isFaulty(page, path)) broken++;
};
// Pictures of several pages at once contain parts of each other.
await Promise.all(Array.from({ length: screenshots === undefined ? 4 : 1 }, look));
if (screenshots === undefined) {
  for (const { from, to, id } of linksToIds) {
    if (idsOf.get(to)?.has(id)) continue;
    broken++;
    console.log(`${from}: nothing has the id of the link ${to}#${id}`);
  }
  broken += await failedSearches(await context.newPage());
}
await browser.close();
console.log(`${linksToIds.length} links to headings, ${QUESTIONS.length} questions`);
console.log(`${addresses.length} pages at ${WIDTHS.join(' and ')} px: ${broken} with faults`);
process.exitCode = broken === 0 ? 0 : 1;
