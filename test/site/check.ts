// Looks at every page of the built site in a real browser, in two widths: no page may scroll sideways, no table may be
// cut, and no code word in a table may be broken. With `--screenshots FOLDER` it also writes a picture of one page of
// each kind, light and dark.

import { readdir, readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { chromium, type Page } from 'playwright-core';

const site = fileURLToPath(new URL('../../.generated/docs/', import.meta.url));
const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';
const WIDTHS = [1440, 390];
/** One page of each kind: home, prose, tables, options, code, an example, an index, a function, an interface, a class. */
const KINDS = [
  '/',
  '/reading',
  '/errors',
  '/options',
  '/sandbox-options',
  '/copy-in-a-database',
  '/keyset-pagination',
  '/service',
  '/examples/singer-tap',
  '/api/',
  '/api/Sync/accounting-data-sdk.sync',
  '/api/Client/accounting-data-sdk.Client',
  '/api/Errors/accounting-data-sdk.ApiError',
  '/api/Records/types',
  '/changelog/',
];
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.json': 'application/json',
  '.woff2': 'font/woff2',
};

const { screenshots, only } = parseArgs({
  options: { screenshots: { type: 'string' }, only: { type: 'string' } },
}).values;

/** How many pages are looked at side by side. Pictures of several pages at once contain parts of each other. */
const TABS = screenshots === undefined ? 4 : 1;

/** Serves the folder of the site, with a page for each address without an extension. */
const server = createServer(async (request, response) => {
  const { pathname } = new URL(request.url ?? '/', 'http://site');
  const path = pathname.endsWith('/') ? `${pathname}index.html` : pathname;
  const file = join(site, TYPES[extname(path)] === undefined ? `${path}.html` : path);
  try {
    const content = await readFile(file);
    response.writeHead(200, {
      'Content-Type': TYPES[extname(file)] ?? 'application/octet-stream',
      'Cache-Control': 'max-age=3600',
    });
    response.end(content);
  } catch {
    response.writeHead(404).end('There is no such page.');
  }
});

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

/** The addresses of all pages of the built site. */
async function allPages(): Promise<string[]> {
  const files = await readdir(site, { recursive: true });
  const pages = files.filter((file) => file.endsWith('.html') && file !== '404.html');
  return pages.map((file) => `/${file.replace(/(?:(?<=^|\/)index)?\.html$/, '')}`).toSorted();
}

/** Loads a page once, looks at it in each width, and prints what is wrong. True if something is. */
async function isFaulty(page: Page, url: URL): Promise<boolean> {
  const response = await page.goto(url.href, { waitUntil: 'domcontentloaded' });
  const faults = response?.status() === 200 ? [] : [`status ${response?.status()}`];
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 });
    // Another font has other widths.
    await page.evaluate(() => document.fonts.ready.then(() => undefined));
    const found = new Set(await page.evaluate(faultsOfLayout));
    faults.push(...[...found].slice(0, 5).map((fault) => `${fault}, at ${width} px`));
    if (screenshots === undefined) continue;
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      const name = `${url.pathname.replaceAll(/\W+/g, '-')}-${width}-${colorScheme}.png`;
      await page.screenshot({ path: join(screenshots, name), animations: 'disabled' });
    }
    await page.emulateMedia({ colorScheme: 'light' });
  }
  if (faults.length > 0) console.log(`${url.pathname}: ${faults.join('; ')}`);
  return faults.length > 0;
}

await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
let broken = 0;
try {
  const paths = only?.split(',') ?? (screenshots === undefined ? await allPages() : KINDS);
  // The pages are complete without their scripts, which take most of the time of a load.
  const context = await browser.newContext({ javaScriptEnabled: screenshots !== undefined });
  const next = paths.values();
  const look = async () => {
    const page = await context.newPage();
    for (const path of next) if (await isFaulty(page, new URL(path, origin))) broken++;
  };
  await Promise.all(Array.from({ length: TABS }, look));
  console.log(`${paths.length} pages at ${WIDTHS.join(' and ')} px: ${broken} with faults`);
} finally {
  await browser.close();
  server.close();
}
process.exitCode = broken === 0 ? 0 : 1;
