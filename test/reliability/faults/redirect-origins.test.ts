import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { caught } from '../../support/caught.ts';
import { callWith, METHODS, quickClient } from '../../support/four-methods.ts';
import { redirect, respond, success } from '../../support/responses.ts';
import { scriptedServer } from '../../support/scripted-server.ts';
import { selfSigned } from '../../support/self-signed.ts';

const certificate = selfSigned();
const trusted = getCACertificates('default');

beforeAll(() => setDefaultCACertificates([...trusted, certificate.cert]));
afterAll(() => setDefaultCACertificates(trusted));

const STATUSES = [301, 302, 303, 307, 308] as const;
const cases = STATUSES.flatMap((status) => METHODS.map((method) => ({ status, method })));
const PATH = '/api/public/v1/products/42';
const outcomeOf = (status: number) => ([302, 303].includes(status) ? 'unknown' : 'rejected');

test.each(cases)('$method does not follow a $status to another port', async ({ status, method }) => {
  await using other = await scriptedServer(success);
  await using server = await scriptedServer(redirect(status, `${other.url}${PATH}`));
  expect(await caught(callWith(quickClient(server.url), method))).toMatchObject({
    code: 'redirected',
    status,
    outcome: outcomeOf(status),
    locationOrigin: other.url,
    attempts: 1,
    retryable: false,
  });
  expect(server.requests).toHaveLength(1);
  expect(other.connections).toBe(0);
});

test.each(cases)(
  '$method does not follow a $status to another name of the same machine',
  async ({ status, method }) => {
    await using server = await scriptedServer((request, wire) => {
      const elsewhere = `http://localhost:${wire.socket.localPort}${PATH}`;
      return redirect(status, elsewhere)(request, wire);
    });
    expect(await caught(callWith(quickClient(server.url), method))).toMatchObject({
      code: 'redirected',
      status,
      outcome: outcomeOf(status),
      locationOrigin: `http://localhost:${server.port}`,
    });
    expect(server.requests.map(({ headers }) => headers.host)).toEqual([`127.0.0.1:${server.port}`]);
    expect(server.connections).toBe(1);
  },
);

/** A server with a certificate that responds to every request with a redirect. */
async function secureServer(status: number, location: string) {
  const seen: string[] = [];
  const server = createServer(certificate, (request, response) => {
    seen.push(`${request.method} ${request.headers['x-auth-token']}`);
    request.resume();
    response.writeHead(status, { location, connection: 'close' }).end();
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

test.each(cases)('$method does not follow a $status from https to http', async ({ status, method }) => {
  await using clear = await scriptedServer(success);
  await using server = await secureServer(status, `${clear.url}${PATH}`);
  expect(await caught(callWith(quickClient(server.url), method))).toMatchObject({
    code: 'redirected',
    status,
    outcome: outcomeOf(status),
    locationOrigin: clear.url,
  });
  expect(server.seen).toEqual([`${method} key-of-the-company`]);
  expect(clear.connections).toBe(0);
});

test('sends nothing to a server whose certificate is not trusted', async () => {
  setDefaultCACertificates(trusted);
  try {
    await using server = await secureServer(302, 'http://127.0.0.1:9/');
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

test.each(['//evil.example', 'javascript:alert(1)', 'data:,x', 'http://[', 'blob:x', '', '?'])(
  'shows no origin for the Location %j, which is not an http address',
  async (location) => {
    await using server = await scriptedServer(respond(302, { location }));
    const error = await caught(callWith(quickClient(server.url), 'GET'));
    expect(error).toMatchObject({ code: 'redirected', status: 302, locationOrigin: undefined });
    expect(String(error)).toMatch(/was redirected\. /);
  },
);
