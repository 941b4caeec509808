import { expect, test } from 'vitest';
import { CANARIES } from '../../../support/echoes.ts';
import { provocations } from '../../../support/provocations.ts';
import { openSinks } from '../../../support/sinks.ts';

const cases = CANARIES.flatMap((canary) => provocations.map((row) => ({ canary, ...row })));

test.each(cases)(
  'the $name of $what shows no key even if everything echoes it: $canary',
  async ({ canary, name, provoke }) => {
    const sinks = openSinks();
    const error = await provoke(canary, sinks.options);
    expect((error as Error).name).toBe(name);
    // Wrapped in another error, as loggers and test runners do.
    const wrapped = new AggregateError([error], 'outer', { cause: error });
    expect(await sinks.leaks(canary, error, wrapped)).toEqual([]);

    // Invalid input and store errors belong to no call, so they have no span.
    const spans = await sinks.recorder.spans();
    expect(spans.length > 0).toBe(!['InvalidInputError', 'CheckpointError'].includes(name));
    expect(spans.filter(({ statusMessage }) => statusMessage !== undefined)).toEqual([]);
  },
);
