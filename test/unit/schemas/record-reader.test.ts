import { expect, test, vi } from 'vitest';
import { z } from 'zod';
import { collections } from '../../../src/collections/index.ts';
import { RecordReader, type RecordReaderOptions } from '../../../src/schemas/record-reader.ts';
import { ShapeError } from '../../../src/schemas/shape-error.ts';
import type { StandardSchema } from '../../../src/schemas/standard-schema.ts';
import { caught } from '../../support/caught.ts';

const { fields } = collections.products;
const reader = (options: Partial<RecordReaderOptions> = {}) =>
  new RecordReader<{ id: string }>({
    fields,
    schema: undefined,
    validation: 'throw',
    keepFields: false,
    ...options,
  });
const read = async (body: unknown, options: Partial<RecordReaderOptions> = {}) => reader(options).one(body);
const list = async (body: unknown, options: Partial<RecordReaderOptions> = {}) => reader(options).list(body);

/** A schema of nobody's library. */
const handMade = <T>(
  validate: (value: unknown) => T | Promise<T>,
): StandardSchema<T extends { value: infer V } ? V : never> =>
  ({ '~standard': { version: 1, vendor: 'hand', validate } }) as never;

test('a good record is passed on as the same object, at once', () => {
  const record = { id: '1', salePrice: '1.0000', fromTomorrow: 1 };
  expect(reader().one(record)).toBe(record);
  expect(reader().list([record])).toEqual({
    rows: [record],
    records: [record],
    ids: ['1'],
    invalid: [],
  });
});

test.each([
  [{ id: '1', salePrice: 129 }, ['salePrice: expected money, a decimal string']],
  [{ id: '1', salePrice: '1e5' }, ['salePrice: expected money, a decimal string']],
  [{ id: '1', name: 7, isInactive: 'no' }, ['name: expected a string', 'isInactive: expected true or false']],
  [{ id: '1', salePriceDecimals: 1.5 }, ['salePriceDecimals: expected an integer']],
  [{ id: '1', stockQuantity: '7' }, ['stockQuantity: expected a number']],
  [{ id: '1', tags: {} }, ['tags: expected an array']],
  [{ id: 7 }, ['id: expected a string']],
  [{ id: '' }, ['id: expected a string that is not empty']],
  [{}, ['id: expected a string']],
])('%j does not fit: %j', async (body, issues) => {
  const error = (await caught(read(body))) as ShapeError;
  expect(error).toBeInstanceOf(ShapeError);
  expect(error.reason).toBe('wrong_shape');
  expect(error.issues.toSorted()).toEqual(issues.toSorted());
  expect(error.recordId).toBe('id' in body && body.id === '1' ? '1' : undefined);
});

test.each([null, undefined, 7, 'text', [], [{ id: '1' }]])('%j is no record at all', async (body) => {
  expect(await caught(read(body))).toMatchObject({ reason: 'wrong_content', recordId: undefined });
});

test.each([null, 7, 'text', { id: '1' }, {}, { member: 'x' }])('%j is no list at all', async (body) => {
  expect(await caught(list(body))).toMatchObject({ reason: 'wrong_content' });
});

test.each(['member', 'hydra:member'])('the %s of a JSON-LD body are its records', async (name) => {
  expect((await list({ '@type': 'Collection', [name]: [{ id: '1' }] })).records).toEqual([{ id: '1' }]);
});

test('null and undefined fit every documented field, and unknown fields are kept', async () => {
  const record = {
    id: '1',
    ...Object.fromEntries(Object.keys(fields).map((name) => [name, null])),
    odd: { a: [1] },
  };
  expect(await read(record)).toEqual(record);
});

test('under throw one bad row ends the list', async () => {
  const error = await caught(list([{ id: '1' }, { id: '2', name: 7 }]));
  expect(error).toMatchObject({ reason: 'wrong_shape', recordId: '2' });
});

