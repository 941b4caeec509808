import { createClient, isAccountingError, memoryStore, type Page, sync } from 'accounting-data-sdk';
import { createSandbox, type SandboxOptions } from 'accounting-data-sdk/testing';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { caught } from '../../support/caught.ts';
import { jsonResponse, scriptedClient, scriptedFetch } from '../../support/scripted-fetch.ts';
import { settle } from '../../support/scripted-server.ts';
import { inside, type Query, rowsOf, serviceOf } from './service.ts';

type AccountPage = Page<{ id: string }>;

/** A client of a sandbox that has accounts with these ids, and the query of each request. */
function accountsOf(ids: readonly (string | number)[], options: SandboxOptions = {}) {
  const sandbox = createSandbox(options);
  for (const id of ids) sandbox.store.accounts.insert({ id: String(id) });
  const client = createClient({ ...sandbox.clientOptions, retry: { maxAttempts: 1 } });
  const queries = () =>
    sandbox.requests.map(({ query }) =>
      Object.entries(query)
        .map(([name, value]) => `${name}=${value}`)
        .join('&'),
    );
  return { sandbox, client, accounts: client.accounts, queries };
}

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, n) => from + n);
const keyset = { pagination: 'keyset', prefetch: 0 } as const;
/** What an earlier read found out, which was in the order of ids. */
const hint = { pageSize: 30, order: 'asc', sortedById: true } as const;

async function pagesOf(pages: AsyncIterable<AccountPage>): Promise<AccountPage[]> {
  const all: AccountPage[] = [];
  for await (const page of pages) all.push(page);
  return all;
}
const updatedAt = (day: number, minute: number) =>
  new Date(Date.UTC(2026, 0, 1 + day, 0, minute)).toISOString();
const idsOf = (pages: readonly AccountPage[]) =>
  pages.flatMap(({ records }) => records.map(({ id }) => Number(id)));

test.each([
  ['id-asc', 5],
  ['id-desc', 5],
  ['updated-desc', 10],
  ['none', 10],
] as const)(
  'takes two requests for an empty collection and at most, in the order %s, %d for less than a page',
  async (order, most) => {
    for (const gap of [1, 1_000]) {
      for (let records = 0; records < 30; records++) {
        const sandbox = createSandbox({ order, ids: { gap }, pageSize: 30, records: { accounts: records } });
        const { accounts } = createClient(sandbox.clientOptions);
        const listed = await accounts.list({}, keyset).toArray({ limit: Number.POSITIVE_INFINITY });
        expect(listed).toHaveLength(records);
        expect(sandbox.count(), `${records} records`).toBeLessThanOrEqual(records === 0 ? 2 : most);
      }
    }
  },
);

test('reads interval after interval, and ends with an empty response to an open one', async () => {
  const { accounts, queries } = accountsOf(range(1, 75));
  const pages = await pagesOf(accounts.list({}, keyset).pages());
  expect(idsOf(pages)).toEqual(range(1, 75));
  expect(pages.at(-1)?.complete).toBe('certain');
  expect(queries()).toEqual([
    '',
    'id[lte]=29',
    'id[gt]=29',
    'id[gt]=29&id[lte]=58',
    'id[gt]=58&id[lte]=82',
    'id[gt]=75&id[lte]=99',
    '_page=2&id[gt]=75',
    'id[gt]=75',
  ]);
});

