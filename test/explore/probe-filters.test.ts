import { collectionNames } from 'accounting-data-sdk';
import { type CollectionDetails, probe } from 'accounting-data-sdk/explore';
import { createSandbox } from 'accounting-data-sdk/testing';
import { describe, expect, test } from 'vitest';
import { clientBehind, productSandbox } from './support/products.ts';

/** What a probe says of products behind something that treats the query in its own way. */
async function productsBehind(
  rewrite: (url: URL) => URL | Response,
  { sandbox } = productSandbox(),
): Promise<CollectionDetails> {
  const { collections } = await probe(clientBehind(sandbox, rewrite), { collections: ['products'] });
  const { details } = collections[0] ?? {};
  if (details === undefined) throw new Error('products were not read');
  return details;
}

const without =
  (...names: string[]) =>
  (url: URL) => {
    for (const name of names) url.searchParams.delete(name);
    return url;
  };

const rejecting =
  (...names: string[]) =>
  (url: URL) =>
    names.some((name) => url.searchParams.has(name))
      ? Response.json({ type: 'malformed_request' }, { status: 400 })
      : url;

const replaced = (name: string, change: (value: string) => string) => (url: URL) => {
  const value = url.searchParams.get(name);
  if (value !== null) url.searchParams.set(name, change(value));
  return url;
};

