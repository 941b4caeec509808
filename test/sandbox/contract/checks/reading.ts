import assert from 'node:assert/strict';
import { type Check, check, forEach } from '../suite/check.ts';
import { readOnlySegments } from '../suite/contract-text.ts';
import { UNKNOWN_ID } from '../suite/probe.ts';

const SECTION = 'Endpoints › Read-only resource endpoints';

/** The two operations of a read-only segment. */
function operations(segment: string): Check[] {
  return [
    check(
      SECTION,
      `List of ${segment} is 200 with an array of records that have a string id`,
      async (probe) => {
        const records = await probe.some(segment);
        assert.equal(new Set(records.map(({ id }) => id)).size, records.length, 'no id comes twice');
      },
    ),
    check(SECTION, `Get one of ${segment} is 200 with the record of that id`, async (probe) => {
      for (const listed of (await probe.some(segment)).slice(0, 3)) {
        const answer = await probe.get(segment, listed.id);
        answer.expectStatus(200);
        assert.deepEqual(
          answer.record,
          listed,
          `GET ${segment}/${listed.id} is the record that the list shows`,
        );
      }
    }),
    check(SECTION, `Get one of ${segment} is 404 not_found where there is no such record`, async (probe) => {
      (await probe.get(segment, UNKNOWN_ID)).expectProblem(404, 'not_found');
      for (const id of ['no such record', '%', 'ü']) {
        const answer = await probe.get(segment, id);
        // An id of another form: the request cannot be read, or there is no such record.
        if (answer.status === 400) answer.expectProblem(400, 'malformed_request');
        else answer.expectProblem(404, 'not_found');
      }
    }),
    check(SECTION, `${segment} without a key is 401, as a list and as one record`, async (probe) => {
      const [first] = await probe.some(segment);
      (await probe.list(segment, {}, { key: null })).expectProblem(401, 'unauthenticated');
      (await probe.get(segment, first?.id ?? '', { key: null })).expectProblem(401, 'unauthenticated');
    }),
    check(
      SECTION,
      `${segment} with a key without permission is 403, as a list and as one record`,
      async (probe) => {
        const key = probe.key('powerless');
        const [first] = await probe.some(segment);
        (await probe.list(segment, {}, { key })).expectProblem(403, 'forbidden', 'scope_required');
        (await probe.get(segment, first?.id ?? '', { key })).expectProblem(
          403,
          'forbidden',
          'scope_required',
        );
      },
      ['key without permission'],
    ),
    check(
      SECTION,
      `${segment} cannot be written: two operations, no more`,
      async (probe) => {
        const [first] = await probe.some(segment);
        const path = `/${segment}/${first?.id}`;
        const headers = { 'Idempotency-Key': 'contract-read-only' };
        const answers = [
          await probe.ask(`/${segment}`, { method: 'POST', body: {}, headers }),
          await probe.ask(path, { method: 'PATCH', body: {} }),
          await probe.ask(path, { method: 'DELETE' }),
        ];
        for (const { asked, status } of answers)
          assert.ok(status >= 400 && status < 500, `${asked}: ${status}`);
        (await probe.get(segment, first?.id ?? '')).expectStatus(200);
      },
      ['throwaway books'],
    ),
  ];
}

export const reading: readonly Check[] = forEach(readOnlySegments, operations);
