import { readFileSync, writeFileSync } from 'node:fs';
import type { ServiceProfile } from 'accounting-data-sdk/explore';
import type { SandboxOptions } from 'accounting-data-sdk/testing';
import { describe, expect, test } from 'vitest';
import { useVirtualClock } from '../../support/virtual-clock.ts';
import { API_PLATFORM, fillProducts } from '../support/products.ts';
import { ends, folder, openSandbox, run } from './support/run.ts';

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
  const part = run(serving({}).env, ['probe', 'accounts', '--check', file]);
  const { out } = await ends(part, 0, `The service behaves as ${file} says.`);
  expect(out).toBe('');
  const empty = folder()('empty.json');
  await run(openSandbox().env, ['probe', 'accounts', '--quiet', '--out', empty]);
  await ends(run(serving({}).env, ['probe', 'accounts', '--quiet', '--check', empty]), 0);
  const moved = serving(PAGE).env;
  const other = run(moved, ['probe', 'products', '--quiet', '--check', file]);
  await ends(other, 8, '+ client.pageParameter: "page"');

  await run(moved, ['probe', 'products', '--quiet', '--out', json]);
  const back = run(serving({}).env, ['probe', 'products', '--quiet', '--check', json]);
  await ends(back, 8, '- client.pageParameter: "page"');
});

test('probe --check compares the pagination of each collection, and no parameter that takes many records to see', async () => {
  const file = folder()('service.json');
  const probe = ['probe', '--quiet'];
  const service = { ...UUIDS, textIdBounds: 'ignore', pageSizeParameter: 'itemsPerPage' } as const;
  const { env } = openSandbox({
    ...service,
    ids: { ...UUIDS.ids, products: { form: 'numeric' } },
    records: 600,
  });
  await ends(run(env, [...probe, 'accounts', 'boms', 'products', '--out', file]), 0);
  const { client } = JSON.parse(readFileSync(file, 'utf8')) as ServiceProfile;
  expect(client).toEqual({
    pagination: { accounts: 'page', boms: 'page' },
    parameters: { itemsPerPage: '100' },
  });
  // Of these alone, one word says the same.
  await ends(run(env, [...probe, 'accounts', 'boms', '--check', file]), 0, /^$/);
  const small = openSandbox({ records: { products: 20 } }).env;
  await ends(run(small, [...probe, 'products', '--check', file]), 0, /^$/);
});

test('the code of a file of probe is imported, so that an edit counts, and no other file is overwritten', async () => {
  const { env, sandbox } = openSandbox({ records: { accounts: 40 }, ...PAGE });
  const file = folder();
  writeFileSync(file('service.mts'), 'export const service = 5;');
  const probe = (...args: string[]) => run(env, ['probe', 'accounts', '-q', ...args]);
  await ends(probe('--out', file('service.mts')), 7, '--force');
  expect((await probe('--out', file('service.mts'), '--force')).code).toBe(0);
  const text = readFileSync(file('service.mts'), 'utf8');
  // Each option has its evidence.
  expect(text).toContain('      // X-RateLimit-Limit\n      "limit": 10000');

  // As a formatter and a user change it. Under another name, because a process imports a file once.
  writeFileSync(file('formatted.mts'), text.replaceAll(/"(\w+)":/g, '$1:').replaceAll('"', "'"));
  expect(await probe('--check', file('formatted.mts'))).toMatchObject({ code: 0, log: '' });
  const edit = 'pageParameter: ["_page"].join()';
  writeFileSync(file('edited.mts'), text.replace('"pageParameter": "page"', edit));
  const changed = probe('--check', file('edited.mts'));
  await ends(changed, 8, /^- client\.pageParameter: "_page"\n\+ client\.pageParameter: "page"\n/);
  sandbox.clearLogs();
  await run(env, ['pull', 'accounts', '-q', '--pagination', 'page', '--service', file('edited.mts')]);
  expect(sandbox.requests.flatMap(({ query }) => Object.keys(query))).toContain('_page');
  expect((await probe('--out', file('edited.mts'))).code).toBe(0);
});

test.each([
  ['throws.mts', 'throw new Error("broken");', 'cannot be imported: Error: broken.'],
  ['part.mts', 'export const service = { client: {}, sync: {}, sandbox: [] };', 'it has no profile'],
  ['code.json', 'export const service = {};', 'it has no profile'],
  ['none.json', undefined, 'cannot be read'],
])('--check and --service name a file that is no profile: %s is %j', async (name, text, message) => {
  const { sandbox, env } = openSandbox();
  const file = folder()(name);
  if (text !== undefined) writeFileSync(file, text);
  for (const line of ['probe --check', 'whoami --service', 'sandbox --service']) {
    await ends(run(env, [...line.split(' '), file]), 7, message);
  }
  expect(sandbox.count()).toBe(0);
});

