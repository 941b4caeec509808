import { expect, test } from 'vitest';
import * as z from 'zod';
import { parseProblem } from '../../../src/schemas/problem.ts';
import { RecordReader, type RecordReaderOptions } from '../../../src/schemas/record-reader.ts';
import { ShapeError } from '../../../src/schemas/shape-error.ts';
import { isFarAhead, isInstant } from '../../../src/schemas/timestamp.ts';
import { caught, thrown } from '../../support/caught.ts';

const reader = (options: Partial<RecordReaderOptions> = {}) =>
  new RecordReader({
    fields: { salePrice: 'money' },
    schema: undefined,
    validation: 'throw',
    keepFields: true,
    ...options,
  });
const read = async (body: unknown, options?: Partial<RecordReaderOptions>) => reader(options).one(body);

test('a body of another kind is told from a record that does not fit', () => {
  expect(thrown(() => reader().one([]))).toMatchObject({
    reason: 'wrong_content',
    issues: ['expected one record, a JSON object'],
  });
  expect(thrown(() => reader().list({ items: [] }))).toMatchObject({
    reason: 'wrong_content',
    issues: ['expected a list of records, a JSON array'],
  });
});

test('every issue is in the message', () => {
  expect(new ShapeError('wrong_shape', ['id: missing', 'name: a number']).message).toBe(
    'id: missing; name: a number',
  );
});

test('a schema that loses the id, or throws, is a record that does not fit', async () => {
  const withoutId = z.object({ id: z.string() }).transform(() => ({})) as never;
  expect(await caught(read({ id: '7' }, { schema: withoutId }))).toMatchObject({
    reason: 'wrong_shape',
    issues: ['id: lost by the schema'],
    recordId: '7',
  });
  const throwing = z.object({ id: z.string() }).transform(() => {
    throw new Error('quotes the record');
  }) as never;
  expect(await caught(read({ id: '7' }, { schema: throwing }))).toMatchObject({
    reason: 'wrong_shape',
    issues: ['the schema threw (Error: quotes the record) instead of reporting an issue'],
    recordId: '7',
  });
});

test('without validation only the id is looked at', async () => {
  const odd = { id: '7', salePrice: 129 };
  expect(await read(odd, { validation: 'off' })).toBe(odd);
  const error = await caught(read({ salePrice: 129 }, { validation: 'off' }));
  expect(error).toBeInstanceOf(ShapeError);
  expect((error as ShapeError).issues).toEqual([expect.stringMatching(/^id\b/)]);
  expect(((await caught(read({ salePrice: 129 }))) as ShapeError).issues).toHaveLength(2);
});

test('without validation a member called __proto__ is dropped all the same', async () => {
  const record = await read(JSON.parse('{"id":"7","__proto__":{"polluted":true}}'), { validation: 'off' });
  expect(record.id).toBe('7');
  expect(Object.hasOwn(record, '__proto__')).toBe(false);
  expect('polluted' in record).toBe(false);
});

test('a violation without a code has no code', () => {
  const { violations } = parseProblem({ violations: [{ propertyPath: 'name', message: 'is empty' }] });
  expect(violations).toStrictEqual([{ propertyPath: 'name', message: 'is empty' }]);
});

test('years before 100, which Date takes for others, are no instants', () => {
  expect(isInstant('0050-06-15')).toBe(false);
  expect(isInstant('0100-06-15')).toBe(true);
});

test('an instant is far ahead when it lies more than a day in the future', () => {
  const now = Date.parse('2026-01-31T12:00:00Z');
  expect(isFarAhead('2026-02-01T12:00:00Z', now)).toBe(false);
  expect(isFarAhead('2026-02-01T12:00:00.001Z', now)).toBe(true);
  expect(isFarAhead('2020-01-01', now)).toBe(false);
});
