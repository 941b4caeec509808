import { readFileSync, writeFileSync } from 'node:fs';
import { createClient } from 'accounting-data-sdk';
import type { ServiceProfile } from 'accounting-data-sdk/explore';
import type { SandboxOptions } from 'accounting-data-sdk/testing';
import { describe, expect, test } from 'vitest';
import { useVirtualClock } from '../../support/virtual-clock.ts';
import { API_PLATFORM, fillProducts } from '../support/products.ts';
import { FORMATTER_DEFAULTS, formatted } from '../support/schema-file.ts';
import { start } from './support/process.ts';
import { folder, listening, openSandbox, run } from './support/run.ts';

function serving(options: SandboxOptions) {
  const { sandbox, env } = openSandbox({ ...options, records: { accounts: 100, accountAddresses: 40 } });
  fillProducts(sandbox, 70);
  return { sandbox, env };
}

const COLLECTIONS = ['accounts', 'accountAddresses', 'products', '--write', '--yes', '--quiet'];

describe('probe --out and --check', () => {
  test('do not compare what is unknown on one side, and report a client option that only one has', async () => {
    const file = folder()('service.ts');
    await run(serving({}).env, ['probe', ...COLLECTIONS, '--out', file]);
    const { code, log } = await run(serving({}).env, ['probe', 'accounts', '--check', file]);
    expect([code, log]).toEqual([0, expect.stringContaining(`The service behaves as ${file} says.`)]);
    const moved = serving({ pageParameter: 'page' }).env;
    const other = await run(moved, ['probe', 'products', '--quiet', '--check', file]);
    expect([other.code, other.log]).toEqual([8, expect.stringContaining('+ client.pageParameter: "page"')]);

    const json = folder()('service.json');
    await run(moved, ['probe', 'products', '--quiet', '--out', json]);
    const back = await run(serving({}).env, ['probe', 'products', '--quiet', '--check', json]);
    expect([back.code, back.log]).toEqual([8, expect.stringContaining('- client.pageParameter: "page"')]);
  });

  test('recognise their file after a formatter, and overwrite no other one', async () => {
    const { env } = serving({ listBody: 'hydra:member', pageParameter: 'page' });
    const file = folder()('service.ts');
    writeFileSync(file, 'export const service = 5;');
    const args = ['probe', 'accounts', '--quiet', '--out', file];
    const rejected = await run(env, args);
    expect([rejected.code, rejected.log]).toEqual([7, expect.stringContaining('--force')]);
    expect((await run(env, [...args, '--force'])).code).toBe(0);
    const text = await formatted(readFileSync(file, 'utf8'), ...FORMATTER_DEFAULTS);
    expect(text).not.toBe(readFileSync(file, 'utf8'));
    writeFileSync(file, text);
    expect((await run(env, args.with(3, '--check'))).code).toBe(0);
    expect((await run(env, args)).code).toBe(0);
    expect(readFileSync(file, 'utf8')).not.toBe(text);
  });

  test('import the code of the file, so that an edit counts, and --service does too', async () => {
    const { env, sandbox } = await listening({ records: { accounts: 40 }, pageParameter: 'page' });
    const file = folder()('service.mts');
    expect((await start(env, ['probe', 'accounts', '-q', '--out', file]).ended).code).toBe(0);
    const check = ['probe', 'accounts', '-q', '--check', file];
    expect(await start(env, check).ended).toMatchObject({ code: 0, log: '' });

    const text = readFileSync(file, 'utf8');
    writeFileSync(file, text.replace('"pageParameter": "page"', 'pageParameter: ["_page"].join()'));
    const changed = await start(env, check).ended;
    expect([changed.code, changed.log]).toEqual([
      8,
      expect.stringMatching(/^- client\.pageParameter: "_page"\n\+ client\.pageParameter: "page"\n/),
    ]);
    sandbox.clearLogs();
    await start(env, ['pull', 'accounts', '-q', '--pagination', 'page', '--service', file]).ended;
    expect(sandbox.requests.flatMap(({ query }) => Object.keys(query))).toContain('_page');
  });

  test.each([
    ['throws.mts', 'throw new Error("broken");', 'cannot be imported: Error: broken.'],
    ['syntax.mts', 'export const service = {', 'cannot be imported: '],
    ['part.mts', 'export const service = { client: {}, sync: {}, sandbox: [] };', 'it has no profile'],
    ['part.json', '{"client":{}}', 'it has no profile'],
    ['code.json', 'export const service = {};', 'it has no profile'],
    ['none.json', undefined, 'cannot be read'],
  ])('name a file that is no profile: %s is %j', async (name, text, message) => {
    const { sandbox, env } = openSandbox();
    const file = folder()(name);
    if (text !== undefined) writeFileSync(file, text);
    for (const args of [
      ['probe', '--check', file],
      ['whoami', '--service', file],
      ['sandbox', '--service', file],
    ]) {
      const { code, log } = await run(env, args);
      expect([code, log]).toEqual([7, expect.stringContaining(message)]);
    }
    expect(sandbox.count()).toBe(0);
  });

  test('read JSON with a byte order mark, and name what a Node without TypeScript needs', async () => {
    const { env } = openSandbox({ records: { accounts: 5 } });
    const file = folder();
    writeFileSync(file('service.json'), '\uFEFF{"client":{},"sync":{},"sandbox":{}}');
    expect((await run(env, ['whoami', '--service', file('service.json')])).code).toBe(0);
    writeFileSync(file('service.mts'), 'export const service = { client: {}, sync: {}, sandbox: {} };');
    const old = { NODE_OPTIONS: '--no-experimental-strip-types' };
    const { code, log } = await start(old, ['whoami', '--service', file('service.mts')]).ended;
    expect([code, log]).toEqual([7, expect.stringMatching(/^Node v.* cannot import .*\nUse Node 22\.18/)]);
  });

  test.each(['service', 'service.cts'])(
    'reject a name that probe could not import again: %s',
    async (name) => {
      const { sandbox, env } = openSandbox();
      const { code, log } = await run(env, ['probe', 'accounts', '--out', folder()(name)]);
      expect([code, log]).toEqual([2, expect.stringContaining('Name a file in .mts, .ts or .json.')]);
      expect(sandbox.count()).toBe(0);
    },
  );

  test.each(['\n', '\u2028'])('have no code from the name of a field: %j', async (lineEnd) => {
    const { sandbox, env } = openSandbox();
    const name = `field${lineEnd}process.exit(1); //`;
    for (let n = 0; n < 5; n += 1) sandbox.store.accounts.insert({ name: 'Firm', [name]: null });
    const file = folder()('service.ts');
    await run(env, ['probe', 'accounts', '-q', '--out', file]);
    const lines = readFileSync(file, 'utf8').split(/[\n\r\u2028\u2029]/);
    const named = lines.filter((line) => line.includes('process.exit'));
    expect(named).toEqual([expect.stringMatching(/^ +\/\/ /)]);
  });
});

