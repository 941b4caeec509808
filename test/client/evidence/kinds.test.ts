import { type CustomCursor, isAccountingError, memoryStore, sync, verify } from 'accounting-data-sdk';
import { describe, expect, test } from 'vitest';
import { caught } from '../../support/caught.ts';
import { jsonResponse } from '../../support/scripted-fetch.ts';
import { openSqlite } from '../targets/engines.ts';
import { type Hook, row, rows, serviceOf } from './service.ts';

const accountsOf = (hook: Hook, options: object = {}) =>
  serviceOf({ data: { accounts: rows(1, 300) }, hook }).client(options).accounts;

async function all<T>(pages: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const page of pages) found.push(page);
  return found;
}

describe("a list with pagination: 'none'", () => {
  const none = { pagination: 'none' } as const;
  const first = rows(1, 30);

  test.each<[string, unknown, Record<string, string>?]>([
    ['counts more in JSON-LD', { member: first, totalItems: 300 }],
    ['counts more in hydra', { 'hydra:member': first, 'hydra:totalItems': 31 }],
    ['links a next page in hydra', { 'hydra:member': first, 'hydra:view': { 'hydra:next': '/a?page=2' } }],
    ['links a next page in HAL', { member: first, _links: { next: { href: '/a?page=2' } } }],
    ['links a next page in meta', { member: first, meta: { next: '/a?page=2' } }],
    ['links a next page in a header', first, { link: '</a?_page=2>; rel="next"' }],
    ['has more', { member: first, pagination: { hasMore: true } }],
  ])('fails if the response %s, in a list and in a sync', async (_, body, headers) => {
    const accounts = accountsOf(() => jsonResponse(body, 200, headers), none);
    const failed = {
      code: 'unexpected_response',
      reason: 'incomplete_list',
      retryable: false,
      message: expect.stringContaining("although pagination is 'none'"),
    };
    expect(await caught(accounts.list().toArray({ limit: 999 }))).toMatchObject(failed);
    const store = memoryStore();
    const syncing = sync({ accounts }, { tenant: 'acme', store, onBatch: () => {} });
    const error = await caught(syncing);
    expect(isAccountingError(error, 'sync_failed') && error.errors[0]?.error).toMatchObject(failed);
  });

  test.each<[string, unknown, 'certain' | 'likely', Record<string, string>?]>([
    ['of 30 rows', first, 'likely'],
    ['of 29 rows', rows(1, 29), 'certain'],
    ['of 31 rows', rows(1, 31), 'certain'],
    ['of 10 rows', rows(1, 10), 'likely'],
    ['of 250 rows', rows(1, 250), 'likely'],
    ['without rows', [], 'certain'],
    ['of 30 rows that counts 30', { member: first, totalItems: 30 }, 'certain'],
    ['of 30 rows without a next page', { member: first, meta: { next: null } }, 'certain'],
    ['of 30 rows that is the last page', first, 'certain', { link: '</a?_page=1>; rel="last"' }],
  ])('%s says whether it is complete', async (_, body, complete, headers) => {
    const accounts = accountsOf(() => jsonResponse(body, 200, headers), none);
    expect(await all(accounts.list().pages())).toMatchObject([{ complete, pagination: 'none' }]);
  });

  test.each([
    ['as long as another one', { accounts: 47, budgets: 47, boms: 12 }, ['accounts', 'budgets']],
    ['of other lengths', { accounts: 47, budgets: 46, boms: 12 }, []],
    ['short and equal', { accounts: 9, budgets: 9, boms: 0 }, []],
  ] as const)('is judged beside the others of a run: %s', async (_, lengths, likely) => {
    const names = Object.keys(lengths) as (keyof typeof lengths)[];
    const data = Object.fromEntries(names.map((name) => [name, rows(1, lengths[name])]));
    const client = serviceOf({ data, pageSize: 1_000 }).client(none);
    const copy = openSqlite();
    const into = { tenant: 'acme', target: copy.target, collections: names };
    const likelyIn = (found: readonly { readonly collection?: unknown; readonly complete?: unknown }[]) =>
      found.filter(({ complete }) => complete === 'likely').map(({ collection }) => collection);
    // One after the other, and at the same time.
    for (const concurrency of [1, 2]) {
      const report = await sync(client, { ...into, concurrency });
      expect([likelyIn(report.collections), report.complete]).toEqual([
        likely,
        likely.length > 0 ? 'likely' : 'certain',
      ]);
      const statuses = await copy.query(`SELECT * FROM ${copy.views}sync_status ORDER BY collection`);
      expect(likelyIn(statuses)).toEqual(likely);
    }
    const { equal, collections } = await verify(client, into);
    expect([equal, likelyIn(collections)]).toEqual([likely.length > 0 ? 'likely' : true, likely]);
    // A later run alone knows it from the state.
    const alone = await sync(client, { ...into, collections: ['budgets'] });
    expect(likelyIn(alone.collections)).toEqual(likely.slice(1));
  });

  test('is as long as the pages of another list, which is read by keyset', async () => {
    const service = serviceOf({ data: { accounts: rows(1, 300), budgetLines: [] }, pageSize: 47 });
    service.data['budget-lines'] = rows(1, 47);
    const client = service.client({ pagination: { budgetLines: 'none' } });
    const collections = ['accounts', 'budgetLines'] as const;
    const report = await sync(client, { tenant: 'a', collections, store: memoryStore(), onBatch: () => {} });
    expect(report.collections).toMatchObject([{ complete: 'certain' }, { complete: 'likely' }]);
  });
});

