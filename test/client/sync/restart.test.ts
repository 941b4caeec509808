import { changes } from 'accounting-data-sdk';
import { expect, test } from 'vitest';
import { setUpSync } from './set-up.ts';

test('a read that starts again writes its position before its first record, so that a crash in between loses nothing', async () => {
  const books = setUpSync({ order: 'updated-asc' });
  const { accounts } = books.sandbox.store;
  for (let id = 1; id <= 60; id++) {
    accounts.insert({ id: String(id) });
    books.sandbox.clock.advance(1_000);
  }
  const copy = new Set<string>();
  // Interrupted while the order of the service looks like the order of ids.
  for await (const { records } of changes(books.client.accounts, books.run)) {
    for (const { id } of records) copy.add(id);
    if (copy.size >= 20) break;
  }
  copy.clear();
  // From here on it does not: the resumed run starts again, and its process ends before it stores a record.
  for (const id of ['45', '30', '52']) {
    books.sandbox.clock.advance(1_000);
    accounts.update(id, { name: 'edited' });
  }
  const tokens: unknown[] = [];
  let isRestarted = false;
  for await (const { records, checkpoint, last } of changes(books.client.accounts, books.run)) {
    tokens.push(JSON.parse(checkpoint).run?.token);
    if (isRestarted) break;
    for (const { id } of records) copy.add(id);
    isRestarted = records.length === 0 && !last;
  }
  expect(isRestarted).toBe(true);
  expect(new Set(tokens).size).toBe(tokens.length);
  for await (const { records } of changes(books.client.accounts, books.run)) {
    for (const { id } of records) copy.add(id);
  }
  expect([...copy].toSorted()).toEqual(accounts.ids().toSorted());
});
