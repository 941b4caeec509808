import { readFileSync, writeFileSync } from 'node:fs';
import type { ServiceProfile } from 'accounting-data-sdk/explore';
import type { SandboxOptions } from 'accounting-data-sdk/testing';
import { describe, expect, test } from 'vitest';
import { useVirtualClock } from '../../support/virtual-clock.ts';
import { API_PLATFORM, fillProducts } from '../support/products.ts';
import { folder, openSandbox, run } from './support/run.ts';

function serving(options: SandboxOptions) {
  const { sandbox, env } = openSandbox({ records: { accounts: 70, accountAddresses: 40 }, ...options });
  fillProducts(sandbox, 40);
  return { sandbox, env };
}

const COLLECTIONS = ['accounts', 'accountAddresses', 'products', '--write', '--yes', '--quiet'];
const PAGE = { pageParameter: 'page' } as const;

test('probe --check does not compare what is unknown on one side, and reports a client option that only one has', async () => {
  const [file, json] = ['service.ts', 'service.json'].map(folder()) as [string, string];
  await run(serving({}).env, ['probe', ...COLLECTIONS, '--out', file]);
  const { code, log } = await run(serving({}).env, ['probe', 'accounts', '--check', file]);
  expect([code, log]).toEqual([0, expect.stringContaining(`The service behaves as ${file} says.`)]);
  const moved = serving(PAGE).env;
  const other = await run(moved, ['probe', 'products', '--quiet', '--check', file]);
  expect([other.code, other.log]).toEqual([8, expect.stringContaining('+ client.pageParameter: "page"')]);

  await run(moved, ['probe', 'products', '--quiet', '--out', json]);
  const back = await run(serving({}).env, ['probe', 'products', '--quiet', '--check', json]);
  expect([back.code, back.log]).toEqual([8, expect.stringContaining('- client.pageParameter: "page"')]);
});

test('the code of a file of probe is imported, so that an edit counts, and no other file is overwritten', async () => {
  const { env, sandbox } = openSandbox({ records: { accounts: 40 }, ...PAGE });
  const file = folder();
  writeFileSync(file('service.mts'), 'export const service = 5;');
  const probe = (...args: string[]) => run(env, ['probe', 'accounts', '-q', ...args]);
  const rejected = await probe('--out', file('service.mts'));
  expect([rejected.code, rejected.log]).toEqual([7, expect.stringContaining('--force')]);
  expect((await probe('--out', file('service.mts'), '--force')).code).toBe(0);
  const text = readFileSync(file('service.mts'), 'utf8');

  // As a formatter and a user change it. Under another name, because a process imports a file once.
  writeFileSync(file('formatted.mts'), text.replaceAll(/"(\w+)":/g, '$1:').replaceAll('"', "'"));
  expect(await probe('--check', file('formatted.mts'))).toMatchObject({ code: 0, log: '' });
  writeFileSync(
    file('edited.mts'),
    text.replace('"pageParameter": "page"', 'pageParameter: ["_page"].join()'),
  );
  const changed = await probe('--check', file('edited.mts'));
  const difference = /^- client\.pageParameter: "_page"\n\+ client\.pageParameter: "page"\n/;
  expect([changed.code, changed.log]).toEqual([8, expect.stringMatching(difference)]);
  sandbox.clearLogs();
  await run(env, ['pull', 'accounts', '-q', '--pagination', 'page', '--service', file('edited.mts')]);
  expect(sandbox.requests.flatMap(({ query }) => Object.keys(query))).toContain('_page');
  expect((await probe('--out', file('edited.mts'))).code).toBe(0);
});

