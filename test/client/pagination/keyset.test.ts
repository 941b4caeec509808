import type { ListHint, ListQuery } from 'accounting-data-sdk';
import type { SandboxOptions } from 'accounting-data-sdk/testing';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { caught } from '../../support/caught.ts';
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

// Each rule is stated with its numbers in test/unit/pagination/reduce.test.ts. That no record is lost, in any order, with
// writers, hidden records and ids of every type, is simulated in test/reliability/histories/keyset.

const keyset = { pagination: 'keyset', prefetch: 0 } as const;
/** What an earlier read found out, which was in the order of ids. */
const hint = { pageSize: 30, order: 'asc', sortedById: true } as const;

const idsIn = (pages: readonly AccountPage[]) => pages.flatMap(({ ids }) => ids.map(Number));
const ascending = (ids: readonly number[]) => ids.toSorted((a, b) => a - b);

describe('a read by keyset', () => {
  test('requests interval after interval, and ends with an empty response to an open one', async () => {
    const { accounts, queries } = accountsOf(range(1, 75));
    const pages = await all(accounts.list({}, keyset).pages());
    expect(idsIn(pages)).toEqual(range(1, 75));
    expect(pages.at(-1)).toMatchObject({ pagination: 'keyset', complete: 'certain' });
    expect(queries().slice(0, 4)).toEqual(['', 'id[lte]=29', 'id[gt]=29', 'id[gt]=29&id[lte]=58']);
    expect(queries().at(-1)).toBe('id[gt]=75');
  });

  test('requests no interval that a limit cannot need', async () => {
    const { accounts, queries } = accountsOf(range(1, 75));
    expect(await accounts.list({}, { pagination: 'keyset' }).toArray({ limit: 29 })).toHaveLength(29);
    await settle();
    expect(queries()).toEqual(['', 'id[lte]=29']);
  });

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
    sandbox.faults.add({ kind: 'status', status: 403 }, { skip: 4 });
    const seen: AccountPage[] = [];
    const failed = async () => {
      for await (const page of accounts.list({}, keyset).pages()) seen.push(page);
    };
    const { resumeToken } = (await caught(failed())) as { resumeToken?: string };
    expect(resumeToken).toBe(seen.at(-1)?.resumeToken);
    const resumed = accounts.list({}, { ...keyset, resumeFrom: resumeToken });
    expect([...idsIn(seen), ...idsIn(await all(resumed.pages()))]).toEqual(range(1, 100));

    sandbox.faults.add({ kind: 'status', status: 403 }, { skip: 2 });
    expect(await caught(resumed.toArray({ limit: 100 }))).toMatchObject({ resumeToken });
  });

  test('never requests a bound beyond an int4 before a larger id was seen', async () => {
    const ids = [...range(1, 100), ...range(2_147_483_587, 2_147_483_647)];
    for (const order of ['id-asc', 'id-desc', 'none'] as const) {
      const { accounts } = accountsOf(ids, { idColumn: 'int4', order });
      expect(ascending(idsIn(await all(accounts.list({}, keyset).pages())))).toEqual(ids);
    }
    const { accounts } = accountsOf(ids, { idColumn: 'int4' });
    for (const id of [{ gt: '50' }, { gte: '51', lte: '2147483647' }]) {
      expect(await accounts.list({ id }, keyset).toArray(everything)).toHaveLength(111);
    }
  });

  test('notices an invalid row outside the bounds', async () => {
    const schemas = { accounts: z.looseObject({ id: z.string(), name: z.string() }) };
    const respond = ({ id }: Query) => [
      ...inside([1], id).map((one) => ({ id: String(one), name: 'Bank' })),
      { id: '900' },
    ];
    const { accounts } = serviceOf(respond, { validation: 'report', schemas });
    const list = accounts.list({ id: { lt: '5' } }, keyset);
    expect(await caught(list.toArray({ limit: 9 }))).toMatchObject({
      code: 'filter_ignored',
      message: expect.stringContaining('outside the requested bounds'),
    });
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
    sandbox.faults.add({ kind: 'status', status: 400 }, { when: ({ query }) => query.includes('_page=2') });
    expect(await caught(read('not_found'))).toMatchObject({ code: 'malformed_request' });
  });
});

