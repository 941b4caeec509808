// Each case finds the mistakes that it is made for, and each mistake is found.

import { readFileSync } from 'node:fs';
import { type ConnectorTestsOptions, connectorTests } from 'accounting-data-sdk/testing';
import { describe, expect, test } from 'vitest';
import { NO_HURRY } from '../../support/seeds.ts';
import {
  byId,
  byPage,
  changed,
  get,
  insertingTwice,
  lastChange,
  type Parts,
  type Rec,
  reader,
  rememberingAtEnd,
  rowsOf,
  savingTooEarly,
  type WriterParts,
  writer,
} from './connectors.ts';
import { failuresOf, messageOf } from './failures.ts';

const BOTH = ['accounts', 'products'] as const;
const NAMES = connectorTests({ ...reader(), ...writer() }).map(({ name }) => name);
const READING = connectorTests(reader()).map(({ name }) => name);

/** A clock that only moves when it is read: on a slow machine, every connector would pause between two requests. */
function steppingClock() {
  let now = Date.now();
  const step = () => {
    now += 20;
    return now;
  };
  return { now: step };
}

const named = (change: (name: string) => string): Parts => ({
  store: (record) => ({ ...record, name: change(String(record.name)) }),
});
const inField = (
  name: 'accounts' | 'products',
  field: string,
  change: (value: unknown) => unknown,
): Parts => ({ collections: [name], store: (record) => ({ ...record, [field]: change(record[field]) }) });
const isLater = (record: Rec, known: Rec | undefined) => String(record.updatedAt) > String(known?.updatedAt);
const onlyLater: Parts['store'] = (record, known) => (known && !isLater(record, known) ? known : record);
/** Keeps the value that it has in place of this one. */
const keepingFor = (none: unknown): Parts => ({
  store: (record, known) =>
    Object.fromEntries(
      Object.entries(record).map(([field, value]) => [
        field,
        value === none ? (known?.[field] ?? value) : value,
      ]),
    ) as Rec,
});
const emptyIfUnreadable = (response: Response) => rowsOf(response).catch((): readonly Rec[] => []);

/** Repeats a request at once after a 429. */
const impatient = byPage({
  async read(response, service) {
    let last = response;
    while (last.status === 429) last = await get(service, last.url.split('/v1/')[1] ?? '');
    return await rowsOf(last);
  },
});

