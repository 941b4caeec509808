import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { caught } from '../../support/caught.ts';
import { callWith, quickClient } from '../../support/four-methods.ts';
import { redirect, success } from '../../support/responses.ts';
import { certificate, scriptedServer, secureServer } from '../../support/scripted-server.ts';

const trusted = getCACertificates('default');

beforeAll(() => setDefaultCACertificates([...trusted, certificate]));
afterAll(() => setDefaultCACertificates(trusted));

const PATH = '/api/public/v1/products/42';
/** What is expected of a 307, which asks to send everything again: other statuses and methods are in transport.test.ts. */
const redirected = (locationOrigin: string) => ({
  code: 'redirected',
  status: 307,
  outcome: 'rejected',
  locationOrigin,
  attempts: 1,
  retryable: false,
});

test('a create does not follow a redirect to another port', async () => {
  await using other = await scriptedServer(success);
  await using server = await scriptedServer(redirect(307, `${other.url}${PATH}`));
  expect(await caught(callWith(quickClient(server.url), 'POST'))).toMatchObject(redirected(other.url));
  expect(server.requests).toHaveLength(1);
  expect(other.connections).toBe(0);
});

test('a create does not follow a redirect to another name of the same machine', async () => {
  await using server = await scriptedServer((request, wire) => {
    const elsewhere = `http://localhost:${wire.socket.localPort}${PATH}`;
    return redirect(307, elsewhere)(request, wire);
  });
  expect(await caught(callWith(quickClient(server.url), 'POST'))).toMatchObject(
    redirected(`http://localhost:${server.port}`),
  );
  expect(server.requests.map(({ headers }) => headers.host)).toEqual([`127.0.0.1:${server.port}`]);
  expect(server.connections).toBe(1);
});

test('a create does not follow a redirect from https to http', async () => {
  await using clear = await scriptedServer(success);
  await using server = await secureServer(redirect(307, `${clear.url}${PATH}`));
  expect(await caught(callWith(quickClient(server.url), 'POST'))).toMatchObject(redirected(clear.url));
  expect(server.requests).toHaveLength(1);
  expect(clear.connections).toBe(0);
});

test('sends nothing to a server whose certificate is not trusted', async () => {
  setDefaultCACertificates(trusted);
  try {
    await using server = await secureServer(success);
    expect(
      await caught(callWith(quickClient(server.url.replace('localhost', '127.0.0.1')), 'POST')),
    ).toMatchObject({
      code: 'connection_failed',
      outcome: 'not_sent',
      attempts: 1,
    });
    expect(server.requests).toHaveLength(0);
  } finally {
    setDefaultCACertificates([...trusted, certificate]);
  }
});
