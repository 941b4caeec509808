import { expect, test } from 'vitest';
import { formOf, RoutedForms } from '../../../src/schemas/id-form.ts';

test('ids have one form if they contain the same kinds of characters, whatever their order', () => {
  expect(new Set(['ä1', '1ö', '日1本', 'é22'].map(formOf)).size).toBe(1);
  expect(new Set(['a1', 'B2b', '9z'].map(formOf)).size).toBe(1);
  expect(new Set(['a1', 'a', '1', 'a.1', 'a-1', 'a/1', 'ä1', 'a 1'].map(formOf)).size).toBe(8);
});

test.each<[found: readonly string[], unrouted: readonly string[], id: string, isUnrouted: boolean]>([
  [[], [], 'a.1', false],
  [['a1'], ['a.1'], 'b.2', true],
  // What is odd about the form is the dot.
  [['a1'], ['a.1'], '.5-x', true],
  [['a1'], ['a.1'], 'b2', false],
  [['a1'], ['a.1'], 'a-1', false],
  [['a1'], ['a.1', 'a/1'], '/', true],
  // Either of them may be what is odd.
  [['a1'], ['a./1'], 'b.2', true],
  // Nothing is odd about any part: each was found beside others.
  [['a.', '1'], ['a.1'], 'b.2', true],
  [['a.', '1'], ['a.1'], 'a-2', false],
  // A route that takes letters casts nothing.
  [['a1'], ['007'], '008', false],
  // It is found after all.
  [['a1', 'c.3'], ['a.1'], 'b.2', false],
])('with %j found and %j not found, a 404 for %s shows nothing: %s', (found, unrouted, id, isUnrouted) => {
  const forms = new RoutedForms();
  for (const each of unrouted) forms.unrouted('accounts', formOf(each));
  for (const each of found) forms.found('accounts', each);
  expect(forms.isUnrouted('accounts', id)).toBe(isUnrouted);
  expect(forms.isUnrouted('products', id)).toBe(false);
});
