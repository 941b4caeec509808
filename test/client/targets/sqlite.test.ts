import fs, {
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import {
  type ClientOptions,
  collectionNames,
  forget,
  isAccountingError,
  refresh,
  type SyncTarget,
  sync,
  verify,
} from 'accounting-data-sdk';
import { type SqliteDatabase, sqliteTarget } from 'accounting-data-sdk/targets';
import { createSandbox, type Sandbox } from 'accounting-data-sdk/testing';
import { expect, onTestFinished, test, vi } from 'vitest';
import { caught, thrown } from '../../support/caught.ts';
import { testCopy } from './copy.ts';
import { batch, openSqlite, openTarget, temporaryFile, write } from './engines.ts';
import { clientOf, run } from './set-up.ts';

const syncAccounts = (
  sandbox: Sandbox,
  target: SyncTarget,
  options = {},
  clientOptions: ClientOptions = {},
) => run(sandbox, { target }, { collections: ['accounts'], ...options }, clientOptions);

testCopy('SQLite', async () => openSqlite());

/** A database whose statements have other methods. */
const driver = (methods: object): SqliteDatabase =>
  ({ exec() {}, prepare: () => ({ run() {}, get() {}, all: () => [], ...methods }), close() {} }) as never;

function thrownBy(error: Error): never {
  throw error;
}

/** What a target throws when a sync opens it. */
const openingFails = (target: SyncTarget) => caught(Promise.resolve().then(() => openTarget(target)));

test('a second sync or a forget of a tenant in one SQLite file fails with concurrent_run, and a sync of another tenant does not', async () => {
  const { target, file } = openSqlite();
  const first = await openTarget(target);
  const error = await openingFails(sqliteTarget(file));
  expect(isAccountingError(error, 'concurrent_run')).toBe(true);
  expect(error).toMatchObject({ retryable: true });
  expect(await caught(forget({ tenant: 'acme', target }))).toMatchObject({ code: 'concurrent_run' });
  const other = await openTarget(target, 'bolt');
  await other.onBatch({ ...batch([{ id: '1' }]), key: 'accounting-data-sdk:bolt:accounts' });
  await first.onBatch(batch([{ id: '1' }]));
  await first.close?.();
  const next = await openTarget(target);
  await next.close?.();
  await other.close?.();
  expect(readdirSync(dirname(file))).toEqual(['books.sqlite']);
});

test('the lock file that a killed process left, and that another only tries to lock, does not lock its tenant', async () => {
  const { target, file } = openSqlite();
  using lock = new DatabaseSync(`${file}-lock-acme`);
  // What every attempt does first.
  lock.exec('BEGIN; SELECT * FROM sqlite_master');
  const opened = await openTarget(target);
  await opened.close?.();
  expect(existsSync(`${file}-lock-acme`)).toBe(false);
});

test.each<[string, string, (target: SyncTarget) => unknown]>([
  ['a sync into a file that is no database', 'list.csv', openTarget],
  ['a sync into a folder', '', openTarget],
  ['a sync into a file in a folder that does not exist', 'none/books.sqlite', openTarget],
  [
    'verify of a file that does not exist',
    'none.sqlite',
    (target) => verify(clientOf(createSandbox()), { tenant: 'acme', target }),
  ],
  ['forget in a file that does not exist', 'none.sqlite', (target) => forget({ tenant: 'acme', target })],
])('%s rejects, names it, and creates none', async (_, name, work) => {
  const folder = dirname(temporaryFile());
  writeFileSync(join(folder, 'list.csv'), 'id;name\n'.repeat(200));
  const file = join(folder, name);
  const error = await caught(Promise.resolve(sqliteTarget(file)).then(work));
  expect(error).toMatchObject({ code: 'invalid_input', argument: 'target' });
  expect(`${error}`).toContain(file);
  expect(readdirSync(folder)).toEqual(['list.csv']);
});

test.each([0, 1])(
  'a sync can be repeated later if %i file descriptors are left when it opens a SQLite file',
  async (left) => {
    // SQLite reports a folder as it does a file for which there is no descriptor.
    const file = dirname(temporaryFile());
    const opened: number[] = [];
    const { openSync } = fs;
    vi.spyOn(fs, 'openSync').mockImplementation((path, ...more) => {
      if (path !== file) return openSync(path, ...more);
      if (opened.length === left)
        throw Object.assign(new Error('EMFILE: too many open files'), { code: 'EMFILE', path });
      const descriptor = openSync(path, 'r');
      opened.push(descriptor);
      return descriptor;
    });
    const error = await openingFails(sqliteTarget(file));
    expect(error).toMatchObject({ code: 'checkpoint', retryable: true });
    expect(`${error}`).toContain('EMFILE');
    for (const descriptor of opened) expect(() => fs.fstatSync(descriptor)).toThrow('EBADF');
  },
);

test('a sync to SQLite on a full disk fails at a batch, and the next run writes that batch', async () => {
  const sandbox = createSandbox({ records: { accounts: 200 } });
  using database = new DatabaseSync(temporaryFile());
  database.exec('PRAGMA max_page_count = 20');
  const run = () => syncAccounts(sandbox, sqliteTarget(database));
  const count = () => Number(database.prepare('SELECT count(*) AS n FROM accounting_record').get()?.n);
  expect(`${await caught(run())}`).toContain('full');
  expect(count()).toBeLessThan(200);
  database.exec('PRAGMA max_page_count = 100000');
  await run();
  expect(count()).toBe(200);
  // It belongs to the caller.
  expect(database.isOpen).toBe(true);
});

test('a view in SQLite has a column for a field that is called as the text of an amount', async () => {
  const copy = openSqlite();
  const product = { id: '1', salePrice: '5.10', salePriceText: 'own' };
  await write(copy, batch([product], { collection: 'products' }));
  const [row] = await copy.query('SELECT "salePriceText", "salePriceText_2" FROM products');
  expect(row).toEqual({ salePriceText: '5.10', salePriceText_2: 'own' });
});

test('a view in SQLite keeps the triggers of the user when it is replaced', async () => {
  const copy = openSqlite();
  await write(copy, batch([{ id: '1', name: 'Cash' }]));
  await copy.query('CREATE TABLE renamed (id TEXT, name TEXT)');
  await copy.query(`CREATE TRIGGER "mine" INSTEAD OF UPDATE OF name ON Accounts
    BEGIN INSERT INTO renamed VALUES (new.id, new.name); END`);
  await write(copy, batch([{ id: '2', name: 'Bank', iban: 'NL00' }]));
  await copy.query(`UPDATE accounts SET name = 'Till' WHERE iban = 'NL00'`);
  expect(await copy.query('SELECT * FROM renamed')).toEqual([{ id: '2', name: 'Till' }]);
});

test.each([
  ['database', () => sqliteTarget('')],
  ['tablePrefix', () => sqliteTarget('books.sqlite', { tablePrefix: 'a"; --' })],
  ['viewPrefix', () => sqliteTarget('books.sqlite', { viewPrefix: '1' })],
  [':memory:', () => sqliteTarget(':memory:')],
  ['returnArrays', () => sqliteTarget(new DatabaseSync(':memory:', { returnArrays: true } as object))],
  // Clients that work over a network, drivers of promises, drivers without numbered parameters.
  ['prepare and exec', () => sqliteTarget({ execute: async () => [], close: () => {} } as never)],
  ['not promises', () => sqliteTarget(driver({ get: async () => ({ one: '1' }) }))],
  ['SELECT ?1', () => sqliteTarget(driver({ get: () => thrownBy(new RangeError('Too many parameter')) }))],
  ['SELECT ?1', () => sqliteTarget({ exec() {}, prepare: async () => ({}) } as never)],
])('sqliteTarget rejects an invalid %s', (name, create) => {
  const error = thrown(create);
  expect(error).toMatchObject({ code: 'invalid_input' });
  expect(`${error}`).toContain(name);
});

test('sqliteTarget takes a driver whose errors name the codes of SQLite and that commits only once all rows are read, as libsql does', async () => {
  const { file } = openSqlite();
  const database = new DatabaseSync(file);
  onTestFinished(() => database.close());
  /** Inherits from Error, but is none. */
  const failureOf = (error: unknown, code: string) =>
    Object.assign(Object.create(Error.prototype) as Error, { message: (error as Error).message, code });
  let busy = 0;
  let isReading = false;
  const renamed = <V>(work: () => V): V => {
    if (--busy === 0) throw failureOf(new Error('database is locked'), 'SQLITE_BUSY_SNAPSHOT');
    try {
      return work();
    } catch (error) {
      throw failureOf(error, 'SQLITE_ERROR');
    }
  };
  const target = sqliteTarget({
    exec: (sql) => {
      if (sql === 'COMMIT' && isReading) throw failureOf(new Error('statements in progress'), 'SQLITE_BUSY');
      renamed(() => database.exec(sql));
    },
    prepare(sql) {
      const statement = renamed(() => database.prepare(sql));
      const call =
        (name: 'run' | 'get' | 'all') =>
        (...values: string[]) => {
          isReading ||= name === 'run' && sql.includes('RETURNING');
          return renamed(() => statement[name](...values));
        };
      return { run: call('run'), get: call('get'), all: call('all') as () => unknown[] };
    },
    close: () => database.close(),
  });
  const sandbox = createSandbox({ records: { accounts: 30 } });
  expect(await syncAccounts(sandbox, target)).toMatchObject({ records: 30 });
  busy = 5;
  expect(await syncAccounts(sandbox, target, { mode: 'full' })).toMatchObject({ records: 30 });
  database.exec('DROP TABLE accounting_checkpoint; CREATE TABLE accounting_checkpoint (id)');
  expect(await caught(syncAccounts(sandbox, target))).toMatchObject({
    code: 'invalid_input',
    argument: 'target',
  });
});

test('a file of SQLite has nothing that the SQLite of 2020, DuckDB or Drizzle reads in another way', async () => {
  const { target, query } = openSqlite();
  await sync(clientOf(createSandbox({ records: 30 })), { tenant: 'acme', target });
  const objects = await query('SELECT sql, type FROM sqlite_master WHERE sql IS NOT NULL');
  // One for each collection, and that of the status.
  expect(objects.filter(({ type }) => type === 'view')).toHaveLength(collectionNames.length + 1);
  for (const { sql, type } of objects) {
    // DuckDB parses a definition, writes it down in its own syntax, and has SQLite run that.
    if (type === 'view') expect(sql).not.toMatch(/\bGLOB\b|\btrim\(|count\(\*\)|\bdate\(/);
    // Drizzle finds the definition of a view by this expression, in which a line break matches nothing.
    if (type === 'view') expect(sql).toMatch(/\bAS\b\s+(SELECT.+)$/i);
    expect(sql).not.toMatch(
      /->|\bSTRICT\b|\b(?:unixepoch|iif|concat|string_agg|json_error_position|jsonb?_each_text)\(/,
    );
  }
});

test('every call leaves a file of SQLite that can be read without the right to write', async () => {
  const { target, file } = openSqlite();
  const sandbox = createSandbox({ records: { accounts: 3 } });
  const options = { tenant: 'acme', target };
  for (const work of [
    () => syncAccounts(sandbox, target),
    () => syncAccounts(createSandbox({ records: { accounts: 9 } }), target, {}, { apiKey: 'wrong' }),
    () => refresh(clientOf(sandbox).accounts, { ...options, ids: ['1'] }),
    () => verify(clientOf(sandbox), options),
    () => forget(options),
  ]) {
    await Promise.allSettled([work()]);
    expect(readdirSync(dirname(file))).toEqual(['books.sqlite']);
    // Of the file format: 1 for a rollback journal, 2 for a write-ahead log, which every reader has to write to.
    expect([...readFileSync(file).subarray(18, 20)]).toEqual([1, 1]);
  }
});

test('verify and tenants of a SQLite file write nothing, neither into it nor beside it', async () => {
  const { target, file, query } = openSqlite();
  const sandbox = createSandbox({ records: { accounts: 3 } });
  expect([await target.tenants(), existsSync(file)]).toEqual([[], false]);
  await syncAccounts(sandbox, target, { tenant: 'bolt' });
  await syncAccounts(sandbox, target);
  const before = [readFileSync(file), statSync(file).mtimeMs, statSync(dirname(file)).mtimeMs];
  const names = () => readdirSync(dirname(file));
  const seen = new Set<string>();
  const fetch: typeof globalThis.fetch = (input, init) => {
    for (const name of names()) seen.add(name);
    return sandbox.fetch(input, init);
  };
  const options = { tenant: 'acme', target, collections: ['accounts'] as const };
  expect(await verify(clientOf(sandbox, { fetch }), options)).toMatchObject({ equal: true });
  expect(await target.tenants()).toEqual(['acme', 'bolt']);
  expect([readFileSync(file), statSync(file).mtimeMs, statSync(dirname(file)).mtimeMs]).toEqual(before);
  expect([...seen]).toEqual(['books.sqlite']);
  // While a sync writes, too.
  const writing = await openTarget(target, 'cash');
  expect(await query('PRAGMA journal_mode')).toEqual([{ journal_mode: 'wal' }]);
  expect(await verify(clientOf(sandbox), options)).toMatchObject({ equal: true });
  expect(await target.tenants()).toEqual(['acme', 'bolt', 'cash']);
  await writing.close?.();
  // SQLite removes its other files when the last connection is closed.
  expect(names()).toEqual(['books.sqlite']);
  using database = new DatabaseSync(file);
  expect(await sqliteTarget(database).tenants()).toEqual(['acme', 'bolt']);
});

test('tenants of a SQLite file that is no database, or that has a table of the user, reject', async () => {
  const file = join(dirname(temporaryFile()), 'list.csv');
  writeFileSync(file, 'id;name\n'.repeat(200));
  using database = new DatabaseSync(temporaryFile());
  database.exec('CREATE TABLE accounting_checkpoint (number)');
  for (const of of [file, database])
    expect(await caught(sqliteTarget(of).tenants())).toMatchObject({
      code: 'invalid_input',
      argument: 'target',
    });
});

test('two targets in SQLite with one viewPrefix do not take the views of each other', async () => {
  const { file, query } = openSqlite();
  const sandbox = createSandbox({ records: { accounts: 3 } });
  const into = (options: object) => syncAccounts(sandbox, sqliteTarget(file, options));
  await into({});
  const error = await caught(into({ tablePrefix: 'other_' }));
  expect(error).toMatchObject({ argument: 'target', message: expect.stringContaining('viewPrefix') });
  await into({ tablePrefix: 'other_', viewPrefix: 'other_' });
  expect(await query('SELECT count(*) AS count FROM other_accounts')).toEqual([{ count: 3 }]);
});

test('a sync and tenants wait for a locked SQLite file without blocking the event loop', async () => {
  const { file, target } = openSqlite();
  const sandbox = createSandbox({ records: { accounts: 3 } });
  await syncAccounts(sandbox, target);
  using other = new DatabaseSync(file);
  other.exec('BEGIN IMMEDIATE');
  sandbox.store.accounts.update('1', { name: 'Changed' });
  // Only this event loop can end the transaction.
  setTimeout(() => other.exec('ROLLBACK'), 60);
  expect(await syncAccounts(sandbox, target)).toMatchObject({ records: 1 });
  using own = new DatabaseSync(file, { timeout: 0 });
  for (const each of [target, sqliteTarget(own)]) {
    other.exec('BEGIN EXCLUSIVE');
    setTimeout(() => other.exec('ROLLBACK'), 60);
    expect(await each.tenants()).toEqual(['acme']);
  }
});

test.each(['deleted', 'replaced'])('a SQLite file that is %s during a sync is an error', async (what) => {
  const { file, target } = openSqlite();
  const sandbox = createSandbox({ records: { accounts: 60 }, pageSize: 20 });
  const onProgress = ({ pages }: { pages: number }) => {
    if (pages !== 1) return;
    if (what === 'deleted') return rmSync(file, { force: true });
    copyFileSync(file, `${file}.new`);
    renameSync(`${file}.new`, file);
  };
  const error = await caught(syncAccounts(sandbox, target, { onProgress }));
  expect(error).toMatchObject({ code: 'sync_failed' });
  expect(`${error}`).toContain('was deleted or replaced');
});

test('forget leaves nothing of a company in a SQLite file', async () => {
  const sandbox = createSandbox({ records: { accounts: 50 } });
  const copy = openSqlite();
  for (const name of ['Very secret name', 'Shorter']) {
    for (const { id } of sandbox.store.accounts.all())
      sandbox.store.accounts.update(id, { name: `${name} ${id}` });
    sandbox.clock.advance(60_000);
    await syncAccounts(sandbox, copy.target);
  }
  expect(readFileSync(copy.file).includes('Shorter 7')).toBe(true);
  expect(readFileSync(copy.file).includes('Very secret')).toBe(false);
  await forget({ tenant: 'acme', target: copy.target });
  expect(readFileSync(copy.file).includes('Shorter')).toBe(false);
});
