import type { ListQuery } from 'accounting-data-sdk';
import { describe, expect, test } from 'vitest';
import { caught } from '../../support/caught.ts';
import { jsonResponse, problemResponse } from '../../support/scripted-fetch.ts';
import { settle } from '../../support/scripted-server.ts';
import {
  type AccountPage,
  accountsOf,
  all,
  everything,
  inside,
  type Query,
  range,
  rowsOf,
  serviceOf,
} from './service.ts';

// Each rule is stated with its numbers in test/unit/pagination/read.test.ts. That no record is lost, in any order, with
// writers, ids of every type and responses that overtake each other, is simulated in test/reliability/histories/keyset.

const keyset = { pagination: 'keyset', prefetch: 0 } as const;
const ahead = { pagination: 'keyset', prefetch: 4 } as const;

const idsIn = (pages: readonly AccountPage[]) => pages.flatMap(({ ids }) => ids.map(Number));
/** Hours apart: closer timestamps show no order. */
const at = (hour: number) => new Date(Date.UTC(2026, 0, 1, hour)).toISOString();
const ascending = (ids: readonly number[]) => ids.toSorted((a, b) => a - b);

describe('a read by keyset', () => {
  test('delivers a record once that a response contains twice', async () => {
    const { accounts } = serviceOf(({ page = 1, id }) => {
      const rows = inside(range(1, 20), id).flatMap((row) => [row, row]);
      return rowsOf(rows.slice((page - 1) * 6, page * 6));
    });
    const pages = await all(accounts.list({}, keyset).pages());
    for (const { ids, records } of pages) expect(ids).toEqual(records.map(({ id }) => id));
    expect(idsIn(pages)).toEqual(range(1, 20));
  });

  test('is resumed from the token of an error, which that of toArray lacks: it delivered no record', async () => {
    const { accounts, sandbox } = accountsOf(range(1, 100));
    sandbox.faults.add({ kind: 'status', status: 403 }, { skip: 4, times: 2 });
    const error = await caught(accounts.list({}, keyset).toArray({ limit: 100 }));
    expect(error).toMatchObject({ code: 'forbidden', resumeToken: undefined });

    sandbox.faults.clear();
    sandbox.faults.add({ kind: 'status', status: 403 }, { skip: 4, times: 1 });
    const seen: AccountPage[] = [];
    const failed = async () => {
      for await (const page of accounts.list({}, keyset).pages()) seen.push(page);
    };
    const { resumeToken } = (await caught(failed())) as { resumeToken?: string };
    expect(resumeToken).toBe(seen.at(-1)?.resumeToken);
    const resumed = accounts.list({}, { ...keyset, resumeFrom: resumeToken });
    expect([...idsIn(seen), ...idsIn(await all(resumed.pages()))]).toEqual(range(1, 100));

    sandbox.faults.add({ kind: 'status', status: 403 }, { skip: 2, times: 1 });
    expect(await caught(resumed.toArray({ limit: 100 }))).toMatchObject({ resumeToken });
  });

  test('ends, and is not read again by page, if it is resumed and its bounds are rejected', async () => {
    const { accounts, sandbox } = accountsOf(range(1, 45), { pageSize: 10 });
    const { value: first } = await accounts.list().pages().next();
    const when = ({ query }: { query: string }) => decodeURIComponent(query).includes('id[');
    sandbox.faults.add({ kind: 'status', status: 400 }, { when });
    const seen: AccountPage[] = [];
    const resumed = async () => {
      for await (const page of accounts.list({}, { resumeFrom: first?.resumeToken }).pages()) seen.push(page);
    };
    expect(await caught(resumed())).toMatchObject({ status: 400 });
    expect(seen).toEqual([]);
  });

  test('is resumed by a client whose lists are read by page', async () => {
    const { accounts, client } = accountsOf(range(1, 25), { pageSize: 10 });
    const { value: first } = await accounts.list().pages().next();
    const { accounts: byPage } = client.withOptions({ pagination: 'page' });
    const rest = await all(byPage.list({}, { resumeFrom: first?.resumeToken }));
    expect([...(first?.ids ?? []), ...rest.map(({ id }) => id)]).toEqual(range(1, 25).map(String));
  });

  test('of pages of one record takes one request for each of them if ids have no gaps', async () => {
    const { accounts, queries } = accountsOf(range(1, 60), { pageSize: 1 });
    expect(idsIn(await all(accounts.list({}, keyset).pages()))).toEqual(range(1, 60));
    expect(queries().length).toBeLessThanOrEqual(66);
  });

  test('takes the 404 of a page after the last one for an empty page only with afterLastPage: not_found', async () => {
    // In another order second pages are requested, which do not exist.
    const options = { order: 'updated-desc', afterLastPage: 'not_found', pageSize: 10 } as const;
    const { accounts, sandbox } = accountsOf(range(1, 45), options);
    const read = (afterLastPage?: 'not_found') =>
      accounts.list({}, { ...keyset, afterLastPage }).toArray(everything);
    expect(await read('not_found')).toHaveLength(45);
    expect(sandbox.requests.some(({ status, query }) => status === 404 && query._page === '2')).toBe(true);
    expect(await caught(read())).toMatchObject({ code: 'not_found' });
  });
});

