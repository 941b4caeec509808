import { collectionNames } from 'accounting-data-sdk';
import { type CollectionDetails, probe } from 'accounting-data-sdk/explore';
import { createSandbox } from 'accounting-data-sdk/testing';
import { describe, expect, test } from 'vitest';
import { clientBehind, detailsOf, productSandbox } from './support/products.ts';

type Rewrite = (url: URL) => URL | Response;

/** What a probe says of products behind something that treats the query in its own way. */
async function productsBehind(rewrite: Rewrite, { sandbox } = productSandbox()): Promise<CollectionDetails> {
  const { collections } = await probe(clientBehind(sandbox, rewrite), { collections: ['products'] });
  return detailsOf(collections, 'products');
}

const unchanged: Rewrite = (url) => url;

const without =
  (...names: string[]): Rewrite =>
  (url) => {
    for (const name of names) url.searchParams.delete(name);
    return url;
  };

const replaced =
  (name: string, change: (value: string) => string, as = name): Rewrite =>
  (url) => {
    const value = url.searchParams.get(name);
    if (value === null) return url;
    url.searchParams.delete(name);
    url.searchParams.set(as, change(value));
    return url;
  };

/** Responds itself to requests with a parameter whose value fits. */
const responding =
  (name: string, response: () => Response, fits = /./): Rewrite =>
  (url) =>
    fits.test(url.searchParams.get(name) ?? '') ? response() : url;

const rejecting = (name: string, fits?: RegExp) =>
  responding(name, () => Response.json({ type: 'malformed_request' }, { status: 400 }), fits);
const forbidding = (name: string, fits?: RegExp) =>
  responding(name, () => Response.json({ type: 'forbidden' }, { status: 403 }), fits);
const hiding = (name: string) => responding(name, () => Response.json([]));

/** The client tries again after most other errors of the network. */
const expired = () => {
  const cause = Object.assign(new Error('expired'), { code: 'CERT_HAS_EXPIRED' });
  throw new TypeError('fetch failed', { cause });
};

const OPERATORS = ['gt', 'gte', 'lt', 'lte'] as const;
const unknownBecause = (reason: string) => ({ known: false, reason: expect.stringContaining(reason) });

describe('a filter', () => {
  test.each(OPERATORS)('id[%s] that the service does not apply is ignored', async (operator) => {
    const { id } = await productsBehind(without(`id[${operator}]`), productSandbox({ order: 'id-desc' }));
    const expected = OPERATORS.map((name) => (name === operator ? 'ignored' : 'honoured'));
    expect(OPERATORS.map((name) => id[name].value)).toEqual(expected);
  });

  test.each<[what: string, rewrite: Rewrite, findings: Readonly<Record<string, unknown>>]>([
    ['id[gt] that returns 400 is rejected', rejecting('id[gt]'), { 'id.gt.value': 'rejected' }],
    [
      'id[gt] that includes its bound is unknown',
      replaced('id[gt]', (bound) => bound, 'id[gte]'),
      { 'id.gt': unknownBecause('the bound itself') },
    ],
    ['id[gt] that hides everything is unknown', hiding('id[gt]'), { 'id.gt.known': false }],
    ['id[gt] that returns 403 is unknown', forbidding('id[gt]'), { 'id.gt': unknownBecause('forbidden') }],
    [
      'id[lte] that is only dropped beside id[gte] is honoured alone, and not together',
      (url) => (url.searchParams.has('id[gte]') ? without('id[lte]')(url) : url),
      { 'id.gte.value': 'honoured', 'id.lte.value': 'honoured', 'id.together.value': false },
    ],
    [
      'id[between] that hides everything has no separator',
      hiding('id[between]'),
      { 'betweenSeparator.known': false },
    ],
    [
      'updatedSince that is dropped is ignored',
      without('updatedSince'),
      { 'updatedSince.verdict.value': 'ignored', 'updatedSince.invalidValue.known': false },
    ],
    [
      'updatedSince that leaves out its own second compares in UTC',
      replaced('updatedSince', (since) => since.replace(/(?<=T.*)\d{2}Z$/, '59Z')),
      { 'updatedSince.verdict.value': 'honoured', 'updatedSince.compares.value': 'utc' },
    ],
    [
      'updatedSince that accepts only UTC rejects an offset',
      rejecting('updatedSince', /[+-]\d\d:\d\d$/),
      { 'updatedSince.verdict.value': 'honoured', 'updatedSince.offset.value': 'rejected' },
    ],
    [
      '_page that is dropped is ignored',
      without('_page'),
      { 'page.value': 'ignored', 'pageSize.known': false, 'afterLastPage.known': false },
    ],
    [
      'the page after the last is unknown if it gets no response',
      responding('_page', expired, /^100000$/),
      { afterLastPage: unknownBecause('connection_failed') },
    ],
    [
      'the page after the last is reported by the code of its error',
      forbidding('_page', /^100000$/),
      { 'afterLastPage.value': 'forbidden' },
    ],
  ])('%s', async (_, rewrite, findings) => {
    const found = await productsBehind(rewrite);
    for (const [path, finding] of Object.entries(findings)) expect(found).toHaveProperty(path, finding);
  });
});

test('pages that show a record again are counted, and cause advice', async () => {
  const { sandbox, client } = productSandbox({ pageSize: 10 });
  let first: unknown[] = [];
  const body = (text: string) => {
    const rows = JSON.parse(text) as unknown[];
    if (first.length > 0 && rows.length === 10) rows.splice(0, 3, ...first.slice(7));
    else first = rows;
    return JSON.stringify(rows);
  };
  sandbox.faults.add({ kind: 'rewrite', body }, { path: /products$/, times: 2 });
  const { collections, advice } = await probe(client, { collections: ['products'] });
  expect(detailsOf(collections, 'products').repeats.value).toBe(3);
  expect(advice).toContainEqual(expect.stringMatching(/^Lists of products show records on two pages/));
});

describe('a small collection', () => {
  test.each([1, 3])('of %i records leaves open what it cannot show', async (count) => {
    const { id, betweenSeparator, pageSize, order } = await productsBehind(
      unchanged,
      productSandbox({}, count),
    );
    const seen = [id.gt, id.lt, id.gte, id.lte].map(({ value }) => value);
    const alone = ['honoured', 'honoured', undefined, undefined];
    expect(seen).toEqual(count === 1 ? alone : seen.map(() => 'honoured'));
    expect(betweenSeparator.value).toBe(count === 1 ? undefined : '..');
    expect([pageSize.value, order.value]).toEqual([undefined, undefined]);
  });

  test('that is empty leaves nearly everything open', async () => {
    const { collections, client, sync } = await probe(clientBehind(createSandbox(), unchanged));
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
    expect([client, sync]).toEqual([{}, {}]);
  });
});
