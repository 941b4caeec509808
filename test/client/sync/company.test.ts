import { DatabaseSync } from 'node:sqlite';
import {
  type Client,
  changes,
  createClient,
  memoryStore,
  type Product,
  push,
  refresh,
  sync,
  verify,
} from 'accounting-data-sdk';
import { sqliteTarget } from 'accounting-data-sdk/targets';
import { createSandbox } from 'accounting-data-sdk/testing';
import { describe, expect, test } from 'vitest';
import { caught } from '../../support/caught.ts';
import { loggerOfWarnings } from '../../support/warnings.ts';

const collections = ['accounts', 'products', 'budgets'] as const;
const PRODUCTS = 90;

/** A service with two companies that were made from one template a month apart: the same ids, numbers and names. */
function twoCompanies({ createdAt = true } = {}) {
  const sandbox = createSandbox({
    clock: '2026-01-31T12:00:00Z',
    records: 0,
    pageSize: 20,
    rateLimit: false,
  });
  const { store, otherStore } = sandbox;
  const fill = (into: typeof store, company: string) => {
    for (let n = 0; n < PRODUCTS; n++)
      into.products.insert({ id: `${n + 1}`, productNumber: `P-${n}`, unitId: company });
    for (let n = 0; n < 45; n++) into.accounts.insert({ id: `${n + 1}`, name: `${company} ${n}` });
    for (let n = 0; n < 25; n++) into.budgets.insert({ id: `${n + 1}`, name: `${company} ${n}` });
  };
  fill(store, 'A');
  sandbox.clock.advance(30 * 86_400_000);
  fill(otherStore, 'B');
  const { full: a, otherCompany: b } = sandbox.keys;
  const { logger, warnings } = loggerOfWarnings();
  const withoutCreatedAt: typeof sandbox.fetch = async (...request) => {
    const response = await sandbox.fetch(...request);
    if (!response.ok) return response;
    const text = (await response.text()).replaceAll(/,"createdAt":"[^"]*"/g, '');
    return new Response(text, { headers: response.headers });
  };
  /** A client with this key, or function that returns one. */
  const lookedUpWith = new Set<string | null>();
  const client = (apiKey: string | (() => string | Promise<string>)) =>
    createClient({
      ...sandbox.clientOptions,
      fetch: async (url, init) => {
        if (/\/products\/\d+$/.test(url)) lookedUpWith.add(new Headers(init.headers).get('x-auth-token'));
        return await (createdAt ? sandbox.fetch : withoutCreatedAt)(url, init);
      },
      apiKey,
      logger,
      retry: { baseDelayMs: 0, maxDelayMs: 0 },
    });
  return { sandbox, a, b, client, warnings, lookedUpWith };
}

type Company = ReturnType<typeof twoCompanies>;

/** Key functions that return the key of the other company in the course of a run. */
const WRONG: readonly (readonly [what: string, keys: (company: Company) => () => string])[] = [
  ...[1, 2, 3, 5].map((after) => {
    const keys = ({ a, b }: Company) => {
      let asked = 0;
      return () => (asked++ < after ? a : b);
    };
    return [`from call ${after + 1} on`, keys] as const;
  }),
  [
    'every second time',
    ({ a, b }) => {
      let asked = 0;
      return () => (asked++ % 2 === 0 ? a : b);
    },
  ],
  [
    'after a 401',
    ({ sandbox, a, b }) => {
      let isRevoked = false;
      return () => {
        if (sandbox.count() >= 3 && !isRevoked) {
          isRevoked = true;
          sandbox.revokeKey(a);
          return a;
        }
        return isRevoked ? b : a;
      };
    },
  ],
];

const isRejected = { code: 'invalid_input', argument: 'tenant', retryable: false };

/** Where each record of a copy comes from. */
function originsIn(database: DatabaseSync): string[] {
  const rows = database.prepare('SELECT body FROM accounting_record').all() as { body: string }[];
  const origins = rows.map(({ body }) => JSON.parse(body) as { unitId?: string; name?: string });
  return [...new Set(origins.map(({ unitId, name }) => (unitId ?? name)?.[0] ?? ''))];
}

