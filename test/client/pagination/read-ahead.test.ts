import type { ListOptions } from 'accounting-data-sdk';
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
  const waiting: { query: string; release: () => void }[] = [];
  let open = false;
  const service = serviceOf(async (query) => {
    const name = query.parameters.toString();
    const rows = respond(query);
    if (!open)
      await new Promise<void>((release) => waiting.push({ query: decodeURIComponent(name), release }));
    return rows;
  });
  return {
    ...service,
    waiting: () => waiting.map(({ query }) => query),
    release: (...names: readonly string[]) => {
      for (const { release } of waiting.filter(({ query }) => names.includes(query))) release();
    },
    releaseAll: () => {
      open = true;
      for (const { release } of waiting) release();
    },
  };
}

/** Reads the first pages until the width of an interval is known, so that the next ones can be guessed. */
async function begun(rows: readonly number[], options: ListOptions = ahead) {
  let isHeld = false;
  const service = held((query) => rowsOf(pageOf(rows, query)));
  const read = service.pages({}, options);
  const pages: AccountPage[] = [];
  const first = read.next();
  while (!isHeld) {
    await settle();
    isHeld = service.waiting().includes('id[gt]=9&id[lte]=18');
    if (!isHeld) service.release(...service.waiting());
  }
  const { value } = await first;
  if (value !== undefined) pages.push(value);
  return { ...service, read, pages };
}

describe('a keyset read with prefetch: 4', () => {
  test('requests four intervals at once, as soon as the first page has shown how wide they are', async () => {
    const { waiting, queries } = await begun(range(1, 200));
    expect(waiting().slice(-4)).toEqual([
      'id[gt]=9&id[lte]=18',
      'id[gt]=18&id[lte]=27',
      'id[gt]=26&id[lte]=35',
      'id[gt]=34&id[lte]=43',
    ]);
    expect(queries).toHaveLength(7);
  });

  test('delivers in the order of ids, whichever response comes first, and requests the next one when one arrives', async () => {
    const { read, pages, release, releaseAll, waiting } = await begun(range(1, 200));
    release('id[gt]=34&id[lte]=43', 'id[gt]=26&id[lte]=35');
    await settle();
    // Nothing more than four pages after the one that the consumer has.
    expect(waiting()).toHaveLength(7);
    release('id[gt]=9&id[lte]=18');
    const { value } = await read.next();
    expect(value?.ids.map(Number)).toEqual(range(10, 18));
    releaseAll();
    const rest = await all(read);
    expect(idsIn([...pages, ...(value ? [value] : []), ...rest])).toEqual(range(1, 200));
    expect(rest.at(-1)?.complete).toBe('certain');
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

  test('proves the end by requests that are sent after the last row was received', async () => {
    const { accounts, queries } = serviceOf((query) => rowsOf(pageOf(range(1, 100), query)));
    await all(accounts.list({}, ahead));
    expect(queries.slice(-2)).toEqual(['_page=2&id[gt]=100', 'id[gt]=100']);
  });

  test.each([
    ['in a list of changes', { updatedSince: '2026-01-01' }, range(1, 90)],
    ['in another order than that of ids', {}, range(1, 90).map((n) => (n * 37) % 91)],
  ])('requests one interval at a time %s', async (_, query, rows) => {
    let [inFlight, most] = [0, 0];
    const { accounts } = serviceOf(async (request) => {
      inFlight += 1;
      most = Math.max(most, inFlight);
      await settle();
      inFlight -= 1;
      return rowsOf(pageOf(rows, request));
    });
    const records = await all(accounts.list(query, ahead));
    expect(new Set(records.map(({ id }) => id)).size).toBe(90);
    expect(most).toBe(1);
  });

  test('requests one interval at a time while the quota of the key is nearly used up', async () => {
    let [inFlight, most] = [0, 0];
    const { accounts } = serviceOf(async (request) => {
      inFlight += 1;
      most = Math.max(most, inFlight);
      await settle();
      inFlight -= 1;
      const headers = { 'x-ratelimit-limit': '100', 'x-ratelimit-remaining': '7' };
      return jsonResponse(rowsOf(pageOf(range(1, 200), request)), 200, headers);
    });
    expect(await all(accounts.list({}, ahead))).toHaveLength(200);
    expect(most).toBe(1);
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
      if (count <= 3) return rowsOf(pageOf(range(1, 200), query));
      inFlight += 1;
      most = Math.max(most, inFlight);
      return noResponse(signal, () => {
        inFlight -= 1;
      });
    });
    for await (const _ of pages({}, ahead)) {
      await settle();
      break;
    }
    await settle();
    expect([most, inFlight]).toEqual([4, 0]);
  });

  test('throws the error of an interval after the pages before it, with the token behind them', async () => {
    const failing = (query: Query) =>
      query.id.gt === '26' ? problemResponse(403, {}) : rowsOf(pageOf(range(1, 200), query));
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
    expect(idsIn(seen)).toEqual(range(1, 27));
    expect(error).toMatchObject({ status: 403, resumeToken: seen.at(-1)?.resumeToken });
  });

  test('never throws the error of an interval that is not needed', async () => {
    // Above 40 nothing exists, and such a request fails.
    const { accounts } = serviceOf((query) =>
      Number(query.id.gt ?? 0) > 40 ? problemResponse(403, {}) : rowsOf(pageOf(range(1, 40), query)),
    );
    expect(await all(accounts.list({}, ahead))).toHaveLength(40);
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

  test.each([
    ['is deleted', (rows: readonly number[], row: number) => rows.filter((each) => each !== row)],
    [
      'is followed by a page of hidden rows',
      (rows: readonly number[], row: number) => rows.filter((each) => each < row || each > row + 200),
    ],
  ])('ends although the row that a gap ends with %s', async (_, without) => {
    // After row 100 a gap of 300 ids: the guesses behind it have rows, and the one that covers it has none.
    let rows = [...range(1, 100), ...range(400, 700)];
    let [isChanged, requests] = [false, 0];
    const { accounts } = serviceOf((query) => {
      requests += 1;
      const { gt, lte } = query.id;
      const isGap = Number(gt) === 100 && lte !== undefined && rows.includes(Number(lte));
      if (isGap && !isChanged) {
        rows = without(rows, Number(lte));
        isChanged = true;
      }
      return rowsOf(pageOf(rows, query));
    });
    const pages = await all(accounts.list({}, { ...ahead, prefetch: 60 }).pages());
    expect(idsIn(pages)).toEqual(rows);
    expect(isChanged).toBe(true);
    expect(requests).toBeLessThan(300);
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
    const restart = pages.findLastIndex(({ restarted }) => restarted);
    const ids = idsIn(pages.slice(Math.max(restart, 0)));
    expect(ids.toSorted((a, b) => a - b)).toEqual(sparse);
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
