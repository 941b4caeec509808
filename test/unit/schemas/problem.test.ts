import { expect, test } from 'vitest';
import { parseProblem } from '../../../src/schemas/problem.ts';

test('a violation without a code has no code', () => {
  const { violations } = parseProblem({ violations: [{ propertyPath: 'name', message: 'is empty' }] });
  expect(violations).toStrictEqual([{ propertyPath: 'name', message: 'is empty' }]);
});
