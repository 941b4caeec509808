import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseProblem } from '../../../src/schemas/problem.ts';
import { caught } from '../../support/caught.ts';
import {
  jsonResponse,
  problemResponse,
  scriptedClient,
  scriptedFetch,
} from '../../support/scripted-fetch.ts';

const nothing = {
  type: undefined,
  title: undefined,
  detail: undefined,
  instance: undefined,
  violations: [],
  extensions: {},
};

test.each([undefined, null, 7, 'text', true, [], [{ type: 'not_found' }], {}])(
  '%j has no members',
  (body) => {
    expect(parseProblem(body)).toEqual(nothing);
  },
);

test('members of a wrong type are extensions, and the others are read', () => {
  const body = { type: 7, title: ['x'], detail: { a: 1 }, violations: 'many', status: 'no' };
  expect(parseProblem({ ...body, instance: null })).toEqual({ ...nothing, extensions: body });
  const { title: _, ...others } = body;
  expect(parseProblem({ ...body, title: 'Kept' })).toEqual({ ...nothing, title: 'Kept', extensions: others });
});

test('violations keep path, message and code; invalid ones are omitted', () => {
  const violations = [
    { propertyPath: 'salePrice', message: 'is negative', code: 'range', payload: 1 },
    { message: 'is empty' },
    { propertyPath: 7, message: 'is odd', code: 7 },
    { propertyPath: 'name' },
    'name',
    null,
  ];
  expect(parseProblem({ violations }).violations).toStrictEqual([
    { propertyPath: 'salePrice', message: 'is negative', code: 'range' },
    { propertyPath: '', message: 'is empty' },
    { propertyPath: '', message: 'is odd' },
  ]);
});

test('every other member is an extension, as sent', () => {
  const body = JSON.parse('{"title":"x","balance":30,"accounts":["/a"],"__proto__":{"polluted":true}}');
  expect(parseProblem(body).extensions).toEqual({ balance: 30, accounts: ['/a'] });
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
});

test('any JSON is read without an error', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (body) => {
      const problem = parseProblem(body);
      expect(Array.isArray(problem.violations)).toBe(true);
      expect(['string', 'undefined']).toContain(typeof problem.type);
    }),
    { seed: 3 },
  );
});

test('title and detail of JSON-LD are read, unless those of the RFC are there', () => {
  const linked = { 'hydra:title': 'An error occurred', 'hydra:description': 'name: is too long' };
  const known = { title: 'An error occurred', detail: 'name: is too long' };
  expect(parseProblem(linked)).toMatchObject(known);
  expect(parseProblem({ ...linked, title: 'T', detail: 'D' })).toMatchObject({ title: 'T', detail: 'D' });
});

test.each([
  [1, '[f1: m1]'],
  [5, '[f1: m1; f2: m2; f3: m3; f4: m4; f5: m5]'],
  [7, '[f1: m1; f2: m2; f3: m3; f4: m4; f5: m5; 2 more]'],
])('a message names five violations and counts the others: %i', async (count, shown) => {
  const violations = Array.from({ length: count }, (_, n) => ({
    propertyPath: `f${n + 1}`,
    message: `m${n + 1}`,
  }));
  const fetch = scriptedFetch(problemResponse(422, { type: 'validation_failed', violations }));
  const error = (await caught(scriptedClient(fetch).products.create({}))) as Error;
  expect(error.message).toContain(`(validation_failed) ${shown}`);
});

test.each([
  ['a body that is not JSON', new Response('{"type":', { status: 404 })],
  ['a page of HTML', new Response('<h1>no</h1>', { status: 404, headers: { 'content-type': 'text/html' } })],
  ['no body', new Response(null, { status: 404 })],
  ['bytes that are not UTF-8', new Response(new Uint8Array([0xff, 0xfe]), { status: 404 })],
  ['a megabyte', new Response(`{"type":"forbidden","x":"${'x'.repeat(2 ** 20)}"}`, { status: 404 })],
])('the status decides for an error response with %s', async (_, response) => {
  const error = await caught(scriptedClient(scriptedFetch(response)).accounts.get('1'));
  expect(error).toMatchObject({ code: 'not_found', type: undefined, status: 404 });
});

test('the status decides for an error response whose body is cut', async () => {
  const body = new ReadableStream({
    start(controller) {
      controller.enqueue(new TextEncoder().encode('{"type":"forb'));
      controller.error(new TypeError('terminated'));
    },
  });
  const fetch = scriptedFetch(() => new Response(body, { status: 404 }));
  expect(await caught(scriptedClient(fetch).accounts.get('1'))).toMatchObject({ code: 'not_found' });
});

test('a problem document that is nested very deep is cut, not followed', async () => {
  let deep: unknown = 'end';
  for (let n = 0; n < 3_000; n += 1) deep = { deep };
  const fetch = scriptedFetch(jsonResponse({ type: 'not_found', deep }, 404));
  const error = await caught(scriptedClient(fetch).accounts.get('1'));
  expect(JSON.stringify(error)).toContain('[redacted]');
});
