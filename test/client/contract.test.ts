import { type CollectionName, collectionNames, createClient } from 'accounting-data-sdk';
import { createSandbox, type SandboxOptions } from 'accounting-data-sdk/testing';
import { describe, expect, test } from 'vitest';
import { allSegments } from '../sandbox/contract/specification.ts';

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
  test('lists every record, by page in the order of the service', async () => {
    const { sandbox, collection } = books(name, { pageSize: 2 });
    const seen: unknown[] = [];
    for await (const record of collection.list({}, { pagination: 'page' })) seen.push(record);

    expect(seen).toEqual(sandbox.store[name].all());
    const sent = new Set(sandbox.requests.map(({ method, path }) => `${method} ${path}`));
    expect([...sent]).toEqual([`GET /api/public/v1/${collection.segment}`]);
    expect(sandbox.requests.map(({ query }) => query._page)).toEqual(['1', '2', '3', '4']);
    expect(await collection.list().toArray({ limit: 99 })).toEqual(sandbox.store[name].all());
  });

  test('gets or finds a record by its id, with its unknown fields', async () => {
    const { sandbox, collection } = books(name);
    const second = sandbox.store[name].all()[1];
    const id = second?.id ?? '';
    expect(second).toMatchObject({ fromTomorrow: { note: 'second', of: ['a', 'b'] } });
    expect(await collection.get(id)).toEqual(second);
    expect(await collection.find(id)).toEqual(second);
    expect(await collection.find('404')).toBeUndefined();
    expect(sandbox.requests[0]?.path).toBe(`/api/public/v1/${collection.segment}/${id}`);
  });
});
