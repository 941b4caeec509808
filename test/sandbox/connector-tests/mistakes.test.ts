// Each case finds the mistakes that it is made for, and each mistake is found.

import { readFileSync } from 'node:fs';
import { type ConnectorRun, connectorTests } from 'accounting-data-sdk/testing';
import { describe, expect, test } from 'vitest';
import { NO_HURRY } from '../../support/seeds.ts';
import {
  byId,
  byPage,
  changed,
  getPage,
  getUrl,
  lastChange,
  type Parts,
  type Rec,
  reader,
  rememberingAtEnd,
  rowsOf,
  steppingClock,
  writer,
} from './connectors.ts';
import { failuresOf, messageOf } from './failures.ts';

const NAMES = connectorTests({ ...reader(), ...writer() }).map(({ name }) => name);
const READING = connectorTests(reader()).map(({ name }) => name);

const named = (change: (name: string) => string): Parts => ({
  store: (record) => ({ ...record, name: change(String(record.name)) }),
});
const withNumber = (field: string): Parts => ({
  store: (record) => ({ ...record, [field]: Number(record[field]) }),
});
const isLater = (record: Rec, known: Rec | undefined) => String(record.updatedAt) > String(known?.updatedAt);
const onlyLater: Parts['store'] = (record, known) => (known && !isLater(record, known) ? known : record);
const emptyIfUnreadable = (response: Response) => rowsOf(response).catch((): readonly Rec[] => []);

/** Lists by page, each page twice. */
const twice: Parts['list'] = async (service, name) => {
  const all: Rec[] = [];
  for (let page = 1; ; page += 1) {
    const [rows, again] = [await getPage(service, name, page), await getPage(service, name, page)];
    if (rows.length === 0) return all;
    all.push(...rows, ...again);
  }
};

/** Lists by page, and repeats a request at once after a 429. */
const impatient: Parts['list'] = async (service, name, known) => {
  const read = async (response: Response): Promise<readonly Rec[]> =>
    response.status === 429 ? read(await getUrl(service, response.url)) : rowsOf(response);
  return await byPage({ read })(service, name, known);
};

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
      'takes 0, false and "" for no value': {
        store: (record, known) =>
          Object.fromEntries(
            Object.entries(record).map(([field, value]) => [field, value || (known?.[field] ?? value)]),
          ) as Rec,
      },
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
      'expects a name that is a string': {
        store: (record) => ({ ...record, name: (record.name ?? '').slice(0) }),
      },
    },
  ],
  'exact values': [
    /^\d of 23 (accounts|products) (has|have) a wrong value/,
    {
      'keeps the second amount of a product as a number': withNumber('saleRrpPrice'),
      'keeps the amount of an account as a number': withNumber('creditLimit'),
      'cuts the fraction of a quantity': {
        store: (record) => ({ ...record, stockQuantity: Math.trunc(Number(record.stockQuantity)) }),
      },
      'cuts the last digits of an amount': {
        store: (record) => ({
          ...record,
          salePrice: String(record.salePrice).replace(/(\.\d{4})\d+$/, '$1'),
        }),
      },
      'trims names': named((name) => name.trim()),
      'joins spaces': named((name) => name.replaceAll(/(?<=\S) +/g, ' ')),
      'normalizes letters': named((name) => name.normalize('NFC')),
      'drops quotes': named((name) => name.replaceAll(/['"]/g, '')),
      'has three bytes for a character': named((name) => name.replaceAll(/\p{Emoji_Presentation}/gu, '?')),
      'cuts names at 255 characters': named((name) => name.slice(0, 255)),
    },
  ],
  'deletions between pages': [
    /^\d of 20 accounts (is|are) missing/,
    { 'reads by page number': { list: byPage() } },
  ],
  'a list without an order': [
    /^\d+ of 2\d accounts (is|are) missing/,
    { 'trusts that ids ascend': { list: byId() } },
  ],
  'hidden rows': [
    /^\d+ of 23 accounts are missing/,
    { 'takes a short page for the last one': { list: byId({ isLast: (rows) => rows.length < 5 }) } },
  ],
  UUIDs: [/^18 of 23 accounts are missing/, { 'trusts that a bound on the id is applied': { list: byId() } }],
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
          since: (known) => (known.length > 0 ? new Date(Date.now() - 300_000).toISOString() : undefined),
        }),
      ),
    },
  ],
  'several changes in one second': [
    /^1 of 23 accounts is stale/,
    {
      'asks for changes after the second of the last one': changed(byPage({ since: lastChange(1_000) })),
      'replaces a record only by one that changed later': { store: onlyLater },
      'does so, and requests each page twice': { list: twice, store: onlyLater },
    },
  ],
  'local times': [
    /^\d of 23 accounts are stale/,
    { 'writes the bound in UTC': changed(byPage({ since: lastChange(-300_000) })) },
  ],
  'a quota': [
    /^The (run rejected: 429|connector got 30 responses with status 429)/,
    {
      'takes a 429 for an error': { list: byPage() },
      'repeats a request at once after a 429': { list: impatient },
    },
  ],
  'interrupted responses': [
    /^\d of 23 (accounts|products) (is|are) stale/,
    {
      'takes an error for the end of the list': { list: byPage({ read: emptyIfUnreadable }) },
      'takes half a body for an empty one': {
        list: byPage({ read: (response) => (response.ok ? emptyIfUnreadable : rowsOf)(response) }),
      },
    },
  ],
  'deleted records': [
    /^\d of \d+ accounts (are still in|is missing from) the copy/,
    {
      'never deletes': { isGone: async () => false },
      'never brings back what was deleted': { forgetsDeleted: false },
    },
  ],
  'records that are not listed': [
    /^(\d+ of 23 accounts are missing|The run reported success)/,
    {
      'deletes what is not listed': { isGone: async () => true },
      'takes any error of a GET for a deletion': {
        isGone: async (service, name, id) =>
          !(await getUrl(service, `${service.baseUrl}/api/public/v1/${name}/${id}`)).ok,
      },
      'takes a 404 for the end of a list': {
        list: byPage({ read: async (response) => (response.status === 404 ? [] : await rowsOf(response)) }),
      },
      'reports success with a revoked key': { isFailure: ({ code }) => code !== 'unauthenticated' },
    },
  ],
  'one forbidden collection': [
    /^(3 of 23 products are stale|The run reported success)/,
    {
      'ends at the first collection that fails': { endsAtFirstFailure: true },
      'reports success although a collection is forbidden': {
        isFailure: ({ code }) => code !== 'scope_required',
      },
    },
  ],
  'killed and started again': [
    /^\d+ of 23 accounts are missing/,
    { 'empties its copy first': { emptiesFirst: true } },
  ],
};

