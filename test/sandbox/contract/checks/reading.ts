import assert from 'node:assert/strict';
import { type Check, checksOf, UNKNOWN_ID } from '../suite/client.ts';

const check = checksOf('Endpoints › Read-only resource endpoints');

/** The two operations of a read-only segment. */
export function reading(segment: string): Check[] {
  return [
    check(`List of ${segment} is 200 with an array of records that have a string id`, async (client) => {
      const records = await client.some(segment);
      assert.equal(new Set(records.map(({ id }) => id)).size, records.length, 'no id comes twice');
    }),
    check(`Get one of ${segment} is 200 with the record of that id`, async (client) => {
      for (const listed of (await client.some(segment)).slice(0, 3)) {
        const { call, record } = (await client.get(segment, listed.id)).expectStatus(200);
        assert.deepEqual(record, listed, `${call} is the record that the list shows`);
      }
    }),
    check(`Get one of ${segment} is 404 not_found where there is no such record`, async (client) => {
      (await client.get(segment, UNKNOWN_ID)).expectNotFound();
      for (const id of ['no such record', '%', 'ü']) (await client.get(segment, id)).expectNotFound();
    }),
    check(`${segment} without a key is 401, as a list and as one record`, async (client) => {
      const [first] = await client.some(segment);
      (await client.list(segment, {}, { key: null })).expectUnauthenticated();
      (await client.get(segment, first.id, { key: null })).expectUnauthenticated();
    }),
    check(`${segment} with a key without permission is 403, as a list and as one record`, async (client) => {
      const key = client.keys.forbidden;
      const [first] = await client.some(segment);
      (await client.list(segment, {}, { key })).expectForbidden();
      (await client.get(segment, first.id, { key })).expectForbidden();
    }),
    check(`${segment} cannot be written: two operations, no more`, async (client) => {
      const [first] = await client.some(segment);
      const path = `/${segment}/${first.id}`;
      const idempotencyKey = 'contract-read-only';
      const responses = [
        await client.send(`/${segment}`, { method: 'POST', body: {}, idempotencyKey }),
        await client.send(path, { method: 'PATCH', body: {} }),
        await client.send(path, { method: 'DELETE' }),
      ];
      for (const { call, status } of responses)
        assert.ok(status >= 400 && status < 500, `${call}: ${status}`);
      (await client.get(segment, first.id)).expectStatus(200);
    }),
  ];
}