describe.each(WRONG)('a key function that returns the key of another company %s ends', (_, keysOf) => {
  test.each([
    ['a first sync into a copy', 'incremental', false],
    ['a sync into a copy that has records', 'full', true],
  ] as const)('%s, and no record of it comes into the copy', async (_, mode, isFilled) => {
    const company = twoCompanies();
    const database = new DatabaseSync(':memory:');
    const options = { tenant: 'acme', target: sqliteTarget(database), collections, mode };
    if (isFilled) await sync(company.client(company.a), options);
    company.sandbox.clearLogs();
    for (let run = 0; run < 2; run++) {
      const error = await caught(sync(company.client(keysOf(company)), options));
      expect(['invalid_input', 'sync_failed']).toContain((error as { code: string }).code);
      // A key that was revoked stays revoked.
      if (run === 0) expect(error).toMatchObject(isRejected);
      expect(originsIn(database)).toEqual(originsIn(database).length === 0 ? [] : ['A']);
    }
    expect(isFilled ? originsIn(database) : ['A']).toEqual(['A']);
  });

  test('verify and refresh, and changes nothing', async () => {
    const company = twoCompanies();
    const database = new DatabaseSync(':memory:');
    const options = { tenant: 'acme', target: sqliteTarget(database) };
    await sync(company.client(company.a), { ...options, collections });
    company.sandbox.clearLogs();
    const ids = Array.from({ length: 9 }, (_, n) => `${n + 1}`);
    const { products } = company.client(keysOf(company));
    expect(await caught(refresh(products, { ...options, ids }))).toMatchObject(isRejected);
    expect(originsIn(database)).toEqual(['A']);
    if (company.sandbox.requests.some(({ status }) => status === 401)) return;
    company.sandbox.clearLogs();
    const other = company.client(keysOf(company));
    expect(await caught(verify(other, { ...options, collections }))).toMatchObject(isRejected);
  });

  test('a sync into functions, and changes: none of its records is delivered', async () => {
    for (const kind of ['sync', 'changes'] as const) {
      const company = twoCompanies();
      const units = new Set<unknown>();
      const take = (records: readonly Product[]) => {
        for (const { unitId } of records) units.add(unitId);
      };
      const client = company.client(keysOf(company));
      const options = { tenant: 'acme', store: memoryStore() };
      const run = async () => {
        if (kind === 'sync') {
          await sync(client, {
            ...options,
            collections: ['products'],
            onBatch: ({ records }) => take(records),
          });
        } else for await (const { records } of changes(client.products, options)) take(records);
      };
      expect(await caught(run())).toMatchObject(isRejected);
      expect([...units].filter((unit) => unit !== 'A')).toEqual([]);
    }
  });

  test('a push, a first one too: it writes to no other company', async () => {
    for (const isFirst of [true, false]) {
      const company = twoCompanies();
      const { sandbox } = company;
      const rows = (name: string) =>
        Array.from({ length: PRODUCTS + 20 }, (_, n) => ({ productNumber: `P-${n}`, name }));
      const store = memoryStore();
      const options = { tenant: 'acme', key: 'productNumber', store, visibleAfterMs: 0 } as const;
      if (!isFirst) await push(company.client(company.a).products, { ...options, rows: rows('before') });
      const before = JSON.stringify(sandbox.otherStore.products.all());
      sandbox.clearLogs();
      const { products } = company.client(keysOf(company));
      expect(await caught(push(products, { ...options, rows: rows('after') }))).toMatchObject(isRejected);
      expect(JSON.stringify(sandbox.otherStore.products.all())).toBe(before);
      // What was written stays, and nothing is doubled.
      const report = await push(company.client(sandbox.issueKey()).products, {
        ...options,
        rows: rows('after'),
      });
      expect(report.counts.failed).toBe(0);
      expect(sandbox.store.products.count).toBe(PRODUCTS + 20);
    }
  });
});

/** Key functions that return another key of the same company in the course of a run. */
const ROTATED: readonly (readonly [string, (company: Company) => () => string])[] = [
  [
    'with each call',
    ({ sandbox, a }) => {
      const keys = [a, ...Array.from({ length: 6 }, () => sandbox.issueKey())];
      let asked = 0;
      return () => keys[asked++ % keys.length] ?? a;
    },
  ],
  [
    'after a 401',
    ({ sandbox, a }) => {
      let key = a;
      return () => {
        if (sandbox.count() >= 4 && key === a) {
          key = sandbox.issueKey();
          sandbox.revokeKey(a);
          return a;
        }
        return key;
      };
    },
  ],
];

test.each(ROTATED)('a key that is rotated %s goes on by itself', async (what, keysOf) => {
  const company = twoCompanies();
  const database = new DatabaseSync(':memory:');
  const target = sqliteTarget(database);
  const options = { tenant: 'acme', target, collections: ['products', 'accounts', 'budgets'] as const };
  await sync(company.client(company.a), options);
  company.sandbox.clearLogs();
  const client = company.client(keysOf(company));
  const report = await sync(client, { ...options, mode: 'full' });
  expect(report.collections.map(({ status }) => status)).toEqual(['done', 'done', 'done']);
  expect((await verify(client, options)).equal).toBe(true);
  expect(what).toBeDefined();
});

