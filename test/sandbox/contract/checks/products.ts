import assert from 'node:assert/strict';
import type { Json } from '../../support/call.ts';
import { type Check, checksOf } from '../suite/check.ts';
import { isIso8601, sameAmount } from '../suite/compare.ts';
import { documentedFields, type Field, productFields } from '../suite/specification.ts';

const check = checksOf('Endpoints › Products');
const fieldCheck = checksOf('Resources and their fields');
const productCheck = checksOf('Resources and their fields › Product');

const FITS: Readonly<Record<Field['type'], (value: unknown) => boolean>> = {
  string: (value) => typeof value === 'string',
  array: Array.isArray,
  boolean: (value) => typeof value === 'boolean',
  integer: Number.isInteger,
  number: (value) => typeof value === 'number',
  money: (value) => typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value),
};

/** Every field of the table is there, in its type or empty. */
export function expectProduct(product: Json, where: string): void {
  expectDocumented(product, productFields, where);
}

function expectDocumented(record: Json, fields: readonly Field[], where: string): void {
  for (const { name, type, responseOnly } of fields) {
    assert.ok(Object.hasOwn(record, name), `${where}: ${name} is missing`);
    const value = record[name];
    const fits = FITS[type](value) || (value === null && !responseOnly);
    assert.ok(fits, `${where}: ${name} is ${JSON.stringify(value)}, not of type ${type}`);
  }
}

/** A value for each field that a client may set; two sets that differ in every field. */
function values(other: boolean): Record<string, unknown> {
  const of: Readonly<Record<Field['type'], (name: string) => unknown>> = {
    string: (name) =>
      name.startsWith('valid') ? `203${other ? 1 : 0}-01-01` : `${name} ${other ? 'two' : 'one'}`,
    array: (name) => [`${name} ${other ? 'two' : 'one'}`],
    boolean: () => other,
    integer: () => (other ? 4 : 2),
    number: () => (other ? 7.25 : 3),
    money: () => (other ? '1234567.8901' : '129.5000'),
  };
  return Object.fromEntries(
    productFields.filter(({ responseOnly }) => !responseOnly).map(({ name, type }) => [name, of[type](name)]),
  );
}

/** What was sent is what is there; a cleared field may be omitted; amounts may be written with more or fewer zeros. */
export function expectFields(product: Json, sent: Json, where: string): void {
  for (const [name, value] of Object.entries(sent)) {
    const isMoney = productFields.some((field) => field.name === name && field.type === 'money');
    if (isMoney && typeof value === 'string' && typeof product[name] === 'string') {
      assert.ok(
        sameAmount(product[name], value),
        `${where}: ${name} is ${product[name]} instead of ${value}`,
      );
    } else assert.deepEqual(product[name] ?? null, value, `${where}: ${name}`);
  }
}

export const products: readonly Check[] = [
  check('products can be listed and got', async (client) => {
    const listed = await client.some('products');
    assert.equal(new Set(listed.map(({ id }) => id)).size, listed.length, 'no product comes twice');
    for (const product of listed.slice(0, 3)) {
      assert.deepEqual((await client.get('products', product.id)).record, product);
    }
  }),
  check('a deleted product is gone', async (client) => {
    const { id } = await client.product();
    (await client.delete(id)).expectSuccess();
    (await client.get('products', id)).expectNotFound();
    (await client.update(id, { name: 'Again' })).expectNotFound();
    (await client.delete(id)).expectNotFound();
  }),
  check('a delete takes one product and no other', async (client) => {
    const [kept, gone] = [await client.product(), await client.product()];
    await client.delete(gone.id);
    assert.equal((await client.get('products', kept.id)).record.id, kept.id);
  }),
  check('a delete without a valid key, or with one that may not, takes nothing', async (client) => {
    const { id } = await client.product();
    (await client.delete(id, { key: null })).expectUnauthenticated();
    (await client.delete(id, { key: client.keys.readOnly })).expectForbidden();
    (await client.get('products', id)).expectStatus(200);
  }),
  productCheck('every field of the table is in every product, in its type', async (client) => {
    const listed = await client.some('products');
    for (const product of listed) expectProduct(product, `product ${product.id} in the list`);
    expectProduct((await client.get('products', listed[0]?.id ?? '')).record, 'one product');
  }),
  fieldCheck('every documented field is in every record, in its type', async (client) => {
    for (const [segment, fields] of Object.entries(documentedFields)) {
      for (const record of await client.some(segment)) {
        expectDocumented(record, fields, `${segment} ${record.id}`);
      }
    }
  }),
  productCheck('every field can be set by create and by update, and is kept', async (client) => {
    const [one, two] = [values(false), values(true)];
    const made = (await client.create(one)).record;
    expectFields(made, one, 'create');
    expectFields((await client.update(made.id, two)).record, two, 'update');
    expectFields((await client.get('products', made.id)).record, two, 'get');
  }),
  productCheck('the responses to create and update add id, createdAt and updatedAt', async (client) => {
    const made = (await client.create({ name: 'Contract check' })).record;
    const changed = (await client.update(made.id, { name: 'Changed' })).record;
    for (const product of [made, changed]) {
      assert.ok(product.id !== '' && isIso8601(product.createdAt) && isIso8601(product.updatedAt));
    }
    assert.deepEqual([changed.id, changed.createdAt], [made.id, made.createdAt]);
  }),
  checksOf('States and transitions')(
    'a product has a string status and a boolean isInactive',
    async (client) => {
      const listed = await client.some('products');
      for (const { id, status, isInactive } of listed) {
        const fits = [
          status === null || typeof status === 'string',
          isInactive === null || typeof isInactive === 'boolean',
        ];
        assert.deepEqual(fits, [true, true], `product ${id}: ${status}, ${isInactive}`);
      }
      assert.ok(
        listed.some(({ status, isInactive }) => status !== null && isInactive !== null),
        'some product has both',
      );
    },
  ),
];
