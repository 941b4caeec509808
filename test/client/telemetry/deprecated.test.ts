import { createClient, type DeprecatedEvent } from 'accounting-data-sdk';
import { probe } from 'accounting-data-sdk/explore';
import { createSandbox } from 'accounting-data-sdk/testing';
import { expect, test, vi } from 'vitest';
import { jsonResponse, newOrigin, scriptedClient, scriptedFetch } from '../../support/scripted-fetch.ts';

const LINK = 'https://books.example/docs/removals';

/** A service whose endpoints will be removed. */
function deprecatedService(records: Readonly<Record<string, number>>) {
  const sandbox = createSandbox({ records });
  const headers = {
    Deprecation: `@${Date.parse('2026-01-31') / 1000}`,
    Sunset: new Date('2026-07-31T12:00:00Z').toUTCString(),
    Link: `<${LINK}>; rel="deprecation"`,
  };
  sandbox.faults.add({ kind: 'rewrite', headers });
  return sandbox;
}

const fields = {
  method: 'GET',
  template: '/accounts/{id}',
  deprecatedAt: new Date('2026-01-31'),
  sunsetAt: new Date('2026-07-31T12:00:00Z'),
  link: LINK,
};

test('each response of a deprecated endpoint emits an event with its template, dates and link', async () => {
  const sandbox = deprecatedService({ accounts: 2 });
  const deprecated = vi.fn();
  const client = createClient({ ...sandbox.clientOptions, on: { deprecated } });
  for (const id of ['1', '2']) await client.accounts.get(id);
  expect(deprecated.mock.calls).toMatchObject([[{ path: '/accounts/1', ...fields }], [fields]]);
});

test('the logger warns once for each endpoint, whichever client requests it', async () => {
  const sandbox = deprecatedService({ accounts: 2, products: 1 });
  const warn = vi.fn();
  const logger = { debug() {}, info() {}, warn };
  for (const id of ['1', '2']) {
    const client = createClient({ ...sandbox.clientOptions, logger });
    await client.accounts.get(id);
    await client.products.get('1');
  }
  expect(warn.mock.calls.map(([line]) => line)).toEqual([
    expect.stringMatching(/GET \/accounts\/\{id\} .*2026-01-31.*2026-07-31.*removals/),
    expect.stringContaining('GET /products/{id}'),
  ]);
});

type Announced = Partial<Pick<DeprecatedEvent, 'deprecatedAt' | 'sunsetAt' | 'link'>> | undefined;
const at = (text: string) => new Date(text);

test.each<[Record<string, string>, Announced]>([
  [{ deprecation: '@1688169599' }, { deprecatedAt: at('2023-06-30T23:59:59Z'), link: undefined }],
  [{ deprecation: 'true' }, { deprecatedAt: undefined, sunsetAt: undefined }],
  [{ deprecation: 'Fri, 30 Jun 2023 23:59:59 GMT' }, { deprecatedAt: at('2023-06-30T23:59:59Z') }],
  [{ sunset: 'Sat, 31 Dec 2026 23:59:59 GMT' }, { sunsetAt: at('2026-12-31T23:59:59Z') }],
  [
    { deprecation: '@1', sunset: 'soon' },
    { deprecatedAt: at('1970-01-01T00:00:01Z'), sunsetAt: undefined },
  ],
  [
    { deprecation: '@1', link: '</next>; rel="next", </docs>; type="text/html"; rel="help Deprecation"' },
    { link: '/docs' },
  ],
  [{ deprecation: '@1', link: '</docs>;rel=deprecation;title="a"' }, { link: '/docs' }],
  [{ deprecation: '@1', link: '</docs>; title="rel=deprecation"' }, { link: undefined }],
  [{ deprecation: '@1', link: '</docs>; title="x; rel=deprecation"' }, { link: undefined }],
  [{ deprecation: '@1', link: '</a>; title="<b>, \\"c"; rel="deprecation", </d>; rel=next' }, { link: '/a' }],
  [{ deprecation: '@1', link: 'deprecation' }, { link: undefined }],
  [{}, undefined],
  [{ deprecation: '?0' }, undefined],
  [{ sunset: 'soon' }, undefined],
  [{ link: '</docs>; rel="deprecation"' }, undefined],
])('%j is read as %j', async (headers, expected) => {
  const events: DeprecatedEvent[] = [];
  const client = scriptedClient(scriptedFetch(jsonResponse({ id: '1' }, 200, headers)), {
    baseUrl: newOrigin(),
    on: { deprecated: (event) => void events.push(event) },
  });
  await client.accounts.get('1');
  expect(events).toMatchObject(expected === undefined ? [] : [expected]);
});

test('a probe names the endpoints in its advice', async () => {
  const sandbox = deprecatedService({ products: 2 });
  const { advice } = await probe(createClient(sandbox.clientOptions), { collections: ['products'] });
  const rest = `is deprecated from 2026-01-31 on, and may stop working on 2026-07-31: see ${LINK}.`;
  expect(advice).toEqual([`GET /products ${rest}`, `GET /products/{id} ${rest}`]);
});
