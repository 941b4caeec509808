import { createSandbox, type ListOrder, type Sandbox } from 'accounting-data-sdk/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { call, ids } from './support/call.ts';
import { PlainStore, type Query } from './support/plain-store.ts';

const START = Date.UTC(2026, 0, 31);
const GENERATED = 40;

type Step =
  | { readonly do: 'tick' }
  | { readonly do: 'insert' | 'update' | 'delete'; readonly id: string | undefined; readonly delayMs: number }
  /** The index of the query: each is sent again after the records have changed. */
  | { readonly do: 'read'; readonly query: number; readonly page: number };

const anyId = fc.integer({ min: 0, max: GENERATED + 25 }).map(String);
/** A few of them come again and again, so that a record is written while an earlier write of it is on its way. */
const HOT = ['3', '17', '41'];
const id = fc.oneof({ weight: 2, arbitrary: fc.constantFrom(...HOT) }, { weight: 1, arbitrary: anyId });
/** Mostly none: four bounds at random leave nothing between them. */
const bound = fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: anyId });
const timestamp = fc.oneof(
  fc.integer({ min: -3, max: 30 }).map((second) => START + second * 1000),
  fc.integer({ min: 0, max: 1100 }).map((day) => Date.UTC(2022, 0, 1 + day)),
);
const query: fc.Arbitrary<Query> = fc.record({
  gt: bound,
  gte: bound,
  lt: bound,
  lte: bound,
  since: fc.option(timestamp, { nil: undefined }),
});
const delayMs = fc.constantFrom(0, 0, 0, 1000, 2500);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.constant<Step>({ do: 'tick' }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('insert'), id: fc.option(id, { nil: undefined }), delayMs }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom('update', 'delete'), id, delayMs }) },
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant('read'), query: fc.nat(2), page: fc.integer({ min: 1, max: 5 }) }),
  },
);
const history = fc.record({
  steps: fc.array(step, { maxLength: 80, size: 'max' }),
  queries: fc.tuple(query, query, query),
  pageSize: fc.integer({ min: 1, max: 12 }),
});

function queryString({ since, ...bounds }: Query, page: number): string {
  const parameters = new URLSearchParams({ _page: String(page) });
  for (const [operator, value] of Object.entries(bounds)) {
    if (value !== undefined) parameters.set(`id[${operator}]`, value);
  }
  if (since !== undefined) parameters.set('updatedSince', new Date(since).toISOString());
  return parameters.toString();
}

/** A plain store with the generated records, read off once. */
function plainStoreOf(sandbox: Sandbox): PlainStore {
  const plain = new PlainStore();
  for (const record of sandbox.store.accounts.all()) {
    plain.write(record.id, { id: record.id, modifiedAt: Date.parse(String(record.updatedAt)) }, START);
  }
  return plain;
}

/** Writes to both. Both must reject the same writes. */
function write(sandbox: Sandbox, plain: PlainStore, next: Extract<Step, { delayMs: number }>): void {
  const { accounts } = sandbox.store;
  const now = sandbox.clock.now();
  const later = { visibleAfterMs: next.delayMs };
  const entry = (of: string) => ({ id: of, modifiedAt: Math.floor(now / 1000) * 1000 });
  const { id: at } = next;

  if (next.do === 'insert') {
    if (at !== undefined && plain.has(at)) {
      expect(() => accounts.insert({ id: at })).toThrow(RangeError);
      return;
    }
    const made = accounts.insert(at === undefined ? {} : { id: at }, later).id;
    expect(plain.has(made)).toBe(false);
    plain.write(made, entry(made), now + next.delayMs);
    return;
  }
  if (at === undefined) return;
  if (next.do === 'delete') expect(accounts.delete(at, later)).toBe(plain.has(at));
  else if (plain.has(at)) accounts.update(at, { name: 'changed' }, later);
  else expect(() => accounts.update(at, {})).toThrow(RangeError);
  if (plain.has(at)) plain.write(at, next.do === 'delete' ? undefined : entry(at), now + next.delayMs);
}

const orders: ListOrder[] = ['id-asc', 'id-desc', 'updated-asc', 'updated-desc'];

test.each(orders)('agrees with the model for any history of writes and reads, order %s', async (order) => {
  await fc.assert(
    fc.asyncProperty(history, async ({ steps, queries, pageSize }) => {
      const sandbox = createSandbox({
        order,
        pageSize,
        clock: START,
        timestampsEverywhere: true,
        records: { accounts: GENERATED },
      });
      const plain = plainStoreOf(sandbox);
      for (const next of steps) {
        if (next.do === 'tick') sandbox.clock.advance(700);
        else if (next.do !== 'read') write(sandbox, plain, next);
        else {
          const asked = queries[next.query % 3] ?? queries[0];
          const now = sandbox.clock.now();
          const expected = plain
            .list(asked, order, now)
            .slice((next.page - 1) * pageSize, next.page * pageSize);
          expect(ids(await call(sandbox, `/accounts?${queryString(asked, next.page)}`))).toEqual(expected);
          expect(sandbox.store.accounts.count).toBe(plain.visible(now).length);
          for (const hot of HOT) expect(sandbox.store.accounts.get(hot) !== undefined).toBe(plain.has(hot));
        }
      }
    }),
    { numRuns: 60 },
  );
});

test('pages in any order contain every record once', async () => {
  for (const order of [...orders, 'created-asc', 'created-desc', 'none'] as const) {
    const sandbox = createSandbox({ order, pageSize: 7, records: { accounts: 40 } });
    sandbox.store.accounts.delete('13');
    sandbox.store.accounts.update('20', { name: 'changed' });
    const seen: unknown[] = [];
    for (let page = 1; seen.length < 60; page += 1) {
      const found = ids(await call(sandbox, `/accounts?_page=${page}`));
      if (found.length === 0) break;
      seen.push(...found);
    }
    expect([order, seen.length, new Set(seen).size]).toEqual([order, 39, 39]);
    expect(seen).not.toContain('13');
  }
});

test('created-desc sorts by age, not by id', async () => {
  const sandbox = createSandbox({ order: 'created-desc', clock: '2026-01-31' });
  for (const at of ['5', '1', '9']) {
    sandbox.store.boms.insert({ id: at });
    sandbox.clock.advance(1000);
  }
  sandbox.store.boms.update('5', { name: 'changed' });
  expect(ids(await call(sandbox, '/boms'))).toEqual(['9', '1', '5']);
});

test('order none is neither ascending nor descending, and moves a changed record', async () => {
  const sandbox = createSandbox({ order: 'none', clock: START, records: { accounts: 30 } });
  const before = ids(await call(sandbox, '/accounts'));
  const steps = before.slice(1).map((value, i) => Math.sign(Number(value) - Number(before[i])));
  expect(new Set(steps)).toEqual(new Set([1, -1]));

  const places = new Set<number>();
  let after: unknown[] = [];
  for (let change = 0; change < 20; change += 1) {
    sandbox.clock.advance(1000);
    sandbox.store.accounts.update('7', { name: `changed ${change}` });
    after = ids(await call(sandbox, '/accounts'));
    places.add(after.indexOf('7'));
  }
  expect(places.size).toBeGreaterThan(5);
  const others = (list: unknown[]) => list.filter((other) => other !== '7');
  expect(others(after)).toEqual(others(before));
});
