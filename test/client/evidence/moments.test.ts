import {
  type AnyAccountingError,
  isAccountingError,
  memoryStore,
  type Page,
  push,
  sync,
} from 'accounting-data-sdk';
import { describe, expect, test } from 'vitest';
import { caught } from '../../support/caught.ts';
import { SeededRandom } from '../../support/seeded-random.ts';
import { type Call, type Hook, type Row, row, rows, serviceOf } from './service.ts';

/** Rows of a page, in the order of the service. */
const pageOf = ({ rows: listed, query }: Call, size = 30) => {
  const page = Number(query.get('_page') ?? 1);
  return listed.slice((page - 1) * size, page * size);
};

/** The error of a read that showed records and then none. */
const INCOMPLETE = { code: 'unexpected_response', reason: 'incomplete_list', retryable: true };

const ORDERS: Readonly<Record<string, (a: Row, b: Row) => number>> = {
  'by ascending id': (a, b) => Number(a.id) - Number(b.id),
  'by descending id': (a, b) => Number(b.id) - Number(a.id),
  'in no order': (a, b) => ((Number(a.id) * 7919) % 1009) - ((Number(b.id) * 7919) % 1009),
};

const uuid = (n: number) => `${String(n).padStart(8, '0')}-0000-4000-8000-000000000000`;

interface Read {
  readonly ids: readonly string[];
  readonly last: Page<{ id: string }> | undefined;
  readonly error: unknown;
}

/** Reads the products of a service, with or without an error. */
async function readOf(
  data: Row[],
  hook: Hook,
  { pageSize, ...options }: Record<string, unknown> = {},
): Promise<Read> {
  const service = serviceOf({ data: { products: data }, hook, pageSize: pageSize as number });
  const ids: string[] = [];
  let last: Page<{ id: string }> | undefined;
  try {
    for await (const page of service.client(options).products.list().pages()) {
      ids.push(...page.ids);
      last = page;
    }
    return { ids, last, error: undefined };
  } catch (error) {
    return { ids, last, error };
  }
}

const missingFrom = (data: readonly Row[], { ids }: Read) => data.filter(({ id }) => !ids.includes(id));

describe.each(Object.keys(ORDERS))('a service that lists %s and shows records and then none', (order) => {
  const data = () => rows(1, 90).toSorted(ORDERS[order]);

  test.each([1, 2, 3, 4, 5, 6])(
    'from the request after %i on fails the read, the sync and the push, and nothing is created',
    async (after) => {
      const hook: Hook = ({ count, id }) => (id === undefined && count > after ? [] : undefined);
      const read = await readOf(data(), hook);
      const ended = read.error === undefined;
      // The last request of a list shows none anyway.
      if (ended) expect(missingFrom(data(), read)).toEqual([]);
      else expect(read.error).toMatchObject(INCOMPLETE);

      const syncing = serviceOf({ data: { products: data() }, hook }).client();
      const error = await caught(
        sync(syncing, { tenant: 'acme', collections: ['products'], store: memoryStore(), onBatch: () => {} }),
      ).catch(() => undefined);
      expect(isAccountingError(error, 'sync_failed') ? (error.cause as AnyAccountingError).code : ended).toBe(
        ended ? true : 'unexpected_response',
      );

      const pushing = serviceOf({ data: { products: data() }, hook });
      const push1 = push(pushing.client().products, {
        tenant: 'acme',
        key: 'productNumber',
        store: memoryStore(),
        visibleAfterMs: 1,
        rows: [{ productNumber: 'P3', name: 'N3' }],
      });
      await push1.catch(() => undefined);
      expect(pushing.data.products?.filter(({ productNumber }) => productNumber === 'P3')).toHaveLength(1);
    },
  );

  test.each([2, 3, 4, 5, 6, 7])('at request %i alone, is read completely', async (at) => {
    const read = await readOf(data(), ({ count }) => (count === at ? [] : undefined));
    expect(read.error).toBeUndefined();
    expect(missingFrom(data(), read)).toEqual([]);
    expect(new Set(read.ids).size).toBe(read.ids.length);
  });

  test.each([2, 3, 4, 5, 6, 7])(
    'at request %i alone, with gaps between its ids, is read completely, or is likely in no order',
    async (at) => {
      const spread = rows(1, 90)
        .map((each) => ({ ...each, id: `${Number(each.id) ** 2}` }))
        .toSorted(ORDERS[order]);
      const read = await readOf(spread, ({ count }) => (count === at ? [] : undefined));
      expect(read.error).toBeUndefined();
      if (order === 'in no order' && read.last?.complete === 'likely') return;
      expect(missingFrom(spread, read)).toEqual([]);
    },
  );

  test.each([1, 2])('because %i of three were deleted, is read to its end, and is likely', async (gone) => {
    const few = rows(1, 3).toSorted(ORDERS[order]);
    const read = await readOf(few, ({ count }) => {
      if (count === 1) few.splice(0, gone);
      return undefined;
    });
    expect(read.error).toBeUndefined();
    expect(missingFrom(few, read)).toEqual([]);
    expect(read.last?.complete).toBe('likely');
  });

  test.each([2, 3])(
    'where a read of %i was resumed, ends it only if so few can be deleted at once',
    async (count) => {
      const few = rows(1, count).toSorted(ORDERS[order]);
      const { list } = serviceOf({ data: { products: few } }).client().products;
      const { value: page } = await list().pages().next();
      few.length = 0;
      const read = async () => {
        let complete: unknown;
        for await (const each of list({}, { resumeFrom: page?.resumeToken }).pages()) ({ complete } = each);
        return complete;
      };
      if (count === 3) expect(await caught(read())).toMatchObject(INCOMPLETE);
      else expect(await read()).toBe('likely');
    },
  );

  test('behind where a read was resumed, is likely if one of its records had been shown', async () => {
    const shown = new Set<string>();
    const now = { isResumed: false };
    const hook: Hook = (call) =>
      now.isResumed ? pageOf({ ...call, rows: call.rows.filter(({ id }) => shown.has(id)) }) : undefined;
    const list = serviceOf({ data: { products: data() }, hook }).client().products.list;
    let resumeFrom: string | undefined;
    for await (const page of list().pages()) {
      for (const id of page.ids) shown.add(id);
      resumeFrom = page.resumeToken;
      if (page.ids.length > 0) break;
    }
    now.isResumed = true;
    let complete: unknown;
    for await (const page of list({}, { resumeFrom }).pages()) ({ complete } = page);
    expect(complete).toBe('likely');
  });
});

