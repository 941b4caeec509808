// Looks at every page of the built site in a real browser, in two widths: no page may scroll sideways, no table may be
// cut, and no code word in a table may be broken. With `--screenshots FOLDER` it also writes a picture of one page of
// each kind, light and dark.

import { existsSync, globSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { chromium, type Page } from 'playwright-core';

const site = fileURLToPath(new URL('../../.generated/docs/', import.meta.url));
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
    for (const code of table.querySelectorAll('code')) {
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
  return faults;
}

/** Looks at a page in each width, and prints what is wrong. True if something is. */
async function isFaulty(page: Page, path: string): Promise<boolean> {
  await page.goto(`http://site${path}`, { waitUntil: 'domcontentloaded' });
  const faults: string[] = [];
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 });
    // Another font has other widths.
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

/** The file of an address: a page for each without the extension of another file. */
function fileOf(url: string): string {
  const { pathname } = new URL(url);
  const path = join(site, pathname.endsWith('/') ? `${pathname}index.html` : pathname);
  return existsSync(path) && extname(path) !== '' ? path : `${path}.html`;
}

const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
// The pages are complete without their scripts, which take most of the time of a load.
const context = await browser.newContext({ javaScriptEnabled: screenshots !== undefined });
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
await browser.close();
console.log(`${addresses.length} pages at ${WIDTHS.join(' and ')} px: ${broken} with faults`);
process.exitCode = broken === 0 ? 0 : 1;