describe('a read by keyset of a service that hides records after cutting a page', () => {
  test('lists every other record: one hidden record does not look like the end', async () => {
    const { accounts } = accountsOf(range(1, 360), { hiddenRecords: ['100'] });
    const pages = await all(accounts.list({}, keyset).pages());
    expect(idsIn(pages)).toHaveLength(359);
    expect(pages.at(-1)?.complete).toBe('certain');
  });

  test.each(['id-asc', 'id-desc'] as const)(
    'finds what follows a page of hidden records, and says `likely`, listed %s',
    async (order) => {
      const hiddenRecords = range(100, 129).map(String);
      const { accounts } = accountsOf(range(1, 300), { hiddenRecords, order });
      const pages = await all(accounts.list({}, keyset).pages());
      expect(idsIn(pages)).toHaveLength(270);
      expect(pages.at(-1)).toMatchObject({ complete: 'likely', hint: { pageSize: 0 } });
    },
  );

  test('is resumed behind hundreds of pages with one visible record each', async () => {
    const stored = range(1, 2_640);
    const visible = stored.filter((id) => id % 12 === 5);
    const { accounts } = serviceOf(({ page = 1, id }) => {
      const rows = inside(stored, id).slice((page - 1) * 10, page * 10);
      return rowsOf(rows.filter((row) => visible.includes(row)));
    });
    const pages = await all(accounts.list({}, keyset).pages());
    expect(idsIn(pages)).toEqual(visible);
    const resumed = await all(
      accounts.list({}, { ...keyset, resumeFrom: pages.at(-3)?.resumeToken }).pages(),
    );
    expect(idsIn(resumed)).toEqual(visible.slice(-2));
  });

  test('says `likely` in any other order than that of ids', async () => {
    const { accounts } = accountsOf(range(1, 300), { hiddenRecords: 0.02, order: 'none' });
    expect((await all(accounts.list({}, keyset).pages())).at(-1)?.complete).toBe('likely');
  });

  test.each<[string, ListQuery, SandboxOptions, readonly number[], readonly number[]]>([
    ['a list', {}, {}, range(31, 60), range(1, 30)],
    ['a list of changes', { updatedSince: '2026-01-01' }, {}, range(31, 60), range(1, 30)],
    ['a list that begins at the wrong end', {}, { order: 'id-desc' }, range(60, 89), [90]],
  ])('looks behind the end of %s that was resumed', async (_, query, options, hidden, first) => {
    const hiddenRecords = hidden.map(String);
    const { accounts } = accountsOf(range(1, 90), { hiddenRecords, clock: '2026-01-02', ...options });
    const before: AccountPage[] = [];
    for await (const page of accounts.list(query, keyset).pages()) {
      before.push(page);
      if (idsIn(before).length === first.length) break;
    }
    expect(idsIn(before)).toEqual(first);
    const resumeFrom = before.at(-1)?.resumeToken;
    const after = await all(accounts.list(query, { ...keyset, resumeFrom }).pages());
    const copy = new Set([...first, ...idsIn(after)]);
    expect(ascending([...copy])).toEqual(range(1, 90).filter((id) => !hidden.includes(id)));
    expect(after.some(({ restarted }) => restarted)).toBe(options.order === 'id-desc');
  });
});