test('a first sync goes on with a rotated key once it has read a record with createdAt', async () => {
  const company = twoCompanies();
  const database = new DatabaseSync(':memory:');
  const other = company.sandbox.issueKey();
  const apiKey = () => (company.sandbox.count() < 3 ? company.a : other);
  const options = { tenant: 'acme', target: sqliteTarget(database), collections: ['products'] as const };
  await sync(company.client(apiKey), options);
  expect((await verify(company.client(other), options)).equal).toBe(true);
});

test('a new key is proven by invalid records of the copy', async () => {
  const { sandbox, a } = twoCompanies();
  const target = sqliteTarget(new DatabaseSync(':memory:'));
  const options = { tenant: 'acme', target, collections: ['products'] as const, mode: 'full' as const };
  const fetch: typeof sandbox.fetch = async (...request) => {
    const response = await sandbox.fetch(...request);
    const body = (await response.text()).replaceAll(/"unitId":"."/g, '"unitId":7');
    return new Response(body, response);
  };
  const run = (apiKey: string) =>
    sync(createClient({ ...sandbox.clientOptions, apiKey, fetch, retry: false }), options);
  await run(a);
  expect((await run(sandbox.issueKey())).collections).toMatchObject([{ status: 'done', invalid: PRODUCTS }]);
  expect(await caught(run(sandbox.keys.otherCompany))).toMatchObject(isRejected);
});

test('a key of another company that comes during the look-ups of deletions ends the sync', async () => {
  const { sandbox, a, b, client, lookedUpWith } = twoCompanies();
  const target = sqliteTarget(new DatabaseSync(':memory:'));
  const options = { tenant: 'acme', target, collections: ['products'] as const };
  await sync(client(a), options);
  for (const id of ['3', '17', '30']) sandbox.store.products.delete(id);
  const rotating = client(() => (lookedUpWith.size === 0 ? a : b));
  expect(await caught(sync(rotating, { ...options, mode: 'full' }))).toMatchObject(isRejected);
  expect((await verify(client(a), options)).collections).toMatchObject([{ extra: ['17', '3', '30'] }]);
});

test('two tenants whose clients share a variable for the key at the same time do not mix', async () => {
  const company = twoCompanies();
  const keys = { acme: company.a, globex: company.b };
  let current: keyof typeof keys = 'acme';
  const client = company.client(() => keys[current]);
  const database = new DatabaseSync(':memory:');
  const target = sqliteTarget(database);
  const run = async (tenant: keyof typeof keys) => {
    current = tenant;
    return await sync(client, { tenant, target, collections });
  };
  await Promise.allSettled([run('acme'), run('globex')]);
  const rows = database.prepare('SELECT tenant, body FROM accounting_record').all() as {
    tenant: string;
    body: string;
  }[];
  const origins = rows.map(({ tenant, body }) => {
    const { unitId, name } = JSON.parse(body) as { unitId?: string; name?: string };
    return `${tenant} ${(unitId ?? name)?.[0]}`;
  });
  // One of them may have begun with the key of the other, but none has both.
  expect(new Set(origins).size).toBe(new Set(rows.map(({ tenant }) => tenant)).size);
});

test('the proof of a key is sent with that key, and asks for no other', async () => {
  const company = twoCompanies();
  const target = sqliteTarget(new DatabaseSync(':memory:'));
  const options = { tenant: 'acme', target, collections: ['products'] as const };
  await sync(company.client(company.a), options);
  company.sandbox.clearLogs();
  let asked = 0;
  const rotated = company.sandbox.issueKey();
  await sync(
    company.client(() => (asked++ === 0 ? rotated : company.a)),
    options,
  );
  expect(company.lookedUpWith).toEqual(new Set([rotated]));
});

test('a key that the service rejects is proven by no other key', async () => {
  const company = twoCompanies();
  const target = sqliteTarget(new DatabaseSync(':memory:'));
  const options = { tenant: 'acme', target, collections: ['products'] as const };
  await sync(company.client(company.a), options);
  let asked = 0;
  const revoked = company.sandbox.issueKey();
  company.sandbox.revokeKey(revoked);
  await sync(
    company.client(() => (asked++ === 0 ? revoked : company.a)),
    options,
  );
  expect(company.lookedUpWith).toEqual(new Set([revoked]));
});

// Of other collections the API documentation names no `createdAt`: what the service means by it may change.
test.each(['a target', 'functions'])(
  'a key is proven by products alone if enough are known, by %s',
  async (into) => {
    const company = twoCompanies();
    const { accounts } = company.sandbox.store;
    for (const id of accounts.ids()) accounts.update(id, { createdAt: '2026-01-01T00:00:00Z' });
    const all = { tenant: 'acme', collections };
    const target = sqliteTarget(new DatabaseSync(':memory:'));
    const functions = { store: memoryStore(), onBatch: () => {} };
    const run = async (key: string) =>
      into === 'functions'
        ? await sync(company.client(key), { ...all, ...functions })
        : await sync(company.client(key), { ...all, target });
    await run(company.a);
    for (const id of accounts.ids()) accounts.update(id, { createdAt: '2026-01-02T00:00:00Z' });
    company.sandbox.clearLogs();
    await run(company.sandbox.issueKey());
    expect(company.sandbox.count(({ path }) => /\/products\/./.test(path))).toBe(5);
    expect(company.sandbox.count(({ path }) => /\/accounts\/./.test(path))).toBe(0);
  },
);

