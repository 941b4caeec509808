import { collectionNames } from 'accounting-data-sdk';
import { type CollectionDetails, probe } from 'accounting-data-sdk/explore';
import { createSandbox } from 'accounting-data-sdk/testing';
import { expect, test } from 'vitest';
import { clientBehind, detailsOf, productSandbox } from './support/products.ts';

type Rewrite = (url: URL) => URL | Response;

/** What a probe says of products behind something that treats the query in its own way. */
async function productsBehind(rewrite: Rewrite, { sandbox } = productSandbox()): Promise<CollectionDetails> {
  const { collections } = await probe(clientBehind(sandbox, rewrite), { collections: ['products'] });
  return detailsOf(collections, 'products');
}

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

const rejecting = (name: string, fits?: RegExp, status = 400) =>
  responding(name, () => Response.json({ type: 'malformed_request' }, { status }), fits);
const hiding = (name: string) => responding(name, () => Response.json([]));

const sinceWithId = ({ searchParams }: URL) =>
  searchParams.has('updatedSince') && searchParams.has('id[gte]');

const OPERATORS = ['gt', 'gte', 'lt', 'lte'] as const;

test.each(OPERATORS)('a filter id[%s] that the service does not apply is ignored', async (operator) => {
  const { id } = await productsBehind(without(`id[${operator}]`), productSandbox({ order: 'id-desc' }));
  const expected = OPERATORS.map((name) => (name === operator ? 'ignored' : 'honoured'));
  expect(OPERATORS.map((name) => id[name].value)).toEqual(expected);
});

/** A finding of a collection by its path; a question mark for what is unknown. */
function valueAt(details: CollectionDetails, path: string): string {
  const finding = path.split('.').reduce((inner: object, name) => Reflect.get(inner, name), details);
  return 'known' in finding && 'value' in finding && finding.known ? String(finding.value) : '?';
}

test.each<[what: string, findings: string, rewrite: Rewrite]>([
  ['id[gt] that returns 400', 'id.gt rejected', rejecting('id[gt]')],
  [
    'id[gt] that fails once',
    'id.large ?',
    responding('id[gt]', () => Response.json({}, { status: 503 }), /^\d{10}$/),
  ],
  ['id[gt] that returns 422', 'id.gt rejected', rejecting('id[gt]', /./, 422)],
  ['id[gt] that includes its bound', 'id.gt ?', replaced('id[gt]', (bound) => bound, 'id[gte]')],
  ['id[gt] that hides everything', 'id.gt ?', hiding('id[gt]')],
  [
    'id[lte] that is dropped beside id[gte]',
    'id.gte honoured, id.lte honoured, id.together false',
    (url) => (url.searchParams.has('id[gte]') ? without('id[lte]')(url) : url),
  ],
  [
    'two bounds that return 400',
    'id.gte honoured, id.lte honoured, id.together false',
    (url) => (url.searchParams.has('id[gte]') ? rejecting('id[lte]')(url) : url),
  ],
  ['id[between] that hides everything', 'betweenSeparator ?', hiding('id[between]')],
  ['updatedSince that is dropped', 'updatedSince.verdict ignored', without('updatedSince')],
  [
    'updatedSince that leaves out its own second',
    'updatedSince.verdict honoured, updatedSince.compares utc',
    replaced('updatedSince', (since) => since.replace(/(?<=T.*)\d{2}Z$/, '59Z')),
  ],
  [
    'updatedSince that accepts only UTC',
    'updatedSince.verdict honoured, updatedSince.offset rejected',
    rejecting('updatedSince', /[+-]\d\d:\d\d$/),
  ],
  [
    'updatedSince that fails together with a bound',
    'updatedSince.verdict honoured, updatedSince.compares ?',
    (url) => (sinceWithId(url) ? rejecting('id[gte]')(url) : url),
  ],
  [
    'an invalid updatedSince that finds nothing',
    'updatedSince.verdict honoured, updatedSince.invalidValue ?',
    replaced('updatedSince', (since) => (since.startsWith('not') ? '2190-01-01' : since)),
  ],
  ['_page that is dropped', 'page ignored, pageSize ?, afterLastPage ?', without('_page')],
  [
    'no parameter for pages',
    'page rejected, pageSize ?, afterLastPage ?',
    (url) =>
      [rejecting('_page'), rejecting('page')].map((each) => each(url)).find((made) => made !== url) ?? url,
  ],
  ['no page after the last', 'afterLastPage ?', responding('_page', Response.error, /^100000$/)],
])('a probe of a service with %s finds %s', async (_, findings, rewrite) => {
  const details = await productsBehind(rewrite);
  const found = findings.split(', ').map((line) => line.split(' ')[0] ?? '');
  expect(found.map((path) => `${path} ${valueAt(details, path)}`).join(', ')).toBe(findings);
});

