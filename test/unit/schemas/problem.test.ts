import { expect, test } from 'vitest';
import { contentOf, parseProblem } from '../../../src/schemas/problem.ts';

test.each<[body: unknown, content: string]>([
  [{ type: 'not_found' }, 'problem'],
  [{ 'hydra:description': 'No such record' }, 'problem'],
  [{ status: 404 }, 'problem'],
  // Of another response, such as one behind a proxy.
  [{ type: 'not_found', status: 410 }, 'json'],
  [{ message: 'No route found' }, 'json'],
  [{ type: 404 }, 'json'],
  ['not_found', 'other'],
  [[{ type: 'not_found' }], 'other'],
])('the body %j of a 404 is content of the kind %s', (body, content) => {
  expect(contentOf(body, 404)).toBe(content);
});

test.each<[body: object, ...violations: readonly (readonly [propertyPath: string, message: string])[]]>([
  [{ violations: [{ propertyPath: 'name', field: 'other', message: 'too long' }] }, ['name', 'too long']],
  [{ errors: [{ pointer: '#/lines/0/price', detail: 'no amount' }] }, ['lines.0.price', 'no amount']],
  [{ errors: [{ field: 'name', title: 'blank' }, { field: 'brand' }] }, ['name', 'blank']],
  [{ errors: { name: ['blank', 'odd'], brand: 'x' } }, ['name', 'blank'], ['name', 'odd']],
  [{ name: ['blank'], non_field_errors: ['twice'] }, ['name', 'blank'], ['', 'twice']],
  // Fields of the company beside other members are no errors.
  [{ tags: ['oak'], detail: 'Invalid' }],
])('the violations of %j are %j', (body, ...violations) => {
  const found = parseProblem(body).violations.map(({ propertyPath, message }) => [propertyPath, message]);
  expect(found).toEqual(violations);
});

test('a problem keeps what it has beside its members, and members of another type', () => {
  const body = {
    title: 7,
    detail: null,
    'hydra:title': 'Odd',
    'hydra:description': 'Very',
    code: 12,
    // The name of a member that every object inherits.
    constructor: 'reader',
    status: 422,
  };
  expect(parseProblem({ ...body, ...JSON.parse('{"__proto__":1}') })).toEqual({
    type: undefined,
    title: 'Odd',
    detail: 'Very',
    instance: undefined,
    violations: [],
    extensions: {
      title: 7,
      'hydra:title': 'Odd',
      'hydra:description': 'Very',
      code: 12,
      constructor: 'reader',
    },
  });
});