/** By case: how its message begins, and the mistakes that it is made for. */
const READERS: Readonly<Record<string, readonly [found: RegExp, Readonly<Record<string, Parts>>]>> = {
  'no records': [
    /^The run rejected: (Invalid time value|.*404)/,
    {
      'calculates a watermark of no records': changed(
        byPage({ since: (known) => lastChange(0)(known) ?? new Date(Number.NaN).toISOString() }),
      ),
      'takes a 404 after a full page for an error': { list: byPage() },
    },
  ],
  'changed records': [
    /^\d+ of 23 accounts (is stale|are stale|has a wrong value|have a wrong value)/,
    {
      'keeps the record that it has': { store: (record, known) => known ?? record },
      'merges a record into the one that it has': { store: (record, known) => ({ ...known, ...record }) },
      'takes 0 for no value': keepingFor(0),
      'takes false for no value': keepingFor(false),
      'takes "" for no value': keepingFor(''),
    },
  ],
  'odd records': [
    /^The run rejected: (no column|Cannot read|.* is not a function)/,
    {
      'rejects a field that it does not know': {
        store(record) {
          if ('customLabel' in record) throw new Error('no column customLabel');
          return record;
        },
      },
      'expects a name that is a string': inField('accounts', 'name', (name) =>
        ((name ?? '') as string).slice(0),
      ),
    },
  ],
  'exact values': [
    /^\d of 23 (accounts|products) (has|have) a wrong value/,
    {
      'keeps the amount of an account as a number': inField('accounts', 'creditLimit', Number),
      'cuts the fraction of a quantity': inField('products', 'stockQuantity', (value) =>
        Math.trunc(Number(value)),
      ),
      'trims names': named((name) => name.trim()),
      'normalizes letters': named((name) => name.normalize('NFC')),
      'cuts names at 255 characters': named((name) => name.slice(0, 255)),
    },
  ],
  'deletions between pages': [/^\d of 20 accounts are missing/, { 'reads by page': { list: byPage() } }],
  'a list without an order': [/^\d+ of 2\d accounts are missing/, { 'trusts the order': { list: byId() } }],
  'hidden rows': [
    /^\d+ of 23 accounts are missing/,
    { 'takes a short page for the last one': { list: byId({ isLast: (rows) => rows.length < 5 }) } },
  ],
  UUIDs: [/^18 of 23 accounts are missing/, { 'trusts that a bound on the id is applied': { list: byId() } }],
  'pages by a cursor': [
    /^18 of 23 accounts are missing/,
    { 'takes a page that comes again for the last one': { list: byPage() } },
  ],
  'ids beyond 2^53': [
    /^\d+ of 13 accounts (is|are) missing/,
    { 'compares ids as numbers': { list: byId({ next: (rows) => String(Number(rows.at(-1)?.id)) }) } },
  ],
  'late commits': [
    /^2 of 23 accounts are stale/,
    {
      'takes the last change for its watermark': changed(byPage({ since: lastChange(0) })),
      'takes its own clock for its watermark': changed(
        byPage({
          since: ({ length }) => (length > 0 ? new Date(Date.now() - 300_000).toISOString() : undefined),
        }),
      ),
    },
  ],
  'several changes in one second': [
    /^1 of 23 accounts is stale/,
    {
      'asks for changes after the second of the last one': changed(byPage({ since: lastChange(1_000) })),
      'replaces a record only by one that changed later': { store: onlyLater },
    },
  ],
  'local times': [
    /^\d of 23 accounts are stale/,
    { 'writes UTC': changed(byPage({ since: lastChange(-300_000) })) },
  ],
  'a quota': [
    /^The (run rejected: 429|connector got 30 responses with status 429)/,
    { 'rejects at a 429': { list: byPage() }, 'repeats a request at once': { list: impatient } },
  ],
  'interrupted responses': [
    /^\d of 23 accounts (is|are) stale/,
    {
      'takes an error for the end of the list': { list: byPage({ read: emptyIfUnreadable }) },
      'takes a body that is cut for the end of the list': {
        list: byPage({ read: (response) => (response.ok ? emptyIfUnreadable : rowsOf)(response) }),
      },
    },
  ],
  'deleted records': [
    /^\d of \d+ accounts (are still in|is missing from) the copy/,
    { 'never deletes': { isGone: async () => false }, 'never brings back': { forgetsDeleted: false } },
  ],
  'records that are not listed': [
    /^(\d+ of 23 accounts are missing|The run reported success)/,
    {
      'deletes what is not listed': { isGone: async () => true },
      'takes any error of a GET for a deletion': { isGone: async (...args) => !(await get(...args)).ok },
      'takes a 404 for the end of a list': {
        list: byPage({ read: async (response) => (response.status === 404 ? [] : await rowsOf(response)) }),
      },
      'reports success with a revoked key': { isFailure: ({ status }) => status !== 401 },
    },
  ],
  'one forbidden collection': [
    /^(3 of 23 products are stale|The run reported success)/,
    {
      'ends at the first collection that fails': { collections: BOTH, endsAtFirstFailure: true },
      'reports success': { collections: BOTH, isFailure: ({ status }) => status !== 403 },
    },
  ],
  'killed and started again': [/^\d+ of 23 .* missing/, { 'empties its copy': { emptiesFirst: true } }],
};

const keyOf = ({ productNumber }: { readonly productNumber: string }) => `sku-${productNumber}`;
const asNumber = (amount: string) => Number(amount).toFixed(4);

