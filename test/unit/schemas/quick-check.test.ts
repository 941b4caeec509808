import { productSchema } from 'accounting-data-sdk/schemas';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { collections } from '../../../src/collections/index.ts';
import { type FieldKind, type FieldKindFacts, fieldKinds } from '../../../src/schemas/field-kinds.ts';
import { quickCheck } from '../../../src/schemas/quick-check.ts';
import { schemaOf } from '../../../src/schemas/record-schema.ts';

const { fields } = collections.products;
const fits = quickCheck(fields);
const schema = schemaOf(fields);

interface Result {
  readonly issues?: readonly { readonly path?: unknown; readonly message: string }[] | undefined;
  readonly value?: object;
}

/** The message for each field, whatever the order of the fields. */
const messages = ({ issues }: Result) =>
  Object.fromEntries(issues?.map(({ path, message }) => [String(path), message]) ?? []);

/** What the two Zod schemas say: also whether the record is returned unchanged. */
function judged(record: Record<string, unknown>): boolean {
  const result = schema['~standard'].validate(record) as Result;
  // No JSON holds `undefined`, and the type of a product does not either.
  if (Object.values(record).every((value) => value !== undefined)) {
    const exported = productSchema['~standard'].validate(record) as Result;
    expect(exported.value).toEqual(result.value);
    expect(messages(exported)).toEqual(messages(result));
  }
  return result.issues === undefined && Object.keys(result.value ?? {}).length === Object.keys(record).length;
}

const ofJson = {
  string: fc.string(),
  boolean: fc.boolean(),
  integer: fc.oneof(fc.integer(), fc.maxSafeInteger()),
  number: fc.double({ noNaN: true, noDefaultInfinity: true }),
  array: fc.array(fc.jsonValue(), { maxLength: 3 }),
};
const kinds = Object.entries<FieldKindFacts>(fieldKinds).map(([kind, { json, pattern }]) => {
  const arbitrary: fc.Arbitrary<unknown> = pattern === undefined ? ofJson[json] : fc.stringMatching(pattern);
  return [kind, arbitrary] as const;
});
const right = Object.fromEntries(kinds) as Record<FieldKind, fc.Arbitrary<unknown>>;
const odd = fc.constantFrom('1e3', '0x1F', '1.', '.5', ' 1', 2 ** 53, 1.5, -0, 1e308 * 10, null, undefined);
const anything = fc.oneof(...Object.values(right), fc.jsonValue(), odd);

/** Mostly values of the right kind, so that whole records fit often enough to say something. */
const record = fc
  .record(
    Object.fromEntries(
      Object.entries(fields).map(([name, kind]) => [
        name,
        fc.oneof({ weight: 40, arbitrary: right[kind] }, { weight: 1, arbitrary: anything }),
      ]),
    ),
    { requiredKeys: [] },
  )
  .map((known) => ({ ...known, id: '1' }));

test('the quick check and both Zod schemas agree about every record', () => {
  let [good, bad] = [0, 0];
  fc.assert(
    fc.property(record, fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 3 }), (known, unknown) => {
      const row = { ...unknown, ...known };
      const expected = judged(row);
      if (expected) good += 1;
      else bad += 1;
      expect(fits(row)).toBe(expected);
    }),
    { seed: 4, numRuns: 150 },
  );
  expect(good).toBeGreaterThan(20);
  expect(bad).toBeGreaterThan(20);
});

test('a record with an own __proto__ is not passed on as it is', () => {
  expect(fits(JSON.parse('{"id":"1","__proto__":{"name":7}}'))).toBe(false);
});

test.each([
  '1e400',
  '-1e400',
  '[1,1e400]',
  '{"a":[{"b":1e400}]}',
  `${'['.repeat(50_000)}1e400${']'.repeat(50_000)}`,
])('a number that JavaScript cannot hold is invalid, at any depth and in any field: %s', async (json) => {
  for (const name of ['colour', 'tags']) {
    const row = JSON.parse(`{"id":"1","${name}":${json}}`);
    expect(fits(row)).toBe(false);
    const { issues } = await schema['~standard'].validate(row);
    expect(issues).toMatchObject([{ path: [name] }]);
  }
});
