import assert from 'node:assert/strict';
import { type Check, checksOf, isIso8601 } from '../suite/client.ts';
import { allSegments } from '../suite/specification.ts';

const serviceCheck = checksOf('What the service does');
const conventionCheck = checksOf('Resources and their fields › Conventions for every resource');

export const general: readonly Check[] = [
  serviceCheck('lists are JSON arrays, and report no total count', async (client) => {
    for (const segment of allSegments) {
      const { headers, json, mediaType, call } = await client.list(segment);
      assert.match(mediaType, /^application\/(.+\+)?json$/, `${call}: ${mediaType}`);
      assert.ok(Array.isArray(json), `${call}: the body is an array`);
      const counting = [...headers.keys()].filter((name) => /total|count/.test(name));
      assert.deepEqual(counting, [], `${call}: no header counts`);
    }
  }),
  serviceCheck('a key sees the data of its own company alone', async (client) => {
    const key = client.keys.otherCompany;
    for (const segment of allSegments) {
      const own = (await client.readAll(segment)).map(({ id }) => id);
      const theirs = (await client.some(segment, { key })).map(({ id }) => id);
      assert.deepEqual(
        theirs.filter((id) => own.includes(id)),
        [],
        `${segment}: no record is in both`,
      );
      for (const id of theirs.slice(0, 2)) (await client.get(segment, id)).expectNotFound();
    }
  }),
  serviceCheck('a key changes the data of its own company alone', async (client) => {
    const key = client.keys.otherCompany;
    const { id } = await client.product({ name: 'Ours' });
    (await client.update(id, { name: 'Theirs' }, { key })).expectNotFound();
    (await client.delete(id, { key })).expectNotFound();
    assert.equal((await client.get('products', id)).record.name, 'Ours');
  }),

  conventionCheck('products carry createdAt and updatedAt as ISO 8601 timestamps', async (client) => {
    for (const { id, createdAt, updatedAt } of await client.some('products')) {
      assert.ok(isIso8601(createdAt) && isIso8601(updatedAt), `product ${id}: ${createdAt}, ${updatedAt}`);
      assert.ok(
        Date.parse(createdAt) <= Date.parse(updatedAt),
        `product ${id} was changed before it was made`,
      );
    }
  }),
  conventionCheck('a client cannot set what the service fills', async (client) => {
    const filled = { id: '4711', createdAt: '1999-12-31T00:00:00Z', updatedAt: '1999-12-31T00:00:00Z' };
    const { id, createdAt } = await client.product();
    for (const [field, value] of Object.entries(filled)) {
      // The specification leaves open whether it is rejected or ignored. The value is never stored.
      const created = await client.create({ name: 'Contract check', [field]: value });
      if (created.status < 300)
        assert.notEqual(created.record[field], value, `create does not take ${field}`);
      await client.update(id, { [field]: value });
    }
    const after = (await client.get('products', id)).record;
    assert.deepEqual([after.id, after.createdAt], [id, createdAt], 'update changes neither id nor createdAt');
    assert.ok(
      Date.parse(String(after.updatedAt)) >= Date.parse(String(createdAt)),
      'nor updatedAt into the past',
    );
  }),
  checksOf('Versioning')('the version is part of the path: another one is not there', async (client) => {
    const { status } = await client.send('/../v999/accounts');
    assert.ok(status >= 400 && status < 500, `v999 responses ${status}`);
  }),
];