describe.each(Object.keys(ORDERS))('a service that lists %s, with some ids that are no integers', (order) => {
  const COUNT = 100;
  // In no order these are not among the first ones.
  const data = () =>
    rows(1, COUNT)
      .toSorted(ORDERS[order])
      .map((each, index) =>
        Number(each.id) > 80 && (order !== 'in no order' || index >= 20)
          ? { ...each, id: `A-${each.id}` }
          : each,
      );
  const moments: Readonly<Record<string, (at: number) => (call: Call) => readonly Row[]>> = {
    'shortens its pages': (at) => (call) => pageOf(call, call.count < at ? 5 : 3),
    'lacks the latest ones on one node': (at) => (call) =>
      pageOf(
        { ...call, rows: call.count === at ? call.rows.filter(({ id }) => Number(id) < 30) : call.rows },
        COUNT,
      ),
  };

  test.each(Object.keys(moments))(
    'and %s, is read by page, and no push creates a product that it showed',
    async (moment) => {
      for (let at = 1; at <= 10; at += 1) {
        const shown = new Set<unknown>();
        const hook: Hook = (call) => {
          const listed = call.id === undefined ? moments[moment]?.(at)(call) : undefined;
          for (const { productNumber } of listed ?? []) shown.add(productNumber);
          return listed;
        };
        const service = serviceOf({ data: { products: data() }, hook });
        const pushed = push(service.client().products, {
          tenant: 'acme',
          key: 'productNumber',
          store: memoryStore(),
          visibleAfterMs: 1,
          rows: data().map(({ productNumber }) => ({ productNumber: String(productNumber), name: 'X' })),
        });
        await pushed.catch(() => undefined);
        const made = service.data.products?.slice(COUNT).map(({ productNumber }) => productNumber);
        expect(
          made?.filter((number) => shown.has(number)),
          `at request ${at}`,
        ).toEqual([]);
      }
    },
  );
});

