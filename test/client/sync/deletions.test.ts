import { DeletionsAbortedError, isAccountingError, type SyncOptions } from 'accounting-data-sdk';
import type { Fault, FaultMatch, SandboxOptions } from 'accounting-data-sdk/testing';
import { describe, expect, test, vi } from 'vitest';
import * as z from 'zod';
import { caught } from '../../support/caught.ts';
import { loggerOfWarnings } from '../../support/warnings.ts';
import {
  Copy,
  clientOf,
  failureOf,
  KEY,
  leaveAtBatch,
  listing,
  readAccounts,
  type SyncSetUp,
  stateIn,
  syncAll,
  withAccounts,
} from './set-up.ts';

type Options = Partial<SyncOptions<SyncSetUp['client'], 'accounts'>>;

/** A fault: a response without its first row, as one is if something before it is deleted meanwhile. */
const withoutFirst = {
  kind: 'rewrite',
  body: (body: string) => JSON.stringify(JSON.parse(body).slice(1)),
} as const;

/** A service with so many accounts, a copy of all of them, and full syncs that say what they do to the copy. */
function copyOf(count: number, options?: SandboxOptions) {
  const books = withAccounts(count, options);
  const { accounts } = books.sandbox.store;
  const ids = new Set(accounts.ids());
  const deleted: string[] = [];
  /** What is delivered beside the records that are listed. */
  const repaired: { id: string; row: unknown }[] = [];
  /** Requests for one record. */
  const lookUps = () => books.sandbox.count(({ path }) => /accounts\/./.test(path));
  /** Rejects with the error of the collection. */
  const run = async (options: Options = {}, client = books.client) => {
    books.sandbox.clearLogs();
    const report = await syncAll({ ...books, client }, {
      collections: ['accounts'],
      mode: 'full',
      localIds: () => ids,
      onDelete: (gone) => {
        deleted.push(...gone);
        for (const id of gone) ids.delete(id);
      },
      onBatch: ({ records, rows }) => {
        // Candidates are requested after the read.
        if (lookUps() > 0) repaired.push(...records.map(({ id }, at) => ({ id, row: rows[at] })));
      },
      ...options,
    } as Parameters<typeof syncAll>[1]).catch((error: unknown) => {
      throw isAccountingError(error, 'sync_failed') ? error.errors[0]?.error : error;
    });
    const [one] = report.collections;
    return { ...one, ...one?.deletions };
  };
  const remove = (...gone: string[]) => {
    for (const id of gone) accounts.delete(id);
  };
  return { books, accounts, ids, deleted, repaired, run, remove, lookUps };
}

