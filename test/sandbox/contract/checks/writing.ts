import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { CallResponse, Sent } from '../../support/call.ts';
import { type Check, type ContractClient, checksOf, UNKNOWN_ID } from '../suite/client.ts';
import { expectFields, expectProduct } from './products.ts';

const CREATE = 'Endpoints › Products › Create a product';
const UPDATE = 'Endpoints › Products › Update a product';
const createCheck = checksOf(CREATE);
const updateCheck = checksOf(UPDATE);

/** How many products bear a name; names of checks are unique. */
async function named(client: ContractClient, name: string): Promise<number> {
  return (await client.readAll('products')).filter((product) => product.name === name).length;
}

const unique = () => `Contract check ${randomUUID()}`;
const withKey = (key: string): Sent => ({ idempotencyKey: key });

/** Strings that are not a JSON object. Not `[]`: PHP reads it as the same value as `{}`. */
const NOT_OBJECTS = ['{', '{"name":', 'name=Desk', '"Desk"', '[1]', 'null', ''];

/** Bodies that can be read and whose content is wrong: one field of another type than its own. */
const WRONG = [
  { isInactive: 'perhaps' },
  { salePriceDecimals: 'two' },
  { tags: 'one' },
  { name: { first: 'Desk' } },
];

/** How a write is sent: with what a check gives, and in a way that leaves nothing behind. */
interface Writing {
  readonly write: (client: ContractClient, call: Sent) => Promise<CallResponse>;
  readonly harmless: (client: ContractClient) => Promise<CallResponse>;
}

/** Both bodies are rejected for the same reasons. */
function rejections(section: string, verb: string, { write, harmless }: Writing): Check[] {
  const check = checksOf(section);
  return [
    check(`${verb}: a body that is not a JSON object is 400 malformed_request`, async (client) => {
      for (const body of NOT_OBJECTS) (await write(client, { body })).expectProblem(400, 'malformed_request');
    }),
    check(`${verb}: a Content-Type other than application/json is rejected`, async (client) => {
      for (const type of ['text/plain', 'application/x-www-form-urlencoded']) {
        const { status } = await write(client, {
          body: '{"name":"Desk"}',
          headers: { 'Content-Type': type },
        });
        assert.ok(status >= 400 && status < 500, `${type}: ${status}`);
      }
    }),
    check(`${verb}: content of the wrong type is 422 validation_failed`, async (client) => {
      for (const body of WRONG) (await write(client, { body })).expectProblem(422, 'validation_failed');
    }),
    check(`${verb}: without a valid key it is 401`, async (client) => {
      for (const key of [null, 'not-a-key']) {
        (await write(client, { body: { name: 'Desk' }, key })).expectUnauthenticated();
      }
    }),
    check(`${verb}: a key that only reads gets 403`, async (client) => {
      const response = await write(client, { body: { name: 'Desk' }, key: client.keys.readOnly });
      response.expectForbidden();
    }),
    check(`${verb}: over the quota it is 429`, async (client) => {
      await client.limited().exhaust(harmless);
    }),
  ];
}

