import { expect, test } from 'vitest';
import { run } from '../../explore/command/support/run.ts';
import { caught } from '../../support/caught.ts';
import { callWith, METHODS, quickClient } from '../../support/four-methods.ts';
import { product, productJson } from '../../support/records.ts';
import { respond } from '../../support/responses.ts';
import { type ScriptedResponse, scriptedServer } from '../../support/scripted-server.ts';

const JSON_TYPE = { 'content-type': 'application/json' };
const body = (text: string | Uint8Array, status = 200): ScriptedResponse => respond(status, JSON_TYPE, text);
const nested = (open: string, close: string, depth: number) => `${open.repeat(depth)}0${close.repeat(depth)}`;
const DEPTH = 100_000;

const deepForms = {
  lists: nested('[', ']', DEPTH),
  objects: nested('{"a":', '}', DEPTH),
  both: nested('[{"a":', '}]', DEPTH / 2),
};

test.each(Object.entries(deepForms))('a record with %s nested 100,000 deep is read', async (_, deep) => {
  await using server = await scriptedServer(body(`{"id":"42","tags":[],"deep":${deep}}`));
  const client = quickClient(server.url);
  expect((await client.products.get('42')).id).toBe('42');
  await using list = await scriptedServer(body(`[{"id":"42","deep":${deep}}]`));
  const [record] = await quickClient(list.url).accounts.list().toArray({ limit: 1 });
  expect(record?.id).toBe('42');
});

test.each(Object.entries(deepForms))(
  'an invalid record and a problem document with %s nested 100,000 deep are errors',
  async (_, deep) => {
    await using server = await scriptedServer(
      body(`{"id":"42","salePrice":${deep}}`),
      body(`{"type":"forbidden","detail":${deep}}`, 403),
      body(deep),
    );
    const { products } = quickClient(server.url);
    expect(await caught(products.get('42'))).toMatchObject({ code: 'unexpected_response', recordId: '42' });
    const forbidden = await caught(products.get('42'));
    expect(forbidden).toMatchObject({ code: 'forbidden', detail: undefined });
    expect(JSON.stringify(forbidden).length).toBeLessThan(10_000);
    expect(await caught(products.get('42'))).toMatchObject({ code: 'unexpected_response' });
  },
);

test.each(Object.entries(deepForms))(
  'a list with a row without an id and with %s nested 100,000 deep reports the row',
  async (_, deep) => {
    await using server = await scriptedServer(body(`[{"id":"1"},{"deep":${deep}}]`), body('[]'));
    const client = quickClient(server.url, { validation: 'report' });
    const pages = [];
    for await (const page of client.accounts.list().pages()) pages.push(page);
    expect(pages.map(({ records, invalid }) => [records.length, invalid.length])).toEqual([[1, 1]]);
  },
);

test.each(Object.entries(deepForms))(
  'the command writes a record with %s nested 100,000 deep as the service sent it',
  async (_, deep) => {
    const row = `{"id":"42","odd \\"\\u00e9":[1.50,null,true,[],{}],"deep":${deep},"last":"x"}`;
    await using list = await scriptedServer(body(`[${row}]`), body('[]'));
    const env = (url: string) => ({ ACCOUNTING_BASE_URL: url, ACCOUNTING_API_KEY: 'key-of-the-company' });
    const written = row.replace('1.50', '1.5').replace('\\u00e9', 'é');
    expect(await run(env(list.url), ['pull', 'accounts', '--pagination', 'page'])).toMatchObject({
      code: 0,
      out: `${written}\n`,
    });
    await using one = await scriptedServer(body(row));
    const printed = await run(env(one.url), ['get', 'accounts', '42']);
    expect([printed.code, printed.out.trim() === written]).toEqual([0, true]);
  },
);

test.each(['[', '{"a":', '[{"a":', '"'])(
  'a body of nothing but %j is not JSON, however long',
  async (unit) => {
    await using server = await scriptedServer(body(unit.repeat(DEPTH)));
    expect(
      await caught(quickClient(server.url, { retry: { maxAttempts: 1 } }).products.get('42')),
    ).toMatchObject({
      code: 'unexpected_response',
      reason: 'truncated',
      outcome: 'applied',
    });
  },
);

test('a draft nested 100,000 deep is rejected before it is sent', async () => {
  await using server = await scriptedServer(body(productJson, 201));
  let deep: unknown = 0;
  for (let n = 0; n < DEPTH; n += 1) deep = [deep];
  const client = quickClient(server.url);
  expect(await caught(client.products.create({ tags: [deep] }))).toMatchObject({
    code: 'invalid_input',
    argument: 'draft',
  });
  expect(await caught(client.request({ method: 'POST', path: '/x', body: deep }))).toMatchObject({
    code: 'invalid_input',
    argument: 'body',
  });
  expect(server.requests).toHaveLength(0);
});

