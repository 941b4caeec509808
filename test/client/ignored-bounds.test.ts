import { createClient, FilterIgnoredError, type IdBounds } from 'accounting-data-sdk';
import { createSandbox, type SandboxOptions } from 'accounting-data-sdk/testing';
import { expect, test } from 'vitest';
import { jsonResponse, scriptedClient, scriptedFetch } from '../support/scripted-fetch.ts';

/** A client of a sandbox with 40 budget lines, and their ids in ascending order. */
function connect(options: SandboxOptions) {
  const sandbox = createSandbox({ records: { budgetLines: 40 }, ...options });
  return { client: createClient(sandbox.clientOptions), ids: sandbox.store.budgetLines.ids() };
}

/** What a service that ignores every filter lists, in one response. */
const listed = (ids: readonly string[], id: IdBounds) => {
  const rows = jsonResponse(ids.map((each) => ({ id: each })));
  const { accounts } = scriptedClient(scriptedFetch(rows, jsonResponse([])));
  return accounts.list({ id }, { pagination: 'page' }).toArray({ limit: 99 });
};

test.each(['uuid', 'ulid'] as const)(
  'a list throws FilterIgnoredError if bounds on %ss are ignored',
  async (form) => {
    const { client, ids } = connect({ ids: { form }, textIdBounds: 'ignore' });
    const [low = '', high = ''] = [ids[3], ids[36]];
    for (const id of [
      { gt: high },
      { lte: low.toUpperCase() },
      { between: [low, high] as const },
      { gt: 'zebra' },
    ]) {
      await expect(client.budgetLines.list({ id }).toArray({ limit: 99 })).rejects.toThrow(
        FilterIgnoredError,
      );
    }
  },
);

test.each(['uuid', 'ulid'] as const)(
  'a list with bounds on %ss passes what the service filters',
  async (form) => {
    const { client, ids } = connect({ ids: { form } });
    const [low = '', high = ''] = [ids[3], ids[36]];
    for (const [id, count] of [
      [{ gt: high }, 3],
      [{ lte: low }, 4],
      [{ gte: low, lt: high }, 33],
    ] as const) {
      expect(await client.budgetLines.list({ id }).toArray({ limit: 99 })).toHaveLength(count);
    }
  },
);

test.each<[IdBounds]>([
  ...['abc', '5x', ' 5', '1e2', '007', '+5', '5.0', '0x5', '٥'].map((bound): [IdBounds] => [{ gte: bound }]),
  [{ lt: '5x' }],
  [{ gt: '0', lte: 'z' }],
  [{ between: ['1', 'z'] }],
  [{ between: 'a..b' }],
  [{ between: '1..' }],
])(
  'a list of integer ids with the bounds %j, which are no integers, throws FilterIgnoredError',
  async (id) => {
    await expect(listed(['1', '2', '3'], id)).rejects.toThrow(FilterIgnoredError);
  },
);

test.each<[readonly string[], IdBounds, boolean]>([
  [['a-1', 'a-2'], { gt: 'a-1' }, false],
  [['a-2', 'B-1'], { gt: 'a-1' }, true],
  [['a_2', 'a-0'], { gt: 'a-1' }, false],
  [['a_2', 'a-3'], { gt: 'a-1' }, true],
  [['ab', 'a-c'], { lt: 'abd' }, true],
  [['a-c'], { gt: 'ab' }, true],
  [['x'], { between: ['a', 'm'] }, false],
  [['a', 'm'], { between: ['a', 'm'] }, true],
  [['1', 'A-41'], { lte: 'A-41' }, true],
  [['1', 'A-41'], { gt: '2' }, false],
  [['1', '2'], { between: '1 to 2' }, true],
  [['1', '2', '3'], { between: '1 to 2' }, false],
  [['1', '2'], { between: '2 to 1' }, true],
  [['1', '3'], { between: '2 to 1' }, false],
  [['1', '2'], { between: '2x..3' }, false],
  [['a1', 'b1'], { between: 'a1 to b2' }, true],
])('the ids %j are within the bounds %j in some order of texts: %s', async (ids, bounds, isWithin) => {
  const reading = listed(ids, bounds);
  if (isWithin) expect(await reading).toHaveLength(ids.length);
  else await expect(reading).rejects.toThrow(FilterIgnoredError);
});

test('a list throws FilterIgnoredError if the service does not understand between, whatever the separator', async () => {
  const { client } = connect({});
  for (const between of ['5,12', '5;12', '5 - 12', '[5,12]', '("5", "12")']) {
    const reading = client.budgetLines.list({ id: { between } }).toArray({ limit: 40 });
    await expect(reading, between).rejects.toThrow(FilterIgnoredError);
  }
});

test('a list with a between of another separator passes the records of a service that understands it', async () => {
  const { client } = connect({ betweenSeparator: ',' });
  for (const pagination of ['page', 'keyset'] as const) {
    const found = await client.budgetLines
      .list({ id: { between: '5,12' } }, { pagination })
      .toArray({ limit: 99 });
    expect(found.map(({ id }) => id)).toEqual(['5', '6', '7', '8', '9', '10', '11', '12']);
  }
});