test.each(['utc', 'local'] as const)(
  'a probe finds that a service with an offset compares %s times, even if updatedSince leaves out its own second',
  async (dateFilter) => {
    const service = productSandbox({ timestamps: 'offset', timeZone: 'Asia/Kolkata', dateFilter });
    const later = replaced('updatedSince', (since) => {
      if (since.startsWith('not')) return since;
      const second = new Date(`${since.slice(0, 19)}Z`).getTime() + 1_000;
      return new Date(second).toISOString().slice(0, 19) + since.slice(19);
    });
    const { updatedSince } = await productsBehind(later, service);
    expect(updatedSince).toMatchObject({ verdict: { value: 'honoured' }, compares: { value: dateFilter } });
  },
);

test('a probe does not compare times by other records than it requested', async () => {
  const service = productSandbox({ timestamps: 'offset', timeZone: 'Asia/Kolkata' });
  const unbound: Rewrite = (url) => (sinceWithId(url) ? without('id[gte]', 'id[lte]')(url) : url);
  const { updatedSince } = await productsBehind(unbound, service);
  expect(updatedSince).toMatchObject({ verdict: { value: 'honoured' }, compares: { known: false } });
});

test('a first page in another order is no second page', async () => {
  const service = productSandbox();
  let isOdd = false;
  const when = () => {
    isOdd = !isOdd;
    return isOdd;
  };
  const body = (text: string) => JSON.stringify((JSON.parse(text) as unknown[]).toReversed());
  service.sandbox.faults.add({ kind: 'rewrite', body }, { path: /products$/, when });
  const { page } = await productsBehind(without('_page'), service);
  expect(page.value).toBe('ignored');
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
  const { repeats, order } = detailsOf(collections, 'products');
  // Repeated rows say nothing of the order.
  expect([repeats.value, order.value]).toEqual([3, 'id-asc']);
  expect(advice).toContainEqual(expect.stringMatching(/^Lists of products show records on two pages/));
});

test('the separator of a range is looked for in another collection if ids of the first have no order', async () => {
  const options = { ids: { accounts: { form: 'text' } }, betweenSeparator: ',' } as const;
  const { client } = productSandbox({ ...options, records: { accounts: 90 } }, 20);
  const { collections } = await probe(client, { collections: ['accounts', 'products'] });
  const found = collections.map(({ details }) => details?.betweenSeparator.value);
  expect(found).toEqual([undefined, ',']);
});

test.each([1, 2, 3])('a small collection of %i records leaves open what it cannot show', async (count) => {
  const { id, betweenSeparator, pageSize, order } = await productsBehind(
    (url) => url,
    productSandbox({}, count),
  );
  expect(id.together.value).toBe(count === 3 || undefined);
  const seen = [id.gt, id.lt, id.gte, id.lte].map(({ value }) => value);
  const alone = ['honoured', 'honoured', undefined, undefined];
  expect(seen).toEqual(count === 1 ? alone : seen.map(() => 'honoured'));
  expect([betweenSeparator.value, pageSize.value, order.value]).toEqual([
    count === 1 ? undefined : '..',
    undefined,
    undefined,
  ]);
  const unbound = await productsBehind(without('id[between]', 'id[gt]'), productSandbox({}, count));
  expect(unbound.betweenSeparator.value).toBeUndefined();
  expect(unbound.id.gt.value).toBe('ignored');
});

test('empty collections leave nearly everything open', async () => {
  const { collections, client, sync, sandbox } = await probe(clientBehind(createSandbox(), (url) => url));
  expect(collections.map(({ access }) => access)).toEqual(collectionNames.map(() => 'readable'));
  for (const { details } of collections)
    expect(details).toMatchObject({
      afterLastPage: { value: 'empty' },
      id: { gt: { known: false }, together: { known: false } },
      updatedSince: { verdict: { known: false }, invalidValue: { known: false } },
    });
  expect([client, sync]).toEqual([{}, {}]);
  const { listBody, notFoundBody, ...options } = sandbox;
  expect(Object.keys(options).sort()).toEqual(['afterLastPage', 'rateLimit', 'rateLimitHeaders']);
});