describe('a full sync with localIds', () => {
  test('deletes what the service no longer has, in the same read, even if the first records are deleted meanwhile', async () => {
    const { books, deleted, run, remove, lookUps } = copyOf(40);
    remove('3', '17', '30');
    books.sandbox.faults.add(
      { kind: 'rewrite', status: 410, body: () => JSON.stringify({ type: '/errors/410', title: 'Gone' }) },
      { path: /\/accounts\/17$/, times: 1 },
    );
    books.sandbox.onRequest(({ path }) => path.endsWith('/30') && remove('1', '2', '4', '5'));
    expect(await run({ concurrency: 1 })).toMatchObject({
      skipped: undefined,
      local: 40,
      candidates: 3,
      deleted: 3,
      repaired: 0,
      unconfirmed: [],
    });
    expect(deleted).toEqual(['3', '17', '30']);
    // Each candidate, the first record of the list before them, and the first that is left after them.
    expect(lookUps()).toBe(3 + 1 + 5);
  });

  test('delivers a record that its read missed instead of deleting it, with its row as the service sent it', async () => {
    const { books, accounts, deleted, repaired, run } = copyOf(25);
    const schemas = { accounts: z.object({ id: z.string() }) };
    const client = clientOf(books.sandbox, { schemas, pagination: 'page' }) as never;
    books.sandbox.faults.add(withoutFirst, { times: 1, skip: 1 });
    expect(await run({}, client)).toMatchObject({ records: 25, candidates: 1, deleted: 0, repaired: 1 });
    expect([deleted, repaired]).toEqual([[], [{ id: '11', row: accounts.get('11') }]]);

    const none = { accounts: z.looseObject({ id: z.string(), none: z.string() }) };
    const onBatch = vi.fn();
    books.sandbox.faults.add(withoutFirst, { times: 1, skip: 1 });
    const strict = clientOf(books.sandbox, { schemas: none, validation: 'report', pagination: 'page' });
    expect(await run({ onBatch }, strict)).toMatchObject({ records: 0, invalid: 25, repaired: 1 });
    const repair = onBatch.mock.calls.flat().at(-2);
    expect(repair.invalid).toMatchObject([{ id: '11', record: accounts.get('11') }]);
  });

  test('takes ids of any form, each once, that the copy had before the first request', async () => {
    const { books, accounts, ids, deleted, run, remove } = copyOf(25, { ids: { form: 'uuid' } });
    const [gone = '', unknown = ''] = accounts.ids();
    remove(gone);
    ids.delete(unknown);
    books.sandbox.onRequest(() => ids.add('999'));
    const localIds = async function* () {
      yield* [...ids, ...ids, '7', '7', '007', '9007199254740993', '9007199254740993'];
      if (books.sandbox.count() > 0) throw new Error('the ids were read too late');
    };
    expect(await run({ localIds })).toMatchObject({ pagination: 'page', local: 27, deleted: 4 });
    expect(deleted.toSorted()).toEqual(['007', '7', '9007199254740993', gone].toSorted());
  });

  test('passes at most 500 ids to onDelete at a time, with the name of the collection', async () => {
    const { ids, run } = copyOf(5);
    const gone = Array.from({ length: 501 }, (_, n) => `${9_000 + n}`);
    const onDelete = vi.fn();
    const maxCandidates = Number.POSITIVE_INFINITY;
    await run({ localIds: () => [...ids, ...gone], onDelete, maxCandidates, concurrency: 10 });
    expect(onDelete.mock.calls.map(([some, name]) => [some.length, name])).toEqual([
      [500, 'accounts'],
      [1, 'accounts'],
    ]);
    expect(onDelete.mock.calls.flatMap(([some]) => some).toSorted()).toEqual(gone);
  });

  test('knows the records of a read that starts again', async () => {
    const { books, accounts, ids, deleted, run } = copyOf(40);
    for (const id of ['A-1', 'A-2']) accounts.insert({ id });
    ids.add('A-1').add('A-3');
    const client = books.client.withOptions({ pagination: 'keyset' });
    expect(await run({}, client)).toMatchObject({ pagination: 'page', local: 42, candidates: 1 });
    expect(deleted).toEqual(['A-3']);
  });

  test.each(['keyset', 'page'] as const)(
    'deletes nothing if it resumes an interrupted one, and says so, unless it reads everything again: %s',
    async (pagination) => {
      const { books, deleted, run, remove } = copyOf(60);
      const client = books.client.withOptions({ pagination });
      remove('1');
      let batches = 0;
      const onBatch = () => {
        if (++batches > 2) throw new Error('killed');
      };
      await caught(run({ onBatch }, client));
      const isResumed = pagination === 'keyset';
      const skipped = isResumed ? 'resumed' : undefined;
      expect(await run({}, client)).toMatchObject({ resumed: true, skipped, deleted: isResumed ? 0 : 1 });
      await run({}, client);
      expect(deleted).toEqual(['1']);
    },
  );

  test.each(['the key is rejected at a candidate', 'a promise of those that onDelete returns rejects'])(
    'starts again, and finds the deletions, if in the one before %s',
    async (what) => {
      const { books, deleted, run, remove } = copyOf(25);
      remove('1', '2');
      const isKey = what.includes('key');
      if (isKey)
        books.sandbox.faults.add({ kind: 'status', status: 401 }, { path: /accounts\/1$/, times: 1 });
      const onDelete = () => [Promise.resolve(), Promise.reject(new Error('disk full'))];
      await expect(run(isKey ? {} : { onDelete })).rejects.toThrow(isKey ? '401' : 'disk full');
      expect(await run()).toMatchObject({ resumed: false, skipped: undefined, deleted: 2 });
      expect(deleted).toEqual(['1', '2']);
    },
  );

  test.each(['keyset', 'page'] as const)(
    'does not know what was listed before a pause in its look-ups: by %s',
    async (pagination) => {
      const { books, ids, deleted, run, remove } = copyOf(40);
      remove(...[...ids].slice(0, 20));
      const client = clientOf(books.sandbox, { pagination });
      const first = await run({ stopAfter: { requests: 15 } }, client);
      expect(first).toMatchObject({ status: 'paused', skipped: 'paused', candidates: 20 });
      expect(await run({}, client)).toMatchObject({ status: 'done', records: 0, skipped: 'resumed' });
      expect(deleted).toEqual([]);
    },
  );
});

