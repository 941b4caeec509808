import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { expect, test } from 'vitest';
import { caught } from '../../support/caught.ts';
import { callWith, quickClient } from '../../support/four-methods.ts';
import { redirect, success } from '../../support/responses.ts';
import { certificate, scriptedServer, secureServer } from '../../support/scripted-server.ts';

const PATH = '/api/public/v1/products/42';

test('a create does not follow a redirect to another port or name of the same machine, or from https to http', async () => {
  const trusted = getCACertificates('default');
  await using other = await scriptedServer(success);
  const localhost = other.url.replace('127.0.0.1', 'localhost');
  // Asks to send everything again. Other statuses and methods are in transport.test.ts.
  const redirects = [other.url, localhost].map((origin) => redirect(307, `${origin}${PATH}`));
  await using server = await scriptedServer(...redirects);
  await using secure = await secureServer(redirect(307, `${other.url}${PATH}`));
  const untrusted = { code: 'connection_failed', outcome: 'not_sent', attempts: 1 };
  expect(await caught(callWith(quickClient(secure.url), 'POST'))).toMatchObject(untrusted);
  expect(secure.requests).toHaveLength(0);
  setDefaultCACertificates([...trusted, certificate]);
  try {
    for (const [baseUrl, locationOrigin] of [
      [server.url, other.url],
      [server.url, localhost],
      [secure.url, other.url],
    ] as const) {
      const error = await caught(callWith(quickClient(baseUrl), 'POST'));
      const outcome = { outcome: 'rejected', attempts: 1, retryable: false };
      expect(error).toMatchObject({ code: 'redirected', status: 307, locationOrigin, ...outcome });
    }
    expect([server.requests.length, secure.requests.length, other.connections]).toEqual([2, 1, 0]);
  } finally {
    setDefaultCACertificates(trusted);
  }
});