describe('a list with a cursor of the caller', () => {
  const byId: CustomCursor<unknown> = {
    first: {},
    next: ({ ids }) => (ids.length === 0 ? undefined : { id: { gt: ids.at(-1) } }),
  };

  test.each([0, 1])(
    'is likely until its next returns undefined, and then certain: prefetch %i',
    async (prefetch) => {
      const accounts = accountsOf(() => undefined);
      const pages = await all(accounts.list({}, { pagination: byId, prefetch }).pages());
      const completes = pages.map(({ complete }) => complete);
      expect(completes).toEqual([...Array(10).fill('likely'), 'certain']);
      const facts = pages.map(({ evidence }) => evidence.facts);
      expect([facts[0], facts.at(-1)]).toEqual([['cursor_open'], ['cursor_ended']]);
    },
  );

  test('is likely if records came twice, and so are incremental syncs after it', async () => {
    const service = serviceOf({
      data: { accounts: rows(1, 300) },
      // Each page begins with the last record of the one before.
      hook: ({ query, rows: listed }) =>
        listed.filter(({ id }) => Number(id) >= Number(query.get('from') ?? 1)).slice(0, 30),
    });
    const pagination: CustomCursor<unknown> = {
      first: {},
      next: ({ ids }) => (ids.length < 2 ? undefined : { parameters: { from: String(ids.at(-1)) } }),
    };
    const client = service.client({ pagination });
    const pages = await all(client.accounts.list().pages());
    expect(pages.at(-1)).toMatchObject({
      complete: 'likely',
      repeated: 11,
      evidence: { facts: ['cursor_ended', 'repeated_rows'] },
    });
    const into = { tenant: 'acme', target: openSqlite().target, collections: ['accounts'] as const };
    for (const [records, repeated] of [
      [300, 11],
      [0, 0],
    ]) {
      const collections = [{ collection: 'accounts', repeated }];
      expect(await sync(client, into)).toMatchObject({ records, complete: 'likely', collections });
    }
  });

  test('throws what its next throws after the page that it was given', async () => {
    const next = () => {
      throw new Error('no cursor');
    };
    const { accounts } = serviceOf({ data: { accounts: rows(1, 60) } }).client();
    const seen: number[] = [];
    const reading = async () => {
      for await (const page of accounts.list({}, { pagination: { first: {}, next } }).pages())
        seen.push(page.records.length);
    };
    expect([await caught(reading()), seen]).toEqual([new Error('no cursor'), [30]]);
  });
});

describe('a read that meets an id that is no integer', () => {
  const mixed = () => [...rows(1, 40), row('A-41')];

  test.each([
    ['after 36', 36],
    ['after the first page', 29],
    ['before the end', 40],
  ])('delivers no record twice if it was stopped %s and is resumed', async (_, limit) => {
    const data = { accounts: rows(1, 40) };
    const service = serviceOf({ data, pageSize: 5 });
    const { accounts } = service.client();
    const seen: string[] = [];
    let resumeFrom: string | undefined;
    for await (const page of accounts.list().pages()) {
      seen.push(...page.ids);
      resumeFrom = page.resumeToken;
      if (seen.length >= limit) break;
    }
    data.accounts = mixed();
    service.data.accounts = data.accounts;
    const pages = await all(accounts.list({}, { resumeFrom }).pages());
    seen.push(...pages.flatMap(({ ids }) => ids));
    expect(seen).toEqual(mixed().map(({ id }) => id));
    expect(pages.at(-1)).toMatchObject({ pagination: 'page', complete: 'likely', restarted: false });
  });

  test('begins again, and says so, if it was already read by page when it was stopped', async () => {
    const { accounts } = serviceOf({ data: { accounts: mixed() }, pageSize: 5 }).client();
    let resumeFrom: string | undefined;
    for await (const page of accounts.list().pages()) {
      resumeFrom = page.resumeToken;
      if (page.pagination === 'page') break;
    }
    const pages = await all(accounts.list({}, { resumeFrom }).pages());
    expect(pages.map(({ restarted }) => restarted)).toEqual([true, ...Array(pages.length - 1).fill(false)]);
    expect(pages.flatMap(({ ids }) => ids)).toHaveLength(41);
  });

  test('is one sync of every record once, over runs that are paused', async () => {
    const service = serviceOf({ data: { accounts: rows(1, 40) }, pageSize: 5 });
    const [client, store] = [service.client(), memoryStore()];
    const seen: string[] = [];
    let isRestarted = false;
    for (let paused = true, runs = 0; paused; runs += 1) {
      if (runs === 1) service.data.accounts = mixed();
      const report = await sync(client, {
        tenant: 'acme',
        collections: ['accounts'],
        store,
        stopAfter: { requests: 8 },
        onBatch: ({ records, restarted }) => {
          isRestarted ||= restarted;
          seen.push(...records.map(({ id }) => id));
        },
      });
      ({ paused } = report);
    }
    expect(isRestarted).toBe(false);
    expect(seen).toEqual(mixed().map(({ id }) => id));
  });
});
