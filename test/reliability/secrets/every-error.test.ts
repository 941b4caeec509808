import { expect, test } from 'vitest';
import { CANARIES } from '../../support/echoes.ts';
import { leaks } from '../../support/leaks.ts';
import { provocations } from '../../support/provocations.ts';

const cases = CANARIES.flatMap((canary) => Object.keys(provocations).map((name) => ({ canary, name })));

test.each(cases)('$name shows no key even if everything echoes it: $canary', async ({ canary, name }) => {
  const error = await provocations[name]?.(canary);
  expect((error as Error).name).toBe(name);
  expect(leaks(error, canary)).toEqual([]);
  // Wrapped in another error, as loggers and test runners do.
  expect(leaks(new AggregateError([error], 'outer', { cause: error }), canary)).toEqual([]);
});