test('a file of probe has no code from the name of a field', async () => {
  const { sandbox, env } = openSandbox();
  const name = (lineEnd: string) => `field${lineEnd}process.exit(1); //`;
  for (let n = 0; n < 5; n += 1)
    sandbox.store.accounts.insert({ name: 'Firm', [name('\n')]: null, [name('\u2028')]: null });
  const file = folder()('a/b/service.ts');
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

  test.each<[SandboxOptions, change: SandboxOptions, line: string | RegExp]>([
    [
      { ...API_PLATFORM, listBody: 'hydra:member' },
      { notFoundBody: undefined },
      '- client.bareNotFound: "missing"',
    ],
    [
      { ...UUIDS, paginated: { accounts: false } },
      { paginated: true },
      '- client.pagination.accounts: "none"',
    ],
    [{}, { filters: { updatedSince: 'ignore' } }, '+ products: updatedSince: ignore'],
    [
      { filters: { accounts: { updatedSince: 'reject' } } },
      { filters: { products: { updatedSince: 'reject' } } },
      /- accounts: updatedSince: reject[\s\S]*[+] products: updatedSince: reject/,
    ],
    // One probe may lack what only a write shows.
    [late(14_000), late(900), ''],
    // What describes the service, and needs no option, is not compared.
    [{}, { relations: 'iri', moneyDigits: 2 }, ''],
  ])('of %o is no other service, until it changes to %o', async (service, change, line) => {
    const file = folder()('service.json');
    await ends(run(serving(service).env, ['probe', ...COLLECTIONS, '--out', file]), 0);
    const { sandbox } = JSON.parse(readFileSync(file, 'utf8')) as ServiceProfile;
    const check = (options: SandboxOptions) =>
      run(serving(options).env, ['probe', ...COLLECTIONS, '--check', file]);
    await ends(check(sandbox), 0, /^$/);
    await ends(check({ ...sandbox, ...change }), line === '' ? 0 : 8, line);
  });

  test('has about the lookback of the file, which is measured and differs each time', async () => {
    const { env } = serving(late(14_000));
    const probe = ['probe', 'products', '--write', '--yes', '--quiet'];
    const file = folder()('service.json');
    await run(env, [...probe, '--out', file]);
    const profile = JSON.parse(readFileSync(file, 'utf8')) as { sync: { lookbackMs: number } };
    for (const [part, code] of [
      [2, 0],
      [10, 8],
    ] as const) {
      const sync = { lookbackMs: profile.sync.lookbackMs / part };
      writeFileSync(file, JSON.stringify({ ...profile, sync }));
      await ends(run(env, [...probe, '--check', file]), code, code === 0 ? /^$/ : '- sync.lookbackMs: ');
    }
  });
});

test('--service gives every command the options of the file, which may be JSON with a byte order mark', async () => {
  const records = { accounts: 95, products: 40 };
  const page = { paginated: false, textIdBounds: 'ignore', pageSizeParameter: 'itemsPerPage' } as const;
  const { sandbox, env } = openSandbox({ ...UUIDS, records, ...page });
  const [id = ''] = sandbox.store.accounts.ids();
  await ends(run(env, ['pull', 'accounts', '--quiet']), 5, '--service service.json');
  const file = folder();
  const client = { pagination: 'none', parameters: { itemsPerPage: '100' } };
  writeFileSync(file('service.json'), `\uFEFF${JSON.stringify({ client, sync: {}, sandbox: {} })}`);
  writeFileSync(file('a.csv'), 'productNumber\nA\n');
  const push = `push ${file('a.csv')} --key productNumber --dry-run`;
  for (const line of [
    'pull accounts',
    `pull accounts --to ${file('a.sqlite')}`,
    push,
    'discover accounts',
    `get accounts ${id}`,
    'whoami',
  ]) {
    sandbox.clearLogs();
    await ends(run(env, [...line.split(' '), '--service', file('service.json')]), 0);
    const sizes = new Set(sandbox.requests.map(({ query }) => query.itemsPerPage));
    if (/pull|push/.test(line)) expect([line, ...sizes]).toEqual([line, '100']);
  }
});

test.each(['pull accounts', 'pull accounts --to A.sqlite', 'push A.csv --key productNumber --dry-run'])(
  '--service gives the options of sync in the file to %s',
  async (line) => {
    const { env } = openSandbox();
    const file = folder()('A');
    // An option that is rejected, because a first run shows nothing of a lookback.
    writeFileSync(`${file}.json`, JSON.stringify({ client: {}, sync: { lookbackMs: -1 }, sandbox: {} }));
    writeFileSync(`${file}.csv`, 'productNumber\nA\n');
    const args = [...line.replace('A.', `${file}.`).split(' '), '--service', `${file}.json`];
    await ends(run(env, args), 2, 'lookbackMs');
  },
);

test('probe finds that ids are numbers, and --service copies such a service', async () => {
  const { sandbox, env } = openSandbox({ records: { accounts: 40, products: 20 }, ids: { numbers: true } });
  const file = folder();
  const pull = ['pull', 'accounts', '--to', file('books.sqlite'), '--tenant', 'acme'];
  const without = run(env, pull);
  await ends(without, 5, /GET \/accounts .*id is the JSON number 1\b.*\n.*pass --service service\.mts/);
  const lacking = /no copy can have 40 rows whose id .*\n.*Nothing else differs.*\n.*probe --out/;
  await ends(run(env, [...pull, '--verify']), 8, lacking);

  const service = file('service.json');
  const probed = await run(env, ['probe', 'accounts', 'products', '--write', '--yes', '--out', service]);
  expect([probed.code, sandbox.store.products.count]).toEqual([0, 20]);
  const profile = JSON.parse(readFileSync(service, 'utf8')) as ServiceProfile;
  expect(profile).toMatchObject({ client: { ids: 'numbers' }, sandbox: { ids: { numbers: true } } });
  expect((await run(env, [...pull, '--service', service])).log).toContain('40 records of acme written');
  const verified = await run(env, [...pull, '--service', service, '--verify', '--json']);
  expect([verified.code, JSON.parse(verified.out)]).toMatchObject([0, { equal: true }]);
});
