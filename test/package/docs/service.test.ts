import { collectionNames } from 'accounting-data-sdk';
import { sandboxOptions } from 'accounting-data-sdk/testing';
import { describe, expect, test } from 'vitest';
import { collections } from '../../../src/collections/index.ts';
import { apiErrorOf } from '../../../src/errors/api-error-of.ts';
import { namesIn, tableRows } from './code-blocks.ts';
import { missingMembers } from './members.ts';

const GUIDE = 'src/guides/service.md';

/** Options of the sandbox that stand for nothing that the API documentation leaves open. */
const OTHERS = ['seed', 'records', 'otherRecords', 'fixtures', 'origin', 'clock', 'logLimit'];

const EMPTY_PROBLEM = {
  type: undefined,
  title: undefined,
  detail: undefined,
  instance: undefined,
  violations: [],
  extensions: {},
};
const FACTS = { method: 'GET', path: '/accounts', attempts: 1, outcome: 'rejected' } as const;

describe('the service at a glance', () => {
  const open = tableRows(GUIDE, 'left open');

  test('names options that exist, of the client and of the sandbox, and so does the guide to options', () => {
    const options = tableRows('src/guides/options.md', 'option');
    expect([open.length >= 30, options.length > 20]).toEqual([true, true]);
    const rows = [...open, ...options.map(([option = '']) => ['', '', option])];
    const members = rows.flatMap(([, , option = '', sandboxOption = '']) => [
      ...namesIn(option).map((path) => ({ type: 'Options', path }) as const),
      ...namesIn(sandboxOption).map((path) => ({ type: 'SandboxOptions', path }) as const),
    ]);
    const missing = missingMembers([...members, { type: 'SandboxOptions', path: 'noSuchOption' }]);
    expect(missing).toEqual([expect.stringContaining("'noSuchOption'")]);
  });

  test('names every sandbox option that simulates a choice', () => {
    const named = open.flatMap(([, , , sandboxOption = '']) => namesIn(sandboxOption));
    const options = Object.keys(sandboxOptions);
    expect([...new Set(named), ...OTHERS].toSorted()).toEqual(options.toSorted());
  });

  test('has every segment with its property', () => {
    const rows = tableRows(GUIDE, 'segment').map(([segment = '', name = '', writable]) => [
      ...namesIn(segment),
      ...namesIn(name),
      writable,
    ]);
    expect(rows).toEqual(
      collectionNames.map((name) => [
        collections[name].segment,
        name,
        collections[name].writable ? 'yes' : 'no',
      ]),
    );
  });

  test('has every documented error with its status and its class', () => {
    const rows = tableRows(GUIDE, 'status').map(([status, type = '', name = '']) => ({
      status: Number(status),
      type: namesIn(type)[0],
      name: namesIn(name)[0],
    }));
    expect(rows).toHaveLength(8);
    for (const { status, type, name } of rows) {
      const problem = { ...EMPTY_PROBLEM, type };
      const response = { status, problem, requestId: undefined, rateLimit: undefined, headers: {} };
      const error = apiErrorOf({ ...response, retryAfterMs: undefined }, FACTS);
      expect([error.code, error.name]).toEqual([type, name]);
    }
  });
});
