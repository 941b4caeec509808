import { expect, test } from 'vitest';
import { run } from '../../explore/command/support/run.ts';
import { caught } from '../../support/caught.ts';
import { quickClient } from '../../support/four-methods.ts';
import { productJson } from '../../support/records.ts';
import { respond } from '../../support/responses.ts';
import { type ScriptedResponse, scriptedServer } from '../../support/scripted-server.ts';

const JSON_TYPE = { 'content-type': 'application/json' };
const body = (text: string | Uint8Array, status = 200): ScriptedResponse => respond(status, JSON_TYPE, text);
const DEPTH = 100_000;
const deep = `${'[{"a":'.repeat(DEPTH / 2)}0${'}]'.repeat(DEPTH / 2)}`;

test('a record nested 100,000 deep is read', async () => {
  await using server = await scriptedServer(body(`{"id":"42","tags":[],"deep":${deep}}`));
  expect((await quickClient(server.url).products.get('42')).id).toBe('42');
  await using list = await scriptedServer(body(`[{"id":"42","deep":${deep}}]`));
  const [record] = await quickClient(list.url).accounts.list().toArray({ limit: 1 });
  expect(record?.id).toBe('42');
});

test('an invalid record, a problem document and a row without an id, nested 100,000 deep, are reported', async () => {
  await using server = await scriptedServer(
    body(`{"id":"42","salePrice":${deep}}`),
    body(`{"type":"forbidden","detail":${deep}}`, 403),
    body(deep),
    body(`[{"id":"1"},{"deep":${deep}}]`),
    body('[]'),
  );
  const { products, accounts } = quickClient(server.url, { validation: 'report' });
  expect(await caught(products.get('42'))).toMatchObject({ code: 'unexpected_response', recordId: '42' });
  const forbidden = await caught(products.get('42'));
  expect(forbidden).toMatchObject({ code: 'forbidden', detail: undefined });
  expect(JSON.stringify(forbidden).length).toBeLessThan(10_000);
  expect(await caught(products.get('42'))).toMatchObject({ code: 'unexpected_response' });
  const pages = [];
  for await (const page of accounts.list({}, { pagination: 'page' }).pages()) pages.push(page);
  expect(pages.map(({ records, invalid }) => [records.length, invalid.length])).toEqual([[1, 1]]);
});

test('the command writes a record nested 100,000 deep as the service sent it', async () => {
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
});

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

test('a number that JavaScript cannot hold makes a record invalid, in any field', async () => {
  await using server = await scriptedServer(
    body('{"id":"42","stockQuantity":1e999}'),
    body('{"id":"42","salePriceDecimals":9007199254740993}'),
    body(`{"id":"42","salePrice":"${'9'.repeat(19)}"}`),
    body('{"id":"42","salePrice":"1e400000000"}'),
    body('{"id":"42","colour":{"codes":[1,-1e400]}}'),
    body('[{"id":"42"},{"id":"43","limit":1e400}]'),
  );
  const { products, accounts } = quickClient(server.url);
  for (let n = 0; n < 5; n += 1) {
    expect(await caught(products.get('42'))).toMatchObject({ reason: 'wrong_shape', recordId: '42' });
  }
  expect(await caught(accounts.list().toArray({ limit: 9 }))).toMatchObject({
    reason: 'wrong_shape',
    recordId: '43',
    issues: ['limit: has a number that JavaScript cannot hold'],
  });
});
