import { existsSync } from 'node:fs';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { afterAll, expect, onTestFinished } from 'vitest';

/** Debian's package `chromium`, or any other. */
export const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';

if (!existsSync(executablePath))
  throw new Error(`There is no browser at ${executablePath}. Install Chromium, or name one in CHROMIUM.`);

/** Quiet, and without a request of its own. */
export const CHROMIUM_ARGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

let launched: Promise<Browser> | undefined;
afterAll(async () => (await launched)?.close());

/** What a test looks at. */
export interface Opened {
  readonly page: Page;
  readonly context: BrowserContext;
}

interface OpenOptions {
  readonly width?: number;
  readonly colorScheme?: 'light' | 'dark';
  /** Whether a message of the page on the console is allowed. */
  readonly allows?: (message: string) => boolean;
}

/**
 * Opens an address in a browser profile of its own. The test fails if the page reports an error, or sends a request to
 * another origin.
 */
export async function open(address: string, options: OpenOptions = {}): Promise<Opened> {
  const { width = 1440, colorScheme = 'light', allows = () => false } = options;
  launched ??= chromium.launch({ executablePath, args: CHROMIUM_ARGS });
  const browser = await launched;
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme });
  const { origin } = new URL(address);
  const elsewhere: string[] = [];
  context.on('request', (request) => {
    const url = new URL(request.url());
    if (url.origin !== origin && !['data:', 'blob:'].includes(url.protocol)) elsewhere.push(request.url());
  });
  // The policy of a page stops a request before it leaves.
  context.on('requestfailed', (request) => {
    const place = elsewhere.indexOf(request.url());
    if (place >= 0 && request.failure()?.errorText === 'csp') elsewhere.splice(place, 1);
  });
  const page = await context.newPage();
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error' && !allows(message.text())) errors.push(message.text());
  });
  onTestFinished(async () => {
    await context.close();
    expect({ elsewhere, errors }).toEqual({ elsewhere: [], errors: [] });
  });
  await page.goto(address);
  return { page, context };
}
