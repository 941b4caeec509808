import { expect, test } from 'vitest';
import { collections } from '../../../src/collections/index.ts';
import type { ProductDraft } from '../../../src/collections/products.ts';
import { writeBody } from '../../../src/collections/write-body.ts';
import { caught, thrown } from '../../support/caught.ts';
import { jsonResponse, scriptedClient, scriptedFetch } from '../../support/scripted-fetch.ts';

const body = (draft: unknown) => writeBody(collections.products, draft, 'draft');

test.each<[unknown, string]>([
  [{}, '{}'],
  [{ name: 'Desk', brand: undefined, model: null }, '{"name":"Desk","model":null}'],
  [
    { salePriceDecimals: 4, stockQuantity: 0.5, isInactive: false },
    '{"salePriceDecimals":4,"stockQuantity":0.5,"isInactive":false}',
  ],
  [{ tags: [1, 'a', { b: null }] }, '{"tags":[1,"a",{"b":null}]}'],
  [{ fromTomorrow: { any: ['thing'] } }, '{"fromTomorrow":{"any":["thing"]}}'],
  [{ name: 'lone \ud800' }, '{"name":"lone \\ud800"}'],
])('the draft %j is sent as %s', (draft, expected) => {
  expect(body(draft)).toBe(expected);
});

test.each<[unknown, string]>([
  [null, 'draft'],
  ['text', 'draft'],
  [[], 'draft'],
  [{ id: '1' }, 'draft.id'],
  [{ createdAt: '2026-01-31' }, 'draft.createdAt'],
  [{ name: 7 }, 'draft.name'],
  [{ isInactive: 'yes' }, 'draft.isInactive'],
  [{ salePriceDecimals: 1.5 }, 'draft.salePriceDecimals'],
  [{ stockQuantity: '7' }, 'draft.stockQuantity'],
  [{ tags: 'oak' }, 'draft.tags'],
  [{ validFrom: new Date(0) }, 'draft.validFrom'],
  [{ fromTomorrow: Number.NaN }, 'draft.fromTomorrow'],
  [{ fromTomorrow: () => 1 }, 'draft.fromTomorrow'],
])('the draft %o is rejected at %s', (draft, argument) => {
  expect(thrown(() => body(draft))).toMatchObject({ code: 'invalid_input', argument, outcome: 'not_sent' });
});

test('toJSON cannot add a field that is rejected', () => {
  expect(thrown(() => body({ toJSON: () => ({ id: '1' }) }))).toMatchObject({ argument: 'draft.toJSON' });
  class Draft {
    name = 'Desk';
    toJSON() {
      return { id: '1', salePrice: 129 };
    }
  }
  expect(body(new Draft())).toBe('{"name":"Desk"}');
});

test('a rejected draft or patch is never sent', async () => {
  const fetch = scriptedFetch(jsonResponse({ id: '1' }));
  const { products } = scriptedClient(fetch);
  expect(await caught(products.create({ name: 7 } as unknown as ProductDraft))).toMatchObject({
    argument: 'draft.name',
  });
  expect(await caught(products.update('1', { id: '2' } as unknown as ProductDraft))).toMatchObject({
    argument: 'patch.id',
  });
  expect(await caught(products.update('', {}))).toMatchObject({ argument: 'id' });
  expect(await caught(products.delete('..'))).toMatchObject({ argument: 'id' });
  expect(fetch.requests).toHaveLength(0);
});
