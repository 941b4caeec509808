import { readFileSync } from 'node:fs';
import { collectionNames } from 'accounting-data-sdk';
import { sandboxOptions } from 'accounting-data-sdk/testing';
import { describe, expect, test } from 'vitest';
import { collections } from '../../../src/collections/index.ts';
import { apiErrorOf } from '../../../src/errors/api-error-of.ts';
import { clientOptions } from '../../../src/options.ts';
import { listOptions } from '../../../src/pagination/list-options.ts';
import { idBounds } from '../../../src/pagination/page.ts';
import { pushOptions } from '../../../src/push/options.ts';
import { syncOptions } from '../../../src/sync/sync.ts';
import { namesIn, root, tableRows } from './code-blocks.ts';

const GUIDE = 'src/guides/service.md';

/** Options of the sandbox that stand for nothing that the API documentation leaves open. */
const OTHERS = ['seed', 'records', 'otherRecords', 'fixtures', 'origin', 'clock'];

const EMPTY_PROBLEM = {
  type: undefined,
  title: undefined,
  detail: undefined,
  instance: undefined,
  violations: [],
  extensions: {},
};
const FACTS = { method: 'GET', path: '/accounts', attempts: 1, outcome: 'rejected' } as const;

/** Whether a table of options has a name such as `retry.creates`. */
function has(table: object, path: string): boolean {
  let inside: unknown = table;
  for (const name of path.split('.')) {
    const entry = Object(inside);
    inside = entry[name] ?? entry.options?.[name];
  }
  return inside !== undefined;
}

/** The client options and the sandbox options that the rows name. */
function optionsIn(rows: readonly string[][]): [ofClient: string[], ofSandbox: string[]] {
  const cells = rows.map(([, , cell = '']) => cell.split('sandbox '));
  return [0, 1].map((part) => cells.flatMap((parts) => namesIn(parts[part] ?? ''))) as [string[], string[]];
}

describe('the guide to the service', () => {
  const open = tableRows(GUIDE, 'left open');

  test('names options that exist, of the client and of the sandbox', () => {
    expect(open.length).toBeGreaterThan(29);
    const ofClient = {
      ...clientOptions,
      ...listOptions,
      ...syncOptions,
      ...pushOptions,
      page: true,
      id: idBounds,
    };
    const [clientNames, sandboxNames] = optionsIn(open);
    expect(clientNames.filter((path) => !has(ofClient, path))).toEqual([]);
    expect(sandboxNames.filter((path) => !has(sandboxOptions, path))).toEqual([]);
  });

  test('names every sandbox option that simulates a choice', () => {
    const [, named] = optionsIn(open);
    const options = Object.keys(sandboxOptions);
    expect([...new Set(named), ...OTHERS].toSorted()).toEqual(options.toSorted());
  });

  test('has every segment with its property and how many fields are documented; vitest -u writes it', async () => {
    const guide = readFileSync(`${root}${GUIDE}`, 'utf8');
    const head = '| segment | property of the client | writable | documented fields |\n|---|---|---|---|\n';
    const rows = collectionNames.map((name) => {
      const { segment, writable, fields } = collections[name];
      return `| \`${segment}\` | \`${name}\` | ${writable ? 'yes' : 'no'} | ${Object.keys(fields).length} |\n`;
    });
    const start = guide.indexOf(head) + head.length;
    expect(start).toBeGreaterThan(head.length);
    const written = guide.slice(0, start) + rows.join('') + guide.slice(guide.indexOf('\n\n', start) + 1);
    await expect(written).toMatchFileSnapshot(`../../../${GUIDE}`);
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