/** A service that shows a new record so late. */
const late = (ms: number): SandboxOptions => ({ newRecords: { listedAfterMs: ms, foundAfterMs: ms } });

describe('a sandbox with the options of a file of probe', () => {
  useVirtualClock();

  test.each<[SandboxOptions, change: SandboxOptions, line: string]>([
    [{ ...API_PLATFORM, listBody: 'hydra:member' }, { relations: 'id' }, '+ sandbox.relations: "id"'],
    [{ ids: { form: 'uuid' } }, { order: 'none' }, '+ sandbox.order: "none"'],
    [{}, { paginated: false }, '+ sandbox.paginated: false'],
    [{ paginated: false }, { paginated: true }, '+ sandbox.paginated: true'],
    [{ ids: { form: 'uuid' } }, { paginated: false }, '+ client.pagination: "none"'],
    [{ ids: { form: 'uuid' }, paginated: false }, { paginated: true }, '- client.pagination: "none"'],
    [{}, { pageSizeParameter: 'itemsPerPage' }, '+ sandbox.pageSizeParameter: "itemsPerPage"'],
    [{ pageSizeParameter: 'itemsPerPage' }, { pageSizeParameter: '' }, '+ sandbox.pageSizeParameter: ""'],
    [{}, { pageSize: 20 }, '+ sandbox.pageSize: 20'],
    [{}, late(6_000), '+ sandbox.newRecords.listedAfterMs: 8000'],
    [late(6_000), late(0), '+ sandbox.newRecords.foundAfterMs: 0'],
    [late(14_000), late(900), '- sandbox.newRecords.foundAfterMs: 16000'],
  ])(
    'of %o is no other service, until it changes to %o, and each list is whole with what probe advises then',
    async (service, change, line) => {
      const file = folder()('service.json');
      expect((await run(serving(service).env, ['probe', ...COLLECTIONS, '--out', file])).code).toBe(0);
      const profile = JSON.parse(readFileSync(file, 'utf8')) as ServiceProfile;
      const same = await run(serving(profile.sandbox).env, ['probe', ...COLLECTIONS, '--check', file]);
      expect([same.code, same.log]).toEqual([0, '']);

      const { sandbox, env } = serving({ ...profile.sandbox, ...change });
      const changed = await run(env, ['probe', ...COLLECTIONS, '--check', file]);
      expect([changed.code, changed.log.split('\n')]).toEqual([8, expect.arrayContaining([line])]);

      expect((await run(env, ['probe', ...COLLECTIONS, '--out', file])).code).toBe(0);
      const pagination = change.paginated === false ? 'none' : 'page';
      for (const name of ['accounts', 'accountAddresses', 'products'] as const) {
        const shown = await createClient(sandbox.clientOptions)
          [name].list({}, { pagination })
          .toArray({ limit: 999 });
        const { out } = await run(env, ['pull', name, '--quiet', '--service', file]);
        expect([name, out.trim().split('\n').length]).toEqual([name, shown.length]);
      }
    },
  );

  test('is no other service if it shows a new record a little later or earlier', async () => {
    const file = folder()('service.json');
    const args = ['probe', 'products', '--write', '--yes', '--quiet'];
    const waits = [0, 900, 2_000, 3_000, 2_000, 900, 0];
    await run(openSandbox(late(0)).env, [...args, '--out', file]);
    for (const ms of waits) {
      const { env } = openSandbox(late(ms));
      expect([ms, (await run(env, [...args, '--check', file])).code]).toEqual([ms, 0]);
      await run(env, [...args, '--out', file]);
    }
  });
});

