import { expect, test, vi } from 'vitest';
import { collections } from '../../../src/collections/index.ts';
import { writeBody } from '../../../src/collections/write-body.ts';
import { thrown } from '../../support/caught.ts';

const body = (draft: unknown) => writeBody(collections.products, draft, 'draft');

/** A `toJSON` cannot add a field that is rejected. */
class Draft {
  name = 'Desk';
  toJSON() {
    return { id: '1', salePrice: 129 };
  }
}

test.each<[unknown, string]>([
  [{}, '{}'],
  [{ name: 'Desk', brand: undefined, model: null }, '{"name":"Desk","model":null}'],
  [{ salePriceDecimals: 4, isInactive: false }, '{"salePriceDecimals":4,"isInactive":false}'],
  [{ fromTomorrow: { any: ['thing', { b: null }] } }, '{"fromTomorrow":{"any":["thing",{"b":null}]}}'],
  [{ name: 'lone \ud800' }, '{"name":"lone \\ud800"}'],
  [new Draft(), '{"name":"Desk"}'],
])('the draft %j is sent as %s', (draft, expected) => {
  expect(body(draft)).toBe(expected);
});

test.each<[unknown, string]>([
  [null, 'draft'],
  ['text', 'draft'],
  [[], 'draft'],
  // As JSON they would be an empty product.
  [Promise.resolve({ name: 'Desk' }), 'draft'],
  [new Map([['name', 'Desk']]), 'draft'],
  [{ id: '1' }, 'draft.id'],
  [{ createdAt: '2026-01-31' }, 'draft.createdAt'],
  [{ name: 7 }, 'draft.name'],
  [{ salePriceDecimals: 1.5 }, 'draft.salePriceDecimals'],
  [{ tags: 'oak' }, 'draft.tags'],
  [{ validFrom: new Date(0) }, 'draft.validFrom'],
  [{ fromTomorrow: Number.NaN }, 'draft.fromTomorrow'],
  [{ fromTomorrow: () => 1 }, 'draft.fromTomorrow'],
  [{ toJSON: () => ({ id: '1' }) }, 'draft.toJSON'],
])('the draft %o is rejected at %s', (draft, argument) => {
  expect(thrown(() => body(draft))).toMatchObject({ code: 'invalid_input', argument, outcome: 'not_sent' });
});

test('an asynchronous schema is left to the service, also if it rejects', async () => {
  const rejected = Promise.reject(new Error('is taken'));
  const then = vi.spyOn(rejected, 'then');
  const name = { '~standard': { version: 1, vendor: 'own', validate: () => rejected } } as const;
  const rules = { ...collections.products, schemas: { name } };
  expect(writeBody(rules, { name: 'Desk' }, 'draft')).toBe('{"name":"Desk"}');
  // Otherwise it ends the process.
  expect(then).toHaveBeenCalledWith(undefined, expect.any(Function));
});
