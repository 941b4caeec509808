// A row whose id cannot be read can be in no copy.

import type { SyncOptions } from 'accounting-data-sdk';
import { expect, test } from 'vitest';
import { caught } from '../../support/caught.ts';
import {
  Copy,
  clientOf,
  failureOf,
  KEY,
  leaveAtBatch,
  listing,
  readAccounts,
  stateIn,
  syncAll,
  withAccounts,
} from './set-up.ts';

type Row = Readonly<Record<string, unknown>>;

/** How an error names the id, and a row with such an id. */
const FORMS: readonly (readonly [string, (row: Row) => unknown])[] = [
  ['id is the JSON number 15', (row) => ({ ...row, id: Number(row.id) })],
  ['id is null', (row) => ({ ...row, id: null })],
  ['id is missing, but there is "@id"', ({ id, ...row }) => ({ '@id': `/accounts/${id}`, ...row })],
  ['the row is null', () => null],
];

/** A service with 25 accounts, of which the id of one cannot be read. */
function unreadable(formOf: (row: Row) => unknown) {
  const books = withAccounts(25);
  const body = (text: string) => {
    const rows = JSON.parse(text) as Row[];
    return JSON.stringify(rows.map((row) => (row.id === '15' ? formOf(row) : row)));
  };
  books.sandbox.faults.add({ kind: 'rewrite', body }, { path: /\/accounts$/, probability: 1 });
  return { ...books, client: clientOf(books.sandbox, { validation: 'report' }) };
}

test.each(FORMS)('a sync delivers the other rows, then fails: %s', async (why, formOf) => {
  const books = unreadable(formOf);
  const copy = new Copy();
  const deleted: string[] = [];
  const options: Partial<SyncOptions<typeof books.client>> = {
    collections: ['accounts'],
    mode: 'full',
    onBatch: copy.take,
    localIds: () => ['15', '99'],
    onDelete: (ids) => void deleted.push(...ids),
  };
  for (const pagination of ['keyset', 'page'] as const) {
    const { errors, report } = await failureOf(syncAll(listing(books, { pagination }), options));
    expect([copy.ids.length, deleted]).toEqual([24, []]);
    const error = {
      code: 'unexpected_response',
      reason: 'unreadable_id',
      path: '/accounts',
      retryable: false,
      message: expect.stringMatching(/^GET \/accounts .*in row \d+ of the read, /),
      issues: [expect.stringContaining(why)],
    };
    expect(errors).toMatchObject([{ collection: 'accounts', error }]);
    expect(report.collections).toMatchObject([
      { status: 'failed', watermark: undefined, deletions: undefined, resumed: false },
    ]);
  }
  books.sandbox.faults.clear();
  const report = await syncAll(books, options);
  expect(report.collections).toMatchObject([{ status: 'done', deletions: { deleted: 1 } }]);
  expect([copy.ids.length, deleted]).toEqual([25, ['99']]);
});

test('a run of changes in which an id cannot be read keeps the watermark of the last one', async () => {
  const books = unreadable((row) => ({ ...row, id: null }));
  const { faults, clock, store } = books.sandbox;
  faults.clear();
  await readAccounts(books);
  const { watermark } = stateIn(books.states);
  clock.advance(3_600_000);
  for (const id of ['3', '4']) store.accounts.update(id, { name: 'Changed' });
  const body = (text: string) => text.replaceAll('"id":"4"', '"id":4');
  faults.add({ kind: 'rewrite', body }, { path: /\/accounts$/, probability: 1 });
  const copy = new Copy();
  for (let runs = 0; runs < 2; runs++) {
    clock.advance(3_600_000);
    expect(await caught(readAccounts(books, {}, copy.take))).toMatchObject({ reason: 'unreadable_id' });
    expect([copy.ids, stateIn(books.states).watermark]).toEqual([['3'], watermark]);
  }
  faults.clear();
  expect(await readAccounts(books, {}, copy.take)).toMatchObject({ status: 'done' });
  expect(copy.ids).toEqual(['3', '4']);
});

test('a run that resumes one which met such a row reads everything again', async () => {
  const books = unreadable((row) => ({ ...row, id: null }));
  const copy = new Copy();
  await leaveAtBatch(3, books, {}, copy.take);
  const atCrash = books.states.get(KEY) ?? '';
  expect(await caught(readAccounts(books, {}, copy.take))).toMatchObject({ reason: 'unreadable_id' });
  books.sandbox.faults.clear();
  books.states.set(KEY, atCrash);
  expect(await readAccounts(books, {}, copy.take)).toMatchObject({ status: 'done', resumed: true });
  expect(copy.ids).toHaveLength(25);
});