test('--service reads as the file says', async () => {
  const file = folder()('service.ts');
  const uuids = { ids: { form: 'uuid' }, records: { accounts: 95, boms: 12 } } as const;
  const { sandbox, env } = openSandbox({ ...uuids, paginated: false, textIdBounds: 'ignore' });
  const ids = sandbox.store.accounts.ids();
  const without = await run(env, ['pull', 'accounts', '--quiet']);
  expect([without.code, without.log]).toEqual([5, expect.stringContaining('--service service.json')]);

  expect((await run(env, ['probe', 'accounts', 'boms', '--quiet', '--out', file])).code).toBe(0);
  const pulled = await run(env, ['pull', 'accounts', '--quiet', '--service', file]);
  expect([pulled.code, pulled.out.trim().split('\n').length]).toEqual([0, ids.length]);
  const books = folder()('books.sqlite');
  const copy = ['pull', 'accounts', '--to', books, '--tenant', 'acme', '--service', file];
  expect(await run(env, copy)).toMatchObject({ code: 0, log: expect.stringContaining('95 read') });
  for (const args of [['get', 'accounts', ids[0] ?? ''], ['whoami'], ['discover', 'accounts']]) {
    expect((await run(env, [...args, '--quiet', '--service', file])).code).toBe(0);
  }
});

test('--service gives push and pull the parameters of its client', async () => {
  const { sandbox, env } = openSandbox({ records: { products: 40 }, pageSizeParameter: 'itemsPerPage' });
  const file = folder();
  const service = { client: { parameters: { itemsPerPage: '100' } }, sync: {}, sandbox: {} };
  writeFileSync(file('service.json'), JSON.stringify(service));
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
  expect(without.code).toBe(5);
  expect(without.log).toMatch(/GET \/accounts .*id is the JSON number 1\b.*\n.*pass --service service\.mts/);
  const unequal = await run(env, [...pull, '--verify']);
  expect(unequal.code).toBe(8);
  expect(unequal.log).toMatch(
    /no copy can have 40 rows whose id .*\n.*Nothing else differs.*\n.*probe --out/,
  );

  const service = file('service.json');
  const probed = await run(env, ['probe', 'accounts', 'products', '--write', '--yes', '--out', service]);
  expect(probed.code).toBe(0);
  expect(sandbox.store.products.count).toBe(20);
  const profile = JSON.parse(readFileSync(service, 'utf8')) as ServiceProfile;
  expect(profile).toMatchObject({ client: { ids: 'numbers' }, sandbox: { ids: { numbers: true } } });
  const pulled = await run(env, [...pull, '--service', service]);
  expect(pulled.log).toContain('40 records of acme written');
  const verified = await run(env, [...pull, '--service', service, '--verify', '--json']);
  expect([verified.code, JSON.parse(verified.out)]).toMatchObject([0, { equal: true }]);
});
