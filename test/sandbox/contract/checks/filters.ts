import assert from 'node:assert/strict';
import { ids } from '../../support/call.ts';
import { type Check, type ContractClient, checksOf, isIso8601, type Query } from '../suite/client.ts';

const check = checksOf('Endpoints › Read-only resource endpoints');

/** The sandbox has one code for the filters of all collections. */
const SEGMENT = 'bom-lines';

/** The order of ids that a service with numeric strings, UUIDs or ULIDs has. The specification leaves their form open. */
function compareIds(a: string, b: string): number {
  const areNumbers = /^\d+$/.test(a) && /^\d+$/.test(b);
  if (areNumbers) return BigInt(a) < BigInt(b) ? -1 : Number(a !== b);
  return a < b ? -1 : Number(a !== b);
}

/** The ids that a query finds on all its pages, in their order. */
async function idsOf(client: ContractClient, query: Query = {}): Promise<string[]> {
  return (await client.readAll(SEGMENT, query)).map(({ id }) => id).sort(compareIds);
}

/** Three neighbours. */
async function bounds(client: ContractClient): Promise<readonly [low: string, middle: string, high: string]> {
  const all = await idsOf(client);
  const [low, middle, high] = all.slice(all.length >> 1);
  if (low === undefined || middle === undefined || high === undefined) assert.fail('fewer than 3 records');
  return [low, middle, high];
}

/** Each operator together with one that bounds the other end. */
const range = (title: string, [from, to]: readonly [string, string], keeps: readonly (0 | 1 | 2)[]) =>
  check(title, async (client) => {
    const three = await bounds(client);
    const found = await idsOf(client, { [`id[${from}]`]: three[0], [`id[${to}]`]: three[2] });
    assert.deepEqual(
      found,
      keeps.map((place) => three[place]),
    );
  });

const operators: readonly Check[] = [
  range('id[gt] is greater than the value', ['gt', 'lte'], [1, 2]),
  range('id[gte] is greater than or equal', ['gte', 'lte'], [0, 1, 2]),
  range('id[lt] is less than the value', ['gte', 'lt'], [0, 1]),
  range('id[lte] is less than or equal', ['gt', 'lte'], [1, 2]),
  check('id[between] is a range between two bounds', async (client) => {
    const [low, middle, high] = await bounds(client);
    // The specification leaves the form of the value open. One of the two common forms must work.
    const tried = [];
    for (const separator of ['..', ',']) {
      const found = await idsOf(client, { 'id[between]': `${low}${separator}${high}` });
      tried.push(found.length);
      const within = found.every((id) => compareIds(id, low) >= 0 && compareIds(id, high) <= 0);
      if (within && found.includes(middle)) return;
    }
    assert.fail(`neither ${low}..${high} nor ${low},${high} was a range: ${tried.join(' and ')} records`);
  }),
];

const paging: readonly Check[] = [
  check('_page is the page number, from 1, and 1 if left out', async (client) => {
    const [none, one, two] = [
      ids(await client.list(SEGMENT)),
      ids(await client.list(SEGMENT, { _page: '1' })),
      ids(await client.list(SEGMENT, { _page: '2' })),
    ];
    assert.deepEqual(one, none, '_page=1 is the page that comes without _page');
    assert.ok(!two.some((id) => one.includes(id)), '_page=2 repeats nothing of _page=1');
  }),
  check('the pages up to an empty one contain every record once', async (client) => {
    const all = await idsOf(client);
    assert.deepEqual(all, client.sandbox.store.bomLines.ids().toSorted(compareIds));
  }),
  check('id filters apply to every page', async (client) => {
    const [lowest = '', ...others] = await idsOf(client);
    assert.deepEqual(await idsOf(client, { 'id[gt]': lowest }), others);
  }),
];

/** A record that shows when it was changed. */
async function dated(client: ContractClient) {
  const found = (await client.some(SEGMENT)).find(({ updatedAt }) => isIso8601(updatedAt));
  if (found === undefined) assert.fail('records do not show when they were changed');
  return { id: found.id, updatedAt: String(found.updatedAt) };
}

const later = (timestamp: string, ms: number) => new Date(Date.parse(timestamp) + ms).toISOString();
const inOffset = (timestamp: string) => `${later(timestamp, 5 * 3_600_000).slice(0, 19)}+05:00`;

/** Whether a list of one record, with an `updatedSince` derived from its `updatedAt`, contains it. */
const since = (title: string, isListed: boolean, boundOf: (updatedAt: string) => string) =>
  check(`updatedSince ${title}`, async (client) => {
    const { id, updatedAt } = await dated(client);
    const updatedSince = boundOf(updatedAt);
    const found = ids(await client.list(SEGMENT, { 'id[gte]': id, 'id[lte]': id, updatedSince }));
    assert.deepEqual(found, isListed ? [id] : [], `${updatedSince}: updatedAt is ${updatedAt}`);
  });

const updatedSince: readonly Check[] = [
  since('includes the time itself', true, (updatedAt) => updatedAt),
  since('includes what was modified a second later', true, (updatedAt) => later(updatedAt, -1000)),
  since('leaves out what was modified a second before', false, (updatedAt) => later(updatedAt, 1000)),
  since('respects the UTC offset', true, inOffset),
  since('respects the UTC offset to the second', false, (updatedAt) => inOffset(later(updatedAt, 1000))),
  check('updatedSince takes a date and a timestamp, in any offset', async (client) => {
    const all = ids(await client.list(SEGMENT));
    for (const time of ['', 'T00:00:00Z', 'T00:00:00+02:00']) {
      const past = await client.list(SEGMENT, { updatedSince: `1990-01-01${time}` });
      assert.deepEqual(ids(past), all, `1990-01-01${time} leaves nothing out`);
      const future = await client.list(SEGMENT, { updatedSince: `2190-01-01${time}` });
      assert.deepEqual(ids(future), [], `2190-01-01${time} leaves everything out`);
    }
  }),
  check('updatedSince combines with pages and id filters', async (client) => {
    const all = await client.readAll(SEGMENT);
    const times = all.map(({ updatedAt }) => Date.parse(String(updatedAt))).sort((a, b) => a - b);
    const since = new Date(times[times.length >> 1] ?? Number.NaN).toISOString();
    const changed = all.filter(({ updatedAt }) => Date.parse(String(updatedAt)) >= Date.parse(since));
    // The bound is the id of a changed record, so that each filter excludes a record that the other includes.
    const [low = '', ...rest] = changed.map(({ id }) => id).sort(compareIds);
    assert.deepEqual(await idsOf(client, { updatedSince: since, 'id[gt]': low }), rest);
  }),
];

export const filters: readonly Check[] = [...operators, ...paging, ...updatedSince];
