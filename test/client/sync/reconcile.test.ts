import {
  createClient,
  type ReconcileOptions,
  type ReconcileProgress,
  reconcile,
  sync,
} from 'accounting-data-sdk';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { addAccounts, type SyncSetUp, setUpSync } from './set-up.ts';

type Options = ReconcileOptions<{ id: string }>;

/** A copy of all current records, and what a reconcile does to it. */
function copyOf({ sandbox }: SyncSetUp) {
  const ids = new Set(sandbox.store.accounts.ids());
  const deleted: string[][] = [];
  const repaired: string[][] = [];
  const options: Options = {
    localIds: () => ids,
    onDelete: (gone) => deleted.push([...gone]),
    onRepair: (records) => repaired.push(records.map(({ id }) => id)),
  };
  return { ids, deleted, repaired, options };
}

function openWith(count: number) {
  const books = setUpSync();
  addAccounts(books, count);
  return { books, accounts: books.sandbox.store.accounts, copy: copyOf(books) };
}

/** Requests for one record. */
const gets = ({ sandbox }: SyncSetUp) => sandbox.count(({ path }) => /accounts\/./.test(path));

describe('reconcile', () => {
  test('finds missing records, confirms each with a GET and calls onDelete', async () => {
    const { books, accounts, copy } = openWith(40);
    for (const id of ['3', '17', '40']) accounts.delete(id);
    const report = await reconcile(books.client.accounts, copy.options);
    expect(copy.deleted).toEqual([['3', '17', '40']]);
    expect(report).toMatchObject({
      collection: 'accounts',
      pagination: 'keyset',
      local: 40,
      seen: 37,
      missing: 0,
      candidates: 3,
      deleted: 3,
      repaired: 0,
    });
    // Three candidates, and the first record of the read before and after them.
    expect(gets(books)).toBe(5);
  });

  test('takes 404 and 410 of one form each, and a first record that is deleted meanwhile', async () => {
    const { books, accounts, copy } = openWith(40);
    for (const id of ['3', '17', '30']) accounts.delete(id);
    const gone = { type: '/errors/410', title: 'Gone' };
    books.sandbox.faults.add(
      { kind: 'rewrite', status: 410, body: () => JSON.stringify(gone) },
      { path: /\/accounts\/17$/ },
    );
    let isDeleted = false;
    books.sandbox.onRequest(({ path }) => {
      if (isDeleted || !path.endsWith('/30')) return;
      isDeleted = true;
      accounts.delete('1');
    });
    await reconcile(books.client.accounts, { ...copy.options, concurrency: 1 });
    expect(copy.deleted).toEqual([['3', '17', '30']]);
  });

  test.each([
    ['an array', (ids: Set<string>) => [...ids]],
    ['a set', (ids: Set<string>) => ids],
    [
      'a generator',
      async function* (ids: Set<string>) {
        yield* ids;
      },
    ],
  ])('takes the local ids as %s, without a function', async (_, idsOf) => {
    const { books, accounts, copy } = openWith(12);
    accounts.delete('3');
    await reconcile(books.client.accounts, { ...copy.options, localIds: idsOf(copy.ids) });
    expect(copy.deleted).toEqual([['3']]);
  });

  test('says likely if a read by page got a row twice, as a sync does, with one warning each', async () => {
    const { books, copy } = openWith(40);
    const warnings: string[] = [];
    const logger = { debug: () => {}, info: () => {}, warn: (text: string) => warnings.push(text) };
    const client = createClient({ ...books.sandbox.clientOptions, logger });
    const repeatFirst = () => {
      let first: unknown;
      books.sandbox.faults.add(
        {
          kind: 'rewrite',
          body: (body) => {
            const rows = JSON.parse(body) as unknown[];
            first ??= rows[0];
            return JSON.stringify([first, ...rows.slice(1)]);
          },
        },
        { times: 2 },
      );
    };
    repeatFirst();
    const report = await reconcile(client.accounts, { ...copy.options, pagination: 'page' });
    expect(report).toMatchObject({ complete: 'likely', candidates: 1, repaired: 1 });
    expect(copy.deleted).toEqual([]);
    expect(warnings).toHaveLength(1);

    repeatFirst();
    const synced = await sync(client, {
      ...books.run,
      collections: ['accounts'],
      pagination: 'page',
      onBatch: () => undefined,
    });
    expect(synced.collections[0]).toMatchObject({ status: 'done', complete: 'likely' });
    expect(warnings).toHaveLength(2);
  });

  test('requests no single record if nothing was deleted', async () => {
    const { books, copy } = openWith(40);
    await reconcile(books.client.accounts, copy.options);
    expect(copy.deleted).toEqual([]);
    expect(gets(books)).toBe(0);
  });

  test('reads the local ids to their end before the first request', async () => {
    const { books, copy } = openWith(10);
    const counts: number[] = [];
    async function* localIds() {
      for (const id of copy.ids) {
        counts.push(books.sandbox.count());
        yield id;
      }
    }
    await reconcile(books.client.accounts, { ...copy.options, localIds });
    expect(counts).toEqual(Array.from({ length: 10 }, () => 0));
  });

  test('does not touch what is added to the copy during the read', async () => {
    const { books, copy } = openWith(40);
    books.sandbox.onRequest(() => copy.ids.add('999'));
    await reconcile(books.client.accounts, copy.options);
    expect(copy.deleted).toEqual([]);
  });

  test('repairs what the read missed and a GET finds', async () => {
    const { books, copy } = openWith(40);
    // A page from which a row was lost, as one is where something before it is deleted.
    books.sandbox.faults.add(
      { kind: 'rewrite', body: (body) => JSON.stringify(JSON.parse(body).slice(1)) },
      { times: 1, skip: 1 },
    );
    const report = await reconcile(books.client.accounts, { ...copy.options, pagination: 'page' });
    expect(copy.repaired).toEqual([['11']]);
    expect(copy.deleted).toEqual([]);
    expect(report).toMatchObject({ candidates: 1, repaired: 1, deleted: 0 });
  });

  test('counts what the copy does not have', async () => {
    const { books, copy } = openWith(40);
    copy.ids.delete('7');
    const localIds = () => [...copy.ids, ...copy.ids];
    const report = await reconcile(books.client.accounts, { ...copy.options, localIds });
    expect(report).toMatchObject({ local: 39, missing: 1, candidates: 0 });
  });

  test('takes ids of any form, each once', async () => {
    const books = setUpSync({ ids: { form: 'uuid' } });
    addAccounts(books, 25);
    const { accounts } = books.sandbox.store;
    const copy = copyOf(books);
    const [gone = ''] = accounts.ids();
    accounts.delete(gone);
    const localIds = () => [...copy.ids, ...copy.ids, '007', '9007199254740993', '9007199254740993'];
    const report = await reconcile(books.client.accounts, { ...copy.options, localIds });
    expect(report).toMatchObject({ pagination: 'page', local: 27, deleted: 3 });
    expect(copy.deleted.flat().toSorted()).toEqual(['007', '9007199254740993', gone].toSorted());
  });

  test('counts a row that does not match its schema as existing', async () => {
    const { books, copy } = openWith(10);
    const invalid: unknown[] = [];
    const client = createClient({
      ...books.sandbox.clientOptions,
      schemas: { accounts: z.looseObject({ id: z.string(), name: z.string() }) },
      validation: 'report',
      on: { invalidRecord: ({ id }) => invalid.push(id) },
    });
    books.sandbox.faults.next({
      kind: 'rewrite',
      body: (body) => {
        const [first, ...rest] = JSON.parse(body);
        return JSON.stringify([{ ...first, name: 7 }, ...rest]);
      },
    });
    const report = await reconcile(client.accounts, { ...copy.options, pagination: 'page' });
    expect(invalid).toEqual(['1']);
    expect(report).toMatchObject({ seen: 10, candidates: 0, missing: 0 });
  });

  test('passes ids to onDelete in batches', async () => {
    const { books, accounts, copy } = openWith(40);
    for (const id of ['1', '2', '3', '4', '5']) accounts.delete(id);
    await reconcile(books.client.accounts, { ...copy.options, batchSize: 2, concurrency: 1 });
    expect(copy.deleted).toEqual([['1', '2'], ['3', '4'], ['5']]);
  });

  test('reports its progress', async () => {
    const { books, accounts, copy } = openWith(40);
    accounts.delete('3');
    const progress: ReconcileProgress[] = [];
    await reconcile(books.client.accounts, { ...copy.options, onProgress: (event) => progress.push(event) });
    expect(progress.map(({ phase, done }) => `${phase} ${done}`)).toEqual(
      expect.arrayContaining(['read 39', 'delete 1']),
    );
  });
});

