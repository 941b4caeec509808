// How a full sync confirms the deletion of each candidate, and when it deletes nothing.

import { inspect } from 'node:util';
import { DeletionsAbortedError, isAccountingError, type SyncOptions } from 'accounting-data-sdk';
import type { Fault, FaultMatch, SandboxOptions } from 'accounting-data-sdk/testing';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { caught } from '../../support/caught.ts';
import { loggerOfWarnings } from '../../support/warnings.ts';
import { addAccounts, clientOf, type SyncSetUp, setUpSync, syncAll, withoutFirst } from './set-up.ts';

type Options = Partial<SyncOptions<SyncSetUp['client'], 'accounts'>>;

/** A service with so many accounts, a copy of all of them, and full syncs that say what they do to the copy. */
function openWith(count: number, options?: SandboxOptions) {
  const books = setUpSync(options);
  addAccounts(books, count);
  const { accounts } = books.sandbox.store;
  const ids = new Set(accounts.ids());
  const deleted: string[][] = [];
  /** What is delivered beside the records that are listed. */
  const repaired: string[][] = [];
  /** Rejects with the error of the collection. */
  const run = async (options: Options = {}, client = books.client) => {
    books.sandbox.clearLogs();
    const report = await syncAll({ ...books, client }, {
      collections: ['accounts'],
      mode: 'full',
      localIds: () => ids,
      onDelete: (gone) => deleted.push([...gone]),
      onBatch: ({ records }) => {
        // Candidates are requested after the read.
        if (records.length > 0 && gets(books) > 0) repaired.push(records.map(({ id }) => id));
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
  return { books, accounts, ids, deleted, repaired, run, remove };
}

/** Requests for one record. */
const gets = ({ sandbox }: SyncSetUp) => sandbox.count(({ path }) => /accounts\/./.test(path));

describe('a full sync', () => {
  test('takes 404 and 410 of one form each, even if the first listed records are deleted meanwhile', async () => {
    const { books, deleted, run, remove } = openWith(40);
    remove('3', '17', '30');
    books.sandbox.faults.add(
      {
        kind: 'rewrite',
        status: 410,
        body: () => JSON.stringify({ type: '/errors/410', title: 'Gone' }),
      },
      { path: /\/accounts\/17$/, times: 1 },
    );
    books.sandbox.onRequest(({ path }) => path.endsWith('/30') && remove('1', '2', '4', '5'));
    await run({ concurrency: 1 });
    expect(deleted).toEqual([['3', '17', '30']]);
  });

  test('takes ids of any form, each once', async () => {
    const { accounts, ids, deleted, run, remove } = openWith(25, { ids: { form: 'uuid' } });
    const [gone = '', unknown = ''] = accounts.ids();
    remove(gone);
    ids.delete(unknown);
    const localIds = () => [...ids, ...ids, '7', '7', '007', '9007199254740993', '9007199254740993'];
    expect(await run({ localIds })).toMatchObject({ pagination: 'page', local: 27, deleted: 4 });
    expect(deleted.flat().toSorted()).toEqual(['007', '7', '9007199254740993', gone].toSorted());
  });

  test('counts more candidates than it reads at a time, each once', async () => {
    const { deleted, run, ids } = openWith(12);
    const gone = Array.from({ length: 25_000 }, (_, at) => `gone-${at}`);
    const error = await caught(run({ localIds: () => [...ids, ...gone] }));
    expect(error).toMatchObject({ reason: 'too_many_candidates' });
    expect(`${error}`).toContain('25000 of 25012 local records were not found');
    expect(deleted).toEqual([]);
  });

  test('reads the local ids to their end before the first request, and no id that is added later', async () => {
    const { books, ids, deleted, run } = openWith(10);
    const counts: number[] = [];
    books.sandbox.onRequest(() => ids.add('999'));
    await run({
      localIds: async function* () {
        for (const id of ids) {
          counts.push(books.sandbox.count());
          yield id;
        }
      },
    });
    expect(counts).toEqual(Array(10).fill(0));
    expect(deleted).toEqual([]);
  });

  test('says likely if a read by page got a row twice, with one warning', async () => {
    const { books, deleted, run } = openWith(40);
    const { logger, warnings } = loggerOfWarnings();
    let first: unknown;
    const body = (text: string) => {
      const rows = JSON.parse(text) as unknown[];
      first ??= rows[0];
      return JSON.stringify([first, ...rows.slice(1)]);
    };
    books.sandbox.faults.add({ kind: 'rewrite', body }, { times: 2 });
    const client = clientOf(books.sandbox, { logger, pagination: 'page' });
    expect(await run({}, client)).toMatchObject({ complete: 'likely', repaired: 1 });
    expect(deleted).toEqual([]);
    expect(warnings).toHaveLength(1);
  });

  test('knows the records of a read that starts again', async () => {
    const { books, accounts, ids, deleted, run } = openWith(40);
    accounts.insert({ id: 'A-1' });
    accounts.insert({ id: 'A-2' });
    ids.add('A-1').add('A-3');
    expect(await run({}, books.client.withOptions({ pagination: 'keyset' }))).toMatchObject({
      pagination: 'page',
      local: 42,
      candidates: 1,
    });
    expect(deleted).toEqual([['A-3']]);
  });

  test('waits for an array of promises that onDelete returns', async () => {
    const { run, remove } = openWith(12);
    const saved: string[] = [];
    const save = async (id: string) => {
      await new Promise((resolve) => setTimeout(resolve));
      if (id === '2') throw new Error('the sink is full');
      saved.push(id);
    };
    remove('2', '3');
    const failed = run({ onDelete: (gone) => gone.map(save) });
    await expect(failed).rejects.toThrow('the sink is full');
    expect(saved).toContain('3');
  });
});

const json = (status: number, body: unknown, type = 'application/json') => ({
  kind: 'rewrite' as const,
  status,
  headers: { 'Content-Type': type },
  body: () => (typeof body === 'string' ? body : JSON.stringify(body)),
});

const notFound = { type: '/errors/404', title: 'Not Found', detail: 'Not Found' };

const problem = (body: object) => json(404, body, 'application/problem+json');

describe('a full sync judges each candidate alone', () => {
  test.each<[string, Fault, object]>([
    ['a 400', { kind: 'status', status: 400 }, { status: 400 }],
    ['a 403 of an archived record', { kind: 'status', status: 403 }, { code: 'forbidden' }],
    ['a 403 of a scope', json(403, { type: 'scope_required' }), { code: 'scope_required' }],
    ['a 423', { kind: 'status', status: 423 }, { status: 423 }],
    ['a 500', { kind: 'status', status: 500 }, { status: 500 }],
    ['a 503 of it alone', { kind: 'status', status: 503 }, { status: 503 }],
    ['a redirect', { ...json(301, ''), headers: { Location: '/login' } }, { code: 'redirected' }],
    ['a 204', json(204, ''), { reason: 'empty' }],
    ['null', json(200, null), { code: 'unexpected_response' }],
    ['an empty object', json(200, {}), { reason: 'wrong_shape' }],
    ['an empty array', json(200, []), { reason: 'wrong_content' }],
    ['a page', json(200, '<h1>Welcome</h1>', 'text/html'), { code: 'unexpected_response' }],
    ['truncated JSON', json(200, '{"id":"17"'), { reason: 'truncated' }],
    ['another record', json(200, { id: '1' }), { reason: 'wrong_record', recordId: '1' }],
    ['a 401 page of a firewall', json(401, '<h1>Blocked</h1>', 'text/html'), { code: 'unauthenticated' }],
    ['a 401 without a body', json(401, ''), { code: 'unauthenticated' }],
    [
      'a 404 page of a gateway',
      json(404, '<h1>404</h1>', 'text/html'),
      { code: 'not_found', missing: false },
    ],
    ['a 404 of another type', json(404, { type: 'record_archived' }), { code: 'unknown_problem' }],
    ['a 404 of another media type', json(404, notFound), { code: 'not_found', missing: true }],
    ['a 404 about:blank', problem({ ...notFound, type: 'about:blank' }), { code: 'not_found' }],
    ['a 404 without a detail', problem({ type: '/errors/404', title: 'Not Found' }), { code: 'not_found' }],
    ['a 404 in a 200', json(200, { ...notFound, status: 404 }), { code: 'not_found' }],
    ['a lost connection', { kind: 'disconnect' }, { code: 'connection_failed' }],
  ])('and keeps one that gets %s, with its error', async (_, fault, error) => {
    for (const concurrency of [1, 2]) {
      const { books, deleted, repaired, run, remove } = openWith(40);
      const { logger, warnings } = loggerOfWarnings();
      const client = clientOf(books.sandbox, { logger, retry: false, pagination: 'page' });
      remove('3', '17', '30');
      // The read misses record 12.
      books.sandbox.faults.add(withoutFirst, { times: 1, skip: 1 });
      books.sandbox.faults.add(fault, { path: '/api/public/v1/accounts/17', probability: 1 });
      const report = await run({ concurrency }, client);
      expect(report).toMatchObject({ status: 'done', candidates: 4, deleted: 2, repaired: 1 });
      expect(report.unconfirmed).toEqual([{ id: '17', error: expect.objectContaining(error) }]);
      expect([deleted.flat().toSorted(), repaired]).toEqual([['3', '30'], [['12']]]);
      expect(warnings).toContainEqual(expect.stringContaining('record "17" was not listed'));
    }
  });

  test('and keeps all of those whose 404s have a form as often as another', async () => {
    const { books, deleted, run, remove } = openWith(40);
    remove('3', '17', '30', '31');
    books.sandbox.faults.add(json(404, notFound), { path: /accounts\/(3|17)$/, probability: 1 });
    const report = await run();
    expect(report.unconfirmed?.map(({ id }) => id).toSorted()).toEqual(['17', '3', '30', '31']);
    expect(deleted).toEqual([]);
  });

  test.each(['..', '.', '\ud800', 'a\nb'])('and keeps one whose id cannot be requested: %j', async (id) => {
    const { ids, deleted, run, remove } = openWith(40);
    remove('3');
    ids.add(id);
    const report = await run();
    expect(report.unconfirmed).toEqual([{ id, error: expect.objectContaining({ code: 'invalid_input' }) }]);
    expect(deleted).toEqual([['3']]);
  });

  test('and finds deletions if the first records of the list cannot be requested, or are invalid', async () => {
    const { books, deleted, run, remove } = openWith(40);
    remove('17');
    const schemas = { accounts: z.looseObject({ id: z.string(), none: z.string() }) };
    const invalid = clientOf(books.sandbox, { schemas, validation: 'report', retry: false });
    const path = /accounts\/[1-9]$/;
    books.sandbox.faults.add({ kind: 'status', status: 403 }, { path, probability: 1 });
    expect(await run({}, invalid)).toMatchObject({ records: 0, invalid: 39, deleted: 1, unconfirmed: [] });
    expect(deleted).toEqual([['17']]);
  });
});

describe('a full sync deletes nothing', () => {
  const abortedFor = (reason: string) => ({ code: 'deletions_aborted', reason });

  test('if more than 50 records and more than a tenth of the copy are missing, and says so', async () => {
    const { books, ids, run, remove } = openWith(510, { pageSize: 100 });
    remove(...[...ids].slice(0, 52));
    const error = await caught(run());
    expect(error).toBeInstanceOf(DeletionsAbortedError);
    expect(error).toMatchObject({
      ...abortedFor('too_many_candidates'),
      message: expect.stringMatching(/accounts.*52 of 510 .*maxCandidates is 51/),
      maxCandidates: 51,
      retryable: false,
      report: { collection: 'accounts', local: 510, seen: 458, missing: 0, candidates: 52 },
    });
    expect((error as Error).cause).toBeUndefined();
    expect(JSON.stringify(error)).toContain('510');
    expect(inspect(error, { depth: 10 }).split('\n').length).toBeLessThanOrEqual(40);
    expect(gets(books)).toBe(0);
    expect(await run({ maxCandidates: 52 })).toMatchObject({ deleted: 52 });
  });

  test.each([
    [100, 50, true],
    [100, 51, false],
  ])('if of %i local records %i are missing: it deletes them: %s', async (count, missing, isAllowed) => {
    const { ids, run, remove } = openWith(count);
    remove(...[...ids].slice(0, missing));
    if (isAllowed) expect(await run()).toMatchObject({ deleted: missing });
    else await expect(run()).rejects.toMatchObject(abortedFor('too_many_candidates'));
  });

  test.each([
    [3, 0],
    [40, 1],
  ])(
    'with the key of another company, for a copy of %i records that has %i id in common',
    async (count, common) => {
      const { books, ids, run } = openWith(count, { otherRecords: { accounts: 40 } });
      for (const id of books.sandbox.otherStore.accounts.ids().slice(0, common)) ids.add(id);
      const error = await caught(
        run({}, clientOf(books.sandbox, { apiKey: books.sandbox.keys.otherCompany })),
      );
      // Fewer than 50, and what the read lists is found with this key.
      expect(error).toMatchObject({
        ...abortedFor('few_local_ids_seen'),
        message: expect.stringMatching(new RegExp(`${common} of ${count + common} local records.*API key`)),
      });
      expect(gets(books)).toBe(0);
    },
  );

  test('if the key becomes that of another company during the read', async () => {
    const { books, deleted, run } = openWith(60, {
      ids: { form: 'uuid' },
      pageSize: 10,
      otherRecords: { accounts: 60 },
    });
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
    ['the key may read lists only', 403, { path: oneRecord }, abortedFor('first_record_not_found')],
    ['the requests for records are broken', 500, { path: oneRecord }, abortedFor('first_record_not_found')],
    ['the service goes down meanwhile', 503, { skip: 6 }, { status: 503 }],
  ])('if %s', async (_, status, match, error) => {
    const { books, deleted, run, remove } = openWith(40);
    remove('3', '17', '30');
    books.sandbox.faults.add({ kind: 'status', status }, { ...match, times: 99 });
    await expect(run()).rejects.toMatchObject(error);
    expect(deleted).toEqual([]);
  });

  test('if the local ids fail, and sends nothing', async () => {
    const { books, run } = openWith(10);
    const localIds = async function* () {
      yield '1';
      throw new Error('the table is locked');
    };
    await expect(run({ localIds })).rejects.toThrow('the table is locked');
    expect(books.sandbox.count()).toBe(0);
  });
});