/** The case, how its message names the mistake, what it is, and the part of the connector. */
const WRITERS: readonly (readonly [name: string, found: RegExp, mistake: string, WriterParts])[] = [
  [
    'products that exist already',
    /description of product "desk-1" is null in the service\. It was "Oak, \\"as new\\"", and the row does not/,
    'wipes the fields that it was not given',
    { draft: (row) => ({ description: null, ...row }) },
  ],
  ['products that exist already', /no product "p-1/, 'deletes products of no row', { deletesOthers: true }],
  ['changed rows', /name of product "desk-1" is "Desk 1" in/, 'never updates', { updates: false }],
  ['changed rows', /There are 2 products "desk-1"/, 'creates each of two equal rows', { isUnique: false }],
  [
    'changed rows',
    /salePrice of product "desk-1" is "12345678901234568\.0000" in the service/,
    'calculates with numbers',
    { draft: (row) => ({ ...row, salePrice: asNumber(row.salePrice) }) },
  ],
  ['lost responses', /There are \d products "desk-2"/, 'sends a create under a new key', { attempts: 3 }],
  [
    'lost responses',
    /The run reported success although the create of "desk-6" had no response\.\nReject if a row failed/,
    'takes a lost response for a success',
    { remembers: true, isFailure: () => false },
  ],
  [
    'lost responses',
    /The run reported success although the create of "desk-6" was rejected with 409\./,
    'takes a key in progress for a success',
    { keyOf, attempts: 3, isFailure: () => false },
  ],
  ['lost responses', /The run rejected: .*409/, 'sends a create under one key for ever', { keyOf }],
  ['keys that are ignored', /There are \d products "desk-2"/, 'trusts its key', { attempts: 3, keyOf }],
  ['products deleted by others', /There is no product/, 'makes the idempotency key of the row', { keyOf }],
  ['products deleted by others', /no product "desk-\d+"\./, 'remembers what it created', { remembers: true }],
  ['keys in another spelling', /There are 2 products "desk-1"/, 'looks for the key as the row has it', {}],
  ['a service that lags', /There are 2 products "desk-/, 'looks first and remembers nothing', {}],
  ['rejected rows', /The run reported success\. It/, 'reports success', { isFailure: () => false }],
  [
    'rejected rows',
    /There is no product|is "Desk \d+ of last year" in the service/,
    'ends at the first row that is rejected',
    { endsAtFirstFailure: true },
  ],
  ['rejected rows', /no product "desk-5"\./, 'does not try a rejected row again', { remembers: true }],
];

const MISTAKES = [
  ...Object.entries(READERS).flatMap(([name, [found, mistakes]]) =>
    Object.entries(mistakes).map(([mistake, parts]) => [name, mistake, found, reader(parts)] as const),
  ),
  ...WRITERS.map(([name, found, mistake, parts]) => [name, mistake, found, writer(parts)] as const),
  ['killed and started again', 'saves its watermark too early', / missing from the/, savingTooEarly()],
  ['two runs at once', 'inserts what it did not find when it began', / more than once/, insertingTwice()],
  ['writes killed and started again', 'remembers at the end', /2 products "desk-1"/, rememberingAtEnd()],
] as const satisfies readonly (readonly [string, string, RegExp, ConnectorTestsOptions])[];

const messages = new Map<string, string | undefined>();

// At once: most of the time of a connector is waits.
describe.concurrent('a case', NO_HURRY, () => {
  test.each(MISTAKES)('`%s` fails for a connector that %s', async (name, mistake, found, connector) => {
    const message = await messageOf(name, { service: { clock: steppingClock() }, ...connector });
    messages.set(`${name}: a connector that ${mistake}`, message);
    expect(message?.replace(`${name}: `, '')).toMatch(found);
  });

  test('that is made for a mistake of storing or deleting passes for the connector without it', async () => {
    const names = Object.entries(READERS)
      .filter(([, [, mistakes]]) => Object.values(mistakes).some(({ list }) => list === undefined))
      .map(([name]) => name);
    expect(await failuresOf(() => connectorTests(reader({ collections: BOTH })), { names })).toEqual(
      new Map(),
    );
  });
});

test('a mistake is described as recorded', async () => {
  const text = [...messages].map(([title, message]) => `${title}\n${message?.replaceAll(/^/gm, '  ')}\n`);
  await expect(text.toSorted().join('\n')).toMatchFileSnapshot('./recorded/mistakes.txt');
});

const guide = readFileSync(new URL('../../../src/guides/connector-tests.md', import.meta.url), 'utf8');

test('every case is made for a mistake, and is in the table of the guide', () => {
  const made = new Set<string>(MISTAKES.map(([name]) => name));
  expect(NAMES.filter((name) => !made.has(name))).toEqual([]);
  const rows = [...guide.matchAll(/^\| ([^|]+) \| [^|]+ \|$/gm)].map(([, name]) => name);
  expect(rows).toEqual(['case', ...NAMES]);
});

test('the guide shows the message of a case that a connector fails', async () => {
  expect(guide).toContain(`\`\`\`text\n${await messageOf('deletions between pages', reader())}\n\`\`\``);
});

test('the guide says how many cases a loop over page numbers passes', async () => {
  const loop = () =>
    connectorTests({
      ...reader({
        ...changed(byPage({ since: lastChange(0) })),
        ...named((name) => name.trim()),
        collections: BOTH,
      }),
      service: { clock: steppingClock() },
    });
  const passed = READING.length - (await failuresOf(loop)).size;
  expect(guide).toContain(`passes ${passed} of these ${READING.length} cases of reading`);
});