test.each([
  ['throws.mts', 'throw new Error("broken");', 'cannot be imported: Error: broken.'],
  ['syntax.mts', 'export const service = {', 'cannot be imported: '],
  ['part.mts', 'export const service = { client: {}, sync: {}, sandbox: [] };', 'it has no profile'],
  ['part.json', '{"client":{}}', 'it has no profile'],
  ['code.json', 'export const service = {};', 'it has no profile'],
  ['none.json', undefined, 'cannot be read'],
])('--check and --service name a file that is no profile: %s is %j', async (name, text, message) => {
  const { sandbox, env } = openSandbox();
  const file = folder()(name);
  if (text !== undefined) writeFileSync(file, text);
  for (const line of ['probe --check', 'whoami --service', 'sandbox --service']) {
    const { code, log } = await run(env, [...line.split(' '), file]);
    expect([code, log]).toEqual([7, expect.stringContaining(message)]);
  }
  expect(sandbox.count()).toBe(0);
});

test.each(['service', 'service.cts'])(
  'probe --out rejects a name that probe could not import again: %s',
  async (name) => {
    const { sandbox, env } = openSandbox();
    const { code, log } = await run(env, ['probe', 'accounts', '--out', folder()(name)]);
    expect([code, log]).toEqual([2, expect.stringContaining('Name a file in .mts, .ts or .json.')]);
    expect(sandbox.count()).toBe(0);
  },
);

test.each(['\n', '\u2028'])('a file of probe has no code from the name of a field: %j', async (lineEnd) => {
  const { sandbox, env } = openSandbox();
  const name = `field${lineEnd}process.exit(1); //`;
  for (let n = 0; n < 5; n += 1) sandbox.store.accounts.insert({ name: 'Firm', [name]: null });
  const file = folder()('service.ts');
  await run(env, ['probe', 'accounts', '-q', '--out', file]);
  const lines = readFileSync(file, 'utf8').split(/[\n\r\u2028\u2029]/);
  const named = lines.filter((line) => line.includes('process.exit'));
  expect(named).toEqual([expect.stringMatching(/^ +\/\/ /)]);
});

/** A service that shows a new record so late. */
const late = (ms: number): SandboxOptions => ({ newRecords: { listedAfterMs: ms, foundAfterMs: ms } });
const UUIDS = { ids: { form: 'uuid' } } as const;

describe('a sandbox with the options of a file of probe', () => {
  useVirtualClock();

  test.each<[SandboxOptions, change: SandboxOptions, line: string]>([
    [{ ...API_PLATFORM, listBody: 'hydra:member' }, { relations: 'id' }, '+ sandbox.relations: "id"'],
    [UUIDS, { order: 'none' }, '+ sandbox.order: "none"'],
    [{}, { paginated: false }, '+ sandbox.paginated: false'],
    [{ ...UUIDS, paginated: false }, { paginated: true }, '- client.pagination: "none"'],
    [{}, { pageSizeParameter: 'itemsPerPage' }, '+ sandbox.pageSizeParameter: "itemsPerPage"'],
    [{}, { pageSize: 20 }, '+ sandbox.pageSize: 20'],
    [{}, late(6_000), '+ sandbox.newRecords.listedAfterMs: 8000'],
    [late(14_000), late(900), '- sandbox.newRecords.foundAfterMs: 16000'],
  ])('of %o is no other service, until it changes to %o', async (service, change, line) => {
    const file = folder()('service.json');
    expect((await run(serving(service).env, ['probe', ...COLLECTIONS, '--out', file])).code).toBe(0);
    const profile = JSON.parse(readFileSync(file, 'utf8')) as ServiceProfile;
    const same = await run(serving(profile.sandbox).env, ['probe', ...COLLECTIONS, '--check', file]);
    expect([same.code, same.log]).toEqual([0, '']);
    const { env } = serving({ ...profile.sandbox, ...change });
    const changed = await run(env, ['probe', ...COLLECTIONS, '--check', file]);
    expect([changed.code, changed.log.split('\n')]).toEqual([8, expect.arrayContaining([line])]);
  });

  test('is no other service if it shows a new record a little later or earlier', async () => {
    const file = folder()('service.json');
    const args = ['probe', 'products', '--write', '--yes', '--quiet'];
    await run(openSandbox(late(0)).env, [...args, '--out', file]);
    for (const ms of [0, 900, 2_000, 3_000, 2_000, 900, 0]) {
      const { env } = openSandbox(late(ms));
      expect([ms, (await run(env, [...args, '--check', file])).code]).toEqual([ms, 0]);
      await run(env, [...args, '--out', file]);
    }
  });
});

