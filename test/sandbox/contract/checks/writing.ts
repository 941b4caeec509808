import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Answer } from '../suite/answer.ts';
import { type Check, check } from '../suite/check.ts';
import { type Asked, type Probe, UNKNOWN_ID } from '../suite/probe.ts';
import { scarce, spend } from '../suite/spend.ts';
import { expectFields, expectProduct } from './products.ts';

const CREATE = 'Endpoints › Products › Create a product';
const UPDATE = 'Endpoints › Products › Update a product';

/** How many products bear a name; names of checks are unique. */
async function named(probe: Probe, name: string): Promise<number> {
  return (await probe.walk('products')).filter((product) => product.name === name).length;
}

const unique = () => `Contract check ${randomUUID()}`;
const withKey = (key: string): Asked => ({ headers: { 'Idempotency-Key': key } });

/** Strings that are not a JSON object. Not `[]`: PHP reads it as the same value as `{}`. */
const NOT_OBJECTS = ['{', '{"name":', 'name=Desk', '"Desk"', ''];

/** Bodies that can be read and whose content is wrong: one field of another type than its own. */
const WRONG = [
  { isInactive: 'perhaps' },
  { salePriceDecimals: 'two' },
  { tags: 'one' },
  { name: { first: 'Desk' } },
];

/** How a write is sent: with what a check gives, and in a way that leaves nothing behind. */
interface Writing {
  readonly write: (probe: Probe, asked: Asked) => Promise<Answer>;
  readonly harmless: (probe: Probe) => Promise<Answer>;
}

/** The same refusals hold for both bodies. */
function refusals(section: string, verb: string, { write, harmless }: Writing): Check[] {
  return [
    check(
      section,
      `${verb}: a body that is no JSON object is 400 malformed_request`,
      async (probe) => {
        for (const body of NOT_OBJECTS)
          (await write(probe, { body })).expectProblem(400, 'malformed_request');
      },
      ['write'],
    ),
    check(
      section,
      `${verb}: a Content-Type other than application/json is refused`,
      async (probe) => {
        for (const type of ['text/plain', 'application/x-www-form-urlencoded']) {
          const { status } = await write(probe, {
            body: '{"name":"Desk"}',
            headers: { 'Content-Type': type },
          });
          assert.ok(status >= 400 && status < 500, `${type}: ${status}`);
        }
      },
      ['write'],
    ),
    check(
      section,
      `${verb}: content of the wrong type is 422 validation_failed, or 400 malformed_request`,
      async (probe) => {
        for (const body of WRONG) (await write(probe, { body })).expectInvalidContent();
      },
      ['write'],
    ),
    check(
      section,
      `${verb}: without a valid key it is 401`,
      async (probe) => {
        for (const key of [null, 'not-a-key']) {
          (await write(probe, { body: { name: 'Desk' }, key })).expectProblem(401, 'unauthenticated');
        }
      },
      ['write'],
    ),
    check(
      section,
      `${verb}: a key that only reads gets 403`,
      async (probe) => {
        const answer = await write(probe, { body: { name: 'Desk' }, key: probe.key('readOnly') });
        answer.expectProblem(403, 'forbidden', 'scope_required');
      },
      ['write', 'key that only reads'],
    ),
    check(
      section,
      `${verb}: over the budget it is 429`,
      async (probe) => {
        await spend(await scarce(probe), harmless);
      },
      ['write', 'exhaust'],
    ),
  ];
}

export const creating: readonly Check[] = [
  check(
    CREATE,
    'the answer is one product with every field, and the product is there',
    async (probe) => {
      const sent = { name: unique(), salePrice: '129.5000', brand: 'Oak & Co' };
      const { record } = await probe.create(sent);
      expectProduct(record, 'the answer');
      expectFields(record, sent, 'the answer');
      assert.deepEqual((await probe.get('products', record.id)).record, record);
      assert.equal(await named(probe, sent.name), 1);
    },
    ['write'],
  ),
  check(
    CREATE,
    'text beyond ASCII arrives as it was sent',
    async (probe) => {
      const name = `${unique()} Süßer Größenwahn, 机, 🪑 "quoted" \\ \n`;
      const { id } = (await probe.create({ name })).record;
      assert.equal((await probe.get('products', id)).record.name, name);
    },
    ['write'],
  ),
  check(
    CREATE,
    'a repeat with the same Idempotency-Key does not create a second record',
    async (probe) => {
      const [name, key] = [unique(), randomUUID()];
      const first = (await probe.create({ name }, withKey(key))).record;
      for (let again = 0; again < 3; again += 1) {
        // Replayed or refused, which is not shown. It must not be another record.
        const answer = await probe.create({ name }, withKey(key));
        if (answer.status < 300) assert.equal(answer.record.id, first.id);
      }
      assert.equal(await named(probe, name), 1);
    },
    ['write'],
  ),
  check(
    CREATE,
    'many at once with the same Idempotency-Key create one record',
    async (probe) => {
      const [name, key] = [unique(), randomUUID()];
      await Promise.all([1, 2, 3, 4, 5].map(() => probe.create({ name }, withKey(key))));
      assert.equal(await named(probe, name), 1);
    },
    ['write'],
  ),
  check(
    CREATE,
    'two Idempotency-Keys create two records of the same content',
    async (probe) => {
      const name = unique();
      const ids = [(await probe.create({ name })).record.id, (await probe.create({ name })).record.id];
      assert.notEqual(ids[0], ids[1]);
      assert.equal(await named(probe, name), 2);
    },
    ['write'],
  ),
  check(
    CREATE,
    'without Idempotency-Key it is 422 idempotency_key_required, and nothing is created',
    async (probe) => {
      const name = unique();
      const answer = await probe.ask('/products', { method: 'POST', body: { name } });
      answer.expectProblem(422, 'idempotency_key_required');
      assert.equal(await named(probe, name), 0);
    },
    ['write'],
  ),
  check(
    CREATE,
    'what is refused leaves no record',
    async (probe) => {
      const name = unique();
      (await probe.create({ name, isInactive: 'perhaps' })).expectInvalidContent();
      (await probe.create({ name }, { key: null })).expectProblem(401, 'unauthenticated');
      assert.equal(await named(probe, name), 0);
    },
    ['write'],
  ),
  ...refusals(CREATE, 'create', {
    write: (probe, { body, ...asked }) => probe.create(body, asked),
    harmless: (probe) => probe.create('{'),
  }),
];