describe('a read by keyset starts again, and says so,', () => {
  test('when the service uses another order than its hint says', async () => {
    const { accounts, sandbox } = accountsOf([], { order: 'created-asc', pageSize: 10, clock: '2026-01-01' });
    for (const id of [...range(1, 40), ...range(41, 80).toReversed()]) {
      sandbox.clock.advance(1_000);
      sandbox.store.accounts.insert({ id: String(id) });
    }
    const options = { ...keyset, hint };
    const pages = await all(accounts.list({}, options).pages());
    const restart = pages.findIndex(({ restarted }) => restarted);
    expect(restart).toBeGreaterThan(0);
    expect(ascending(idsIn(pages.slice(restart)))).toEqual(range(1, 80));
    expect(pages.at(-1)?.complete).toBe('likely');
    // An array holds only the records since the last start, and the limit counts only those.
    for (const limit of [999, 80]) {
      expect(await accounts.list({}, options).toArray({ limit })).toHaveLength(80);
    }
  });

  test('by page, from the first page on, if an id is not an integer', async () => {
    // No upper bound on integers includes the others.
    const { accounts } = serviceOf(({ page = 1, id }) => {
      const texts = id.lt === undefined && id.lte === undefined ? ['a', 'b', 'c'] : [];
      return rowsOf([...inside(range(1, 40), id), ...texts]).slice((page - 1) * 10, page * 10);
    });
    const pages = await all(accounts.list({}, keyset).pages());
    const restart = pages.findIndex(({ restarted }) => restarted);
    expect(restart).toBeGreaterThan(0);
    expect(pages.slice(restart).flatMap(({ ids }) => ids)).toEqual([
      ...range(1, 40).map(String),
      'a',
      'b',
      'c',
    ]);
    expect(pages.slice(restart).every(({ pagination }) => pagination === 'page')).toBe(true);

    // Its token resumes nothing.
    const resumeFrom = pages.at(-1)?.resumeToken;
    const again = await all(accounts.list({}, { ...keyset, resumeFrom }).pages());
    expect(again.map(({ restarted }) => restarted)).toEqual([true, false, false, false, false]);
  });

  test('but not if the very first page shows such an id: that page is not requested again', async () => {
    const { accounts, queries } = accountsOf(['a', 'b', 'c'], { pageSize: 2 });
    const pages = await all(accounts.list({}, keyset).pages());
    expect(pages.map(({ ids, restarted }) => [ids, restarted])).toEqual([
      [['a', 'b'], false],
      [['c'], false],
    ]);
    expect(queries()).toEqual(['', '_page=2', '_page=3']);
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
    expect(queries()[0]).toBe(sent);
    for (const query of queries()) expect(query.split('&')).toEqual(expect.arrayContaining(sent.split('&')));
    expect(queries().some((query) => own.test(query))).toBe(true);
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

  test('lose no record of a service that compares ids as text', async () => {
    const ids = range(100, 107).map(String);
    const { accounts } = serviceOf(({ page, id: { gt, gte, lt, lte } }) => {
      const isInside = (id: string) =>
        !(gt && id <= gt) && !(gte && id < gte) && !(lt && id >= lt) && !(lte && id > lte);
      return page === undefined ? rowsOf(ids.filter(isInside)) : [];
    });
    expect(await accounts.list({ id: { gte: '100' } }, keyset).toArray({ limit: 99 })).toHaveLength(8);
  });
});

describe('the hint of an earlier read', () => {
  test('saves requests in a list of changes, and needs no check of a second page', async () => {
    const { accounts, queries } = accountsOf(range(1, 20));
    const changed = accounts.list({ updatedSince: '2026-01-01' }, { ...keyset, hint });
    expect(await changed.toArray({ limit: 99 })).toHaveLength(20);
    expect(queries().map((query) => query.replace(/&?updatedSince=[^&]*/, ''))).toEqual(['', 'id[gt]=20']);
  });

  test.each([
    [7, 'id-desc', { pageSize: 10, order: 'desc', sortedById: true }],
    // In the order of updatedAt as well.
    [1, 'id-asc', { pageSize: 10, order: 'asc', sortedById: false }],
  ] as const)(
    'comes with every page, and says which page size and order the service has: id times %i, %s',
    async (factor, order, expected) => {
      const { client, sandbox } = accountsOf([], { order, pageSize: 10, clock: '2026-01-01' });
      for (const id of range(1, 25)) {
        sandbox.clock.set(Date.parse('2026-01-01') + ((id * factor) % 26) * 3_600_000);
        sandbox.store.products.insert({ id: String(id) });
      }
      const pages = await all(client.products.list({}, keyset).pages());
      expect(pages.at(-1)?.hint).toEqual(expected);
    },
  );

  test('hides no change of a service that lists by date, if its pages have become shorter', async () => {
    const at = (day: number, minute: number) => new Date(Date.UTC(2026, 0, 1 + day, 0, minute)).toISOString();
    let [pageSize, rows] = [30, range(1, 40).map((id) => ({ id: String(id), updatedAt: at(0, id) }))];
    const { accounts } = serviceOf(({ page = 1, id, parameters }) => {
      const since = parameters.get('updatedSince') ?? '';
      const listed = rows
        .filter((row) => row.updatedAt >= since && inside([Number(row.id)], id).length > 0)
        .toSorted((a, b) => (a.updatedAt < b.updatedAt ? -1 : 1));
      return listed.slice((page - 1) * pageSize, page * pageSize);
    });
    const pages = await all(accounts.list({}, keyset).pages());
    expect(pages.at(-1)).toMatchObject({ complete: 'certain', hint: { pageSize: 30 } });

    // The first page of the changes is in the order of ids again, by chance; record 3 comes after it.
    pageSize = 10;
    const changed = [...range(11, 20), 3];
    rows = rows.map((row) => {
      const index = changed.indexOf(Number(row.id));
      return index < 0 ? row : { ...row, updatedAt: at(1, index) };
    });
    const options = { ...keyset, hint: pages.at(-1)?.hint };
    const read = await all(accounts.list({ updatedSince: at(1, 0) }, options).pages());
    expect(new Set(idsIn(read))).toEqual(new Set(changed));
  });

  test('keeps the direction: one visible record on the first page does not hide the rest', async () => {
    const hiddenRecords = range(61, 89).map(String);
    const { accounts } = accountsOf(range(1, 90), { hiddenRecords, order: 'id-desc', clock: '2026-01-02' });
    const options = { ...keyset, hint: { ...hint, order: 'desc' } } as const;
    const changes = accounts.list({ updatedSince: '2026-01-01' }, options);
    expect(idsIn(await all(changes.pages()))).toHaveLength(61);
  });

  test.each([{ pageSize: -1, sortedById: true }, { pageSize: 30, order: 'up', sortedById: true }, 30])(
    'is rejected if it is not one: %j',
    (wrong) => {
      const { accounts } = accountsOf([]);
      expect(() => accounts.list({}, { ...keyset, hint: wrong as ListHint })).toThrow(/^hint: /);
    },
  );
});
