import { readFile } from 'node:fs/promises';
import { createClient } from 'accounting-data-sdk';
import { expect, test } from 'vitest';
import { exportOf, numbersOf, openShop } from './support/shop.ts';

test('creates what is missing, changes what differs, and leaves alone what is as it should be', async () => {
  const { sandbox, run } = await openShop();
  sandbox.store.products.insert({ productNumber: 'A', name: 'Desk', salePrice: '129.0000' });
  sandbox.store.products.insert({ productNumber: 'B', name: 'Chair', salePrice: '49.0000', remark: 'Stays' });
  const { actions, results } = await run('sku,title,price\nA,Desk,129\nB,Chair,52.50\nC,Lamp,39.90');

  expect(actions).toEqual(['A unchanged', 'B updated', 'C created']);
  expect(results[1]?.changes).toEqual([{ column: 'price', from: '49.0000', to: '52.50' }]);
  expect(sandbox.journal.map(({ action, fields }) => [action, fields])).toEqual([
    ['update', ['salePrice']],
    ['create', ['productNumber', 'name', 'salePrice']],
  ]);
  expect(sandbox.store.products.all()).toMatchObject([
    { productNumber: 'A', salePrice: '129.0000' },
    { productNumber: 'B', salePrice: '52.5000', remark: 'Stays' },
    { productNumber: 'C', salePrice: '39.9000' },
  ]);
});

test('writes nothing in a second run', async () => {
  const { run, writes } = await openShop({ requiredFields: ['name'] });
  const csv = 'sku,title,price,in_shop,stock,description\nA,Desk,129,yes,5,\nB,Chair,0.10,no,0,"a, b"';
  expect((await run(csv)).actions).toEqual(['A created', 'B created']);
  const before = writes();
  expect((await run(csv)).actions).toEqual(['A unchanged', 'B unchanged']);
  expect(writes()).toBe(before);
});

test('takes amounts for the same that are worth the same, and no others', async () => {
  const { sandbox, run } = await openShop({ moneyDigits: 'as-sent' });
  const prices = ['129', '129.0', '129.00000000', '129.00000001', '-0', '12345678901234567.89'];
  const there = ['129.0000', '129', '129.0000', '129.0000', '0.0000', '12345678901234567.8900'];
  for (const [index, salePrice] of there.entries()) {
    sandbox.store.products.insert({ productNumber: String(index), salePrice });
  }
  const { actions } = await run(
    ['sku,price', ...prices.map((price, index) => `${index},${price}`)].join('\n'),
  );
  expect(actions).toEqual([
    ...['0 unchanged', '1 unchanged', '2 unchanged'],
    ...['3 updated', '4 unchanged', '5 unchanged'],
  ]);
});

test('clears a field whose cell is empty, and leaves one whose column is not in the file', async () => {
  const { sandbox, run, writes } = await openShop();
  sandbox.store.products.insert({ productNumber: 'A', name: 'Desk', description: 'Oak', ean: '1' });
  const { results } = await run('sku,title,description\nA,Desk,');
  expect(results[0]?.changes).toEqual([{ column: 'description', from: 'Oak', to: null }]);
  expect(sandbox.store.products.all()).toMatchObject([{ name: 'Desk', description: null, ean: '1' }]);
  const before = writes();
  await run('sku,title,description\nA,Desk,');
  expect(writes()).toBe(before);
});

test('only says what it would do in a dry run, and keeps nothing of it', async () => {
  const { sandbox, run, writes, statePath } = await openShop();
  sandbox.store.products.insert({ productNumber: 'A', salePrice: '1.0000' });
  const { actions, results } = await run('sku,price\nA,2\nB,3', { dryRun: true });
  expect(actions).toEqual(['A would_update', 'B would_create']);
  expect(results[0]).toMatchObject({ id: '1', changes: [{ column: 'price', from: '1.0000', to: '2' }] });
  expect(writes()).toBe(0);
  await expect(readFile(statePath)).rejects.toThrow('ENOENT');
});

test('says what the service has against a row, in the words of the file, and pushes the others', async () => {
  const { run, numbers } = await openShop({ allowedStatuses: ['active'], requiredFields: ['name'] });
  const { actions, results } = await run('sku,title,status\nA,Desk,active\nB,Chair,sold out\nC,,active');
  expect(actions).toEqual(['A created', 'B failed', 'C failed']);
  expect(results[1]?.messages).toEqual([expect.stringMatching(/^column status: .+ It is "sold out"\.$/)]);
  expect(results[2]?.messages).toEqual([expect.stringMatching(/^column title: .*blank.* It is ""\.$/)]);
  expect(numbers()).toEqual(['A']);
});

test('says what the service says where it names no field', async () => {
  const { sandbox, run } = await openShop();
  sandbox.faults.add({ kind: 'status', status: 422, type: 'validation_failed' }, { method: 'POST' });
  const { results } = await run('sku\nA');
  expect(results[0]).toMatchObject({
    action: 'failed',
    messages: [expect.stringContaining('POST /products returned 422 (validation_failed)')],
  });
});

