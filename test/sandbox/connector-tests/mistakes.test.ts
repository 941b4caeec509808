// Each case finds the mistakes that it is made for, and each mistake is found.

import { readFileSync } from 'node:fs';
import { connectorTests } from 'accounting-data-sdk/testing';
import { describe, expect, test } from 'vitest';
import { NO_HURRY } from '../../support/seeds.ts';
import {
  byId,
  byPage,
  changed,
  get,
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

const READERS: readonly [name: string, mistake: string, parts: Parts][] = [
  [
    'no records',
    'calculates a watermark of no records',
    changed(byPage({ since: (known) => lastChange(0)(known) ?? new Date(Number.NaN).toISOString() })),
  ],
  ['no records', 'takes a 404 after a full page for an error', { list: byPage() }],
  ['changed records', 'keeps the record that it has', { store: (record, known) => known ?? record }],
  [
    'changed records',
    'merges a record into the one that it has',
    { store: (record, known) => ({ ...known, ...record }) },
  ],
  [
    'changed records',
    'takes 0, false and "" for no value',
    {
      store: (record, known) => {
        const merged = Object.entries(record).map(([field, value]) => [field, value || known?.[field]]);
        return Object.fromEntries(merged) as Rec;
      },
    },
  ],
  [
    'odd records',
    'rejects a field that it does not know',
    {
      store(record) {
        if ('customLabel' in record) throw new Error('no column customLabel');
        return record;
      },
    },
  ],
  ['odd records', 'expects a name', { store: (record) => ({ ...record, name: record.name.toString() }) }],
  [
    'odd records',
    'expects a name that is a string',
    { store: (record) => ({ ...record, name: (record.name ?? '').slice(0) }) },
  ],
  ['exact values', 'keeps the second amount of a product as a number', withNumber('saleRrpPrice')],
  ['exact values', 'keeps the amount of an account as a number', withNumber('creditLimit')],
  [
    'exact values',
    'cuts the fraction of a quantity',
    { store: (record) => ({ ...record, stockQuantity: Math.trunc(Number(record.stockQuantity)) }) },
  ],
  [
    'exact values',
    'cuts the last digits of an amount',
    {
      store: (record) => ({ ...record, salePrice: String(record.salePrice).replace(/(\.\d{4})\d+$/, '$1') }),
    },
  ],
  ['exact values', 'trims names', named((name) => name.trim())],
  ['exact values', 'joins spaces', named((name) => name.replaceAll(/(?<=\S) +/g, ' '))],
  ['exact values', 'normalizes letters', named((name) => name.normalize('NFC'))],
  ['exact values', 'takes letters apart', named((name) => name.normalize('NFD'))],
  ['exact values', 'drops quotes', named((name) => name.replaceAll(/['"]/g, ''))],
  [
    'exact values',
    'has three bytes for a character',
    named((name) => name.replaceAll(/\p{Emoji_Presentation}/gu, '?')),
  ],
  ['exact values', 'cuts names at 255 characters', named((name) => name.slice(0, 255))],
  [
    'exact values',
    'knows only Latin letters',
    named((name) => Buffer.from(name, 'latin1').toString('latin1')),
  ],
  ['deletions between pages', 'reads by page number', { list: byPage() }],
  ['a list without an order', 'reads by id, and trusts that ids ascend', { list: byId() }],
  ['a list without an order', 'reads by page number', { list: byPage() }],
  [
    'hidden rows',
    'takes a short page for the last one',
    { list: byId({ isLast: (rows) => rows.length < 5 }) },
  ],
  ['UUIDs', 'trusts that a bound on the id is applied', { list: byId() }],
  [
    'ids beyond 2^53',
    'compares ids as numbers',
    { list: byId({ next: (rows) => String(Number(rows.at(-1)?.id)) }) },
  ],
  ['late commits', 'takes the last change for its watermark', changed(byPage({ since: lastChange(0) }))],
  [
    'late commits',
    'takes its own clock for its watermark',
    changed(
      byPage({
        since: (known) => (known.length > 0 ? new Date(Date.now() - 300_000).toISOString() : undefined),
      }),
    ),
  ],
  [
    'several changes in one second',
    'asks for changes after the second of the last one',
    changed(byPage({ since: lastChange(1_000) })),
  ],
  ['several changes in one second', 'replaces a record only by one that changed later', { store: onlyLater }],
  [
    'several changes in one second',
    'requests a page twice, and replaces a record only by one that changed later',
    {
      list: async (service, name) => {
        const all: Rec[] = [];
        for (let page = 1; ; page += 1) {
          const query = { _page: String(page) };
          const rows = await rowsOf(await get(service, name, query));
          if (rows.length === 0) return all;
          all.push(...rows, ...(await rowsOf(await get(service, name, query))));
        }
      },
      store: onlyLater,
    },
  ],
  ['local times', 'writes the bound in UTC', changed(byPage({ since: lastChange(-300_000) }))],
  ['a quota', 'takes a 429 for an error', { list: byPage() }],
  [
    'a quota',
    'repeats a request at once after a 429',
    {
      list: async (service, name, known) => {
        const patient = async (response: Response): Promise<readonly Rec[]> =>
          response.status === 429 ? patient(await fetch(response.url, init(service))) : rowsOf(response);
        return await byPage({ read: patient })(service, name, known);
      },
    },
  ],
  [
    'interrupted responses',
    'takes an error for the end of the list',
    { list: byPage({ read: async (response) => await rowsOf(response).catch(() => []) }) },
  ],
  [
    'interrupted responses',
    'takes half a body for an empty one',
    {
      list: byPage({
        read: async (response) =>
          response.ok ? await rowsOf(response).catch(() => []) : await rowsOf(response),
      }),
    },
  ],
  ['deleted records', 'never deletes', { isGone: async () => false }],
  ['deleted records', 'never brings back what was deleted', { forgetsDeleted: false }],
  ['records that are not listed', 'deletes what is not listed', { isGone: async () => true }],
  [
    'records that are not listed',
    'takes any error of a GET for a deletion',
    {
      isGone: async ({ baseUrl, apiKey }, name, id) => {
        const response = await fetch(`${baseUrl}/api/public/v1/${name}/${id}`, {
          headers: { 'X-AUTH-TOKEN': apiKey },
        });
        return !response.ok;
      },
    },
  ],
  [
    'records that are not listed',
    'takes a 404 for the end of a list',
    { list: byPage({ read: async (response) => (response.status === 404 ? [] : await rowsOf(response)) }) },
  ],
  [
    'records that are not listed',
    'reports success with a revoked key',
    { isFailure: ({ code }) => code !== 'unauthenticated' },
  ],
  ['one forbidden collection', 'ends at the first collection that fails', { endsAtFirstFailure: true }],
  [
    'one forbidden collection',
    'reports success although a collection is forbidden',
    { isFailure: ({ code }) => code !== 'scope_required' },
  ],
  ['killed and started again', 'empties its copy first', { emptiesFirst: true }],
];

const init = ({ apiKey, signal }: Parameters<typeof get>[0]) => ({
  headers: { 'X-AUTH-TOKEN': apiKey },
  signal,
});

/** Writes a watermark with each page, and continues after it in the next run. */
function savingTooEarly() {
  let watermark: string | undefined;
  const { reset, ...connector } = reader(
    changed(async (service, name) => {
      const since = watermark === undefined ? {} : { updatedSince: watermark };
      const first = await get(service, name, { _page: '1', ...since });
      watermark = new Date(Date.parse(first.headers.get('date') ?? '') - 300_000).toISOString();
      const rest = await byPage({ since: () => since.updatedSince })(service, name, []);
      return rest;
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
    async run(service: Parameters<typeof get>[0]) {
      const known = new Set(rows.map(({ id }) => id));
      const records = await byPage()(service, 'accounts', []);
      rows.push(...records.filter(({ id }) => !known.has(id)));
    },
  };
}

const WRITERS: readonly [
  name: string,
  mistake: string,
  parts: Parameters<typeof writer>[0],
  message: RegExp,
][] = [
  [
    'products that exist already',
    'wipes the fields that it was not given',
    { draft: (row) => ({ description: null, ...row }) },
    /description of product "desk-1" is null in the service\. It was "Oak, \\"as new\\"", and the row does not have the field\./,
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
    /name of product "desk-1" is "Desk 1 {2}\\"Koros\\" .*" in the service and "Desk 1 {2}\\"Kőrös\\" .*" in the row\./,
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
  [
    'lost responses',
    'sends a create under one key for ever',
    { keyOf: ({ productNumber }) => `sku-${productNumber}` },
    /The run rejected: .*409/,
  ],
  [
    'keys that are ignored',
    'sends a create again under its key without a look',
    { attempts: 3, keyOf: ({ productNumber }) => `sku-${productNumber}` },
    /There are \d products "desk-2"/,
  ],
  [
    'products deleted by others',
    'makes the idempotency key of the row',
    { keyOf: ({ productNumber }) => `sku-${productNumber}` },
    /There is no product/,
  ],
  [
    'products deleted by others',
    'remembers what it created',
    { remembers: true },
    /There is no product "desk-\d+"\./,
  ],
  [
    'keys in another spelling',
    'looks for the key in the spelling of the row',
    {},
    /There are 2 products "desk-1"/,
  ],
  ['a service that lags', 'looks first and remembers nothing', {}, /There are 2 products "desk-1"/],
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
  test.each(READERS)('`%s` fails for a connector that %s', async (name, _, parts) => {
    const message = await messageOf(name, { ...reader(parts), service: { clock: steppingClock() } });
    expect(message).toContain(`${name}: `);
  });

  test.each([
    ['killed and started again', 'saves its watermark before its records', savingTooEarly()],
    ['two runs at once', 'inserts what it did not find when it began', insertingTwice()],
  ] as const)('`%s` fails for a connector that %s', async (name, _, connector) => {
    expect(await messageOf(name, connector)).toContain(`${name}: `);
  });

  test.each(WRITERS)('`%s` fails for a connector that %s', async (name, _, parts, expected) => {
    expect(await messageOf(name, writer(parts))).toMatch(expected);
  });

  test('`writes killed and started again` fails for a connector that remembers at the end', async () => {
    const name = 'writes killed and started again';
    expect(await messageOf(name, rememberingAtEnd())).toMatch(/There are 2 products "desk-1"/);
  });

  test('passes for a connector without a mistake', async () => {
    expect(await failuresOf(() => connectorTests(reader()), { lanes: 6 })).toEqual(new Map());
  });
});

const guide = readFileSync(new URL('../../../src/guides/connector-tests.md', import.meta.url), 'utf8');

test('every case is made for a mistake, and is in the table of the guide', () => {
  const made = [...READERS, ...WRITERS].map(([name]) => name);
  const others = ['killed and started again', 'two runs at once', 'writes killed and started again'];
  expect(NAMES.filter((name) => !made.includes(name) && !others.includes(name))).toEqual([]);
  const rows = [...guide.matchAll(/^\| ([^|]+) \| [^|]+ \|$/gm)].map(([, name]) => name);
  expect(rows).toEqual(['case', ...NAMES]);
});

test('the guide shows the message of a case that a connector fails', async () => {
  const options = { ...reader({ list: byPage() }), collections: ['accounts'] as const };
  const message = await messageOf('deletions between pages', options);
  expect(guide).toContain(`\`\`\`text\n${message}\n\`\`\``);
});

test('the README says how many cases a loop over page numbers passes', async () => {
  const loop = (): Parts => ({
    ...changed(byPage({ since: lastChange(0) })),
    ...named((name) => name.trim()),
  });
  const failures = await failuresOf(() =>
    connectorTests({ ...reader(loop()), service: { clock: steppingClock() } }),
  );
  const readme = readFileSync(new URL('../../../README.md', import.meta.url), 'utf8');
  const passed = READING.length - failures.size;
  expect(readme).toContain(`a loop over page numbers passes ${passed} of ${READING.length}`);
});
