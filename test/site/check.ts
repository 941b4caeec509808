// Looks at every page of the built site in a real browser, in two widths: no page may scroll sideways, no table may be
// cut, and no code word in a table may be broken. With `--screenshots FOLDER` it also writes a picture of one page of
// each kind, light and dark.

import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { chromium, type Page } from 'playwright-core';

const site = fileURLToPath(new URL('../../.generated/docs/', import.meta.url));
const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';
const WIDTHS = [1280, 390];
/** One page of each kind: home, prose, tables, options, code, an example, an index, a function, an interface, a class. */
const KINDS = [
  '/',
  '/reading',
  '/errors',
  '/options',
  '/sandbox-options',
  '/copy-in-a-database',
  '/keyset-pagination',
  '/performance',
  '/examples/singer-tap',
  '/api/',
  '/api/Sync/accounting-data-sdk.sync',
  '/api/Client/accounting-data-sdk.Client',
  '/api/Errors/accounting-data-sdk.ApiError',
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

/** Serves the folder of the site, with a page for each address without an extension. */
const server = createServer(async (request, response) => {
  const { pathname } = new URL(request.url ?? '/', 'http://site');
  const path = pathname.endsWith('/') ? `${pathname}index.html` : pathname;
  const file = join(site, TYPES[extname(path)] === undefined ? `${path}.html` : path);
  try {
    const content = await readFile(file);
    response.writeHead(200, { 'Content-Type': TYPES[extname(file)] ?? 'application/octet-stream' });
    response.end(content);
  } catch {
    response.writeHead(404).end();
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

/** The addresses of all pages, as the site's own links name them. */
async function pagesFrom(page: Page, origin: string): Promise<string[]> {
  const found = new Set(['/']);
  for (const path of found) {
    await page.goto(origin + path, { waitUntil: 'domcontentloaded' });
    const links = await page.$$eval('a[href]', (all) => all.map((a) => (a as HTMLAnchorElement).href));
    for (const link of links) {
      const { origin: there, pathname } = new URL(link);
      if (there === origin && !/\.\w+$/.test(pathname.replace(/accounting-data-sdk.*/, '')))
        found.add(pathname);
    }
  }
  return [...found].filter((path) => !path.endsWith('.md') && !path.endsWith('.txt'));
}

await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
let broken = 0;
try {
  const page = await browser.newPage();
  const paths = only?.split(',') ?? (screenshots === undefined ? await pagesFrom(page, origin) : KINDS);
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 });
    for (const path of paths) {
      const response = await page.goto(origin + path, { waitUntil: 'domcontentloaded' });
      const faults = await page.evaluate(faultsOfLayout);
      if (response?.status() !== 200) faults.push(`status ${response?.status()}`);
      if (faults.length > 0) {
        broken++;
        console.log(`${path} at ${width} px: ${[...new Set(faults)].slice(0, 5).join('; ')}`);
      }
      if (screenshots === undefined) continue;
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        const name = `${path.replaceAll(/\W+/g, '-')}-${width}-${colorScheme}.png`;
        await page.screenshot({ path: join(screenshots, name) });
      }
      await page.emulateMedia({ colorScheme: 'light' });
    }
  }
  console.log(`${paths.length} pages at ${WIDTHS.join(' and ')} px: ${broken} with faults`);
} finally {
  await browser.close();
  server.close();
}
process.exitCode = broken === 0 ? 0 : 1;