export const creating: readonly Check[] = [
  createCheck('the response is one product with every field, and the product is there', async (client) => {
    const sent = { name: unique(), salePrice: '129.5000', brand: 'Oak & Co' };
    const record = await client.product(sent);
    expectProduct(record, 'the response');
    expectFields(record, sent, 'the response');
    assert.deepEqual((await client.get('products', record.id)).record, record);
    assert.equal(await named(client, sent.name), 1);
  }),
  createCheck('text beyond ASCII arrives as it was sent', async (client) => {
    const name = `${unique()} Süßer Größenwahn, 机, 🪑 "quoted" \\ \n`;
    const { id } = await client.product({ name });
    assert.equal((await client.get('products', id)).record.name, name);
  }),
  createCheck('a repeat with the same Idempotency-Key does not create a second record', async (client) => {
    const [name, key] = [unique(), randomUUID()];
    const first = (await client.create({ name }, withKey(key))).record;
    for (let again = 0; again < 3; again += 1) {
      // The specification leaves open whether it is replayed or rejected. It must not be another record.
      const response = await client.create({ name }, withKey(key));
      if (response.status < 300) assert.equal(response.record.id, first.id);
    }
    assert.equal(await named(client, name), 1);
  }),
  createCheck('many at once with the same Idempotency-Key create one record', async (client) => {
    const [name, key] = [unique(), randomUUID()];
    await Promise.all([1, 2, 3, 4, 5].map(() => client.create({ name }, withKey(key))));
    assert.equal(await named(client, name), 1);
  }),
  createCheck('two Idempotency-Keys create two records of the same content', async (client) => {
    const name = unique();
    const ids = [(await client.product({ name })).id, (await client.product({ name })).id];
    assert.notEqual(ids[0], ids[1]);
    assert.equal(await named(client, name), 2);
  }),
  createCheck(
    'without Idempotency-Key it is 422 idempotency_key_required, and nothing is created',
    async (client) => {
      const name = unique();
      const response = await client.send('/products', { method: 'POST', body: { name } });
      response.expectProblem(422, 'idempotency_key_required');
      assert.equal(await named(client, name), 0);
    },
  ),
  createCheck('a rejected create leaves no record', async (client) => {
    const name = unique();
    (await client.create({ name, isInactive: 'perhaps' })).expectProblem(422, 'validation_failed');
    (await client.create({ name }, { key: null })).expectUnauthenticated();
    assert.equal(await named(client, name), 0);
  }),
  ...rejections(CREATE, 'create', {
    write: (client, { body, ...call }) => client.create(body, call),
    harmless: (client) => client.create('{'),
  }),
];

export const updating: readonly Check[] = [
  updateCheck('a field left out keeps its value', async (client) => {
    const before = await client.product({
      brand: 'Oak & Co',
      salePrice: '129.5000',
      isWebShop: true,
      tags: ['a'],
    });
    const response = (await client.update(before.id, { color: 'ash' })).record;
    const { color: _, updatedAt: __, ...kept } = before;
    expectFields(response, { ...kept, color: 'ash' }, 'the response');
    expectFields((await client.get('products', before.id)).record, { ...kept, color: 'ash' }, 'the record');
  }),
  updateCheck('a field sent as null is cleared, whatever its type', async (client) => {
    const set = {
      brand: 'Oak & Co',
      salePrice: '129.5000',
      isWebShop: true,
      tags: ['a'],
      stockQuantity: 5,
    };
    const cleared = { brand: null, salePrice: null, isWebShop: null, tags: null, stockQuantity: null };
    const { id } = await client.product(set);
    expectFields((await client.update(id, cleared)).record, cleared, 'the response');
    expectFields((await client.get('products', id)).record, cleared, 'the record');
  }),

  updateCheck('the response is one product with all fields', async (client) => {
    const { id } = await client.product();
    expectProduct((await client.update(id, { brand: 'Oak & Co' })).record, 'the response');
  }),
  updateCheck('updatedAt changes, createdAt stays', async (client) => {
    const before = await client.product();
    client.sandbox.clock.advance(2000);
    const after = (await client.update(before.id, { brand: 'Oak & Co' })).record;
    assert.equal(after.createdAt, before.createdAt);
    assert.ok(
      Date.parse(String(after.updatedAt)) > Date.parse(String(before.updatedAt)),
      'updatedAt moves on',
    );
  }),
  updateCheck('an update changes one product and no other', async (client) => {
    const [kept, changed] = [await client.product({ brand: 'one' }), await client.product({ brand: 'one' })];
    await client.update(changed.id, { brand: 'two' });
    assert.deepEqual((await client.get('products', kept.id)).record, kept);
  }),
  updateCheck('a rejected update changes nothing', async (client) => {
    const before = await client.product({ brand: 'one' });
    await client.update(before.id, { brand: 'two', isInactive: 'perhaps' });
    await client.update(before.id, { brand: 'two' }, { key: null });
    await client.update(before.id, { brand: 'two' }, { key: client.keys.readOnly });
    assert.deepEqual((await client.get('products', before.id)).record, before);
  }),
  ...rejections(UPDATE, 'update', {
    write: async (client, { body, ...call }) => client.update((await client.product()).id, body, call),
    harmless: (client) => client.update(UNKNOWN_ID, { name: 'Desk' }),
  }),
];