test('makes no second product where the service writes the number in another way', async () => {
  const { sandbox, run, numbers } = await openShop();
  const inCapitals = (body: string) => body.replace('"desk-1"', '"DESK-1"');
  sandbox.faults.add({ kind: 'rewrite', body: inCapitals }, { method: 'POST' });
  const first = await run('sku,title\ndesk-1,Desk');
  expect(first.results[0]).toMatchObject({
    action: 'created',
    messages: ['column sku: the service made DESK-1 of desk-1'],
  });
  sandbox.store.products.update('1', { productNumber: 'DESK-1' });

  await run('sku,title\ndesk-1,Desk');
  expect(numbers()).toHaveLength(1);
  sandbox.store.products.update('1', { productNumber: 'OTHER' });
  await run('sku,title\ndesk-1,Desk');
  expect(numbers()).toEqual(['OTHER', 'desk-1']);
});

test('uses a new key once the draft that was refused is put right', async () => {
  const { sandbox, run } = await openShop({ allowedStatuses: ['active'] });
  await run('sku,status\nA,lost');
  await run('sku,status\nA,lost');
  expect((await run('sku,status\nA,active')).actions).toEqual(['A created']);
  const keys = sandbox.requests.filter(({ method }) => method === 'POST').map((post) => post.idempotencyKey);
  expect(new Set(keys).size).toBe(3);
});

test('pushes no number that is in the file twice, or in the books twice, and says where', async () => {
  const { sandbox, run, writes } = await openShop();
  sandbox.store.products.insert({ productNumber: 'B', name: 'one' });
  sandbox.store.products.insert({ productNumber: ' B ', name: 'two' });
  const { actions, results } = await run('sku,title\nA,Mat\nB,Lamp\nA,Mat large');
  expect(actions).toEqual(['A invalid', 'B invalid', 'A invalid']);
  expect(results.map(({ line, messages }) => [line, messages?.[0]])).toEqual([
    [2, 'is in the file more than once, in the lines 2, 4; keep the one that is right'],
    [3, '2 products of the books have this number (ids 1, 2); delete or renumber all but one'],
    [4, 'is in the file more than once, in the lines 2, 4; keep the one that is right'],
  ]);
  expect(writes()).toBe(0);
});

test('says what the service made of a value that it did not keep', async () => {
  const { sandbox, run } = await openShop();
  const round = (body: string) => body.replace('12.34567', '12.3457');
  sandbox.faults.add({ kind: 'rewrite', body: round }, { method: 'POST' });
  const { results } = await run('sku,price\nA,12.34567');
  expect(results[0]).toMatchObject({
    action: 'created',
    messages: ['column price: the service made 12.3457 of 12.34567'],
  });
});

test('takes a product that is deleted while the run is under way for gone, and makes it anew in the next', async () => {
  const { sandbox, run, numbers } = await openShop();
  const { id } = sandbox.store.products.insert({ productNumber: 'A', name: 'Desk' });
  // Just before the update is looked at.
  const when = () => !sandbox.store.products.delete(id);
  sandbox.faults.add({ kind: 'connection-reset' }, { method: 'PATCH', when });
  const first = await run('sku,title\nA,Desk 160');
  expect(first.results[0]).toMatchObject({
    action: 'failed',
    messages: [expect.stringMatching(/run again/)],
  });
  expect((await run('sku,title\nA,Desk 160')).actions).toEqual(['A created']);
  expect(numbers()).toEqual(['A']);
});

test('stops at a key that may not write, and says so once', async () => {
  const { sandbox, run, writes } = await openShop();
  const client = createClient({ ...sandbox.clientOptions, apiKey: sandbox.keys.readOnly });
  const { results, stopped } = await run(exportOf(20), { client, concurrency: 1 });
  expect(results.map(({ action }) => action)).toEqual(['failed', ...Array(19).fill('not_tried')]);
  expect(stopped).toMatch(/scope_required/);
  expect(writes()).toBe(1);
});

test('stops when the service is gone, and goes on in the next run', async () => {
  const { sandbox, run, numbers } = await openShop({}, { retry: { maxAttempts: 1 } });
  const down = sandbox.faults.add(
    { kind: 'connection-refused' },
    { method: 'POST', skip: 5, times: Infinity },
  );
  const first = await run(exportOf(20), { concurrency: 1 });
  expect(first.stopped).toMatch(/got no response/);
  expect(first.results.filter(({ action }) => action === 'created')).toHaveLength(5);
  expect(first.results.filter(({ action }) => action === 'failed')).toHaveLength(3);

  down.remove();
  const second = await run(exportOf(20));
  expect(second.stopped).toBeUndefined();
  expect(numbers()).toEqual(numbersOf(20));
});
