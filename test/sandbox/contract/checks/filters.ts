import assert from 'node:assert/strict';
import { type Check, checksOf } from '../suite/check.ts';
import type { ContractClient, Query } from '../suite/client.ts';
import { compareIds, isIso8601 } from '../suite/compare.ts';

const check = checksOf('Endpoints › Read-only resource endpoints');

/** Two ids of the first page with one between them, in their order. */
async function bounds(
  client: ContractClient,
  segment: string,
): Promise<readonly [low: string, middle: string, high: string]> {
  const ids = (await client.some(segment, 3)).map(({ id }) => id).sort(compareIds);
  const at = Math.floor((ids.length - 3) / 2);
  return [ids[at] ?? '', ids[at + 1] ?? '', ids[at + 2] ?? ''];
}

/** The ids that a query finds on all its pages, in their order. */
async function idsOf(client: ContractClient, segment: string, query: Query): Promise<string[]> {
  return (await client.readAll(segment, query)).map(({ id }) => id).sort(compareIds);
}

/** Each operator together with one that bounds the other end. */
function operators(segment: string): Check[] {
  const window = (
    title: string,
    query: (low: string, high: string) => Query,
    keeps: readonly (0 | 1 | 2)[],
  ) =>
    check(`${title} (${segment})`, async (client) => {
      const three = await bounds(client, segment);
      const found = await idsOf(client, segment, query(three[0], three[2]));
      assert.deepEqual(
        three.map((id) => found.includes(id)),
        [0, 1, 2].map((place) => keeps.some((kept) => kept === place)),
        `of ${three.join(', ')} came ${found.join(', ')}`,
      );
      const [low, , high] = three;
      assert.ok(
        found.every((id) => compareIds(id, low) >= 0 && compareIds(id, high) <= 0),
        'nothing beyond the bounds',
      );
    });

  return [
    window('id[gt] is greater than the value', (low, high) => ({ 'id[gt]': low, 'id[lte]': high }), [1, 2]),
    window(
      'id[gte] is greater than or equal',
      (low, high) => ({ 'id[gte]': low, 'id[lte]': high }),
      [0, 1, 2],
    ),
    window('id[lt] is less than the value', (low, high) => ({ 'id[gte]': low, 'id[lt]': high }), [0, 1]),
    window('id[lte] is less than or equal', (low, high) => ({ 'id[gt]': low, 'id[lte]': high }), [1, 2]),
    check(`id[between] is a range between two bounds (${segment})`, async (client) => {
      const [low, middle, high] = await bounds(client, segment);
      // The specification leaves the form of the value open. One of the two common forms must work.
      const tried = [];
      for (const separator of ['..', ',']) {
        const ids = await idsOf(client, segment, { 'id[between]': `${low}${separator}${high}` });
        tried.push(ids.length);
        const within = ids.every((id) => compareIds(id, low) >= 0 && compareIds(id, high) <= 0);
        if (within && ids.includes(middle)) return;
      }
      assert.fail(`neither ${low}..${high} nor ${low},${high} was a range: ${tried.join(' and ')} records`);
    }),
  ];
}

function paging(segment: string): Check[] {
  return [
    check(`_page is the page number, from 1, and 1 if left out (${segment})`, async (client) => {
      const none = (await client.list(segment)).ids;
      const [one, two] = [
        (await client.list(segment, { _page: '1' })).ids,
        (await client.list(segment, { _page: '2' })).ids,
      ];
      assert.deepEqual(one, none, '_page=1 is the page that comes without _page');
      assert.ok(!two.some((id) => one.includes(id)), '_page=2 repeats nothing of _page=1');
    }),
    check(`the pages up to an empty one contain every record once (${segment})`, async (client) => {
      const [first] = await client.some(segment);
      const ids = (await client.readAll(segment)).map(({ id }) => id);
      assert.equal(new Set(ids).size, ids.length, 'no record comes twice');
      assert.ok(ids.includes(first?.id ?? ''), 'the first record is among them');
    }),
    check(`id filters apply to every page (${segment})`, async (client) => {
      const all = (await client.readAll(segment)).map(({ id }) => id).sort(compareIds);
      if (all.length < 3) assert.fail(`fewer than 3 records in ${segment}`);
      const bound = all[0] ?? '';
      assert.deepEqual(await idsOf(client, segment, { 'id[gt]': bound }), all.slice(1));
    }),
  ];
}