describe('from a service that hides records after cutting a page', () => {
  test('lists every other record: one hidden record does not look like the end', async () => {
    const { accounts } = accountsOf(range(1, 360), { hiddenRecords: ['100'] });
    const records = await accounts.list({}, keyset).toArray({ limit: Number.POSITIVE_INFINITY });
    expect(records).toHaveLength(359);
  });

  test('syncs every other record over a real port', async () => {
    const { sandbox } = accountsOf(range(1, 360), { hiddenRecords: ['100'] });
    await using _ = sandbox;
    const { url } = await sandbox.listen();
    const client = createClient({ baseUrl: url, apiKey: sandbox.keys.full });
    const ids = new Set<string>();
    const report = await sync(client, {
      store: memoryStore(),
      tenant: 'acme',
      collections: ['accounts'],
      onBatch: ({ records }) => {
        for (const { id } of records) ids.add(id);
      },
    });
    expect(ids.size).toBe(359);
    expect(report.collections[0]).toMatchObject({ status: 'done', complete: 'certain', records: 359 });
  });

  test.each(['id-asc', 'id-desc'] as const)(
    'finds what follows a page of hidden records, and says `likely`, listed %s',
    async (order) => {
      const hiddenRecords = range(1_000, 1_029).map(String);
      const { accounts } = accountsOf(range(1, 3_000), { hiddenRecords, order });
      const pages = await pagesOf(accounts.list({}, keyset).pages());
      expect(idsOf(pages)).toHaveLength(2_970);
      expect(pages.at(-1)).toMatchObject({ complete: 'likely', hint: { pageSize: 0 } });
    },
  );

  test.each([{}, { updatedSince: '2026-01-01' }])(
    'looks behind the end of a list that was resumed: %j',
    async (query) => {
      const hiddenRecords = range(31, 60).map(String);
      const { accounts } = accountsOf(range(1, 90), { hiddenRecords, clock: '2026-01-02' });
      const before: AccountPage[] = [];
      for await (const page of accounts.list(query, keyset).pages()) {
        before.push(page);
        if (idsOf(before).length === 30) break;
      }
      const resumeFrom = before.at(-1)?.resumeToken;
      const after = await pagesOf(accounts.list(query, { ...keyset, resumeFrom }).pages());
      expect(idsOf([...before, ...after])).toEqual([...range(1, 30), ...range(61, 90)]);
    },
  );

  test('starts again in descending order after a first page of which all but one record was hidden', async () => {
    const hiddenRecords = range(60, 89).map(String);
    const { accounts } = accountsOf(range(1, 90), { hiddenRecords, order: 'id-desc' });
    const before: AccountPage[] = [];
    for await (const page of accounts.list({}, keyset).pages()) {
      before.push(page);
      break;
    }
    expect(idsOf(before)).toEqual([90]);
    const resumeFrom = before[0]?.resumeToken;
    const after = await pagesOf(accounts.list({}, { ...keyset, resumeFrom }).pages());
    expect(after[0]?.restarted).toBe(true);
    expect(idsOf(after).toSorted((a, b) => a - b)).toEqual([...range(1, 59), 90]);
  });

  test('looks behind the end of a full run after a run that met no hidden record', async () => {
    const hiddenRecords = range(31, 60).map(String);
    const { client, sandbox } = accountsOf(range(1, 90), { hiddenRecords, clock: '2026-01-02' });
    const store = memoryStore();
    const run = async (mode: 'incremental' | 'full') => {
      const ids = new Set<string>();
      const onBatch = ({ records }: { readonly records: readonly { readonly id: string }[] }) => {
        for (const { id } of records) ids.add(id);
      };
      await sync(client, { store, tenant: 'acme', collections: ['accounts'], mode, onBatch });
      return ids.size;
    };
    sandbox.clock.advance(600_000);
    expect(await run('incremental')).toBe(60);
    sandbox.clock.advance(600_000);
    for (const id of ['1', '2', '3']) sandbox.store.accounts.update(id, { name: 'changed' });
    expect(await run('incremental')).toBe(3);
    expect(await run('full')).toBe(60);
  });

  test('reports that a record is likely to be missing if the order is not that of ids', async () => {
    const { accounts, client, sandbox } = accountsOf(range(1, 300), { hiddenRecords: 0.02, order: 'none' });
    const pages = await pagesOf(accounts.list({}, keyset).pages());
    expect(pages.at(-1)?.complete).toBe('likely');
    const store = memoryStore();
    const report = await sync(client, {
      store,
      tenant: 'a',
      collections: ['accounts'],
      onBatch: () => undefined,
    });
    expect(report.collections[0]).toMatchObject({ status: 'done', complete: 'likely' });
    expect(report.collections[0]?.watermark).toBeInstanceOf(Date);
    expect(sandbox.count()).toBeGreaterThan(0);
  });
});

