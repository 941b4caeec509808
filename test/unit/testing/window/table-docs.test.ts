import { faultConditions, sandboxFaults, sandboxOptions } from 'accounting-data-sdk/testing';
import { expect, test } from 'vitest';
import { collections } from '../../../../src/collections/index.ts';
import type { OptionTable } from '../../../../src/internal/options.ts';
import { tableDocs } from '../../../../src/testing/window/build.ts';

const docs = tableDocs();

const pathsOf = (table: OptionTable, parent = ''): string[] =>
  Object.entries(table).flatMap(([name, { options }]) => {
    // What one collection has of its own has the comment of the others.
    if (Object.hasOwn(collections, name)) return [];
    return options === undefined ? [`${parent}${name}`] : pathsOf(options, `${parent}${name}.`);
  });

test('the window has the comment of every fault, field, condition and option', () => {
  expect(Object.keys(docs.kinds)).toEqual(Object.keys(sandboxFaults));
  const fields = Object.entries(sandboxFaults).flatMap(([kind, { required, optional }]) =>
    Object.keys({ ...required, ...optional }).map((field) => `${kind}.${field}`),
  );
  expect(Object.keys(docs.fields)).toEqual(fields);
  expect(Object.keys(docs.conditions)).toEqual(Object.keys(faultConditions));
  expect(Object.keys(docs.options)).toEqual(expect.arrayContaining(pathsOf(sandboxOptions)));
  expect(docs.fields['delay.ms']).toBe('How late, in ms.');
  expect(docs.options['rateLimit.limit']).toMatch(/^Requests allowed .* Default: 10,000\.$/);
});
