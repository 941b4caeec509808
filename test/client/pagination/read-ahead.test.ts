import type { ListQuery } from 'accounting-data-sdk';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { caught } from '../../support/caught.ts';
import { jsonResponse, noResponse, problemResponse } from '../../support/scripted-fetch.ts';
import { settle } from '../../support/scripted-server.ts';
import { type AccountPage, all, inside, type Query, type Rows, range, rowsOf, serviceOf } from './service.ts';

// That no record is lost, with responses that overtake each other, is simulated in test/reliability/histories/keyset, and
// what it saves is measured there too.

const ahead = { pagination: 'keyset', prefetch: 4 } as const;
const idsIn = (pages: readonly AccountPage[]) => pages.flatMap(({ ids }) => ids.map(Number));

/** A page of these rows, listed in this order. */
const pageOf = (rows: readonly number[], { page = 1, id }: Pick<Query, 'page' | 'id'>, pageSize = 10) =>
  inside(rows, id).slice((page - 1) * pageSize, page * pageSize);

/** A service that holds each response back until it is released. */
function held(respond: (query: Query) => Rows) {
  const waiting = new Map<string, () => void>();
  let open = false;
  const service = serviceOf(async (query) => {
    const name = decodeURIComponent(query.parameters.toString());
    const rows = respond(query);
    if (!open) await new Promise<void>((release) => waiting.set(name, release));
    return rows;
  });
  const release = (...names: readonly string[]) => {
    for (const name of names) {
      waiting.get(name)?.();
      waiting.delete(name);
    }
  };
  return {
    ...service,
    waiting: () => [...waiting.keys()],
    release,
    releaseAll: () => {
      open = true;
      release(...waiting.keys());
    },
  };
}

/** Reads until four intervals are in flight. */
async function begun(rows: readonly number[]) {
  const service = held((query) => rowsOf(pageOf(rows, query)));
  const pages: AccountPage[] = [];
  const read = (async () => {
    for await (const page of service.pages({}, ahead)) pages.push(page);
  })();
  await settle();
  while (service.waiting().length < 4) {
    service.release(...service.waiting());
    await settle();
  }
  return { ...service, read, pages };
}

