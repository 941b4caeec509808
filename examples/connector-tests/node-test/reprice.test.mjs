import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClient } from 'accounting-data-sdk';
import { createSandbox } from 'accounting-data-sdk/testing';
import { reprice } from './reprice.mjs';

/** A sandbox on a real port, and a client that talks HTTP to it. */
async function shop(options) {
  const sandbox = createSandbox(options);
  await sandbox.listen();
  sandbox.store.products.insert({ name: 'Desk', salePrice: '129.0000', isSaleItem: true });
  sandbox.store.products.insert({ name: 'Screw', salePrice: '0.0050', isSaleItem: true });
  sandbox.store.products.insert({ name: 'Oak board', salePrice: '40.0000', isSaleItem: false });
  return { sandbox, client: createClient(sandbox.clientOptions) };
}

const prices = (sandbox) => sandbox.store.products.all().map(({ salePrice }) => salePrice);

test('raises prices by two and a half per cent, exact to the digit', async () => {
  const { sandbox, client } = await shop();
  assert.deepEqual(await reprice(client, '2.5'), ['1', '2']);
  assert.deepEqual(prices(sandbox), ['132.2250', '0.0051', '40.0000']);
  await sandbox.close();
});

test('raises no price twice after a truncated response', async () => {
  const { sandbox, client } = await shop();
  sandbox.faults.add({ kind: 'disconnect', in: 'body', atByte: 10 }, { method: 'PATCH', times: 1 });
  await reprice(client, '10');
  assert.deepEqual(prices(sandbox), ['141.9000', '0.0055', '40.0000']);
  assert.equal(
    sandbox.count(({ method }) => method === 'PATCH'),
    3,
  );
  await sandbox.close();
});

test('does not change a locked product', async () => {
  const { sandbox, client } = await shop();
  sandbox.store.products.lock('1');
  await assert.rejects(reprice(client, '10'), { code: 'forbidden' });
  assert.deepEqual(prices(sandbox), ['129.0000', '0.0050', '40.0000']);
  await sandbox.close();
});
