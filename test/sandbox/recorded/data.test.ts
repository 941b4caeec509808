import { createHash } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { collectionNames } from 'accounting-data-sdk';
import { createSandbox, type Sandbox, type SandboxOptions } from 'accounting-data-sdk/testing';
import { expect, test } from 'vitest';

const NOON = '2026-01-31T12:00:00Z';

const digest = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 12);

/** The ids of a collection, and what stands for all of its records. */
function lineOf(store: Sandbox['store'], name: (typeof collectionNames)[number]): string[] {
  const ids = store[name].ids();
  if (ids.length === 0) return [];
  const shown = ids.length > 6 ? [...ids.slice(0, 4), '…', ids.at(-1)] : ids;
  return [`  ${name} ${ids.length}: ${shown.join(' ')} | ${digest(JSON.stringify(store[name].all()))}`];
}

const DATA: Readonly<Record<string, SandboxOptions>> = {
  'another seed': { seed: 2, records: 40 },
  'fewer records, of the same seed': { records: 14 },
  'more than there are collections': { records: 1_000 },
  'less than there are collections': { records: 3 },
  'counts of some collections, without their parents': { records: { bomLines: 3, accountAddresses: 2 } },
  'another company': { records: { products: 2 }, otherRecords: 30 },
  'the other company of another seed': { seed: 2, records: { products: 2 }, otherRecords: 30 },
  UUIDs: { records: { accounts: 2, products: 8 }, ids: { form: 'uuid' } },
  ULIDs: { records: { accounts: 2, products: 8 }, ids: { form: 'ulid' } },
  'texts with a prefix': { records: { products: 12 }, ids: { form: 'text', prefix: 'a.' } },
  'numbers with gaps, from 100': { records: { products: 8 }, ids: { start: 100, gap: 7, numbers: true } },
  'ids of one collection': {
    records: { accounts: 2, products: 2 },
    ids: { form: 'uuid', products: { form: 'numeric', start: 5 } },
  },
  'timestamps of all collections, with an offset': {
    records: { accounts: 2, products: 2 },
    timestamps: 'offset',
    timestampsEverywhere: true,
    timeZone: 'America/New_York',
  },
  'amounts as they are, fields that are null left out': {
    records: { accounts: 2, products: 2 },
    moneyDigits: 'as-sent',
    nullFields: 'omitted',
  },
};

test('the generated records of each seed, size and form are as recorded', async () => {
  const usual = createSandbox({ records: 40, otherRecords: { products: 1 } });
  const lines = ['# forty records'];
  for (const name of collectionNames) {
    const [first = {}, ...others] = usual.store[name].all();
    lines.push(name, `  ${JSON.stringify(first)}`);
    for (const other of others) {
      const { id } = other;
      lines.push(`  ${id}: ${Object.values(other).slice(1, 12).join(' | ')}`);
    }
  }
  lines.push('of the other company', `  ${JSON.stringify(usual.otherStore.products.all()[0]).slice(0, 200)}`);
  lines.push('keys', ...Object.entries(usual.keys).map((each) => `  ${each.join(' ')}`));
  for (const [title, options] of Object.entries(DATA)) {
    const { store, otherStore, keys } = createSandbox(options);
    lines.push('', `# ${title}: ${JSON.stringify(options)}`);
    lines.push(...collectionNames.flatMap((name) => lineOf(store, name)));
    const others = collectionNames.flatMap((name) => lineOf(otherStore, name));
    if (others.length > 0) lines.push('of the other company', ...others);
    if (options.seed !== undefined) lines.push(`the key ${keys.full}`);
  }
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('./data.txt');
});

/** A folder with files of a pull. */
function folderOf(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'fixtures-'));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

type Step = readonly [title: string, work: (sandbox: Sandbox) => unknown];