describe('a filter', () => {
  test.for(['gt', 'gte', 'lt', 'lte'] as const)(
    'id[%s] that the service does not apply is ignored',
    async (operator) => {
      for (const order of ['id-asc', 'id-desc', 'none'] as const) {
        const { id } = await productsBehind(without(`id[${operator}]`), productSandbox({ order }));
        const others = (['gt', 'gte', 'lt', 'lte'] as const).filter((name) => name !== operator);
        expect([order, id[operator].value]).toEqual([order, 'ignored']);
        expect(others.map((name) => id[name].value)).toEqual(['honoured', 'honoured', 'honoured']);
      }
    },
  );

  test.for(['gt', 'gte', 'lt', 'lte'] as const)('id[%s] that returns 400 is rejected', async (operator) => {
    const { id } = await productsBehind(rejecting(`id[${operator}]`));
    const others = (['gt', 'gte', 'lt', 'lte'] as const).filter((name) => name !== operator);
    expect(id[operator].value).toBe('rejected');
    expect(others.map((name) => id[name].value)).toEqual(['honoured', 'honoured', 'honoured']);
  });

  test('that is ignored is seen to be with a single record as well', async () => {
    const { id } = await productsBehind(without('id[gt]', 'id[lt]'), productSandbox({}, 1));
    expect([id.gt.value, id.lt.value]).toEqual(['ignored', 'ignored']);
  });

  test('of which only the last counts is honoured alone, and not together', async () => {
    const { id } = await productsBehind((url) => {
      if (url.searchParams.has('id[gte]')) url.searchParams.delete('id[lte]');
      return url;
    });
    expect([id.gte.value, id.lte.value, id.together.value]).toEqual(['honoured', 'honoured', false]);
  });

  test('gt that includes its bound is not called honoured', async () => {
    const { id } = await productsBehind((url) => {
      const bound = url.searchParams.get('id[gt]');
      if (bound !== null) url.searchParams.set('id[gte]', bound);
      return without('id[gt]')(url);
    });
    expect(id.gt).toMatchObject({ known: false, reason: expect.stringContaining('the bound itself') });
  });

  test('that hides everything is not called honoured', async () => {
    const { id, between } = await productsBehind((url) =>
      url.searchParams.has('id[gt]') || url.searchParams.has('id[between]') ? Response.json([]) : url,
    );
    expect([id.gt.value, between.verdict.value, between.separator.value]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  test('between is ignored, or rejected, in every form', async () => {
    const ignored = await productsBehind(without('id[between]'));
    const rejected = await productsBehind(rejecting('id[between]'));
    expect([ignored.between.verdict.value, ignored.between.separator.value]).toEqual(['ignored', undefined]);
    expect([rejected.between.verdict.value, rejected.between.separator.value]).toEqual([
      'rejected',
      undefined,
    ]);
  });

  test('between whose upper bound is left out of the range', async () => {
    const { between } = await productsBehind(
      replaced('id[between]', (range) => {
        const [low = '', high = ''] = range.split('..');
        return high === '' ? range : `${low}..${Number(high) - 1}`;
      }),
    );
    expect([between.verdict.value, between.inclusive.value]).toEqual(['honoured', false]);
  });

  test('between whose bounds may lie behind the first page is not said to leave them out', async () => {
    const { between } = await productsBehind(
      (url) => {
        const [low = 0, high = 0] = (url.searchParams.get('id[between]') ?? '').split('..').map(Number);
        // A full page from the middle of the range, as of a service that has another order each time.
        const inside = Array.from({ length: 5 }, (_, index) => ({ id: String(low + 1 + index) }));
        return high - low > 5 ? Response.json(inside) : url;
      },
      productSandbox({ order: 'none', pageSize: 5 }, 2000),
    );
    expect([between.verdict.value, between.inclusive.value]).toEqual(['honoured', undefined]);
  });

  test('updatedSince is ignored, rejected, or exclusive', async () => {
    const ignored = await productsBehind(without('updatedSince'));
    const rejected = await productsBehind(rejecting('updatedSince'));
    const exclusive = await productsBehind(
      replaced('updatedSince', (value) => (value.includes('T') ? value.replace(/\d{2}Z$/, '59Z') : value)),
    );
    expect(ignored.updatedSince).toMatchObject({
      verdict: { value: 'ignored' },
      invalidValue: { known: false },
    });
    expect(rejected.updatedSince).toMatchObject({
      verdict: { value: 'rejected' },
      invalidValue: { value: 'rejected' },
    });
    expect(exclusive.updatedSince).toMatchObject({
      verdict: { value: 'honoured' },
      inclusive: { value: false },
    });
  });

  test('updatedSince accepts an offset, or only UTC', async () => {
    const accepted = await productsBehind((url) => url);
    const utcOnly = await productsBehind((url) =>
      /[+-]\d\d:\d\d$/.test(url.searchParams.get('updatedSince') ?? '')
        ? Response.json({ type: 'invalid_query' }, { status: 400 })
        : url,
    );
    expect(accepted.updatedSince).toMatchObject({
      verdict: { value: 'honoured' },
      offset: { value: 'accepted' },
    });
    expect(utcOnly.updatedSince).toMatchObject({
      verdict: { value: 'honoured' },
      offset: { value: 'rejected' },
    });
  });

  test('that fails for another reason is unknown', async () => {
    const { id } = await productsBehind((url) =>
      url.searchParams.has('id[gt]') ? Response.json({ type: 'forbidden' }, { status: 403 }) : url,
    );
    expect(id.gt).toMatchObject({ known: false, reason: expect.stringContaining('forbidden') });
  });
});

describe('page', () => {
  test('that are all the first one are ignored', async () => {
    const { page, pageSize, afterLastPage } = await productsBehind(without('_page'));
    expect([page.value, pageSize.value, afterLastPage.value]).toEqual(['ignored', undefined, undefined]);
  });

  test('that are rejected', async () => {
    const { page } = await productsBehind(rejecting('_page'));
    expect(page.value).toBe('rejected');
  });

  test('that show a record again', async () => {
    const { sandbox } = productSandbox({ pageSize: 10 });
    let first: unknown[] = [];
    sandbox.faults.add(
      {
        kind: 'rewrite',
        body: (text) => {
          const rows = JSON.parse(text) as unknown[];
          if (first.length === 0) first = rows;
          else if (rows.length === 10) rows.splice(0, 3, ...first.slice(7));
          return JSON.stringify(rows);
        },
      },
      { path: /products$/, times: 2 },
    );
    const client = clientBehind(sandbox, (url) => url);
    const { collections, advice } = await probe(client, { collections: ['products'] });
    expect(collections[0]?.details?.repeats.value).toBe(3);
    expect(advice).toContainEqual(expect.stringMatching(/^Lists of products show records on two pages/));
  });

  test('leave open what is past their end if there is no response', async () => {
    // The client tries again after most other errors.
    const cause = Object.assign(new Error('expired'), { code: 'CERT_HAS_EXPIRED' });
    const expired = new TypeError('fetch failed', { cause });
    const { afterLastPage } = await productsBehind((url) => {
      if (url.searchParams.get('_page') === '100000') throw expired;
      return url;
    });
    expect(afterLastPage).toEqual({ known: false, reason: expect.stringContaining('connection_failed') });
  });

  test('report the code of the error if something fails past their end', async () => {
    const { afterLastPage } = await productsBehind((url) =>
      url.searchParams.get('_page') === '100000'
        ? Response.json({ type: 'forbidden' }, { status: 403 })
        : url,
    );
    expect(afterLastPage.value).toBe('forbidden');
  });
});

describe('small collections', () => {
  test('of one and two records leave open what they cannot show, and nothing is wrong', async () => {
    for (const count of [1, 2, 3, 4]) {
      const { sandbox } = productSandbox({}, count);
      const { id, between, pageSize, order } = await productsBehind((url) => url, {
        sandbox,
        client: clientBehind(sandbox, (url) => url),
      });
      const seen = [id.gt, id.lt, id.gte, id.lte, between.verdict].map(({ value }) => value);
      const alone = ['honoured', 'honoured', undefined, undefined, undefined];
      expect([count, seen]).toEqual([count, count === 1 ? alone : seen.map(() => 'honoured')]);
      expect([pageSize.value, order.value]).toEqual([undefined, undefined]);
    }
  });

  test('with pages of one or two records are read right, and ignored filters are seen', async () => {
    for (const pageSize of [1, 2]) {
      for (const order of ['id-asc', 'id-desc', 'none'] as const) {
        const honest = await productsBehind((url) => url, productSandbox({ pageSize, order }));
        const deaf = await productsBehind(
          without('id[gt]', 'id[gte]', 'id[lt]', 'id[lte]'),
          productSandbox({ pageSize, order }),
        );
        const verdicts = ({ id }: CollectionDetails) =>
          [id.gt, id.gte, id.lt, id.lte].map(({ value }) => value);
        expect(verdicts(honest).filter((value) => value !== 'honoured' && value !== undefined)).toEqual([]);
        expect(verdicts(deaf).filter((value) => value !== 'ignored' && value !== undefined)).toEqual([]);
        expect(honest.pageSize.value).toBe(pageSize);
      }
    }
  });

  test('that are empty leave nearly everything open', async () => {
    await using sandbox = createSandbox();
    const { collections, client, sync } = await probe(clientBehind(sandbox, (url) => url));
    expect(collections.map(({ access }) => access)).toEqual(collectionNames.map(() => 'readable'));
    for (const { details } of collections) {
      expect(details).toMatchObject({
        rows: 0,
        listBody: 'array',
        afterLastPage: { value: 'empty' },
        id: { gt: { known: false }, together: { known: false } },
        updatedSince: { verdict: { known: false }, invalidValue: { known: false } },
      });
    }
    expect([client, sync]).toEqual([{ afterLastPage: 'empty' }, {}]);
  });
});
