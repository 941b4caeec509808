import type { ClientOptions, StandardSchema } from 'accounting-data-sdk';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { caught } from '../support/caught.ts';
import { jsonResponse, scriptedClient, scriptedFetch } from '../support/scripted-fetch.ts';

type Options = Pick<ClientOptions, 'validation'> & { readonly schema?: StandardSchema<{ id: string }> };

/** A client of a service that always responds with this body. The schema is that of `products` and `accounts`. */
function clientOf(body: unknown, { schema, ...options }: Options = {}) {
  const schemas: Record<never, never> = schema === undefined ? {} : { products: schema, accounts: schema };
  return scriptedClient(scriptedFetch(jsonResponse(body)), {
    schemas,
    retry: { maxAttempts: 1 },
    ...options,
  });
}
const read = async (body: unknown, options?: Options): Promise<unknown> =>
  clientOf(body, options).products.get('1');
async function list(body: unknown, options?: Options) {
  const { value } = await clientOf(body, options).products.list().pages().next();
  return value;
}

/** A schema that no library made. */
const handMade = (validate: (value: unknown) => unknown) =>
  ({ '~standard': { version: 1, vendor: 'hand', validate } }) as StandardSchema<{ id: string }>;

test.each([
  [{ id: '1', name: 7, isInactive: 'no' }, ['name: expected a string', 'isInactive: expected true or false']],
  [
    { id: 7 },
    ["id: expected a string, not the JSON number 7; for integer ids, pass ids: 'numbers' to createClient"],
  ],
  [{ id: '' }, ['id: expected a string that is not empty']],
  [{}, ['id: expected a string']],
])('%j is an invalid product: %j', async (body, issues) => {
  const error = await caught(read(body));
  expect(error).toMatchObject({
    code: 'unexpected_response',
    reason: 'wrong_shape',
    recordId: 'id' in body && body.id === '1' ? '1' : undefined,
  });
  expect((error as { issues: string[] }).issues.toSorted()).toEqual(issues.toSorted());
});

test('null is valid in every documented field, and unknown fields are kept', async () => {
  const record = { id: '1', name: null, salePrice: null, tags: null, stockQuantity: null, odd: { a: [1] } };
  expect(await read(record)).toEqual(record);
});

test('with validation: report invalid rows are on the page, not among its records', async () => {
  const rows = [{ id: '1' }, { id: '2', name: 7 }, { name: 'no id' }, 'text', { id: '3' }];
  expect(await list(rows, { validation: 'report' })).toMatchObject({
    rows,
    records: [{ id: '1' }, { id: '3' }],
    ids: ['1', '3'],
    invalid: [
      { id: '2', issues: ['name: expected a string'], record: rows[1] },
      { id: undefined, issues: ['id: expected a string'], record: rows[2] },
      { id: undefined, issues: ['expected a record, a JSON object'], record: 'text' },
    ],
  });
});

test('with validation: off only the id is checked', async () => {
  const odd = { id: '1', name: 7, salePrice: 129 };
  expect(await read(odd, { validation: 'off' })).toEqual(odd);
  const error = await caught(read({ name: 'x' }, { validation: 'off' }));
  expect(error).toMatchObject({ issues: ['id: expected a string'] });
});

test('a member called __proto__ is dropped', async () => {
  const type = { 'content-type': 'application/json' };
  const fetch = scriptedFetch(new Response('{"id":"7","__proto__":{"polluted":true}}', { headers: type }));
  for (const validation of ['throw', 'off'] as const) {
    const record = await scriptedClient(fetch, { validation }).products.get('7');
    expect(Object.hasOwn(record, '__proto__')).toBe(false);
    expect('polluted' in record).toBe(false);
  }
});

test('the context of JSON-LD is no field of a record, even if each record of a list has one', async () => {
  const page = await list(['7', '8'].map((id) => ({ '@context': '/contexts/Product', id })));
  expect(page.records).toEqual([{ id: '7' }, { id: '8' }]);
});

test('a schema of the caller runs whole, transforms and defaults included', async () => {
  const schema = z.looseObject({
    id: z.string(),
    name: z.string().transform((name) => name.toUpperCase()),
    colour: z.string().default('none'),
  });
  const record = await read({ id: '1', name: 'Desk', odd: 1 }, { schema });
  expect(record).toEqual({ id: '1', name: 'DESK', colour: 'none', odd: 1 });
});

test('a schema of the caller may be asynchronous', async () => {
  const schema = z.object({ id: z.string() }).refine(async ({ id }) => id !== '1', 'is on hold');
  expect(await caught(read({ id: '1' }, { schema }))).toMatchObject({
    issues: ['is on hold'],
    recordId: '1',
  });
});

test('issues of a schema name their path, whatever form it has, and there are at most twenty', async () => {
  const issues = [
    { message: 'bad' },
    { message: 'bad', path: ['lines', 0, { key: 'price' }] },
    ...Array.from({ length: 30 }, () => ({ message: 'more', path: [] })),
  ];
  const error = (await caught(read({ id: '1' }, { schema: handMade(() => ({ issues })) }))) as {
    issues: string[];
  };
  expect(error.issues.slice(0, 3)).toEqual(['bad', 'lines.0.price: bad', 'more']);
  expect(error.issues).toHaveLength(20);
});

const fails = () => {
  throw new Error('of the schema');
};

test.each<[string, () => unknown]>([
  ['throws', fails],
  ['rejects', async () => fails()],
  ['returns an id that throws', () => ({ value: Object.defineProperty({}, 'id', { get: fails }) })],
])('a schema of the caller that %s makes the record invalid', async (_, validate) => {
  const schema = handMade(validate);
  const error = await caught(read({ id: '1' }, { schema }));
  const issues = [expect.stringMatching(/threw \(\w*Error: .+\)/)];
  expect(error).toMatchObject({ reason: 'wrong_shape', recordId: '1', issues });
  const page = await list([{ id: '1' }], { schema, validation: 'report' });
  expect(page).toMatchObject({ records: [], invalid: [{ id: '1', issues }] });
});

test.each([{}, { id: 7 }, null])('a schema of the caller must keep the id: %j', async (value) => {
  const error = await caught(read({ id: '1' }, { schema: handMade(() => ({ value })) }));
  expect(error).toMatchObject({ issues: ['id: lost by the schema'], recordId: '1' });
});

test('page.ids and page.sent are what the service sent for each record, even if a schema changes it', async () => {
  const rows = [{ id: '3', name: 'c' }, { id: 7 }, { id: '3', name: 'c' }, { id: '9' }];
  const schema = handMade((value) => {
    const { id, name = 'none' } = value as { id: string; name?: string };
    return { value: { id: `acme-${id}`, title: name } };
  });
  const client = clientOf(rows, { schema, validation: 'report' });
  const page = await client.products.list({}, { pagination: 'page' }).pages().next();
  expect(page.value).toMatchObject({
    records: [
      { id: 'acme-3', title: 'c' },
      { id: 'acme-9', title: 'none' },
    ],
    ids: ['3', '9'],
    sent: [rows[0], rows[3]],
    rows,
  });
});