test('starts again, and says so, when the service uses another order', async () => {
  const { accounts, sandbox } = accountsOf([], { order: 'created-asc', pageSize: 10, clock: '2026-01-01' });
  for (const id of [...range(1, 40), ...range(41, 80).toReversed()]) {
    sandbox.clock.advance(1_000);
    sandbox.store.accounts.insert({ id: String(id) });
  }
  // Of an earlier read, which was in the order of ids.
  const options = { ...keyset, hint };
  const pages = await pagesOf(accounts.list({}, options).pages());
  const restart = pages.findIndex(({ restarted }) => restarted);
  expect(restart).toBeGreaterThan(0);
  expect(idsOf(pages.slice(restart)).toSorted((a, b) => a - b)).toEqual(range(1, 80));
  expect(pages.at(-1)?.complete).toBe('likely');
  // An array holds only the records since the last start, and the limit counts only those.
  for (const limit of [999, 80]) {
    expect(await accounts.list({}, options).toArray({ limit })).toHaveLength(80);
  }
});

/** A service whose records have integer ids, and then others, which no upper bound includes. */
const withTextIds = () =>
  serviceOf(({ page = 1, id }) => {
    const texts = id.lt === undefined && id.lte === undefined ? ['a', 'b', 'c'] : [];
    const rows = rowsOf([...inside(range(1, 40), id), ...texts]);
    return rows.slice((page - 1) * 10, page * 10);
  });