describe('reconcile deletes nothing', () => {
  const abortedFor = (reason: string) => ({ code: 'reconcile_aborted', reason });

  test('if the read lists no record at all', async () => {
    const { books, accounts, copy } = openWith(10);
    accounts.clear();
    await expect(
      reconcile(books.client.accounts, { ...copy.options, maxCandidates: Number.POSITIVE_INFINITY }),
    ).rejects.toMatchObject(abortedFor('empty_read'));
    expect(gets(books)).toBe(0);
  });

  test('if more than 50 and more than a tenth of the copy would be deleted', async () => {
    const { books, accounts, copy } = openWith(100);
    for (let id = 1; id <= 51; id++) accounts.delete(String(id));
    await expect(reconcile(books.client.accounts, copy.options)).rejects.toMatchObject({
      ...abortedFor('too_many_candidates'),
      message:
        'The reconcile of accounts was aborted: 51 of 100 local records were not found upstream; maxCandidates is 50; nothing was deleted. Check the API key and localIds. If so many were really deleted, pass a higher maxCandidates.',
      report: { collection: 'accounts', local: 100, seen: 49, candidates: 51, deleted: 0 },
    });
    expect(gets(books)).toBe(0);
    const allowed = await reconcile(books.client.accounts, { ...copy.options, maxCandidates: 51 });
    expect(allowed.deleted).toBe(51);
  });

  test('unless exactly 50 would be deleted', async () => {
    const { books, accounts, copy } = openWith(100);
    for (let id = 1; id <= 50; id++) accounts.delete(String(id));
    expect(await reconcile(books.client.accounts, copy.options)).toMatchObject({ deleted: 50 });
  });

  test.each([1, 3, 9, 10])(
    'if none of %i local ids is found upstream, unless maxCandidates is Infinity',
    async (count) => {
      const { books, accounts, copy } = openWith(count);
      accounts.clear();
      accounts.insert({ id: '77' });
      for (const maxCandidates of [undefined, count, 1000]) {
        const run = reconcile(books.client.accounts, { ...copy.options, maxCandidates });
        await expect(run).rejects.toMatchObject(abortedFor('few_local_ids_seen'));
      }
      expect(copy.deleted).toEqual([]);
      const allowed = { ...copy.options, maxCandidates: Number.POSITIVE_INFINITY };
      expect(await reconcile(books.client.accounts, allowed)).toMatchObject({ deleted: count });
    },
  );

  test('if the first record of the read is not found by its id', async () => {
    const { books, accounts, copy } = openWith(40);
    accounts.delete('3');
    books.sandbox.faults.add(
      { kind: 'status', status: 404, type: 'not_found' },
      { path: /\/accounts\/./, times: 9 },
    );
    await expect(reconcile(books.client.accounts, copy.options)).rejects.toMatchObject(
      abortedFor('first_record_not_found'),
    );
    expect(copy.deleted).toEqual([]);
  });

  test('if a gateway starts to return 404 to everything after the first candidate', async () => {
    const { books, accounts, copy } = openWith(40);
    for (const id of ['3', '17', '30']) accounts.delete(id);
    books.sandbox.faults.add(
      { kind: 'status', status: 404, type: 'not_found' },
      { path: /\/accounts\/./, skip: 2, times: 99 },
    );
    await expect(reconcile(books.client.accounts, copy.options)).rejects.toMatchObject(
      abortedFor('first_record_not_found'),
    );
    expect(copy.deleted).toEqual([]);
  });

  test.each([
    ['another media type', 'application/json', { type: '/errors/404', title: 'Not Found', detail: 'x' }],
    ['another type', 'application/problem+json', { type: 'about:blank', title: 'Not Found', detail: 'x' }],
    ['other members', 'application/problem+json', { type: '/errors/404', title: 'Not Found' }],
    [
      'a member of a framework',
      'application/json',
      { status: 404, error: 'Not Found', path: '/accounts/30' },
    ],
  ])('if one of the 404s has %s', async (_, mediaType, body) => {
    const { books, accounts, copy } = openWith(40);
    for (const id of ['3', '17', '30']) accounts.delete(id);
    const own = { type: '/errors/404', title: 'Not Found', detail: 'Not Found' };
    const notFound = (type: string, content: object) => ({
      kind: 'rewrite' as const,
      status: 404,
      headers: { 'Content-Type': type },
      body: () => JSON.stringify(content),
    });
    books.sandbox.faults.add(notFound('application/problem+json', own), {
      path: /\/accounts\/(3|17)$/,
      times: 9,
    });
    books.sandbox.faults.add(notFound(mediaType, body), { path: /\/accounts\/30$/, times: 9 });
    await expect(reconcile(books.client.accounts, copy.options)).rejects.toMatchObject(
      abortedFor('not_found_differs'),
    );
    expect(copy.deleted).toEqual([]);
  });

  test.each([401, 403, 400, 500])('if a candidate returns %s', async (status) => {
    const { books, accounts, copy } = openWith(40);
    for (const id of ['3', '17', '30']) accounts.delete(id);
    const type = {
      401: 'unauthenticated',
      403: 'forbidden',
      400: 'malformed_request',
      500: 'internal_error',
    }[status];
    books.sandbox.faults.add(
      { kind: 'status', status, ...(type && { type }) },
      { path: /\/accounts\/30/, times: 9 },
    );
    await expect(reconcile(books.client.accounts, copy.options)).rejects.toMatchObject({ status });
    expect(copy.deleted).toEqual([]);
  });

  test('if a candidate returns a 404 that is a page of a proxy', async () => {
    const { books, accounts, copy } = openWith(40);
    for (const id of ['3', '17', '30', '31', '32', '33', '34', '35', '36', '37', '38', '39'])
      accounts.delete(id);
    const page = { status: 404, headers: { 'Content-Type': 'text/html' }, body: '<h1>404</h1>' };
    books.sandbox.faults.add({ kind: 'rewrite', ...page }, { path: /\/accounts\/30/ });
    await expect(reconcile(books.client.accounts, copy.options)).rejects.toMatchObject({
      code: 'not_found',
      missing: false,
    });
    expect(copy.deleted).toEqual([]);
    // No further candidate is requested, except for those in flight meanwhile.
    expect(gets(books)).toBeLessThan(10);
  });

  test('if no record of the list is valid, so that none can be requested', async () => {
    const { books, copy } = openWith(10);
    const client = books.client.withOptions({ validation: 'report' });
    books.sandbox.faults.next({ kind: 'rewrite', body: () => JSON.stringify([{ id: 7 }, { id: 8 }]) });
    await expect(
      reconcile(client.accounts, {
        ...copy.options,
        pagination: 'page',
        maxCandidates: Number.POSITIVE_INFINITY,
      }),
    ).rejects.toMatchObject(abortedFor('first_record_not_found'));
    expect(gets(books)).toBe(0);
    expect(copy.deleted).toEqual([]);
  });

  test('if the collection has no find', async () => {
    const { books, copy } = openWith(10);
    const { list } = books.client.accounts;
    const run = reconcile({ segment: 'accounts', list } as never, copy.options);
    await expect(run).rejects.toMatchObject({
      code: 'invalid_input',
      message: 'collection: must be a collection of a client, with find.',
    });
    expect(books.sandbox.count()).toBe(0);
  });

  test('if the read fails', async () => {
    const { books, accounts, copy } = openWith(40);
    accounts.delete('3');
    books.sandbox.faults.add({ kind: 'status', status: 400 }, { skip: 2, times: 9 });
    await expect(reconcile(books.client.accounts, copy.options)).rejects.toMatchObject({ status: 400 });
    expect(copy.deleted).toEqual([]);
    expect(gets(books)).toBe(0);
  });

  test('if the local ids fail, and sends nothing', async () => {
    const { books, copy } = openWith(10);
    async function* localIds() {
      yield '1';
      throw new Error('the table is locked');
    }
    await expect(reconcile(books.client.accounts, { ...copy.options, localIds })).rejects.toThrow(
      'the table is locked',
    );
    expect(books.sandbox.count()).toBe(0);
  });

  test.each([3, 9, 40])('with the key of another company, for a copy of %i records', async (count) => {
    const books = setUpSync({ otherRecords: { accounts: 40 } });
    addAccounts(books, count);
    const copy = copyOf(books);
    const client = createClient({ ...books.sandbox.clientOptions, apiKey: books.sandbox.keys.otherCompany });
    // Fewer than 50, and what the read lists is found with this key.
    await expect(reconcile(client.accounts, copy.options)).rejects.toMatchObject(
      abortedFor('few_local_ids_seen'),
    );
  });

  test.each([3, 9, 40])(
    'with the key of another company that has one id in common, for a copy of %i records',
    async (count) => {
      const books = setUpSync({ otherRecords: { accounts: 40 } });
      addAccounts(books, count - 1);
      const copy = copyOf(books);
      const [common = ''] = books.sandbox.otherStore.accounts.ids();
      copy.ids.add(common);
      const client = createClient({
        ...books.sandbox.clientOptions,
        apiKey: books.sandbox.keys.otherCompany,
      });
      await expect(reconcile(client.accounts, copy.options)).rejects.toMatchObject(
        abortedFor('few_local_ids_seen'),
      );
      expect(gets(books)).toBe(0);
    },
  );

  test('after the signal, whose reason it rejects with', async () => {
    const { books, accounts, copy } = openWith(40);
    for (const id of ['3', '17', '30']) accounts.delete(id);
    const controller = new AbortController();
    const onDelete = (ids: readonly string[]) => {
      copy.deleted.push([...ids]);
      controller.abort('enough');
    };
    const run = reconcile(books.client.accounts, {
      ...copy.options,
      onDelete,
      batchSize: 1,
      signal: controller.signal,
    });
    await expect(run).rejects.toBe('enough');
    expect(copy.deleted).toHaveLength(1);
  });

  test.each([
    ['localIds', { localIds: '1' }],
    ['localIds', { localIds: () => [''] }],
    ['localIds', { localIds: () => [7] }],
    ['onDelete', { onDelete: undefined }],
    ['onRepair', { onRepair: 'yes' }],
    ['maxCandidates', { maxCandidates: -1 }],
    ['batchSize', { batchSize: 0 }],
    ['concurrency', { concurrency: 1.5 }],
    ['pagination', { pagination: 'certified' as 'keyset' }],
  ])('if %s is wrong', async (argument, wrong) => {
    const { books, copy } = openWith(1);
    await expect(
      reconcile(books.client.accounts, { ...copy.options, ...(wrong as object) }),
    ).rejects.toMatchObject({ code: 'invalid_input', argument });
    expect(books.sandbox.count()).toBe(0);
  });
});