describe('a sync that resumes at a service that shows no record any more', () => {
  async function paused(data: Row[]) {
    const now = { hides: false };
    const hook: Hook = ({ id }) => (now.hides && id === undefined ? [] : undefined);
    const client = serviceOf({ data: { products: data }, hook }).client();
    const options = { tenant: 'acme', collections: ['products'], store: memoryStore() } as const;
    const ids = new Set<string>();
    const run = (mode: 'incremental' | 'full', stopAfter?: { requests: number }) =>
      sync(client, {
        ...options,
        mode,
        stopAfter,
        onBatch: ({ records }) => {
          for (const { id } of records) ids.add(id);
        },
      });
    expect(await run('incremental', { requests: 5 })).toMatchObject({ paused: true });
    now.hides = true;
    const fails = async (mode: 'incremental' | 'full') => {
      const error = await caught(run(mode));
      expect(isAccountingError(error, 'sync_failed') && [error.retryable, error.cause]).toEqual([
        true,
        expect.objectContaining({ ...INCOMPLETE, hint: expect.stringContaining("mode 'full'") }),
      ]);
    };
    return { run, fails, ids, now };
  }

  test.each(['incremental', 'full'] as const)('fails, and goes on when they come again: %s', async (mode) => {
    const { run, fails, ids, now } = await paused(rows(1, 200));
    await fails(mode);
    now.hides = false;
    expect(await run(mode)).toMatchObject({ complete: 'certain', paused: false });
    expect(ids.size).toBe(200);
  });

  test("whose records were deleted fails until mode 'full' has failed once, and then reads from the start", async () => {
    const data = rows(1, 200);
    const { run, fails } = await paused(data);
    data.splice(0);
    for (const mode of ['incremental', 'incremental', 'full'] as const) await fails(mode);
    expect(await run('full')).toMatchObject({ records: 0, complete: 'certain', paused: false });
    expect(await run('incremental')).toMatchObject({ records: 0, paused: false });
  });
});

describe('a service that is read by page, because its ids are UUIDs,', () => {
  const data = () => Array.from({ length: 220 }, (_, n) => row(uuid(n), { productNumber: `P${n}` }));

  test.each([1, 2, 5, 8])(
    'fails the read if page %i is empty once, and a push creates nothing',
    async (empty) => {
      const hook: Hook = ({ query, count }) =>
        query.get('_page') === String(empty) && (empty > 1 || count > 1) && isEmptyOnce.delete(empty)
          ? []
          : undefined;
      const isEmptyOnce = new Set([empty]);
      const service = serviceOf({ data: { products: data() }, hook, pageSize: 20 });
      const pushing = push(service.client().products, {
        tenant: 'acme',
        key: 'productNumber',
        store: memoryStore(),
        visibleAfterMs: 1,
        rows: data().map(({ productNumber }) => ({ productNumber: String(productNumber), name: 'N' })),
      });
      const result = await pushing.catch((error: unknown) => error);
      expect(service.data.products).toHaveLength(220);
      // The first page is only requested once.
      if (empty > 1) expect(result).toMatchObject({ code: 'push_failed', cause: INCOMPLETE });
    },
  );

  test.each([3, 7])(
    'fails if page %i and the one behind it are empty, and one ahead is not',
    async (empty) => {
      const pages = new Set([empty, empty + 1].map(String));
      const hook: Hook = ({ query }) => (pages.has(query.get('_page') ?? '') ? [] : undefined);
      const read = await readOf(data(), hook, { pageSize: 20, prefetch: 4 });
      expect(read.error).toMatchObject(INCOMPLETE);
      expect(read.ids).toHaveLength((empty - 1) * 20);
    },
  );

  test('with one page after an empty one in every read, says so', async () => {
    const read = await readOf(data(), ({ query }) => (query.get('_page') === '5' ? [] : undefined), {
      pageSize: 20,
    });
    expect(read.error).toMatchObject({
      ...INCOMPLETE,
      message: expect.stringContaining('a page without records'),
    });
    expect(read.ids).toHaveLength(80);
  });
});

describe("a service of which a gateway responds with one 404, with afterLastPage: 'not_found'", () => {
  const gone = () =>
    new Response('{"title":"Not found"}', { status: 404, headers: { 'content-type': 'application/json' } });

  test.each(Object.keys(ORDERS))('%s, is read completely, or not at all', async (order) => {
    const data = rows(1, 300).toSorted(ORDERS[order]);
    for (let at = 2; at <= 16; at++) {
      const read = await readOf(
        data,
        (call) => (call.count === at || pageOf(call).length === 0 ? gone() : undefined),
        { afterLastPage: 'not_found' },
      );
      const missing = missingFrom(data, read);
      if (read.error === undefined && read.last?.complete === 'certain') expect(missing, `${at}`).toEqual([]);
      if (order !== 'in no order') expect([read.error, missing.length], `${at}`).toEqual([undefined, 0]);
    }
  });
});

