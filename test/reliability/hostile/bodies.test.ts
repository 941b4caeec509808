import { expect, test } from 'vitest';
import { caught } from '../../support/caught.ts';
import { quickClient } from '../../support/four-methods.ts';
import { productJson } from '../../support/records.ts';
import { respond } from '../../support/responses.ts';
import { type ScriptedResponse, scriptedServer } from '../../support/scripted-server.ts';

const JSON_TYPE = { 'content-type': 'application/json' };
const body = (text: string | Uint8Array, status = 200): ScriptedResponse => respond(status, JSON_TYPE, text);
const DEPTH = 100_000;
const nested = (levels: number) => `${'[{"a":'.repeat(levels / 2)}0${'}]'.repeat(levels / 2)}`;

test('a record nested up to 500 levels is read, compared and printed', async () => {
  const row = `{"id":"42","deep":${nested(498)}}`;
  await using server = await scriptedServer(body(row));
  const client = quickClient(server.url);
  const [once, again] = [await client.accounts.get('42'), await client.accounts.get('42')];
  expect(again).toEqual(once);
  expect(JSON.stringify(once)).toBe(row);
});

test.each([502, DEPTH])('a record nested %i levels deep is an unexpected response', async (levels) => {
  const deep = nested(levels);
  const failed = { code: 'unexpected_response', reason: 'wrong_shape' };
  const cases = [
    { one: `{"id":"42","tags":[],"deep":${deep}}`, recordId: '42' },
    { one: `{"id":"42","salePrice":${deep}}`, recordId: '42' },
    { one: `{"deep":${deep}}`, recordId: undefined },
  ];
  for (const { one, recordId } of cases) {
    for (const validation of ['throw', 'report'] as const) {
      await using server = await scriptedServer(body(one), body(`[{"id":"1"},${one}]`));
      const { products, accounts } = quickClient(server.url, { validation });
      expect(await caught(products.get('42'))).toMatchObject({ ...failed, recordId });
      expect(await caught(accounts.list().toArray({ limit: 9 }))).toMatchObject({ ...failed, recordId });
    }
  }
});

test('a problem document and a body nested 100,000 levels deep are typed errors', async () => {
  const deep = nested(DEPTH);
  await using server = await scriptedServer(body(`{"type":"forbidden","detail":${deep}}`, 403), body(deep));
  const { products } = quickClient(server.url);
  const forbidden = await caught(products.get('42'));
  expect(forbidden).toMatchObject({ code: 'forbidden', detail: undefined });
  expect(JSON.stringify(forbidden).length).toBeLessThan(10_000);
  expect(await caught(products.get('42'))).toMatchObject({ code: 'unexpected_response' });
});

test('a draft nested 100,000 deep is rejected before it is sent', async () => {
  await using server = await scriptedServer(body(productJson, 201));
  let deep: unknown = 0;
  for (let n = 0; n < DEPTH; n += 1) deep = [deep];
  const client = quickClient(server.url);
  for (const [argument, call] of [
    ['draft.tags', client.products.create({ tags: [deep] })],
    ['body', client.request({ method: 'POST', path: '/x', body: deep })],
  ] as const)
    expect(await caught(call)).toMatchObject({ code: 'invalid_input', argument });
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
    body('{"id":"42","colour":{"codes":[1,-1e400]}}'),
    body('[{"id":"42"},{"id":"43","limit":1e400}]'),
  );
  const { products, accounts } = quickClient(server.url);
  for (let n = 0; n < 3; n += 1) {
    expect(await caught(products.get('42'))).toMatchObject({ reason: 'wrong_shape', recordId: '42' });
  }
  expect(await caught(accounts.list().toArray({ limit: 9 }))).toMatchObject({
    reason: 'wrong_shape',
    recordId: '43',
    issues: ['limit: has a number that JavaScript cannot hold'],
  });
});
