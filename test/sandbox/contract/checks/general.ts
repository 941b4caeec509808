import assert from 'node:assert/strict';
import { type Check, check } from '../suite/check.ts';
import { isIso8601 } from '../suite/compare.ts';
import { allSegments, productFields } from '../suite/contract-text.ts';

const SERVICE = 'What the service does';
const CONVENTIONS = 'Resources and their fields › Conventions for every resource';
const VERSIONING = 'Versioning';

const DECIMAL = /^-?\d+(\.\d+)?$/;

export const general: readonly Check[] = [
  check(SERVICE, 'every collection of the contract is readable below /api/public/v1', async (probe) => {
    for (const segment of allSegments) (await probe.list(segment)).expectStatus(200);
  }),
  check(SERVICE, 'answers are JSON', async (probe) => {
    for (const segment of allSegments) {
      const answer = await probe.list(segment);
      assert.match(answer.mediaType, /^application\/(.+\+)?json$/, `${answer.asked}: ${answer.mediaType}`);
      assert.ok(Array.isArray(answer.json), `${answer.asked}: the body is an array`);
    }
  }),
  check(SERVICE, 'no list tells a total count', async (probe) => {
    for (const segment of allSegments) {
      const { headers, json, asked } = await probe.list(segment);
      const telling = [...headers.keys()].filter((name) => /total|count/.test(name));
      assert.deepEqual(telling, [], `${asked}: no header counts`);
      assert.ok(Array.isArray(json), `${asked}: an array has no room for a total`);
    }
  }),
  check(
    SERVICE,
    'a key sees the data of its own company alone',
    async (probe) => {
      const key = probe.key('otherCompany');
      for (const segment of allSegments) {
        const own = (await probe.walk(segment)).map(({ id }) => id);
        const theirs = (await probe.some(segment, 1, { key })).map(({ id }) => id);
        assert.deepEqual(
          theirs.filter((id) => own.includes(id)),
          [],
          `${segment}: no record is in both`,
        );
        for (const id of theirs.slice(0, 2)) (await probe.get(segment, id)).expectProblem(404, 'not_found');
      }
    },
    ['key of another company'],
  ),
  check(
    SERVICE,
    'a key changes the data of its own company alone',
    async (probe) => {
      const key = probe.key('otherCompany');
      const { id } = await probe.product({ name: 'Ours' });
      for (const answer of [
        await probe.update(id, { name: 'Theirs' }, { key }),
        await probe.delete(id, { key }),
      ]) {
        answer.expectProblem(404, 'not_found');
      }
      assert.equal((await probe.get('products', id)).record.name, 'Ours');
    },
    ['write', 'key of another company'],
  ),
  check(CONVENTIONS, 'every record has a string id, and can be got by it', async (probe) => {
    for (const segment of allSegments) {
      const [first] = await probe.some(segment);
      assert.equal((await probe.get(segment, first?.id ?? '')).record.id, first?.id);
    }
  }),
  check(CONVENTIONS, 'products carry createdAt and updatedAt as ISO 8601 timestamps', async (probe) => {
    for (const { id, createdAt, updatedAt } of await probe.some('products')) {
      assert.ok(isIso8601(createdAt) && isIso8601(updatedAt), `product ${id}: ${createdAt}, ${updatedAt}`);
      assert.ok(
        Date.parse(createdAt) <= Date.parse(updatedAt),
        `product ${id} was changed before it was made`,
      );
    }
  }),
  check(CONVENTIONS, 'money is a decimal string, in lists and in single records', async (probe) => {
    const amounts = productFields.filter(({ type }) => type === 'money').map(({ name }) => name);
    const listed = await probe.some('products');
    const single = (await probe.get('products', listed[0]?.id ?? '')).record;
    for (const product of [...listed, single]) {
      for (const name of amounts) {
        const value = product[name];
        assert.ok(
          value === null || (typeof value === 'string' && DECIMAL.test(value)),
          `${product.id}: ${name} is ${value}`,
        );
      }
    }
    assert.ok(
      listed.some((product) => amounts.some((name) => product[name] !== null)),
      'some product has a price',
    );
  }),
  check(
    CONVENTIONS,
    'a client cannot set what the service fills',
    async (probe) => {
      const filled = { id: '4711', createdAt: '1999-12-31T00:00:00Z', updatedAt: '1999-12-31T00:00:00Z' };
      const { id, createdAt } = await probe.product();
      for (const [field, value] of Object.entries(filled)) {
        // Refused or overlooked, which is not shown: in neither case does the value arrive.
        const created = await probe.create({ name: 'Contract check', [field]: value });
        if (created.status < 300)
          assert.notEqual(created.record[field], value, `create does not take ${field}`);
        await probe.update(id, { [field]: value });
      }
      const after = (await probe.get('products', id)).record;
      assert.deepEqual(
        [after.id, after.createdAt],
        [id, createdAt],
        'update changes neither id nor createdAt',
      );
      assert.ok(
        Date.parse(String(after.updatedAt)) >= Date.parse(String(createdAt)),
        'nor updatedAt into the past',
      );
    },
    ['write'],
  ),
  check(VERSIONING, 'the version is part of the path: another one is not there', async (probe) => {
    const { status } = await probe.ask('/accounts', { version: 'v999' });
    assert.ok(status >= 400 && status < 500, `v999 answers ${status}`);
  }),
];