test('of two members with one name the last counts, as in JSON.parse, and it alone is checked', async () => {
  await using server = await scriptedServer(
    body('{"id":7,"id":"42","salePrice":1,"salePrice":"1.0000"}'),
    body('{"id":"42","salePrice":"1.0000","salePrice":1}'),
  );
  const { products } = quickClient(server.url);
  expect(await products.get('42')).toEqual({ id: '42', salePrice: '1.0000' });
  expect(await caught(products.get('42'))).toMatchObject({ reason: 'wrong_shape', recordId: '42' });
});

const bytes = (...values: readonly number[]) => Buffer.from(values);
const around = (inner: Uint8Array) =>
  Buffer.concat([Buffer.from('{"id":"42","name":"'), inner, Buffer.from('"}')]);

test.each<[string, Uint8Array]>([
  ['a lone continuation byte', bytes(0x80)],
  ['a byte that never occurs', bytes(0xff)],
  ['an overlong slash', bytes(0xc0, 0xaf)],
  ['an overlong NUL', bytes(0xc0, 0x80)],
  ['a surrogate', bytes(0xed, 0xa0, 0x80)],
  ['a sequence that breaks off', bytes(0xe2, 0x82)],
  ['a code point too large', bytes(0xf4, 0x90, 0x80, 0x80)],
  ['Latin-1', bytes(0xe9)],
])('%s in a record is not UTF-8: an error, never a replaced character', async (_, inner) => {
  await using server = await scriptedServer(body(around(inner)));
  for (const method of METHODS) {
    const end = await callWith(quickClient(server.url), method).catch((error: unknown) => error);
    if (method === 'DELETE') expect(end).toBeUndefined();
    else expect(end).toMatchObject({ code: 'unexpected_response', reason: 'not_utf8', outcome: 'applied' });
  }
  expect(server.requests).toHaveLength(METHODS.length);
});

test.each<[string, Uint8Array, unknown]>([
  ['a byte order mark', Buffer.from(`\ufeff${productJson}`), product],
  ['white space around it', Buffer.from(` \r\n\t${productJson}\n\n`), product],
  ['an escaped NUL', Buffer.from('{"id":"42","name":"a\\u0000b"}'), { id: '42', name: 'a\0b' }],
  ['escaped lone surrogates', Buffer.from('{"id":"42","name":"\\ud800"}'), { id: '42', name: '\ud800' }],
])('a record with %s is read as it is', async (_, text, expected) => {
  await using server = await scriptedServer(body(text));
  expect(await quickClient(server.url).products.get('42')).toEqual(expected);
});

test.each<[string, Uint8Array]>([
  ['a bare NUL', around(bytes(0))],
  ['NULs behind it', Buffer.concat([Buffer.from(productJson), Buffer.alloc(8)])],
  ['two byte order marks', Buffer.from(`\ufeff\ufeff${productJson}`)],
  ['a second record behind it', Buffer.from(`${productJson}${productJson}`)],
  ['a comment', Buffer.from(`/* */${productJson}`)],
  ['NaN in it', Buffer.from('{"id":"42","stockQuantity":NaN}')],
  ['single quotes', Buffer.from("{'id':'42'}")],
])('a record with %s is not JSON', async (_, text) => {
  await using server = await scriptedServer(body(text));
  expect(
    await caught(quickClient(server.url, { retry: { maxAttempts: 1 } }).products.get('42')),
  ).toMatchObject({
    code: 'unexpected_response',
    outcome: 'applied',
  });
});

test('UTF-16 is not UTF-8', async () => {
  await using server = await scriptedServer(body(Buffer.from(`\ufeff${productJson}`, 'utf16le')));
  expect(await caught(quickClient(server.url).products.get('42'))).toMatchObject({ reason: 'not_utf8' });
});

test('a number that JSON.parse cannot hold is rejected in a typed field', async () => {
  await using server = await scriptedServer(
    body('{"id":"42","stockQuantity":1e999}'),
    body('{"id":"42","salePriceDecimals":9007199254740993}'),
    body(`{"id":"42","salePrice":"${'9'.repeat(19)}"}`),
    body('{"id":"42","salePrice":"1e400000000"}'),
  );
  for (let n = 0; n < 4; n += 1) {
    expect(await caught(quickClient(server.url).products.get('42'))).toMatchObject({ reason: 'wrong_shape' });
  }
});

test('200,000 unknown fields are kept', async () => {
  const fields = Array.from({ length: 200_000 }, (_, n) => `"f${n}":${n % 10}`).join();
  await using server = await scriptedServer(body(`{"id":"42",${fields}}`));
  const record = await quickClient(server.url).accounts.get('42');
  expect([record.f0, record.f199999]).toEqual([0, 9]);
  await using rejecting = await scriptedServer(body(`{"type":"not_found",${fields}}`, 404));
  // More than a megabyte is not read for what it says.
  expect(await caught(quickClient(rejecting.url).accounts.get('42'))).toMatchObject({
    code: 'not_found',
    type: undefined,
  });
});