describe('the id operators of the caller', () => {
  test.each([
    [{ gt: '10' }, 90, 'id[gt]=10', /id\[gte\]=\d+/],
    [{ gte: '11', lt: '91' }, 80, 'id[gte]=11&id[lt]=91', /id\[lte\]=\d+/],
    [{ between: ['11', '90'] as const }, 80, 'id[between]=11..90', /id\[gt\]=\d+/],
  ])('are sent unchanged with every request: %j', async (id, count, sent, own) => {
    const { accounts, queries } = accountsOf(range(1, 100), { pageSize: 10 });
    expect(await accounts.list({ id }, keyset).toArray(everything)).toHaveLength(count);
    expect(queries()[0]).toBe(`_page=1&${sent}`);
    for (const query of queries()) expect(query.split('&')).toEqual(expect.arrayContaining(sent.split('&')));
    expect(queries()).toContainEqual(expect.stringMatching(own));
  });

  test('must leave keyset pagination one operator on each side', () => {
    const { accounts } = accountsOf([]);
    for (const id of [
      { gt: '1', gte: '2' },
      { lt: '9', lte: '8' },
    ]) {
      expect(() => accounts.list({ id }, keyset)).toThrow(/^id: must not use both/);
      expect(() => accounts.list({ id })).not.toThrow();
    }
  });
});

test.each(['1e3', '19-a', '01'])(
  'a list ends in an error, and not with gaps, if the service compares ids as text and has the id %j',
  async (odd) => {
    const ids = [...range(1, 60).map(String), odd].toSorted();
    const { accounts } = serviceOf(({ page = 1, id: { gt, lte } }) => {
      const listed = ids.filter((id) => !(gt && id <= gt) && !(lte && id > lte));
      return rowsOf(listed.slice((page - 1) * 10, page * 10));
    });
    const read = await accounts
      .list()
      .toArray({ limit: 99 })
      .then(
        (records) => records.map(({ id }) => id).toSorted(),
        (error: unknown) => error,
      );
    expect([expect.objectContaining({ code: 'filter_ignored' }), ids]).toContainEqual(read);
  },
);

test('a list of changes by keyset hides no change of a service that lists by date, if its pages become shorter before it is resumed', async () => {
  let pageSize = 30;
  // By date: up to 30, then 1 to 10 were changed again.
  const order = [...range(11, 40), ...range(1, 10)];
  const { accounts } = serviceOf(({ page = 1, id }) => {
    const listed = order.filter((row) => inside([row], id).length > 0);
    return listed
      .slice((page - 1) * pageSize, page * pageSize)
      .map((row) => ({ id: String(row), updatedAt: at(order.indexOf(row)) }));
  });
  const since = { updatedSince: '2026-01-01' };
  const first = await accounts.list(since, keyset).pages().next();
  pageSize = 10;
  const resumeFrom = first.value?.resumeToken;
  const read = await all(accounts.list(since, { ...keyset, resumeFrom }).pages());
  const ids = [...(first.value === undefined ? [] : idsIn([first.value])), ...idsIn(read)];
  expect(ascending([...new Set(ids)])).toEqual(range(1, 40));
});

