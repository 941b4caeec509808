import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { caught } from '../../support/caught.ts';
import { callWith, METHODS, quickClient } from '../../support/four-methods.ts';
import { redirect, success } from '../../support/responses.ts';
import { scriptedServer } from '../../support/scripted-server.ts';

/** A key and a certificate for localhost and 127.0.0.1 that vouches for itself. */
const pem = readFileSync(new URL('../../support/self-signed.pem', import.meta.url), 'utf8');
const certificate = { key: pem, cert: pem };
const trusted = getCACertificates('default');

beforeAll(() => setDefaultCACertificates([...trusted, certificate.cert]));
afterAll(() => setDefaultCACertificates(trusted));

const PATH = '/api/public/v1/products/42';
/** What is expected of a 307, which asks to send everything again: the statuses are in transport.test.ts. */
const redirected = (locationOrigin: string) => ({
  code: 'redirected',
  status: 307,
  outcome: 'rejected',
  locationOrigin,
  attempts: 1,
  retryable: false,
});

test.each(METHODS)('%s does not follow a redirect to another port', async (method) => {
  await using other = await scriptedServer(success);
  await using server = await scriptedServer(redirect(307, `${other.url}${PATH}`));
  expect(await caught(callWith(quickClient(server.url), method))).toMatchObject(redirected(other.url));
  expect(server.requests).toHaveLength(1);
  expect(other.connections).toBe(0);
});

test.each(METHODS)('%s does not follow a redirect to another name of the same machine', async (method) => {
  await using server = await scriptedServer((request, wire) => {
    const elsewhere = `http://localhost:${wire.socket.localPort}${PATH}`;
    return redirect(307, elsewhere)(request, wire);
  });
  expect(await caught(callWith(quickClient(server.url), method))).toMatchObject(
    redirected(`http://localhost:${server.port}`),
  );
  expect(server.requests.map(({ headers }) => headers.host)).toEqual([`127.0.0.1:${server.port}`]);
  expect(server.connections).toBe(1);
});

/** A server with a certificate that responds to every request with a redirect. */
async function secureServer(location: string) {
  const seen: string[] = [];
  const server = createServer(certificate, (request, response) => {
    seen.push(`${request.method} ${request.headers['x-auth-token']}`);
    request.resume();
    response.writeHead(307, { location, connection: 'close' }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { url: `https://localhost:${port}`, seen, [Symbol.asyncDispose]: close };
}

test.each(METHODS)('%s does not follow a redirect from https to http', async (method) => {
  await using clear = await scriptedServer(success);
  await using server = await secureServer(`${clear.url}${PATH}`);
  expect(await caught(callWith(quickClient(server.url), method))).toMatchObject(redirected(clear.url));
  expect(server.seen).toEqual([`${method} key-of-the-company`]);
  expect(clear.connections).toBe(0);
});

test('sends nothing to a server whose certificate is not trusted', async () => {
  setDefaultCACertificates(trusted);
  try {
    await using server = await secureServer('http://127.0.0.1:9/');
    expect(
      await caught(callWith(quickClient(server.url.replace('localhost', '127.0.0.1')), 'POST')),
    ).toMatchObject({
      code: 'connection_failed',
      outcome: 'not_sent',
      attempts: 1,
    });
    expect(server.seen).toEqual([]);
  } finally {
    setDefaultCACertificates([...trusted, certificate.cert]);
  }
});
