import assert from 'node:assert/strict';
import { Decimal } from 'decimal.js';
import type { Json } from '../../support/call.ts';
import { type Check, checksOf } from '../suite/client.ts';
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
      assert.equal(new Decimal(product[name]).toFixed(), new Decimal(value).toFixed(), `${where}: ${name}`);
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
    const { status } = await client.delete(id);
    assert.ok(status === 200 || status === 204);
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
  fieldCheck('every documented field is in every record, in its type', async (client) => {
    for (const [segment, fields] of Object.entries(documentedFields)) {
      for (const record of await client.some(segment)) {
        expectDocumented(record, fields, `${segment} ${record.id}`);
      }
    }
  }),
  productCheck('every field can be set by create and by update, and is kept', async (client) => {
    const [one, two] = [values(false), values(true)];
    const made = await client.product(one);
    expectFields(made, one, 'create');
    expectFields((await client.update(made.id, two)).record, two, 'update');
    expectFields((await client.get('products', made.id)).record, two, 'get');
  }),
];