const json = (status: number, body: unknown, type = 'application/json') => ({
  kind: 'rewrite' as const,
  status,
  headers: { 'Content-Type': type },
  body: () => (typeof body === 'string' ? body : JSON.stringify(body)),
});

describe('a full sync judges each candidate alone', () => {
  test.each<[string, Fault, object]>([
    ['a 403 of an archived record', { kind: 'status', status: 403 }, { code: 'forbidden' }],
    ['a 503 of it alone', { kind: 'status', status: 503 }, { status: 503 }],
    ['a redirect', { ...json(301, ''), headers: { Location: '/login' } }, { code: 'redirected' }],
    ['an empty object', json(200, {}), { reason: 'wrong_shape' }],
    ['another record', json(200, { id: '1' }), { reason: 'wrong_record', recordId: '1' }],
    ['a 401 page of a firewall', json(401, '<h1>Blocked</h1>', 'text/html'), { code: 'unauthenticated' }],
    [
      'a 404 page of a gateway',
      json(404, '<h1>404</h1>', 'text/html'),
      { code: 'not_found', missing: false },
    ],
  ])('and keeps one that gets %s, with its error and a warning', async (_, fault, error) => {
    const { books, deleted, run, remove } = copyOf(40);
    const { logger, warnings } = loggerOfWarnings();
    remove('3', '17', '30');
    books.sandbox.faults.add(fault, { path: '/api/public/v1/accounts/17', probability: 1 });
    expect(await run({}, clientOf(books.sandbox, { logger, retry: false }))).toMatchObject({
      status: 'done',
      candidates: 3,
      deleted: 2,
      unconfirmed: [{ id: '17', error }],
    });
    expect(deleted.toSorted()).toEqual(['3', '30']);
    expect(warnings).toContainEqual(expect.stringContaining('record "17" was not listed'));
  });

  test.each(['..', '\ud800'])('and keeps one whose id cannot be requested: %j', async (id) => {
    const { ids, deleted, run, remove } = copyOf(40);
    remove('3');
    ids.add(id);
    expect(await run()).toMatchObject({ unconfirmed: [{ id, error: { code: 'invalid_input' } }] });
    expect(deleted).toEqual(['3']);
  });

  test('and finds deletions if the first records of the list cannot be requested, or are invalid', async () => {
    const { books, deleted, run, remove } = copyOf(40);
    remove('17');
    const schemas = { accounts: z.looseObject({ id: z.string(), none: z.string() }) };
    const invalid = clientOf(books.sandbox, { schemas, validation: 'report', retry: false });
    const path = /accounts\/[1-9]$/;
    books.sandbox.faults.add({ kind: 'status', status: 403 }, { path, probability: 1 });
    expect(await run({}, invalid)).toMatchObject({ records: 0, invalid: 39, deleted: 1, unconfirmed: [] });
    expect(deleted).toEqual(['17']);
  });
});