describe('a service that ends a response at 8 kB', () => {
  /** A page has 30 rows, or as many as fit. */
  const upTo8kB =
    (bytes: (id: number) => number): Hook =>
    (call) => {
      const page = pageOf(call);
      const fits = page.findIndex(
        (_, index) => page.slice(0, index + 1).reduce((sum, one) => sum + bytes(Number(one.id)), 0) > 8192,
      );
      return page.slice(0, fits < 0 ? page.length : Math.max(1, fits));
    };

  test.each([
    ['any', 'by ascending id'],
    ['any', 'by descending id'],
    ['id', 'by ascending id'],
  ] as const)(
    'with listOrder %s loses no record %s if one in fifty is 15 times as long',
    async (listOrder, order) => {
      for (let seed = 0; seed < 60; seed++) {
        const random = new SeededRandom(seed);
        const sizes = new Map<number, number>();
        const bytes = (id: number) => {
          const known = sizes.get(id) ?? random.int(266, 440) * (random.chance(0.02) ? 15 : 1);
          sizes.set(id, known);
          return known;
        };
        const data = rows(1, random.int(1, 300)).toSorted(ORDERS[order]);
        const read = await readOf(data, upTo8kB(bytes), { listOrder });
        expect([read.error, missingFrom(data, read)], `seed ${seed}`).toEqual([undefined, []]);
        expect(new Set(read.ids).size).toBe(read.ids.length);
      }
    },
  );

  test.each(['any', 'id'] as const)(
    'from the last request but %s on, loses no record either',
    async (listOrder) => {
      for (let from = 1; from <= 12; from++) {
        const data = rows(1, 290);
        const read = await readOf(data, (call) => pageOf(call, call.count < from ? 30 : 18), { listOrder });
        expect([read.error, missingFrom(data, read)], `${from}`).toEqual([undefined, []]);
      }
    },
  );
});

describe('a service of two nodes, one of which is late,', () => {
  /** Every second list comes from a node that does not have the last rows yet. */
  const late =
    (isNew: (one: Row) => boolean, parity: number): Hook =>
    (call) =>
      pageOf(call.count % 2 === parity ? { ...call, rows: call.rows.filter((one) => !isNew(one)) } : call);

  test.each([0, 1])(
    'is read by an incremental sync, or fails it with an error that is retryable: node %i',
    async (parity) => {
      for (let count = 1; count <= 40; count += 3) {
        const data = rows(1, count, () => ({ updatedAt: '2099-01-01T00:00:00Z' }));
        const service = serviceOf({ data: { products: data }, hook: late(() => true, parity) });
        const reading = async () => {
          const seen: string[] = [];
          for await (const page of service.client().products.list({ updatedSince: '2026-01-01' }).pages())
            seen.push(...page.ids);
          return seen;
        };
        const found = await reading().catch((error: unknown) => error);
        // Of a node that has none of them nothing can be seen.
        if (Array.isArray(found)) expect([0, count]).toContain(found.length);
        else expect(found).toMatchObject({ retryable: true });
      }
    },
  );

  test.each(Object.keys(ORDERS))(
    '%s, loses no record under certain if the other is late for a moment',
    async (order) => {
      const data = rows(1, 90).toSorted(ORDERS[order]);
      for (let until = 1; until <= 6; until++) {
        for (const parity of [0, 1]) {
          const hook = late(({ id }) => Number(id) > 80, parity);
          const read = await readOf(data, (call) => (call.count <= until ? hook(call) : undefined));
          if (read.last?.complete === 'certain') expect(missingFrom(data, read)).toEqual([]);
          if (read.error !== undefined) expect(read.error).toMatchObject({ retryable: true });
        }
      }
    },
  );

  test.each([0, 4])(
    'is likely if a record came only after others had proven its interval, prefetch %i',
    async (prefetch) => {
      let lost = 0;
      for (const id of ['2', '25', '32', '35']) {
        for (let until = 1; until <= 8; until++) {
          const data = rows(1, 37);
          let wasShown = false;
          const hook: Hook = (call) => {
            // A node without any record makes the read look behind.
            const listed = call.rows.filter(
              (one) => call.count > until || (one.id !== id && call.count < until),
            );
            const shown = pageOf({ ...call, rows: listed });
            wasShown ||= shown.some((one) => one.id === id);
            return shown;
          };
          const read = await readOf(data, hook, { prefetch });
          expect(read.error).toBeUndefined();
          if (missingFrom(data, read).length === 0 || !wasShown) continue;
          lost += 1;
          expect(read.last?.complete, `${id}, ${until}`).toBe('likely');
        }
      }
      expect(lost).toBeGreaterThan(0);
    },
  );
});
