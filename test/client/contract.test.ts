import { type CollectionName, collectionNames, createClient } from 'accounting-data-sdk';
import { createSandbox, type SandboxOptions } from 'accounting-data-sdk/testing';
import { describe, expect, test } from 'vitest';
import { allSegments } from '../sandbox/contract/suite/specification.ts';

/** A sandbox with three records of one collection, and a client of one name for whichever collection it is. */
function books(name: CollectionName, options: SandboxOptions = {}) {
  const sandbox = createSandbox(options);
  for (const note of ['first', 'second', 'third']) {
    sandbox.store[name].insert({ fromTomorrow: { note, of: ['a', 'b'] } });
  }
  return { sandbox, collection: createClient(sandbox.clientOptions)[name] };
}

test('a client has every collection of the specification, and only products has writes', () => {
  const client = createClient(createSandbox().clientOptions);
  expect(collectionNames.map((name) => client[name].segment)).toEqual(allSegments);
  expect(collectionNames.filter((name) => 'create' in client[name])).toEqual(['products']);
});

describe.each(collectionNames)('%s', (name) => {
  test('lists every record, in order, over all pages', async () => {
    const { sandbox, collection } = books(name, { pageSize: 2 });
    const seen: string[] = [];
    for await (const record of collection.list()) seen.push(record.id);

    expect(seen).toEqual(sandbox.store[name].all().map(({ id }) => id));
    const path = `/api/public/v1/${collection.segment}`;
    expect(sandbox.requests.every((request) => request.method === 'GET' && request.path === path)).toBe(true);
    expect(sandbox.requests.map(({ query }) => query._page)).toEqual(['1', '2', '3']);
  });

  test('gets one record by its id', async () => {
    const { sandbox, collection } = books(name);
    const [, second] = sandbox.store[name].all();
    expect(await collection.get(second?.id ?? '')).toEqual(second);
    expect(sandbox.requests.map(({ path }) => path)).toEqual([
      `/api/public/v1/${collection.segment}/${second?.id}`,
    ]);
  });

  test('finds a record, or undefined', async () => {
    const { sandbox, collection } = books(name);
    const [first] = sandbox.store[name].all();
    expect(await collection.find(first?.id ?? '')).toEqual(first);
    expect(await collection.find('404')).toBeUndefined();
  });

  test('keeps unknown fields, from get and from list', async () => {
    const { sandbox, collection } = books(name);
    const { id } = sandbox.store[name].all()[0] ?? { id: '' };
    const unknown = { id, fromTomorrow: { note: 'first', of: ['a', 'b'] } };
    expect(await collection.get(id)).toMatchObject(unknown);
    expect((await collection.list().toArray({ limit: 1 }))[0]).toMatchObject(unknown);
  });

  test('sends each filter as the specification defines it', async () => {
    const { sandbox, collection } = books(name);
    const id = { gt: '1', gte: '2', lt: '9', lte: '8' };
    await collection.list({ page: 1, updatedSince: '2020-01-01', id }).toArray({ limit: 1 });
    await collection.list({ id: { between: ['1', '2'] } }).toArray({ limit: 1 });
    expect(sandbox.requests.map(({ query }) => query)).toEqual([
      {
        _page: '1',
        updatedSince: '2020-01-01',
        'id[gt]': '1',
        'id[gte]': '2',
        'id[lt]': '9',
        'id[lte]': '8',
      },
      { _page: '1', 'id[between]': '1..2' },
    ]);
  });
});
