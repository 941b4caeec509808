import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll } from 'vitest';

const folder = fileURLToPath(new URL('../../../.generated/docs/', import.meta.url));

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

if (!existsSync(`${folder}playground.html`)) throw new Error('There is no site. Run `npm run docs` before.');

/** The built site on a port, as a host of static files serves it. */
export async function serveSite(): Promise<string> {
  const server = createServer(({ url = '/' }, response) => {
    const path = join(folder, new URL(url, 'http://site').pathname.replace(/\/$/, '/index.html'));
    const file = existsSync(path) && extname(path) !== '' ? path : `${path}.html`;
    if (!existsSync(file)) response.writeHead(404).end();
    else
      response
        .writeHead(200, { 'Content-Type': TYPES[extname(file)] ?? 'text/plain' })
        .end(readFileSync(file));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  afterAll(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
