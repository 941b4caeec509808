import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { quickClient } from '../../support/four-methods.ts';
import { rawHead, rawJson, sendRaw } from '../../support/raw-responses.ts';
import { product, productJson } from '../../support/records.ts';
import { scriptedServer } from '../../support/scripted-server.ts';

const TYPE = 'content-type: application/json';
const LENGTH = `content-length: ${productJson.length}`;

/** A head of these header lines, and bytes behind it. */
const odd = (
  headers: readonly string[],
  body: string | Uint8Array = productJson,
  status = 'HTTP/1.1 200 OK',
) => Buffer.concat([rawHead(status, [TYPE, ...headers]), Buffer.from(body)]);

/** An interim response before the actual response. */
const before = (status: string, headers: readonly string[] = []) =>
  Buffer.concat([Buffer.from([status, ...headers, '', ''].join('\r\n')), rawJson(200, product).bytes]);

const gzip = gzipSync(productJson);
const hints = ['link: </style.css>; rel=preload'];

test.each([
  ['early hints before it', before('HTTP/1.1 103 Early Hints', hints)],
  [
    'gzip without its trailer',
    odd([`content-length: ${gzip.length - 8}`, 'content-encoding: gzip'], gzip.subarray(0, -8)),
  ],
  ['a byte order mark', odd([], `\ufeff${productJson}`)],
  ['bytes beyond ASCII in a header', odd([LENGTH, 'x-request-id: \u00e9'])],
  ['no length: the end of the connection is the end of the body', odd([])],
  ['a status line of HTTP/1.0', odd([], productJson, 'HTTP/1.0 200 OK')],
])('a response with %s is read', async (_, bytes) => {
  await using server = await scriptedServer(sendRaw(bytes));
  await expect(quickClient(server.url).products.get('42')).resolves.toEqual(product);
  expect(server.requests).toHaveLength(1);
});

test('gzip that is whole as HTTP but ends early is the record or an error, never another value', async () => {
  const attempts = { rateLimiter: false, retry: { maxAttempts: 1 } } as const;
  // The last eight bytes are its checksum: without them it is whole.
  for (const end of [0, 1, 9, 10, 50, gzip.length - 20, gzip.length - 9, gzip.length - 8, gzip.length - 1]) {
    const bytes = odd([`content-length: ${end}`, 'content-encoding: gzip'], gzip.subarray(0, end));
    await using server = await scriptedServer(sendRaw(bytes));
    const call = quickClient(server.url, attempts).products.get('42');
    const result = await call.catch((error: unknown) => error);
    if (end >= gzip.length - 8 || !(result instanceof Error)) expect(result).toEqual(product);
    else expect(result).toMatchObject({ code: 'unexpected_response', outcome: 'applied' });
  }
});
