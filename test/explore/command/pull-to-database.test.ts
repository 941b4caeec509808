import { mkdirSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { collectionNames } from 'accounting-data-sdk';
import type { Sandbox, SandboxOptions } from 'accounting-data-sdk/testing';
import { expect, test, vi } from 'vitest';
import { openPglite } from '../../support/pglite.ts';
import { projectFolder } from '../support/schema-file.ts';
import { ends, folder, openSandbox, records, run } from './support/run.ts';

/** The rows of a query in a file of SQLite. */
function rowsIn(file: string, sql: string) {
  using database = new DatabaseSync(file);
  return database.prepare(sql).all();
}

/** The records in a file of SQLite, each with its collection. */
const copied = (file: string) =>
  rowsIn(file, 'SELECT collection, body FROM accounting_record')
    .map(({ collection, body }) => `${collection} ${body}`)
    .sort();

/** The records of the service in the same form. */
const upstream = ({ store }: Sandbox) =>
  collectionNames
    .flatMap((name) => store[name].all().map((record) => `${name} ${JSON.stringify(record)}`))
    .sort();

/** A sandbox, a file of SQLite, and the command that copies collections of acme into it. */
function copyOf(what: string, options: SandboxOptions) {
  const { sandbox, env } = openSandbox(options);
  const file = folder()('books.sqlite');
  const pull = (args: readonly string[] = [], io?: Parameters<typeof run>[2]) =>
    run(env, ['pull', what, '--to', file, '--tenant', 'acme', ...args], io);
  return { sandbox, env, file, pull };
}

test('pull --to writes every collection to SQLite, then only what changed, and --verify prints what differs', async () => {
  const { sandbox, file, pull, env } = copyOf('--all', { records: 100 });
  const first = await pull();
  expect([first.code, first.out]).toEqual([0, '']);
  expect(first.log).toContain(`records of acme written to ${file}: complete.`);
  expect(copied(file)).toEqual(upstream(sandbox));

  sandbox.store.products.update('1', { name: 'Renamed' });
  sandbox.store.accounts.delete('2');
  const found = await pull(['--verify']);
  expect(found.log).toContain('products: 1 record changed since the last sync.');
  const extra = { collection: 'accounts', id: '2', difference: 'extra' };
  expect([found.code, records(found.out)]).toEqual([8, [extra]]);
  expect(found.log).toContain(`1 record of acme in ${file} differs from the service.`);
  const report = await pull(['--verify', '--json']);
  const accounts = expect.objectContaining({ collection: 'accounts', extra: ['2'] });
  const differing = { equal: false, collections: expect.arrayContaining([accounts]) };
  expect([report.code, JSON.parse(report.out)]).toEqual([8, expect.objectContaining(differing)]);
  // The only company of the database needs no name.
  const second = await run(env, ['pull', '--all', '--to', file, '--json']);
  expect(second.log).toContain('1 record of acme');
  expect(JSON.parse(second.out)).toMatchObject({ tenant: 'acme', records: 1 });
  expect((await pull(['--full'])).log).toContain('accounts: ');
  const verified = await pull(['--verify', '--json']);
  expect([verified.code, JSON.parse(verified.out)]).toMatchObject([0, { tenant: 'acme', equal: true }]);
  expect(copied(file)).toEqual(upstream(sandbox));
  expect(rowsIn(file, `SELECT name FROM products WHERE id = '1'`)).toEqual([{ name: 'Renamed' }]);
});

test('pull --to and --verify of one collection read no other, and name what is missing and what is different', async () => {
  const { sandbox, file, pull } = copyOf('accounts', { records: { accounts: 5, boms: 5 } });
  const shown: (string | undefined)[] = [];
  const status = (text: string | undefined) => void shown.push(text);
  expect((await pull([], { status })).code).toBe(0);
  expect(shown).toContainEqual(expect.stringMatching(/^accounts: 5 records in \d+ pages/));
  using database = new DatabaseSync(file);
  database.exec(`DELETE FROM accounting_record WHERE id = '1'`);
  database.exec(`UPDATE accounting_record SET body = json_set(body, '$.name', 'Other') WHERE id = '2'`);
  const { code, out, log } = await pull(['--verify']);
  expect([code, records(out)]).toEqual([
    8,
    [
      { collection: 'accounts', id: '1', difference: 'missing' },
      { collection: 'accounts', id: '2', difference: 'different' },
    ],
  ]);
  expect(log).toContain(`2 records of acme in ${file} differ from the service.`);
  expect(sandbox.requests.filter(({ path }) => !path.includes('/accounts'))).toEqual([]);
});

test('pull --to writes the first company as default without --tenant, requires it if there are several, and removes one with --forget --yes', async () => {
  const { env, file, pull } = copyOf('accounts', { records: { accounts: 5 } });
  const args = ['pull', 'accounts', '--to', file];
  for (const time of ['first', 'second']) {
    const { code, log } = await run(env, args);
    expect([time, code, log]).toEqual([time, 0, expect.stringContaining('of default written')]);
  }
  expect((await pull()).code).toBe(0);
  expect((await run(env, args)).log).toContain('holds 2 companies');

  const forget = ['pull', '--to', file, '--tenant', 'acme', '--forget'];
  expect([(await run(env, forget)).code, copied(file).length]).toEqual([2, 10]);
  const confirm = vi.fn(async () => false);
  const prompt = { confirm, secret: async () => '' };
  await ends(run(env, forget, { prompt }), 2, 'Nothing was removed.');
  confirm.mockResolvedValueOnce(true);
  await ends(run(env, forget, { prompt }), 0, `acme was removed from ${file}.`);
  expect(confirm).toHaveBeenCalledWith(`Remove every record of acme from ${file}?`, expect.anything());
  expect((await pull()).code).toBe(0);
  await ends(run(env, [...forget, '--yes']), 0, `acme was removed from ${file}.`);
  expect(copied(file)).toHaveLength(5);
  await ends(run(env, [...forget, '--yes']), 2, 'Nothing of acme is in');
});

test('pull --to and --verify count invalid records too', async () => {
  const { sandbox, pull } = copyOf('products', { records: { products: 5 } });
  const body = (text: string) => text.replace(/("id":"2",.*?"salePrice":)"([\d.]+)"/, '$1$2');
  sandbox.faults.add({ kind: 'rewrite', body });
  const { log } = await pull();
  expect(log).toMatch(/1 record (.|\n)*^5 records of acme written to .*: complete\.$/m);
  const verified = await pull(['--verify']);
  const said = /^5 records of acme compared .* equal/m;
  expect([verified.code, verified.log]).toEqual([0, expect.stringMatching(said)]);
});

test('pull --full removes deleted records, many only with --max-candidates, and names one that it cannot confirm', async () => {
  const { sandbox, file, pull } = copyOf('products', { records: { products: 200 } });
  expect((await pull()).code).toBe(0);
  for (let id = 1; id <= 60; id++) sandbox.store.products.delete(String(id));
  const aborted = await pull(['--full', '--quiet']);
  expect([aborted.code, copied(file).length]).toEqual([1, 200]);
  expect(aborted.log).toMatch(/60 of 200 local records(.|\n)*maxCandidates is 50.*\n.*--max-candidates all/);
  // It would stop again.
  expect(aborted.log).not.toContain('Run the same command');
  await ends(pull(['--verify', '--quiet']), 8, '50 records of acme in');
  await ends(pull(['--verify', '--quiet', '--max-candidates', '60']), 8, '60 records of acme in');
  const fault = sandbox.faults.add({ kind: 'status', status: 403 }, { path: /products\/[1-7]$/ });
  const { code, log } = await pull(['--full', '--max-candidates', '60']);
  const unknown = 'whether 1, 2, 3, 4, 5 and 2 others were deleted is unknown';
  const said = RegExp(`53 deleted\\nproducts: ${unknown}, so they are kept\\. .* 403`);
  expect([code, log, copied(file).length]).toEqual([0, expect.stringMatching(said), 147]);
  const compared = await ends(pull(['--verify']), 0, `products: ${unknown}. GET`);
  expect(compared.log).toContain('no difference, but the read of products may have missed records.');
  fault.remove();
  const five = sandbox.faults.add({ kind: 'status', status: 403 }, { path: /products\/[3-7]$/ });
  await ends(pull(['--verify']), 8, 'products: whether 3, 4, 5, 6, 7 were deleted is unknown. GET');
  five.remove();
  sandbox.faults.add({ kind: 'status', status: 403 }, { path: /products\/7$/ });
  await ends(pull(['--full']), 0, 'products: whether 7 was deleted is unknown, so it is kept.');
});

test('pull --full advises --max-candidates all if the service has none of the records of the copy', async () => {
  const { sandbox, pull } = copyOf('products', { records: { products: 20 } });
  expect((await pull()).code).toBe(0);
  const ids = sandbox.store.products.ids();
  for (const id of ids) sandbox.store.products.delete(id);
  for (const _ of ids) sandbox.store.products.insert({ name: 'Desk' });
  const advice = 'Check the API key. If so many are really gone, pass --max-candidates all.';
  await ends(pull(['--full', '--quiet']), 1, advice);
});

test('pull --verify names the collections of which a read may have missed records', async () => {
  const uuids = { records: { accounts: 65, boms: 65 }, ids: { form: 'uuid' }, pageSize: 10 } as const;
  const { pull } = copyOf('--all', uuids);
  const pulled = await pull();
  expect(pulled.log.match(/Warning: .*/g)).toEqual([expect.stringMatching(/accounts, boms.*several pages/)]);
  expect(pulled.log).toMatch(/written to .*: records may be missing\.$/m);
  const { code, log } = await pull(['--verify']);
  const said = /no difference, but the read of .*accounts.* missed/;
  expect([code, log]).toEqual([0, expect.stringMatching(said)]);
});

test.each([
  ['Ctrl-C', 130],
  ['an error', 3],
])('pull --to says how to resume after %s', async (_, code) => {
  const { sandbox, file, pull } = copyOf('products', { records: { products: 100 } });
  const stop = new AbortController();
  if (code === 3) sandbox.faults.add({ kind: 'status', status: 401 }, { skip: 3, times: 1 });
  else sandbox.onRequest(() => sandbox.count() === 3 && stop.abort(new Error('stopped')));
  const said = 'Run the same command to resume; a collection that is read by page starts over.';
  await ends(pull([], { signal: stop.signal }), code, said);
  expect((await pull()).code).toBe(0);
  expect(copied(file)).toEqual(upstream(sandbox));
});

test('pull --to postgres uses the pg of the working directory, and says so if it is not installed', async () => {
  const { sandbox, env } = openSandbox({ records: { accounts: 4 } });
  const cwd = folder()('.');
  const DATABASE_URL = 'postgres://localhost/books';
  const pull = (...more: string[]) =>
    run({ ...env, DATABASE_URL }, ['pull', 'accounts', '--to', 'postgres', ...more], { cwd });
  await ends(pull('--tenant', 'acme'), 7, 'npm install pg');

  const database = await openPglite();
  const pools: string[] = [];
  Object.assign(globalThis, { ofTest: { database, pools } });
  mkdirSync(`${cwd}/node_modules/pg`, { recursive: true });
  const pool = `exports.Pool = class {
    constructor({ connectionString }) { ofTest.pools.push(connectionString); }
    on() {}
    query(text, values) { return ofTest.database.query(text, values); }
    async end() { ofTest.pools.push('ended'); }
  };`;
  writeFileSync(`${cwd}/node_modules/pg/index.js`, pool);
  // PostgreSQL cannot store NUL. One such record must not stop the company.
  sandbox.store.accounts.update('3', { name: 'a\0b' });
  const warning = /Warning: Records of accounts .*U\+FFFD.*: "3"\.$/m;
  expect(await pull('--tenant', 'acme')).toMatchObject({ code: 0, log: expect.stringMatching(warning) });
  // The only company of the database needs no name.
  expect((await pull('--verify')).code).toBe(0);
  expect(pools).toEqual([DATABASE_URL, 'ended', DATABASE_URL, 'ended']);
});

test.each([
  [
    'a damaged checkpoint',
    `UPDATE accounting_checkpoint SET value = '{' WHERE key LIKE '%accounts'`,
    /^Restore it, or delete it: a sync then reads everything again/m,
  ],
  [
    'a table that rejects a record',
    `CREATE TRIGGER t BEFORE INSERT ON accounting_record BEGIN SELECT RAISE(ABORT, 'no room'); END`,
    /^When the cause is gone, run it again: each batch is written with its checkpoint or not at all\.$/m,
  ],
])('pull --to names what to do about %s', async (_, sql, advice) => {
  const { sandbox, file, pull } = copyOf('accounts', { records: { accounts: 5 } });
  expect((await pull()).code).toBe(0);
  using database = new DatabaseSync(file);
  database.exec(sql);
  sandbox.store.accounts.insert({ id: '77' });
  await ends(pull(), 7, advice);
});

test('pull --to fails if its file is not a database, or another pull of the company writes into it', async () => {
  const { sandbox, env, pull } = copyOf('accounts', { records: { accounts: 100 } });
  const text = folder()('a.csv');
  writeFileSync(text, 'id,name\n'.repeat(100));
  const foreign = await run(env, ['pull', 'accounts', '--to', text]);
  const is = expect.stringContaining('file is not a database');
  expect([foreign.code, foreign.log, sandbox.count()]).toEqual([7, is, 0]);
  const [done, failed] = (await Promise.all([pull(), pull()])).toSorted((a, b) => a.code - b.code);
  expect([done?.code, failed?.code]).toEqual([0, 7]);
  expect(failed?.log).toMatch(/Another sync of acme writes to .*books\.sqlite/);
});

test('pull --to --schemas gives the columns of SQLite their types, those of an existing copy too', async () => {
  const { sandbox, env, file, pull } = copyOf('accounts', {});
  for (const [at, credit] of ['999.00', '1000.00', '20000.00'].entries()) {
    const openedAt = `2026-01-0${at + 1}T10:00:00+01:00`;
    const others = { mixed: at === 1 ? 'none' : '5.00', days: 7 * at, isVip: at === 1, code: `0${at}` };
    sandbox.store.accounts.insert({ credit, openedAt, ...others, tags: ['a'] });
  }
  const schemas = `${projectFolder()}schemas.mts`;
  expect((await run(env, ['discover', 'accounts', '-q', '--out', schemas])).code).toBe(0);
  expect((await pull()).code).toBe(0);
  const sql = `SELECT credit, "openedAt", days, "isVip", code, tags FROM accounts WHERE credit >= 1000 ORDER BY id`;
  // Every text is greater than a number.
  expect(rowsIn(file, sql)).toHaveLength(3);
  // A later run without --schemas keeps the types.
  for (const more of [['--schemas', schemas], ['--full'], ['--verify'], ['--verify', '--schemas', schemas]]) {
    expect((await pull(more)).code).toBe(0);
  }
  expect(rowsIn(file, sql)).toEqual([
    { credit: 1000, openedAt: '2026-01-02T09:00:00.000Z', days: 7, isVip: 1, code: '01', tags: '["a"]' },
    { credit: 20000, openedAt: '2026-01-03T09:00:00.000Z', days: 14, isVip: 0, code: '02', tags: '["a"]' },
  ]);
});

test.each([
  ['none.mts', undefined, 7, 'none.mts cannot be read (ENOENT).'],
  ['other.mts', 'export const schema = {};', 7, 'it has no schemas'],
  ['broken.mts', 'import "nowhere-to-be-found"; export const schemas = {};', 7, 'Install what it imports'],
  ['misspelt.mts', 'export const schemas = { acounts: {} };', 2, 'accounts'],
])('pull --to --schemas names what is wrong with the file: %s', async (name, text, code, message) => {
  const { sandbox, pull } = copyOf('accounts', {});
  const schemas = `${projectFolder()}${name}`;
  if (text !== undefined) writeFileSync(schemas, text);
  await ends(pull(['--schemas', schemas]), code, message);
  expect(sandbox.count()).toBe(0);
});

test('pull --verify and --forget of a file that does not exist say how it comes to be', async () => {
  const { env } = openSandbox();
  const to = folder()('none.sqlite');
  for (const more of [
    ['accounts', '--verify'],
    ['--forget', '--tenant', 'acme', '--yes'],
  ]) {
    const { code, log } = await run(env, ['pull', '--to', to, ...more]);
    expect(code).toBe(7);
    expect(log).toContain(
      `${to} does not exist.\nCheck its name. The first sync into it creates the file.\n`,
    );
  }
});

test('pull --out - prints as without it', async () => {
  const { env } = openSandbox({ records: { accounts: 3 } });
  const [printed, plain] = [
    await run(env, ['pull', 'accounts', '--out', '-']),
    await run(env, ['pull', 'accounts']),
  ];
  expect([printed.code, printed.out]).toEqual([0, plain.out]);
  expect(records(printed.out)).toHaveLength(3);
});
