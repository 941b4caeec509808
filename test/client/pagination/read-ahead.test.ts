import type { ListQuery } from 'accounting-data-sdk';
import { describe, expect, test } from 'vitest';
import { caught } from '../../support/caught.ts';
import { jsonResponse, problemResponse } from '../../support/scripted-fetch.ts';
import { settle } from '../../support/scripted-server.ts';
import { type AccountPage, all, inside, type Query, range, rowsOf, serviceOf } from './service.ts';

// That no record is lost, with responses that overtake each other, is simulated in test/reliability/histories/keyset.

const ahead = { pagination: 'keyset', prefetch: 4 } as const;
const idsIn = (pages: readonly AccountPage[]) => pages.flatMap(({ ids }) => ids.map(Number));

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