test('--service reads as the file says', async () => {
  const file = folder()('service.ts');
  const records = { accounts: 95, boms: 12 };
  const { sandbox, env } = openSandbox({ ...UUIDS, records, paginated: false, textIdBounds: 'ignore' });
  const [id = ''] = sandbox.store.accounts.ids();
  const without = await run(env, ['pull', 'accounts', '--quiet']);
  expect([without.code, without.log]).toEqual([5, expect.stringContaining('--service service.json')]);

  expect((await run(env, ['probe', 'accounts', 'boms', '--quiet', '--out', file])).code).toBe(0);
  const pulled = await run(env, ['pull', 'accounts', '--quiet', '--service', file]);
  expect([pulled.code, pulled.out.trim().split('\n').length]).toEqual([0, 95]);
  const copy = ['pull', 'accounts', '--to', folder()('books.sqlite'), '--tenant', 'acme', '--service', file];
  expect(await run(env, copy)).toMatchObject({ code: 0, log: expect.stringContaining('95 read') });
  for (const args of [['get', 'accounts', id], ['whoami'], ['discover', 'accounts']])
    expect((await run(env, [...args, '--quiet', '--service', file])).code).toBe(0);
});

test('--service reads JSON with a byte order mark, and gives push and pull the parameters of its client', async () => {
  const { sandbox, env } = openSandbox({ records: { products: 40 }, pageSizeParameter: 'itemsPerPage' });
  const file = folder();
  const service = { client: { parameters: { itemsPerPage: '100' } }, sync: {}, sandbox: {} };
  writeFileSync(file('service.json'), `\uFEFF${JSON.stringify(service)}`);
  writeFileSync(file('products.csv'), 'productNumber\nA\n');
  for (const args of [
    ['push', file('products.csv'), '--key', 'productNumber', '--dry-run'],
    ['pull', 'products', '--out', file('products.ndjson')],
    ['pull', 'products', '--to', file('books.sqlite'), '--tenant', 'acme'],
  ]) {
    sandbox.clearLogs();
    expect((await run(env, [...args, '--service', file('service.json')])).code).toBe(0);
    const sizes = new Set(sandbox.requests.map(({ query }) => query.itemsPerPage));
    expect([args[0], [...sizes]]).toEqual([args[0], ['100']]);
  }
});

test('probe finds that ids are numbers, and --service copies such a service', async () => {
  const { sandbox, env } = openSandbox({ records: { accounts: 40, products: 20 }, ids: { numbers: true } });
  const file = folder();
  const pull = ['pull', 'accounts', '--to', file('books.sqlite'), '--tenant', 'acme'];
  const without = await run(env, pull);
  const advice = /GET \/accounts .*id is the JSON number 1\b.*\n.*pass --service service\.mts/;
  expect([without.code, without.log]).toEqual([5, expect.stringMatching(advice)]);
  const unequal = await run(env, [...pull, '--verify']);
  const lacking = /no copy can have 40 rows whose id .*\n.*Nothing else differs.*\n.*probe --out/;
  expect([unequal.code, unequal.log]).toEqual([8, expect.stringMatching(lacking)]);

  const service = file('service.json');
  const probed = await run(env, ['probe', 'accounts', 'products', '--write', '--yes', '--out', service]);
  expect([probed.code, sandbox.store.products.count]).toEqual([0, 20]);
  const profile = JSON.parse(readFileSync(service, 'utf8')) as ServiceProfile;
  expect(profile).toMatchObject({ client: { ids: 'numbers' }, sandbox: { ids: { numbers: true } } });
  expect((await run(env, [...pull, '--service', service])).log).toContain('40 records of acme written');
  const verified = await run(env, [...pull, '--service', service, '--verify', '--json']);
  expect([verified.code, JSON.parse(verified.out)]).toMatchObject([0, { equal: true }]);
});
