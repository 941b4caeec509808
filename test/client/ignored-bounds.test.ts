import { createClient, FilterIgnoredError } from 'accounting-data-sdk';
import { createSandbox, type SandboxOptions } from 'accounting-data-sdk/testing';
import { expect, test } from 'vitest';

/** A client of a sandbox with 40 budget lines, and their ids in ascending order. */
function connect(options: SandboxOptions) {
  const sandbox = createSandbox({ records: { budgetLines: 40 }, ...options });
  return { client: createClient(sandbox.clientOptions), ids: sandbox.store.budgetLines.ids() };
}

test.each(['uuid', 'ulid'] as const)('a list with bounds on %ss is not judged', async (form) => {
  const { client, ids } = connect({ ids: { form }, textIdBounds: 'ignore' });
  const [low = '', high = ''] = [ids[3], ids[36]];
  for (const id of [
    { gt: high },
    { lte: low.toUpperCase() },
    { between: [low, high] as const },
    { gt: 'zebra' },
  ]) {
    expect(await client.budgetLines.list({ id }).toArray({ limit: 99 })).toHaveLength(40);
  }
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
