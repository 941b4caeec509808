import { expect, test } from 'vitest';
import { type ListStatement, nextLink, statementOf, withLinks } from '../../../src/schemas/list-statement.ts';

const says = (total?: number, hasNext?: boolean): ListStatement => ({ total, hasNext });

test.each<[string, unknown, ListStatement]>([
  ['a bare array', [{ id: '1', next: 'x', total: 5 }], says()],
  ['JSON-LD', { member: [], totalItems: 300 }, says(300)],
  ['JSON-LD with a next page', { member: [], totalItems: 300, view: { next: '/a?page=2' } }, says(300, true)],
  [
    'JSON-LD at its last page',
    { member: [], view: { '@id': '/a?page=2', last: '/a?page=2' } },
    says(undefined, false),
  ],
  [
    'hydra',
    { 'hydra:member': [], 'hydra:totalItems': 7, 'hydra:view': { 'hydra:next': '/a' } },
    says(7, true),
  ],
  [
    'hydra at its last page',
    { 'hydra:view': { 'hydra:first': '/a', 'hydra:last': '/a' } },
    says(undefined, false),
  ],
  ['HAL', { _links: { self: { href: '/a' }, next: { href: '/a?page=2' } } }, says(undefined, true)],
  ['HAL with only itself', { _links: { self: { href: '/a' } } }, says()],
  ['JSON:API without a next page', { links: { first: '/a', next: null } }, says(undefined, false)],
  ['meta.next', { meta: { next: '/a?page=2' } }, says(undefined, true)],
  ['meta.next that is null', { meta: { next: null, total: 30 } }, says(30, false)],
  ['meta.pagination', { meta: { pagination: { total: '31', next_page_url: '' } } }, says(31, false)],
  ['has_more', { has_more: true }, says(undefined, true)],
  ['hasMore', { pagination: { hasMore: false, totalCount: 12 } }, says(12, false)],
  ['a cursor', { meta: { nextCursor: 'abc' } }, says(undefined, true)],
  ['a total that may be an amount', { total: 1200, meta: { total: '12.50' } }, says()],
  ['a link that is an object', { view: { next: { '@id': '/a?page=2' } } }, says(undefined, true)],
  ['a link without an address', { links: { next: { url: '' } } }, says(undefined, false)],
  ['an empty link', { _links: { next: {} } }, says(undefined, false)],
  ['a flag that is a text', { meta: { hasNext: 'false' } }, says(undefined, false)],
  ['two totals', { totalItems: 5, total_count: 9 }, says(9)],
  ['no body', null, says()],
])('%s says what follows', (_, body, expected) => {
  expect(statementOf(body)).toEqual(expected);
});

test.each([
  ['<https://books.example/a?_page=2>; rel="next"', true],
  ['<https://books.example/a?rel=next>; rel=self, </a?_page=2>; title="b"; rel="last next"', true],
  ['</a?_page=1>; rel="prev", </a?_page=1>; rel="first"', false],
  ['</docs>; rel="https://api-platform.com/apiDocumentation"', undefined],
  [undefined, undefined],
])('the header Link %s says whether a page follows: %s', (link, hasNext) => {
  expect(withLinks(says(), link)).toEqual(says(undefined, hasNext));
  expect(withLinks(says(5, true), link)).toEqual(says(5, true));
});

test.each<[body: unknown, header: string | undefined, link: string | undefined]>([
  [{ view: { next: '/a?_page=2' } }, undefined, 'body _page=2'],
  [{ 'hydra:view': { 'hydra:next': '/a?page=2' } }, undefined, 'body page=2'],
  [{ _links: { next: { href: 'https://books.example/a?cursor=x%26y' } } }, undefined, 'body cursor=x%26y'],
  [{ links: { next: { '@id': '/a?p=3' } } }, undefined, 'body p=3'],
  [{ meta: { next_page_url: { url: '?p=4' } } }, undefined, 'body p=4'],
  // A token is no link, and one beside it counts.
  [{ meta: { nextCursor: 'abc' } }, undefined, undefined],
  [{ meta: { nextCursor: 'abc', next: '/a?p=2' } }, undefined, 'body p=2'],
  [{ next: '/a?p=9' }, '</a?p=1>; rel="prev", </a?p=2>; rel="Next"', 'header p=2'],
  [{ next: '/a?p=9' }, '</a>; rel="next"', 'body p=9'],
  [{ next: '/a?p=9' }, '</a?p=3>; rel="last next"', 'header p=3'],
  [[{ next: '/a?p=9' }], undefined, undefined],
])('the next page of %j with the header Link %s is at %s', (body, header, link) => {
  const found = nextLink(body, header);
  expect(found && `${found.in} ${found.query}`).toBe(link);
});