describe('a full sync deletes nothing', () => {
  const abortedFor = (reason: string) => ({ code: 'deletions_aborted', reason });

  test('if more than 50 records and more than a tenth of the copy are missing, says so, and does if it may', async () => {
    const { books, ids, run, remove, lookUps } = copyOf(510, { pageSize: 100 });
    remove(...[...ids].slice(0, 52));
    const error = await caught(run());
    expect(error).toBeInstanceOf(DeletionsAbortedError);
    expect(error).toMatchObject({
      ...abortedFor('too_many_candidates'),
      message: expect.stringMatching(
        /accounts were aborted after 458 records were delivered: 52 of 510 local .*maxCandidates is 51/,
      ),
      maxCandidates: 51,
      retryable: false,
      report: { collection: 'accounts', local: 510, seen: 458, missing: 0, candidates: 52 },
    });
    expect(lookUps()).toBe(0);
    expect(stateIn(books.states)).not.toHaveProperty('run');
    expect(await run({ maxCandidates: 52 })).toMatchObject({ resumed: false, records: 458, deleted: 52 });
    const small = copyOf(100);
    small.remove(...[...small.ids].slice(0, 50));
    expect(await small.run()).toMatchObject({ deleted: 50 });
    const gone = Array.from({ length: 25_000 }, (_, n) => `${9_000 + n}`);
    const large = small.run({ localIds: () => [...small.ids, ...gone] });
    expect(await caught(large)).toMatchObject({ report: { local: 25_050, candidates: 25_000 } });
  });

  test('with the key of another company, for a copy that has an id in common', async () => {
    const { books, ids, run, lookUps } = copyOf(40, { otherRecords: { accounts: 40 } });
    for (const id of books.sandbox.otherStore.accounts.ids().slice(0, 1)) ids.add(id);
    const { otherCompany } = books.sandbox.keys;
    const error = await caught(run({}, clientOf(books.sandbox, { apiKey: otherCompany })));
    // Fewer than 50, and what the read lists is found with this key.
    expect(error).toMatchObject({
      ...abortedFor('few_local_ids_seen'),
      message: expect.stringMatching(
        /1 of 41 local records.*39 of the 40 records there are not in the local copy.*API key/,
      ),
    });
    expect(lookUps()).toBe(0);
  });

  test('if the key becomes that of another company during the read, and no record has createdAt', async () => {
    const { books, deleted, run } = copyOf(60, { ids: { form: 'uuid' }, otherRecords: { accounts: 60 } });
    const { full, otherCompany } = books.sandbox.keys;
    const apiKey = () => (books.sandbox.count() < 4 ? full : otherCompany);
    const failed = run({}, clientOf(books.sandbox, { apiKey, pagination: 'page' }));
    await expect(failed).rejects.toMatchObject(abortedFor('first_record_not_found'));
    expect(deleted).toEqual([]);
  });

  const oneRecord = /\/accounts\/./;
  test.each<[string, number, FaultMatch, object]>([
    ['the read fails', 400, { path: '/api/public/v1/accounts', skip: 2 }, { status: 400 }],
    ['a gateway returns 404 to every id', 404, { path: oneRecord }, abortedFor('first_record_not_found')],
    ['it does after a candidate', 404, { path: oneRecord, skip: 2 }, abortedFor('first_record_not_found')],
    ['a candidate returns 401', 401, { path: '/api/public/v1/accounts/17' }, { status: 401 }],
    [
      'the key may read lists only',
      403,
      { path: oneRecord },
      { ...abortedFor('first_record_not_found'), cause: { status: 403 } },
    ],
    ['the service goes down meanwhile', 503, { skip: 6 }, { status: 503 }],
  ])('if %s', async (_, status, match, error) => {
    const { books, deleted, run, remove } = copyOf(40);
    remove('3', '17', '30');
    books.sandbox.faults.add({ kind: 'status', status }, { ...match, times: 99 });
    await expect(run()).rejects.toMatchObject(error);
    expect(deleted).toEqual([]);
  });
});

test('a full sync ends if a look-up has to wait longer than it may, because no other would show anything', async () => {
  const { books, deleted, run, remove } = copyOf(40);
  remove('3', '17');
  const fault = { kind: 'status', status: 429, retryAfter: 60 } as const;
  books.sandbox.faults.add(fault, { path: /accounts\/17$/, times: 9 });
  await expect(run({ maxWaitMs: 1_000 })).rejects.toMatchObject({ code: 'rate_limited' });
  expect(deleted).toEqual([]);
});

// A row whose id cannot be read can be in no copy.
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