const keyOfRow = ({ productNumber }: { readonly productNumber: string }) => `sku-${productNumber}`;

/** Saves the watermark of a run when it begins. */
function savingTooEarly() {
  let watermark: string | undefined;
  const { reset, ...connector } = reader(
    changed(async (service, name) => {
      const since = watermark;
      watermark = new Date().toISOString();
      return await byPage({ since: () => since })(service, name, []);
    }),
  );
  return {
    ...connector,
    reset() {
      watermark = undefined;
      reset();
    },
  };
}

/** Inserts what it did not find when it began. */
function insertingTwice() {
  let rows: Rec[] = [];
  return {
    collections: ['accounts'] as const,
    reset() {
      rows = [];
    },
    records: () => rows,
    async run(service: ConnectorRun) {
      const known = new Set(rows.map(({ id }) => id));
      const records = await byPage()(service, 'accounts', []);
      rows.push(...records.filter(({ id }) => !known.has(id)));
    },
  };
}

type WriterParts = Parameters<typeof writer>[0];

const WRITERS: readonly [name: string, mistake: string, parts: WriterParts, message: RegExp][] = [
  [
    'products that exist already',
    'wipes the fields that it was not given',
    { draft: (row) => ({ description: null, ...row }) },
    /description of product "desk-1" is null in the service\. It was "Oak, \\"as new\\"", and the row does not/,
  ],
  [
    'products that exist already',
    'replaces products by new ones',
    { update: 'delete and create' },
    /id of product "desk-1" is "\d+" in the service\. It was "\d+"/,
  ],
  [
    'products that exist already',
    'deletes products without a row',
    { deletesOthers: true },
    /There is no product "p-1/,
  ],
  [
    'changed rows',
    'never updates',
    { update: 'never' },
    /name of product "desk-1" is "Desk 1" in the service/,
  ],
  ['changed rows', 'creates each of two equal rows', { isUnique: false }, /There are 2 products "desk-1"/],
  [
    'changed rows',
    'calculates with numbers',
    { draft: (row) => ({ ...row, salePrice: Number(row.salePrice).toFixed(4) }) },
    /salePrice of product "desk-1" is "12345678901234568\.0000" in the service/,
  ],
  [
    'changed rows',
    'sends names without accents',
    { draft: (row) => ({ ...row, name: row.name.normalize('NFD').replaceAll(/\p{M}/gu, '') }) },
    /name of product "desk-1" is ".*Koros.*" in the service and ".*Kőrös.*" in the row\./,
  ],
  [
    'lost responses',
    'sends a create again under a new key',
    { attempts: 3 },
    /There are \d products "desk-2"/,
  ],
  [
    'lost responses',
    'takes a lost response for a success',
    { remembers: true, isFailure: () => false },
    /The run reported success although the create of "desk-6" had no response\.\nReject if a row failed/,
  ],
  ['lost responses', 'sends a create under one key for ever', { keyOf: keyOfRow }, /The run rejected: .*409/],
  [
    'keys that are ignored',
    'sends a create again under its key without a look',
    { attempts: 3, keyOf: keyOfRow },
    /There are \d products "desk-2"/,
  ],
  [
    'products deleted by others',
    'makes the idempotency key of the row',
    { keyOf: keyOfRow },
    /There is no product/,
  ],
  [
    'products deleted by others',
    'remembers what it created',
    { remembers: true },
    /There is no product "desk-\d+"\./,
  ],
  ['keys in another spelling', 'looks for the key as the row has it', {}, /There are 2 products "desk-1"/],
  ['a service that lags', 'looks first and remembers nothing', {}, /There are 2 products "desk-/],
  [
    'rejected rows',
    'reports success although rows were rejected',
    { isFailure: () => false },
    /The run reported success\. It has to reject\./,
  ],
  [
    'rejected rows',
    'ends at the first row that is rejected',
    { endsAtFirstFailure: true },
    /There is no product|is "Desk \d+ of last year" in the service/,
  ],
  [
    'rejected rows',
    'does not try a rejected row again',
    { remembers: true },
    /There is no product "desk-5"\./,
  ],
];

// At once: most of the time of a connector is waits.
describe.concurrent('a case', NO_HURRY, () => {
  const readers = Object.entries(READERS).flatMap(([name, [found, mistakes]]) =>
    Object.entries(mistakes).map(([mistake, parts]) => [name, mistake, found, parts] as const),
  );
  test.each(readers)('`%s` fails for a connector that %s', async (name, _, found, parts) => {
    const message = await messageOf(name, { ...reader(parts), service: { clock: steppingClock() } });
    expect(message?.slice(`${name}: `.length)).toMatch(found);
  });

  test.each([
    [
      'killed and started again',
      'saves its watermark before its records',
      savingTooEarly,
      / missing from the/,
    ],
    ['two runs at once', 'inserts what it did not find when it began', insertingTwice, / more than once/],
    [
      'writes killed and started again',
      'remembers at the end',
      rememberingAtEnd,
      /There are 2 products "desk-1"/,
    ],
  ] as const)('`%s` fails for a connector that %s', async (name, _, connector, found) => {
    expect(await messageOf(name, connector())).toMatch(found);
  });

  test.each(WRITERS)('`%s` fails for a connector that %s', async (name, _, parts, expected) => {
    expect(await messageOf(name, writer(parts))).toMatch(expected);
  });

  test('passes for a connector without a mistake', async () => {
    expect(await failuresOf(() => connectorTests(reader()), { lanes: 6 })).toEqual(new Map());
  });
});

const guide = readFileSync(new URL('../../../src/guides/connector-tests.md', import.meta.url), 'utf8');

test('every case is made for a mistake, and is in the table of the guide', () => {
  const made = [...Object.keys(READERS), ...WRITERS.map(([name]) => name)];
  const others = ['two runs at once', 'writes killed and started again'];
  expect(NAMES.filter((name) => !made.includes(name) && !others.includes(name))).toEqual([]);
  const rows = [...guide.matchAll(/^\| ([^|]+) \| [^|]+ \|$/gm)].map(([, name]) => name);
  expect(rows).toEqual(['case', ...NAMES]);
});

test('the guide shows the message of a case that a connector fails', async () => {
  const options = { ...reader({ list: byPage() }), collections: ['accounts'] as const };
  const message = await messageOf('deletions between pages', options);
  expect(guide).toContain(`\`\`\`text\n${message}\n\`\`\``);
});

test('the guide says how many cases a loop over page numbers passes', async () => {
  const loop = (): Parts => ({
    ...changed(byPage({ since: lastChange(0) })),
    ...named((name) => name.trim()),
  });
  const failures = await failuresOf(() =>
    connectorTests({ ...reader(loop()), service: { clock: steppingClock() } }),
  );
  const passed = READING.length - failures.size;
  expect(guide).toContain(
    `A loop over page numbers passes ${passed} of these ${READING.length} cases of reading`,
  );
});
