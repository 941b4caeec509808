import { createClient, FilterIgnoredError } from 'accounting-data-sdk';
import { createSandbox, type SandboxOptions } from 'accounting-data-sdk/testing';
import { describe, expect, test } from 'vitest';

/** A client of a sandbox with 40 budget lines, and their ids in ascending order. */
function connect(options: SandboxOptions) {
  const sandbox = createSandbox({ records: { budgetLines: 40 }, ...options });
  return { client: createClient(sandbox.clientOptions), ids: sandbox.store.budgetLines.ids() };
}

describe.each(['uuid', 'ulid'] as const)('a list with bounds on %ss', (form) => {
  const ignoring: SandboxOptions = { ids: { form }, textIdBounds: 'ignore' };

  test.each(['id-asc', 'id-desc'] as const)(
    'throws FilterIgnoredError if the service ignores them, in %s order',
    async (order) => {
      const { client, ids } = connect({ ...ignoring, order });
      const [low = '', middle = '', high = ''] = [ids[1], ids[20], ids[38]];
      for (const bounds of [
        { gt: middle },
        { gte: middle.toUpperCase() },
        { lt: middle },
        { lte: middle.toLowerCase() },
        { between: [low, high] as const },
        { between: `${low},${high}` },
      ]) {
        const reading = client.budgetLines.list({ id: bounds }).toArray({ limit: 40 });
        await expect(reading, JSON.stringify(bounds)).rejects.toThrow(FilterIgnoredError);
      }
    },
  );

  test('throws FilterIgnoredError at a single record outside them', async () => {
    const { client, ids } = connect({ ...ignoring, records: { budgetLines: 1 } });
    const reading = client.budgetLines.list({ id: { lt: ids[0] ?? '' } }).toArray({ limit: 9 });
    await expect(reading).rejects.toMatchObject({ code: 'filter_ignored' });
  });

  test('throws FilterIgnoredError with a cursor of the caller', async () => {
    const { client, ids } = connect(ignoring);
    const pagination = { first: {}, next: () => undefined };
    const reading = client.budgetLines
      .list({ id: { gt: ids[20] ?? '' } }, { pagination })
      .toArray({ limit: 40 });
    await expect(reading).rejects.toThrow(FilterIgnoredError);
  });

  test('passes the records of a service that applies them', async () => {
    const { client, ids } = connect({ ids: { form }, order: 'id-desc' });
    const [low = '', high = ''] = [ids[3], ids[36]];
    const read = async (id: object) =>
      (await client.budgetLines.list({ id }).toArray({ limit: 99 })).map((line) => line.id);
    expect(await read({ gt: low, lte: high })).toEqual(ids.slice(4, 37).reverse());
    expect(await read({ between: [low, high] })).toEqual(ids.slice(3, 37).reverse());
  });

  test('cannot judge records that come in another order', async () => {
    const { client, ids } = connect({ ...ignoring, order: 'none' });
    const found = await client.budgetLines.list({ id: { gt: ids[20] ?? '' } }).toArray({ limit: 99 });
    expect(found).toHaveLength(40);
  });
});

test('a list with bounds that are no ids of a known form is not judged', async () => {
  const { client } = connect({ ids: { form: 'uuid' }, textIdBounds: 'ignore' });
  expect(await client.budgetLines.list({ id: { gt: 'zebra' } }).toArray({ limit: 99 })).toHaveLength(40);
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
