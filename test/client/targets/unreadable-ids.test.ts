import { createSandbox } from 'accounting-data-sdk/testing';
import { expect, test } from 'vitest';
import { caught } from '../../support/caught.ts';
import { copied, openSqlite } from './engines.ts';
import { run, statusOf, upstream, verified } from './set-up.ts';

// The forms of such ids are in sync/unreadable-ids.test.ts.
test.each([
  ['a number', (text: string) => text.replaceAll('"id":"5"', '"id":5'), 39],
  ['null', (text: string) => text.replaceAll('"id":"5"', '"id":null'), 39],
  ['missing', (text: string) => text.replaceAll('"id":"5"', '"Id":"5"'), 39],
  ['a number everywhere', (text: string) => text.replaceAll(/"id":"(\d+)"/g, '"id":$1'), 0],
  ['empty everywhere', (text: string) => text.replaceAll(/"id":"\d+"/g, '"id":""'), 0],
])('a copy of rows whose id is %s is neither complete nor equal', async (_, body, kept) => {
  const sandbox = createSandbox({ records: { accounts: 40, products: 3 }, pageSize: 10 });
  const copy = openSqlite();
  sandbox.faults.add({ kind: 'rewrite', body }, { path: /\/accounts$/, probability: 1 });
  for (const mode of ['incremental', 'full'] as const) {
    expect(await caught(run(sandbox, copy, { mode }))).toMatchObject({
      code: 'sync_failed',
      errors: [{ collection: 'accounts', error: { reason: 'unreadable_id' } }],
    });
    expect(await copied(copy)).toHaveLength(kept + 3);
    expect(await statusOf(copy)).toMatchObject({
      changes_through: null,
      finished_at: null,
      deletions_checked_at: null,
      complete: null,
      last_error: expect.stringContaining('cannot be read'),
    });
  }
  expect(await verified(sandbox, copy)).toMatchObject({ equal: false, collections: [{ records: kept }, {}] });
  sandbox.faults.clear();
  await run(sandbox, copy);
  expect(await copied(copy)).toEqual(upstream(sandbox));
  expect(await statusOf(copy)).toMatchObject({ complete: 'certain', last_error: null });
  expect(await verified(sandbox, copy)).toMatchObject({ equal: true });
});