test('under report bad rows are told apart, and the ids stay at their positions', async () => {
  const rows = [{ id: '1' }, { id: '2', name: 7 }, { name: 'no id' }, 'text', { id: '3' }];
  expect(await list(rows, { validation: 'report' })).toEqual({
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

test('under report a single record still throws, and so does what is no list', async () => {
  expect(await caught(read({ id: '1', name: 7 }, { validation: 'report' }))).toMatchObject({
    reason: 'wrong_shape',
  });
  expect(await caught(list({}, { validation: 'report' }))).toMatchObject({ reason: 'wrong_content' });
});

test('under off only the id is asked for', async () => {
  const odd = { id: '1', name: 7, salePrice: 129 };
  expect(await read(odd, { validation: 'off' })).toBe(odd);
  expect(await caught(read({ name: 'x' }, { validation: 'off' }))).toMatchObject({
    issues: ['id: expected a string'],
  });
});

test('a schema of the caller runs whole, transforms and defaults included', async () => {
  const schema = z.looseObject({
    id: z.string(),
    name: z.string().transform((name) => name.toUpperCase()),
    colour: z.string().default('none'),
  });
  const given = { id: '1', name: 'Desk', odd: 1 };
  expect(await read(given, { schema })).toEqual({ id: '1', name: 'DESK', colour: 'none', odd: 1 });
  expect(given).toEqual({ id: '1', name: 'Desk', odd: 1 });
});

test('a strict schema of the caller drops fields, unless they are to be kept', async () => {
  const schema = z.object({ id: z.string() });
  expect(await read({ id: '1', name: 'Desk' }, { schema })).toEqual({ id: '1' });
  expect(await read({ id: '1', name: 'Desk' }, { schema, keepFields: true })).toEqual({
    id: '1',
    name: 'Desk',
  });
});

test('a schema of the caller may be asynchronous', async () => {
  const schema = z.object({ id: z.string() }).refine(async ({ id }) => id !== '2', 'is on hold');
  expect(await read({ id: '1' }, { schema })).toEqual({ id: '1' });
  expect(await caught(read({ id: '2' }, { schema }))).toMatchObject({
    issues: ['is on hold'],
    recordId: '2',
  });
});

test('a schema made by hand is as good as any', async () => {
  const schema = handMade((value) => ({ value: { ...(value as { id: string }), seen: true } }));
  expect(await read({ id: '1' }, { schema })).toEqual({ id: '1', seen: true });
});

test('issues name their path, whatever form it has, and there are at most twenty', async () => {
  const issues = [
    { message: 'bad' },
    { message: 'bad', path: ['lines', 0, { key: 'price' }] },
    ...Array.from({ length: 30 }, () => ({ message: 'more', path: [] })),
  ];
  const error = (await caught(
    read({ id: '1' }, { schema: handMade(() => ({ issues })) as never }),
  )) as ShapeError;
  expect(error.issues.slice(0, 3)).toEqual(['bad', 'lines.0.price: bad', 'more']);
  expect(error.issues).toHaveLength(20);
});

test.each([
  [
    'throws',
    () => {
      throw new Error('s3cret');
    },
  ],
  ['rejects', () => Promise.reject(new Error('s3cret'))],
  ['returns nothing', () => undefined],
  ['returns issues that are none', () => ({ issues: [null] })],
])(
  'a schema of the caller that %s is an invalid record that says what the schema threw',
  async (_, validate) => {
    const error = (await caught(read({ id: '1' }, { schema: handMade(validate) as never }))) as ShapeError;
    expect(error).toBeInstanceOf(ShapeError);
    expect(error).toMatchObject({ reason: 'wrong_shape', recordId: '1' });
    expect(error.issues).toEqual([expect.stringMatching(/^the schema threw \(\w*Error: .+\) instead of/)]);
  },
);

test.each([[{ value: {} }], [{ value: { id: 7 } }], [{ value: null }]])(
  'a schema of the caller that loses the id (%j) is a misfit',
  async (result) => {
    expect(await caught(read({ id: '1' }, { schema: handMade(() => result) as never }))).toMatchObject({
      issues: ['id: lost by the schema'],
      recordId: '1',
    });
  },
);

test('the ids of a list are those that the service sent, also where a schema changes them', async () => {
  const schema = handMade((value) => ({ value: { id: `acc-${(value as { id: string }).id}` } }));
  const answer = await list([{ id: '1' }, { id: '2' }], { schema });
  expect(answer.records).toEqual([{ id: 'acc-1' }, { id: 'acc-2' }]);
  expect(answer.ids).toEqual(['1', '2']);
});

test('a schema of the caller is asked about nothing that does not fit the contract', async () => {
  const validate = vi.fn((value: unknown) => ({ value: value as { id: string } }));
  await caught(read({ id: '1', name: 7 }, { schema: handMade(validate) }));
  expect(validate).not.toHaveBeenCalled();
  await read({ id: '1', name: 7 }, { schema: handMade(validate), validation: 'off' });
  expect(validate).toHaveBeenCalledTimes(1);
});