test('a copy without records keeps the last key alone', async () => {
  const sandbox = createSandbox({ records: 0 });
  const target = sqliteTarget(new DatabaseSync(':memory:'));
  const options = { tenant: 'acme', target, collections: ['products'] as const };
  const client = (apiKey: string) => createClient({ ...sandbox.clientOptions, apiKey });
  await sync(client(sandbox.keys.full), options);
  await sync(client(sandbox.keys.otherCompany), options);
  sandbox.otherStore.products.insert({ name: 'Theirs' });
  await sync(client(sandbox.keys.otherCompany), options);
  sandbox.store.products.insert({ name: 'Ours' });
  const error = await caught(sync(client(sandbox.keys.full), { ...options, mode: 'full' }));
  expect(error).toMatchObject(isRejected);
});

describe('without a target', () => {
  const run = async (client: Client, store: ReturnType<typeof memoryStore>, options: object = {}) => {
    const names = new Set<unknown>();
    const onBatch = ({ records }: { records: readonly { id: string; unitId?: unknown }[] }) => {
      for (const { unitId } of records) if (unitId !== undefined) names.add(unitId);
    };
    const own = { tenant: 'acme', store, onBatch: onBatch as () => void };
    await sync(client, { ...own, collections: ['products', 'budgets'], ...options });
    return [...names];
  };

  test('the state says whose keys are used: another company is rejected, and a rotated key is not', async () => {
    const company = twoCompanies();
    const store = memoryStore();
    await run(company.client(company.a), store);
    const error = await caught(run(company.client(company.b), store, { mode: 'full' }));
    expect(error).toMatchObject(isRejected);
    expect(await run(company.client(company.sandbox.issueKey()), store, { mode: 'full' })).toEqual(['A']);
    expect(company.warnings.filter((text) => text.includes('has changed'))).toEqual([]);
    expect(await run(company.client(company.b), store, { mode: 'full', sameCompany: true })).toEqual(['B']);
  });

  test('a run without changes forgets nothing of the company', async () => {
    const { sandbox, client, a, b } = twoCompanies();
    const store = memoryStore();
    for (let n = 0; n < 3; n++) {
      await run(client(a), store);
      sandbox.clock.advance(600_000);
    }
    for (const mode of ['incremental', 'full'])
      expect(await caught(run(client(b), store, { mode }))).toMatchObject(isRejected);
  });

  test('a run without changes needs no request for it, also with the third key', async () => {
    const { sandbox, client, a } = twoCompanies();
    const store = memoryStore();
    for (const apiKey of [a, sandbox.issueKey(), sandbox.issueKey()]) {
      await run(client(apiKey), store);
      sandbox.clock.advance(600_000);
      sandbox.clearLogs();
      await run(client(apiKey), store);
      expect(sandbox.count()).toBe(2);
    }
  });

  test('a warning, once, says that no record has createdAt when the key changes', async () => {
    const company = twoCompanies({ createdAt: false });
    const store = memoryStore();
    await run(company.client(company.a), store);
    expect(company.warnings).toEqual([]);
    const other = company.client(company.sandbox.issueKey());
    await run(other, store, { mode: 'full' });
    const expected = [expect.stringContaining('the API key has changed, and no known record has createdAt')];
    expect(company.warnings).toEqual(expected);
    await run(other, store, { mode: 'full' });
    expect(company.warnings).toEqual(expected);
  });

  test('changes knows the company of its collection too', async () => {
    const company = twoCompanies();
    const options = { tenant: 'acme', store: memoryStore(), mode: 'full' } as const;
    const read = async (apiKey: string, sameCompany = false) => {
      for await (const _ of changes(company.client(apiKey).products, { ...options, sameCompany }));
    };
    await read(company.a);
    expect(await caught(read(company.b))).toMatchObject(isRejected);
    await read(company.sandbox.issueKey());
    await read(company.b, true);
  });

  test('changes warns too if no record has createdAt when the key changes', async () => {
    const company = twoCompanies({ createdAt: false });
    const options = { tenant: 'acme', store: memoryStore(), mode: 'full' } as const;
    for (const apiKey of [company.a, company.sandbox.issueKey()])
      for await (const _ of changes(company.client(apiKey).products, options));
    expect(company.warnings).toEqual([expect.stringContaining('the API key has changed')]);
  });
});
