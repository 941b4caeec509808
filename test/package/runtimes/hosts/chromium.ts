import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { chromium } from 'playwright-core';
import type { Service } from '../scenario.ts';
import type { Host } from './host.ts';

declare const runScenario: (service: Service) => Promise<string>;

const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';

/** A page in headless Chromium. The sandbox has another origin, so every request needs CORS. */
export const chromiumHost: Host = {
  name: 'chromium',
  source: 'globalThis.runScenario = scenario;',
  platform: 'browser',
  executable: executablePath,
  async run(program, service) {
    const script = await readFile(program, 'utf8');
    const server = createServer((_, response) => {
      response.setHeader('Content-Type', 'text/html; charset=utf-8');
      response.end(
        `<!doctype html><script type="module">${script.replaceAll('</script', '<\\/script')}</script>`,
      );
    });
    const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
    try {
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const page = await browser.newPage();
      await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
      return await page.evaluate((one) => runScenario(one), service);
    } finally {
      await browser.close();
      server.close();
    }
  },
};