export const updating: readonly Check[] = [
  check(
    UPDATE,
    'a field left out keeps its value',
    async (probe) => {
      const before = await probe.product({
        brand: 'Oak & Co',
        salePrice: '129.5000',
        isWebShop: true,
        tags: ['a'],
      });
      const answer = (await probe.update(before.id, { color: 'ash' })).record;
      const { color: _, updatedAt: __, ...kept } = before;
      expectFields(answer, { ...kept, color: 'ash' }, 'the answer');
      expectFields((await probe.get('products', before.id)).record, { ...kept, color: 'ash' }, 'the record');
    },
    ['write'],
  ),
  check(
    UPDATE,
    'a field sent as null is cleared, whatever its type',
    async (probe) => {
      const set = {
        brand: 'Oak & Co',
        salePrice: '129.5000',
        isWebShop: true,
        tags: ['a'],
        stockQuantity: 5,
      };
      const cleared = { brand: null, salePrice: null, isWebShop: null, tags: null, stockQuantity: null };
      const { id } = await probe.product(set);
      expectFields((await probe.update(id, cleared)).record, cleared, 'the answer');
      expectFields((await probe.get('products', id)).record, cleared, 'the record');
    },
    ['throwaway books'],
  ),
  check(
    UPDATE,
    'a text sent as null is cleared',
    async (probe) => {
      const { id } = await probe.product({ brand: 'Oak & Co' });
      expectFields((await probe.update(id, { brand: null })).record, { brand: null }, 'the answer');
      expectFields((await probe.get('products', id)).record, { brand: null }, 'the record');
    },
    ['write'],
  ),
  check(
    UPDATE,
    'the answer is one product with all fields',
    async (probe) => {
      const { id } = await probe.product();
      expectProduct((await probe.update(id, { brand: 'Oak & Co' })).record, 'the answer');
    },
    ['write'],
  ),
  check(
    UPDATE,
    'updatedAt tells the change, createdAt stays',
    async (probe) => {
      const before = await probe.product();
      await probe.target.wait(2000);
      const after = (await probe.update(before.id, { brand: 'Oak & Co' })).record;
      assert.equal(after.createdAt, before.createdAt);
      assert.ok(
        Date.parse(String(after.updatedAt)) > Date.parse(String(before.updatedAt)),
        'updatedAt moves on',
      );
    },
    ['write'],
  ),
  check(
    UPDATE,
    'an update changes one product and no other',
    async (probe) => {
      const [kept, changed] = [await probe.product({ brand: 'one' }), await probe.product({ brand: 'one' })];
      await probe.update(changed.id, { brand: 'two' });
      assert.deepEqual((await probe.get('products', kept.id)).record, kept);
    },
    ['write'],
  ),
  check(
    UPDATE,
    'a product that does not exist is 404 not_found',
    async (probe) => {
      (await probe.update(UNKNOWN_ID, { name: 'Desk' })).expectProblem(404, 'not_found');
    },
    ['write'],
  ),
  check(
    UPDATE,
    'what is refused changes nothing',
    async (probe) => {
      const before = await probe.product({ brand: 'one' });
      await probe.update(before.id, { brand: 'two', isInactive: 'perhaps' });
      await probe.update(before.id, { brand: 'two' }, { key: null });
      assert.deepEqual((await probe.get('products', before.id)).record, before);
    },
    ['write'],
  ),
  ...refusals(UPDATE, 'update', {
    write: async (probe, { body, ...asked }) => probe.update((await probe.product()).id, body, asked),
    harmless: (probe) => probe.update(UNKNOWN_ID, { name: 'Desk' }),
  }),
];