test.each([
  [0, 2, 2],
  [1, 5, 5],
  [2, 4, 4],
  [20, 4, 5],
])(
  'a list of %i records takes %i requests in the order of ids, and at most %i in another',
  async (count, byId, other) => {
    for (const order of ['id-asc', 'id-desc', 'updated-desc', 'none'] as const) {
      const { accounts, queries } = accountsOf(range(1, count), { order });
      expect(await accounts.list({}, keyset).toArray(everything)).toHaveLength(count);
      expect(queries().length).toBeLessThanOrEqual(order.startsWith('id') ? byId : other);
    }
  },
);

test("a list with listOrder: 'id' of a service that lists in another order warns once, and says `likely`", async () => {
  const warnings: string[] = [];
  const logger = {
    debug: () => undefined,
    info: () => undefined,
    warn: (text: string) => void warnings.push(text),
  };
  for (const order of ['id-asc', 'none'] as const) {
    const { accounts } = accountsOf(range(1, 100), { order, pageSize: 10, clock: '2026-01-02' }, { logger });
    const pages = await all(accounts.list({}, { ...keyset, listOrder: 'id' }).pages());
    expect(ascending(idsIn(pages))).toEqual(range(1, 100));
  }
  expect(warnings).toEqual([expect.stringContaining("leave out listOrder: 'id'")]);
});

/** A page of these rows, listed in this order. */
const pageOf = (rows: readonly number[], { page = 1, id }: Pick<Query, 'page' | 'id'>, pageSize = 10) =>
  inside(rows, id).slice((page - 1) * pageSize, page * pageSize);

describe('a keyset read with prefetch: 4', () => {
  test.each<[string, ListQuery, readonly number[], Record<string, string>, number]>([
    ['four at once in the order of ids', {}, range(1, 200), {}, 4],
    ['four at once in another order', {}, range(1, 200).map((n) => (n * 37) % 211), {}, 4],
    ['one at a time in a list of changes', { updatedSince: '2026-01-01' }, range(1, 200), {}, 1],
    [
      'one at a time while the quota has 7 requests left',
      {},
      range(1, 200),
      { 'x-ratelimit-remaining': '7' },
      1,
    ],
  ])('requests %s', async (_, query, rows, quota, expected) => {
    let [inFlight, most] = [0, 0];
    const { accounts } = serviceOf(async (request) => {
      inFlight += 1;
      most = Math.max(most, inFlight);
      await settle();
      inFlight -= 1;
      return jsonResponse(rowsOf(pageOf(rows, request)), 200, { 'x-ratelimit-limit': '100', ...quota });
    });
    const records = await all(accounts.list(query, ahead));
    expect(new Set(records.map(({ id }) => id)).size).toBe(200);
    expect(most).toBe(expected);
  });

  test('reports an invalid row once that two responses contain, because their intervals overlap', async () => {
    // Gaps from 1 to 9: the next interval begins before the end of the one in flight.
    const ids = range(1, 400).map((n) => n * 5 + ((n * 7) % 5));
    const { sandbox, client } = accountsOf(ids, { pageSize: 10 }, { validation: 'report' });
    const bad = ids.filter((id) => id % 2 === 0).map(String);
    sandbox.faults.add(
      {
        kind: 'rewrite',
        body: (body: string) =>
          JSON.stringify(
            JSON.parse(body).map((row: { id: string }) =>
              bad.includes(row.id) ? { ...row, createdAt: 7 } : row,
            ),
          ),
      },
      { collection: 'products' },
    );
    for (const id of ids) sandbox.store.products.insert({ id: String(id), name: 'Oak' } as never);
    const seen: (string | undefined)[] = [];
    let sent = 0;
    for await (const page of client.products.list({}, ahead).pages()) {
      seen.push(...page.ids, ...page.invalid.map(({ id }) => id));
      sent += page.invalid.length;
    }
    expect(sent).toBe(bad.length);
    expect(seen.toSorted()).toEqual(ids.map(String).toSorted());
  });

  test('throws the error of an interval after the pages before it, with the token behind them', async () => {
    const failing = (query: Query) =>
      query.id.gt === '54' ? problemResponse(403, {}) : rowsOf(pageOf(range(1, 200), query));
    const { accounts } = serviceOf(failing);
    const seen: AccountPage[] = [];
    const error = await caught(
      (async () => {
        for await (const page of accounts.list({}, ahead).pages()) {
          await settle();
          seen.push(page);
        }
      })(),
    );
    expect(idsIn(seen)).toEqual(range(1, 54));
    expect(error).toMatchObject({ status: 403, resumeToken: seen.at(-1)?.resumeToken });
  });
});
