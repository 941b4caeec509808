import * as errors from 'accounting-data-sdk';
import { expect, test } from 'vitest';
import { CANARIES, formsOf } from '../../support/echoes.ts';
import { provocations } from '../../support/provocations.ts';
import { shown } from '../../support/shown.ts';

/** Every class that can be thrown: the abstract ones are extended by others. */
const classes = Object.entries(errors)
  .filter(([, value]) => typeof value === 'function' && value.prototype instanceof Error)
  .map(([name]) => name)
  .filter((name) => !['AccountingError', 'ApiError'].includes(name))
  .sort();

test('there is a case for every class that can be thrown', () => {
  expect(Object.keys(provocations).sort()).toEqual(classes);
  expect(classes.length).toBeGreaterThan(15);
});

const cases = CANARIES.flatMap((canary) => classes.map((name) => ({ canary, name })));

test.each(cases)('$name shows no key even if everything echoes it: $canary', async ({ canary, name }) => {
  const error = await provocations[name]?.(canary);
  expect((error as Error).name).toBe(name);
  const lines = shown(error).split('\n');
  expect(lines.length).toBeGreaterThan(5);
  expect(lines.filter((line) => formsOf(canary).some((form) => line.includes(form)))).toEqual([]);
  // Wrapped in another error, as loggers and test runners do.
  const wrapped = shown(new AggregateError([error], 'outer', { cause: error }));
  expect(wrapped.split('\n').filter((line) => formsOf(canary).some((form) => line.includes(form)))).toEqual(
    [],
  );
});