describe('a keyset read with prefetch: 4', () => {
  test('requests two and then four intervals at once when the first ones had rows up to their ends', async () => {
    const { waiting, queries, releaseAll, read } = await begun(range(1, 200));
    expect(queries).toEqual([
      '_page=1',
      'id[lte]=9',
      'id[gt]=9',
      'id[gt]=9&id[lte]=18',
      'id[gt]=18&id[lte]=27',
      'id[gt]=27&id[lte]=36',
      'id[gt]=36&id[lte]=45',
      ...waiting(),
    ]);
    expect(waiting()).toEqual([
      'id[gt]=45&id[lte]=54',
      'id[gt]=54&id[lte]=63',
      'id[gt]=63&id[lte]=72',
      'id[gt]=72&id[lte]=81',
    ]);
    releaseAll();
    await read;
  });

  test('delivers in the order of ids, whichever response comes first, and holds at most four', async () => {
    const { read, pages, release, releaseAll, waiting } = await begun(range(1, 200));
    release('id[gt]=72&id[lte]=81', 'id[gt]=54&id[lte]=63', 'id[gt]=63&id[lte]=72');
    await settle();
    expect(waiting()).toEqual(['id[gt]=45&id[lte]=54']);
    release('id[gt]=45&id[lte]=54');
    releaseAll();
    await read;
    expect(idsIn(pages)).toEqual(range(1, 200));
    expect(pages.at(-1)?.complete).toBe('certain');
  });

  test('needs no more requests than one after another if ids are dense, but at the end', async () => {
    const count = async (prefetch: number) => {
      const { accounts, queries } = serviceOf((query) => rowsOf(pageOf(range(1, 400), query)));
      await all(accounts.list({}, { pagination: 'keyset', prefetch }));
      return queries.length;
    };
    const alone = await count(0);
    expect(await count(1)).toBe(alone);
    expect(await count(4)).toBeLessThanOrEqual(alone + 7);
  });

  test('proves the end by an interval without an end, whose second page is requested after the first', async () => {
    const { accounts, queries } = serviceOf((query) => rowsOf(pageOf(range(1, 100), query)));
    await all(accounts.list({}, ahead));
    const open = queries.findLastIndex((query) => /^id\[gt\]=\d+$/.test(query));
    expect(queries.indexOf(`_page=2&${queries[open]}`)).toBeGreaterThan(open);
  });

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

  test('requests no interval that a limit cannot need', async () => {
    const { accounts, queries } = serviceOf((query) => rowsOf(pageOf(range(1, 200), query)));
    expect(await accounts.list({}, ahead).toArray({ limit: 19 })).toHaveLength(19);
    await settle();
    expect(queries).toEqual([
      '_page=1',
      'id[lte]=9',
      'id[gt]=9',
      'id[gt]=9&id[lte]=18',
      'id[gt]=18&id[lte]=27',
    ]);
  });

  test('aborts every interval in flight if the caller leaves the loop', async () => {
    let [inFlight, most] = [0, 0];
    const { pages } = serviceOf(({ count, ...query }, signal) => {
      if (count <= 7) return rowsOf(pageOf(range(1, 200), query));
      inFlight += 1;
      most = Math.max(most, inFlight);
      return noResponse(signal, () => {
        inFlight -= 1;
      });
    });
    for await (const page of pages({}, ahead)) {
      await settle();
      if (page.ids.includes('40')) break;
    }
    await settle();
    expect([most, inFlight]).toEqual([4, 0]);
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

/** Ids with random gaps up to 20, so that guesses overlap. */
const sparse: number[] = [];
for (const n of range(1, 300)) sparse.push((sparse.at(-1) ?? 0) + 1 + ((n * 7919) % 20));

describe('a keyset read with prefetch: 4 of ids with gaps', () => {
  test('requests an interval a little before the expected end of the last one, and delivers each row once', async () => {
    const { accounts, queries } = serviceOf((query) => rowsOf(pageOf(sparse, query)));
    const pages = await all(accounts.list({}, ahead).pages());
    expect(idsIn(pages)).toEqual(sparse);
    for (const page of pages) expect(page.records.map(({ id }) => id)).toEqual(page.ids);
    const bounds = queries.map((query) =>
      /^id\[gt\]=(\d+)&id\[lte\]=(\d+)$/.exec(query)?.slice(1).map(Number),
    );
    const overlaps = bounds.filter(
      (one, index) => one !== undefined && (bounds[index - 1]?.[1] ?? 0) > (one[0] ?? 0),
    );
    expect(overlaps.length).toBeGreaterThan(20);
  });

  test('requests what two responses left out up to the first row behind it, and ends although that row is deleted', async () => {
    // After row 100 a gap of 300 ids: the intervals behind it have rows, and the one that covers it has none.
    let rows = [...range(1, 100), ...range(400, 700)];
    let deleted: number | undefined;
    const { accounts } = serviceOf((query) => {
      const end = Number(query.id.lte);
      if (Number(query.id.gt) >= 100 && rows.includes(end) && end > 399) {
        deleted ??= end;
        rows = rows.filter((row) => row !== deleted);
      }
      return rowsOf(pageOf(rows, query));
    });
    const pages = await all(accounts.list({}, { ...ahead, prefetch: 60 }).pages());
    expect(deleted).toBeDefined();
    expect(new Set(idsIn(pages)).size).toBe(idsIn(pages).length);
    expect(idsIn(pages).filter((id) => id !== deleted)).toEqual(rows);
  });

  test('delivers no row twice and loses none if the order is lost in an overlap', async () => {
    const order = [...sparse];
    let requests = 0;
    const { accounts } = serviceOf((query) => {
      requests += 1;
      // From then on by another order.
      const listed = requests > 12 ? order.toSorted((a, b) => (a % 7) - (b % 7)) : order;
      return rowsOf(pageOf(listed, query));
    });
    const pages = await all(accounts.list({}, ahead).pages());
    expect(idsIn(pages).toSorted((a, b) => a - b)).toEqual(sparse);
    expect(pages.at(-1)?.complete).toBe('likely');
  });

  test('reports each invalid row once, although it is in two responses', async () => {
    const named = z.looseObject({ id: z.string(), name: z.string() });
    const { accounts } = serviceOf(
      (query) =>
        pageOf(sparse, query).map((id) => ({ id: String(id), ...(id % 3 === 0 ? {} : { name: 'a' }) })),
      { validation: 'report', schemas: { accounts: named } },
    );
    const pages = await all(accounts.list({}, ahead).pages());
    const invalid = pages.flatMap((page) => page.invalid.map(({ id }) => Number(id)));
    expect(invalid).toEqual(sparse.filter((id) => id % 3 === 0));
    expect(idsIn(pages)).toEqual(sparse.filter((id) => id % 3 !== 0));
  });

  test('reports an invalid row once, even if it has no id', async () => {
    const nameless = 60;
    const { accounts } = serviceOf(
      (query) =>
        pageOf(sparse, query).map((id) => (sparse[nameless] === id ? { name: 'no id' } : { id: String(id) })),
      { validation: 'report' },
    );
    const pages = await all(accounts.list({}, ahead).pages());
    expect(pages.flatMap(({ invalid }) => invalid)).toHaveLength(1);
    expect(idsIn(pages)).toEqual(sparse.filter((_, index) => index !== nameless));
  });
});
