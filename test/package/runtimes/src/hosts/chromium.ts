import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { type Browser, chromium, type Page } from 'playwright-core';
import { stepNames } from '../scenario/outcome.ts';
import type { Host } from './host.ts';

const exec = promisify(execFile);
const binary = process.env.CHROMIUM ?? '/usr/bin/chromium';

/** Without these a browser looks for hosts of its maker at every start. */
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** A page in a browser without a window. */
export function chromiumHost({ page: script }: { page: string }): Host {
  return {
    name: 'chromium',
    async version() {
      await install();
      await using browser = await open();
      return browser.version();
    },
    run: ({ orders, onOutcome }) =>
      inPage(script, async (page) => {
        for (const step of stepNames) {
          onOutcome(
            await page.evaluate(([name, url]) => runScenarioStep(name, url), [step, orders] as const),
          );
        }
      }),
  };
}

/** Opens a page of this machine that has a script, and closes everything after the work. */
export async function inPage<Result>(
  script: string | undefined,
  work: (page: Page) => Promise<Result>,
): Promise<Result> {
  const source = script === undefined ? '' : await readFile(script, 'utf8');
  const server = createServer(({ url }, response) => {
    const isScript = url === '/script.mjs';
    response.setHeader('Content-Type', isScript ? 'text/javascript' : 'text/html');
    response.end(isScript ? source : '<!doctype html><script type="module" src="/script.mjs"></script>');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    await using browser = await open();
    const page = await browser.newPage();
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    return await work(page);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

function open(): Promise<Browser> {
  return chromium.launch({ executablePath: binary, args: FLAGS });
}

/** Installs Debian's, where there is none and this user may. */
async function install(): Promise<void> {
  if (existsSync(binary)) return;
  if (process.env.CHROMIUM !== undefined || process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) {
    throw new Error(`there is no ${binary}: install Debian's package chromium, or name one by CHROMIUM`);
  }
  await exec('apt-get', ['update', '-qq']);
  await exec('apt-get', ['install', '-qq', '-y', '--no-install-recommends', 'chromium']);
}
