import { createClient } from 'accounting-data-sdk';
import { createSandbox } from 'accounting-data-sdk/testing';
import { expect, test } from 'vitest';
import { caught } from '../../support/caught.ts';

/** A service in another order, so that keyset pagination looks at second pages, which do not exist. */
function service(respond: (url: string) => Response | undefined = () => undefined) {
  const sandbox = createSandbox({
    order: 'updated-desc',
    afterLastPage: 'not_found',
    pageSize: 10,
    records: { accounts: 45 },
  });
  const read = (afterLastPage?: 'empty' | 'not_found') =>
    createClient({
      ...sandbox.clientOptions,
      afterLastPage,
      fetch: async (url, init) => respond(url) ?? sandbox.fetch(url, init),
    })
      .accounts.list({}, { pagination: 'keyset' })
      .toArray({ limit: Number.POSITIVE_INFINITY });
  return { sandbox, read };
}

test('keyset pagination takes the 404 of a page after the last one for an empty page if the client says so', async () => {
  const { sandbox, read } = service();
  expect(await read('not_found')).toHaveLength(45);
  expect(sandbox.requests.some(({ status, query }) => status === 404 && query._page === '2')).toBe(true);
});

test('keyset pagination rejects with that 404 by default', async () => {
  expect(await caught(service().read())).toMatchObject({ code: 'not_found' });
});

test('keyset pagination rejects with any other error of such a page', async () => {
  const { read } = service((url) =>
    url.includes('_page=2') ? new Response('', { status: 400 }) : undefined,
  );
  expect(await caught(read('not_found'))).toMatchObject({ code: 'malformed_request' });
});