/** A record of a collection that shows when it was changed. */
async function dated(client: ContractClient, segment: string) {
  const found = (await client.some(segment)).find(({ updatedAt }) => isIso8601(updatedAt));
  if (found === undefined) assert.fail(`records of ${segment} do not show when they were changed`);
  return { id: found.id, updatedAt: String(found.updatedAt) };
}

const later = (timestamp: string, ms: number) => new Date(Date.parse(timestamp) + ms).toISOString();

function updatedSince(segment: string): Check[] {
  /** Whether a list of this record alone contains it with an `updatedSince`. */
  const comes = async (client: ContractClient, id: string, updatedSince: string) => {
    const query = { 'id[gte]': id, 'id[lte]': id, updatedSince };
    return (await client.list(segment, query)).ids.includes(id);
  };
  return [
    check(`updatedSince includes the time itself and the same second (${segment})`, async (client) => {
      const { id, updatedAt } = await dated(client, segment);
      assert.ok(await comes(client, id, updatedAt), 'updatedSince = updatedAt returns the record again');
      assert.ok(await comes(client, id, later(updatedAt, -1000)), 'a second earlier, too');
    }),
    check(`updatedSince leaves out what was modified before (${segment})`, async (client) => {
      const { id, updatedAt } = await dated(client, segment);
      assert.ok(!(await comes(client, id, later(updatedAt, 1000))), 'a second later the record is old');
    }),
    check(`updatedSince takes a date and a timestamp, in any offset (${segment})`, async (client) => {
      const all = (await client.list(segment)).ids;
      for (const since of ['1990-01-01', '1990-01-01T00:00:00Z', '1990-01-01T00:00:00+02:00']) {
        assert.deepEqual(
          (await client.list(segment, { updatedSince: since })).ids,
          all,
          `${since} leaves nothing out`,
        );
      }
      for (const since of ['2190-01-01', '2190-01-01T00:00:00Z', '2190-01-01T00:00:00-05:00']) {
        assert.deepEqual(
          (await client.list(segment, { updatedSince: since })).ids,
          [],
          `${since} leaves everything out`,
        );
      }
    }),
    check(`updatedSince respects the UTC offset (${segment})`, async (client) => {
      const { id, updatedAt } = await dated(client, segment);
      const local = `${later(updatedAt, 5 * 3_600_000).slice(0, 19)}+05:00`;
      assert.ok(await comes(client, id, local), `${local} is ${updatedAt}`);
      const tooLate = `${later(updatedAt, 5 * 3_600_000 + 1000).slice(0, 19)}+05:00`;
      assert.ok(!(await comes(client, id, tooLate)), `${tooLate} is after ${updatedAt}`);
    }),
    check(`updatedSince combines with pages and id filters (${segment})`, async (client) => {
      const all = await client.readAll(segment);
      const times = all
        .map(({ updatedAt }) => updatedAt)
        .filter(isIso8601)
        .map(Date.parse)
        .sort((a, b) => a - b);
      if (times.length < 3) assert.fail(`records of ${segment} do not show when they were changed`);
      const since = new Date(times[times.length >> 1] ?? 0).toISOString();
      const changed = all.filter(({ updatedAt }) => Date.parse(String(updatedAt)) >= Date.parse(since));
      // The bound is the id of a changed record, so that each filter excludes a record that the other includes.
      const [low = '', ...rest] = changed.map(({ id }) => id).sort(compareIds);
      assert.deepEqual(await idsOf(client, segment, { updatedSince: since, 'id[gt]': low }), rest);
    }),
  ];
}

/** Of one collection: the sandbox has one code for the filters of all. */
export const filters: readonly Check[] = [
  ...operators('bom-lines'),
  ...paging('bom-lines'),
  ...updatedSince('bom-lines'),
];