test('starts again by page, from the first page on, if an id is not an integer', async () => {
  const { accounts } = withTextIds();
  const pages = await pagesOf(accounts.list({}, keyset).pages());
  const restart = pages.findIndex(({ restarted }) => restarted);
  expect(restart).toBeGreaterThan(0);
  expect(pages.slice(restart).flatMap(({ ids }) => ids)).toEqual([
    ...range(1, 40).map(String),
    'a',
    'b',
    'c',
  ]);
  expect(pages.slice(restart).every(({ pagination }) => pagination === 'page')).toBe(true);
  expect(await accounts.list({}, keyset).toArray({ limit: 43 })).toHaveLength(43);

  // Its token resumes nothing: the read starts again, and says so.
  const resumeFrom = pages.at(-1)?.resumeToken;
  const again = await pagesOf(accounts.list({}, { ...keyset, resumeFrom }).pages());
  expect(again.map(({ restarted }) => restarted)).toEqual([true, false, false, false, false]);
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

test('says nothing about completeness by page, because a deletion can hide a record', async () => {
  const { accounts } = accountsOf(range(1, 5));
  const [page] = await pagesOf(accounts.list().pages());
  expect(page).toMatchObject({
    pagination: 'page',
    complete: undefined,
    restarted: false,
    resumeToken: undefined,
  });
});

test('checks short responses in another order, so that hidden records do not hide others', async () => {
  const hiddenRecords = range(1, 300).filter((id) => id % 9 === 0);
  const { accounts } = accountsOf(range(1, 300), {
    hiddenRecords: hiddenRecords.map(String),
    order: 'none',
    pageSize: 10,
  });
  const pages = await pagesOf(accounts.list({}, keyset).pages());
  expect(pages.at(-1)?.complete).toBe('likely');
  expect(new Set(idsOf(pages)).size).toBe(300 - hiddenRecords.length);
});

test('a read in another order is resumed, and does not start again', async () => {
  const { accounts } = accountsOf(range(1, 95), { order: 'none', pageSize: 10 });
  const first = await accounts.list({}, keyset).pages().next();
  const before = (first.value as AccountPage | undefined)?.ids.map(Number) ?? [];
  const resumeFrom = (first.value as AccountPage | undefined)?.resumeToken;
  const after = await pagesOf(accounts.list({}, { ...keyset, resumeFrom }).pages());
  expect(after.some(({ restarted }) => restarted)).toBe(false);
  expect([...before, ...idsOf(after)].toSorted((a, b) => a - b)).toEqual(range(1, 95));
});

test('delivers a record once that a response contains twice', async () => {
  const { accounts } = serviceOf(({ page = 1, id }) => {
    const rows = inside(range(1, 20), id).flatMap((row) => [row, row]);
    return rowsOf(rows.slice((page - 1) * 6, page * 6));
  });
  const pages = await pagesOf(accounts.list({}, keyset).pages());
  for (const { ids, records } of pages) expect(ids).toEqual(records.map(({ id }) => id));
  expect(idsOf(pages)).toEqual(range(1, 20));
});

test('requests no interval that a limit cannot need', async () => {
  const { accounts, queries } = accountsOf(range(1, 75));
  expect(await accounts.list({}, { pagination: 'keyset' }).toArray({ limit: 29 })).toHaveLength(29);
  await settle();
  expect(queries()).toEqual(['', 'id[lte]=29']);
});

describe('on a service whose id column is an int4', () => {
  const clusters = [...range(1, 100), ...range(2_147_483_147, 2_147_483_647)];

  test.each(['id-asc', 'id-desc', 'none'] as const)(
    'never requests a bound beyond it, listed %s',
    async (order) => {
      const { accounts, sandbox } = accountsOf(clusters, { idColumn: 'int4', order });
      const pages = await pagesOf(accounts.list({}, keyset).pages());
      expect(new Set(idsOf(pages))).toEqual(new Set(clusters));
      expect(sandbox.requests.every(({ status }) => status === 200)).toBe(true);
    },
  );

  test('resumes after a 500 in the middle', async () => {
    const { accounts, sandbox } = accountsOf(clusters, { idColumn: 'int4' });
    sandbox.faults.add({ kind: 'status', status: 500 }, { skip: 8 });
    const seen: number[] = [];
    let resumeFrom: string | undefined;
    const read = async () => {
      for await (const page of accounts.list({}, { ...keyset, resumeFrom }).pages()) {
        seen.push(...idsOf([page]));
        resumeFrom = page.resumeToken;
      }
    };
    expect(await caught(read())).toMatchObject({ status: 500 });
    await read();
    expect(seen).toEqual(clusters);
  });

  test.each([{ gt: '50' }, { gte: '51', lte: '2147483647' }, { gt: '50', lte: '2147483647' }])(
    'stays within it beside the bounds of the caller %j',
    async (id) => {
      const { accounts } = accountsOf(clusters, { idColumn: 'int4' });
      const records = await accounts.list({ id }, keyset).toArray({ limit: Number.POSITIVE_INFINITY });
      expect(records).toHaveLength(551);
    },
  );
});

test('requests larger bounds only after a larger id was seen', async () => {
  const ids = [1, 2, 3_000_000_000, 3_000_000_001].map(BigInt);
  const all = [...ids, ...range(0, 9).map((n) => 2n ** 53n + BigInt(n) * 1_000_000n)];
  const { accounts, queries } = accountsOf(all.map(String), { idColumn: 'int8', pageSize: 3 });
  const records = await accounts.list({}, keyset).toArray({ limit: Number.POSITIVE_INFINITY });
  expect(records.map(({ id }) => id)).toEqual(all.map(String));
  const bounds = queries().flatMap((query) =>
    [...query.matchAll(/\]=(\d+)/g)].map(([, bound]) => BigInt(bound ?? 0)),
  );
  const firstLarge = bounds.findIndex((bound) => bound > 2_147_483_647n);
  expect(bounds[firstLarge]).toBeLessThanOrEqual(2n ** 53n - 1n);
});

describe('the id operators of the caller', () => {
  test.each([
    [{ gt: '10' }, 'id[gt]=10', /id\[gte\]=\d+/],
    [{ gte: '11' }, 'id[gte]=11', /id\[gt\]=\d+/],
    [{ gt: '10', lte: '90' }, 'id[gt]=10&id[lte]=90', /id\[lt\]=\d+/],
    [{ gte: '11', lt: '91' }, 'id[gte]=11&id[lt]=91', /id\[lte\]=\d+/],
    [{ between: ['11', '90'] as const }, 'id[between]=11..90', /id\[gt\]=\d+/],
  ])('are sent unchanged with every request: %j', async (id, sent, own) => {
    const { accounts, queries } = accountsOf(range(1, 100), { pageSize: 10 });
    const records = await accounts.list({ id }, keyset).toArray({ limit: Number.POSITIVE_INFINITY });
    expect(records).toHaveLength('between' in id || 'lt' in id || 'lte' in id ? 80 : 90);
    expect(queries()[0]).toBe(sent);
    for (const query of queries())
      for (const part of sent.split('&')) expect(query.split('&')).toContain(part);
    expect(queries().some((query) => own.test(query))).toBe(true);
  });

  test('must leave keyset pagination one operator on each side', () => {
    const { accounts } = accountsOf([]);
    for (const id of [
      { gt: '1', gte: '2' },
      { lt: '9', lte: '8' },
    ]) {
      expect(() => accounts.list({ id }, keyset)).toThrow(
        /^id: must not use both gt and gte, or both lt and lte/,
      );
      expect(() => accounts.list({ id })).not.toThrow();
    }
  });

  test('work on a service that compares ids as text', async () => {
    const ids = range(100, 107).map(String);
    const fetch = scriptedFetch(({ url }) => {
      const bound = (name: string) => url.searchParams.get(`id[${name}]`);
      const [gt, gte, lt, lte] = [bound('gt'), bound('gte'), bound('lt'), bound('lte')];
      const inside = ids.filter(
        (id) =>
          (gt === null || id > gt) &&
          (gte === null || id >= gte) &&
          (lt === null || id < lt) &&
          (lte === null || id <= lte),
      );
      return jsonResponse(url.searchParams.has('_page') ? [] : inside.map((id) => ({ id })));
    });
    const list = scriptedClient(fetch).accounts.list({ id: { gte: '100' } }, keyset);
    expect(await list.toArray({ limit: 99 })).toHaveLength(8);
  });
});

test.each([
  ['A.', 'B'],
  ['A', '.B'],
  ['1..2', '3'],
])('rejects the pair %s and %s, which would be split in another place', (low, high) => {
  const { accounts } = accountsOf([]);
  expect(() => accounts.list({ id: { between: [low, high] } })).toThrow(
    /^id\.between: bounds must not contain/,
  );
});

test.each(['page', 'keyset'] as const)(
  'does not show an API key that is echoed as an id: %s',
  async (pagination) => {
    const apiKey = '31415926535897932384';
    const fetch = scriptedFetch(() => jsonResponse([{ id: apiKey }]));
    const list = scriptedClient(fetch, { apiKey }).accounts.list({ id: { lt: '1000' } }, { pagination });
    const error = await caught(list.toArray({ limit: 9 }));
    expect(isAccountingError(error, 'filter_ignored')).toBe(true);
    expect(`${(error as Error).message} ${JSON.stringify(error)}`).not.toContain(apiKey);
  },
);

describe('the hint of an earlier read', () => {
  test('saves requests in a list of changes, and needs no check of a second page', async () => {
    const { accounts, queries } = accountsOf(range(1, 20));
    const changed = accounts.list({ updatedSince: '2026-01-01' }, { ...keyset, hint });
    expect(await changed.toArray({ limit: 99 })).toHaveLength(20);
    expect(queries().map((query) => query.replace(/&?updatedSince=[^&]*/, ''))).toEqual(['', 'id[gt]=20']);
  });

  test.each(['id-asc', 'id-desc'] as const)('that is too large loses nothing, listed %s', async (order) => {
    const { accounts } = accountsOf(range(1, 95), { pageSize: 10, order });
    const records = await accounts.list({}, { ...keyset, hint }).toArray({ limit: 999 });
    expect(records).toHaveLength(95);
  });

  test('comes with every page, and says which order and page size the service has', async () => {
    const { client, sandbox } = accountsOf([], { order: 'id-desc', pageSize: 10, clock: '2026-01-01' });
    for (const id of range(1, 25)) {
      sandbox.clock.set(Date.parse('2026-01-01') + ((id * 7) % 25) * 3_600_000);
      sandbox.store.products.insert({ id: String(id) });
    }
    const pages = await pagesOf(client.products.list({}, keyset).pages());
    expect(pages.at(-1)?.hint).toEqual({ pageSize: 10, order: 'desc', sortedById: true });
  });

  test('does not call the order proven if it is the order of updatedAt as well', async () => {
    const { client, sandbox } = accountsOf([], { pageSize: 10, clock: '2026-01-01' });
    for (const id of range(1, 25)) {
      sandbox.clock.advance(3_600_000);
      sandbox.store.products.insert({ id: String(id) });
    }
    const pages = await pagesOf(client.products.list({}, keyset).pages());
    expect(pages.at(-1)?.hint).toEqual({ pageSize: 10, order: 'asc', sortedById: false });
  });

  test('hides no change of a service that lists by date, if its pages have become shorter', async () => {
    let [pageSize, rows] = [30, range(1, 40).map((id) => ({ id: String(id), updatedAt: updatedAt(0, id) }))];
    const { accounts } = serviceOf(({ page = 1, id, parameters }) => {
      const since = parameters.get('updatedSince') ?? '';
      const listed = rows
        .filter((row) => row.updatedAt >= since && inside([Number(row.id)], id).length > 0)
        .toSorted((a, b) => (a.updatedAt < b.updatedAt ? -1 : 1));
      return listed.slice((page - 1) * pageSize, page * pageSize);
    });
    const pages = await pagesOf(accounts.list({}, keyset).pages());
    expect(pages.at(-1)).toMatchObject({ complete: 'certain', hint: { pageSize: 30 } });

    // The first page of the changes is in the order of ids again, by chance; record 3 comes after it.
    pageSize = 10;
    const changed = [...range(11, 20), 3];
    rows = rows.map((row) => {
      const index = changed.indexOf(Number(row.id));
      return index < 0 ? row : { ...row, updatedAt: updatedAt(1, index) };
    });
    const changes = accounts.list({ updatedSince: updatedAt(1, 0) }, { ...keyset, hint: pages.at(-1)?.hint });
    const read = idsOf(await pagesOf(changes.pages()));
    expect(new Set(read)).toEqual(new Set(changed));
  });

  test('keeps the direction: one visible record on the first page does not hide the rest', async () => {
    const hiddenRecords = range(61, 89).map(String);
    const { accounts } = accountsOf(range(1, 90), { hiddenRecords, order: 'id-desc', clock: '2026-01-02' });
    const changes = accounts.list(
      { updatedSince: '2026-01-01' },
      { ...keyset, hint: { ...hint, order: 'desc' } },
    );
    expect(idsOf(await pagesOf(changes.pages()))).toHaveLength(61);
  });

  test.each([
    [{ pageSize: -1, sortedById: true }],
    [{ pageSize: 1.5, sortedById: true }],
    [{ pageSize: 30, order: 'up', sortedById: true }],
    [{ pageSize: 30 }],
    [30],
  ])('must be one: %j', (wrong) => {
    const { accounts } = accountsOf([]);
    expect(() => accounts.list({}, { ...keyset, hint: wrong as never })).toThrow(
      /^hint: must be the hint of a page/,
    );
  });

  test('is dropped, and the read starts again, if the order has changed', async () => {
    const { accounts } = accountsOf(range(1, 95), { pageSize: 10, order: 'none' });
    const records = await accounts.list({}, { ...keyset, hint }).toArray({ limit: 999 });
    expect(new Set(records.map(({ id }) => id)).size).toBe(95);
  });
});

test('gives the error of toArray the token that the call started from, because no record was delivered', async () => {
  const { accounts, sandbox } = accountsOf(range(1, 100));
  sandbox.faults.add({ kind: 'status', status: 403 }, { skip: 4, times: 2 });
  const error = await caught(accounts.list({}, keyset).toArray({ limit: 100 }));
  expect(error).toMatchObject({ code: 'forbidden', resumeToken: undefined });

  sandbox.faults.clear();
  const [first] = await pagesOf(accounts.list({}, keyset).pages());
  sandbox.faults.add({ kind: 'status', status: 403 }, { skip: 2 });
  const resumed = accounts.list({}, { ...keyset, resumeFrom: first?.resumeToken }).toArray({ limit: 100 });
  expect(await caught(resumed)).toMatchObject({ resumeToken: first?.resumeToken });
});

test.each([29, 30, 31])(
  'reads on when an import adds %d records in front of a list by page',
  async (added) => {
    const { accounts, sandbox } = accountsOf(range(1, 90), { order: 'id-desc' });
    const seen = new Set<string>();
    for await (const page of accounts.list({}, { prefetch: 0 }).pages()) {
      if (seen.size === 0)
        for (let n = 0; n < added; n++) sandbox.store.accounts.insert({ id: String(1_000 + n) });
      for (const { id } of page.records) if (Number(id) < 1_000) seen.add(id);
    }
    expect(seen.size).toBe(90);
  },
);

test('looks at the first page again: a deletion may have moved a record up behind a page of hidden ones', async () => {
  const { sandbox } = accountsOf(range(1, 61), { hiddenRecords: range(31, 60).map(String) });
  let requests = 0;
  const client = createClient({
    ...sandbox.clientOptions,
    fetch: async (url, init) => {
      const response = await sandbox.fetch(url, init);
      // The open interval behind record 30 was empty; then a hidden record goes, and record 61 moves to its first page.
      if (new URL(url).search === '?id%5Bgt%5D=30' && requests++ === 0) sandbox.store.accounts.delete('31');
      return response;
    },
  });
  const records = await client.accounts.list({}, keyset).toArray({ limit: Number.POSITIVE_INFINITY });
  expect(records.map(({ id }) => id)).toContain('61');
});