/** What a test does with the store of a sandbox with three accounts and two products. */
const STEPS: readonly Step[] = [
  ['a record', ({ store }) => store.accounts.get('2')],
  ['no record', ({ store }) => store.accounts.get('9')],
  ['an insert', ({ store }) => store.accounts.insert({ name: 'Pine', other: undefined })],
  [
    'an insert of a product',
    ({ store }) => store.products.insert({ name: 'Desk', salePrice: '5' }).updatedAt,
  ],
  ['an insert with an id', ({ store }) => store.accounts.insert({ id: '10' })],
  ['the next id', ({ store }) => store.accounts.insert({}).id],
  ['an id that is text', ({ store }) => store.accounts.insert({ id: 'x/1' }).id],
  ['an id that exists', ({ store }) => store.accounts.insert({ id: '2' })],
  ['an empty id', ({ store }) => store.accounts.insert({ id: '' })],
  [
    'an amount that is a number',
    ({ store }) => store.products.insert({ salePrice: 5 } as Record<string, unknown>),
  ],
  ['no timestamp', ({ store }) => store.products.update('1', { updatedAt: 'soon' })],
  [
    'no timestamp, where there are none',
    ({ store }) => store.accounts.update('1', { updatedAt: 'soon' } as Record<string, unknown>),
  ],
  ['an update', ({ store }) => store.products.update('1', { name: 'Chair', brand: null }).updatedAt],
  [
    'an update of its time',
    ({ store }) => store.products.update('1', { updatedAt: '2020-01-01T00:00:00Z' }).updatedAt,
  ],
  ['an update of no record', ({ store }) => store.products.update('9', {})],
  [
    'a copy is given',
    ({ store }) =>
      Object.assign(store.accounts.get('2') ?? {}, { name: 'x' }) && store.accounts.get('2')?.name,
  ],
  [
    'a write that is seen later',
    ({ store }) => [
      store.accounts.update('2', { name: 'Later' }, { visibleAfterMs: 5_000 }).name,
      store.accounts.get('2')?.name,
      store.accounts.all()[1]?.name,
    ],
  ],
  [
    'and one after it',
    ({ store }) => [
      store.accounts.delete('2', { visibleAfterMs: 0 }),
      store.accounts.get('2'),
      store.accounts.ids(),
    ],
  ],
  ['deleted twice', ({ store }) => store.accounts.delete('2')],
  [
    'after five seconds',
    ({ store, clock }) => [clock.advance(5_000), store.accounts.ids(), store.accounts.count],
  ],
  [
    'inserted again',
    ({ store }) => [store.accounts.insert({ id: '2' }, { visibleAfterMs: 1_000 }).id, store.accounts.count],
  ],
  ['a negative delay', ({ store }) => store.accounts.insert({}, { visibleAfterMs: -1 })],
  ['an unknown option', ({ store }) => store.accounts.insert({}, { visible: 1 } as object)],
  ['a lock', ({ store }) => store.products.lock('1')],
  ['an update of what is locked', ({ store }) => store.products.update('1', { name: 'By a test' }).name],
  [
    'fixtures',
    ({ store }) => [store.load({ boms: [{ name: 'B' }, { id: '7', productId: '1' }] }), store.boms.all()],
  ],
  ['fixtures of no collection', ({ store }) => store.load({ bom: [] } as object)],
  ['fixtures that are no records', ({ store }) => store.load({ boms: [5] } as object)],
  ['an id of fixtures that exists', ({ store }) => store.load({ boms: [{ id: '8' }, { id: '7' }] })],
  ['those before it', ({ store }) => store.boms.ids()],
  [
    'a collection is emptied',
    ({ store }) => [store.accounts.clear(), store.accounts.count, store.accounts.insert({}).id],
  ],
  [
    'all are emptied',
    ({ store, otherStore }) => [store.clear(), store.products.count, otherStore.accounts.count],
  ],
];

/** What a sandbox is created with. */
const FIXTURES: Readonly<Record<string, SandboxOptions>> = {
  'fixtures beside generated records': {
    records: { accounts: 2 },
    fixtures: {
      accounts: [{ id: '40', name: 'Given' }, { name: 'No id' }],
      products: [{ salePrice: '5', createdAt: '2020-01-02T03:04:05Z' }],
    },
  },
  'a folder': {
    fixtures: folderOf({
      'accounts.ndjson':
        '{"id":"3","name":"One"}\n{"name":"No id"}\n{"id":3,"name":"Twice"}\n{"id":"x","creditLimit":1.5}\n',
      'bom-lines.ndjson': '{"id":"1","quantity":12}\n\n',
    }),
  },
  'a folder with a file that is cut': { fixtures: folderOf({ 'accounts.ndjson': '{"id":"3"}\n{"id":' }) },
  'a folder with digits that are lost': {
    fixtures: folderOf({ 'accounts.ndjson': '{"id":"3","n":12345678901234567.89}\n' }),
  },
  'a folder with an id of a generated record': {
    records: { accounts: 2 },
    fixtures: folderOf({ 'accounts.ndjson': '{"id":"2"}\n' }),
  },
  'a folder without files': { fixtures: folderOf({}) },
  'records of a fraction locked and hidden': {
    seed: 3,
    records: { products: 30 },
    lockedRecords: 0.2,
    hiddenRecords: 0.2,
  },
};

function outcomeOf(work: () => unknown): string {
  try {
    return JSON.stringify(work()) ?? 'nothing';
  } catch (error) {
    return String(error);
  }
}

test('what a test does with records, and what a sandbox begins with, is as recorded', async () => {
  const sandbox = createSandbox({
    clock: NOON,
    records: { accounts: 3, products: 2 },
    otherRecords: { accounts: 1 },
  });
  const lines = STEPS.map(([title, work]) => `${title}\n  ${outcomeOf(() => work(sandbox))}`);
  for (const [title, options] of Object.entries(FIXTURES)) {
    const outcome = outcomeOf(() => {
      const { store } = createSandbox({ clock: NOON, ...options });
      const shown = collectionNames.filter((name) => store[name].count <= 5);
      return shown.flatMap((name): readonly object[] => store[name].all());
    });
    const folder = typeof options.fixtures === 'string' ? options.fixtures : '/no folder';
    lines.push(`${title}\n  ${outcome.replaceAll(folder, 'FOLDER')}`);
  }
  const chosen = createSandbox(FIXTURES['records of a fraction locked and hidden'] as SandboxOptions);
  const { baseUrl, keys } = chosen;
  const send = (method: string, path: string) =>
    chosen.fetch(`${baseUrl}/api/public/v1/products${path}`, {
      method,
      headers: { 'x-auth-token': keys.full },
    });
  const listed = (await (await send('GET', '')).json()) as { id: string }[];
  const locked: string[] = [];
  for (const id of chosen.store.products.ids())
    if ((await send('DELETE', `/${id}`)).status === 403) locked.push(id);
  lines.push(`listed are\n  ${listed.map(({ id }) => id).join(' ')}`, `locked are\n  ${locked.join(' ')}`);
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('./store.txt');
});
