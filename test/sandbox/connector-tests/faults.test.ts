// Connectors with a single fault: each fails the case that is made for it.

import { createClient } from 'accounting-data-sdk';
import type { ConnectorRun, ProductRow, WritingRun } from 'accounting-data-sdk/testing';
import { expect, test } from 'vitest';
import { messageOf } from './failures.ts';

const collections = ['accounts', 'products'] as const;
type Rec = Readonly<Record<string, unknown>> & { readonly id: string };

const clientOf = ({ baseUrl, apiKey }: ConnectorRun) =>
  createClient({ baseUrl, apiKey, validation: 'off', retry: false, afterLastPage: 'not_found' });

interface Reader {
  /** The form in which a record is stored, given the one that the copy has. */
  readonly store?: (record: Rec, known: Rec | undefined) => Rec;
  readonly ignoresErrors?: boolean;
}

/** Reads everything by keyset, and upserts. */
function reader({ store = (record) => record, ignoresErrors = false }: Reader = {}) {
  const copy = new Map<string, Map<string, Rec>>(collections.map((name) => [name, new Map()]));
  return {
    collections,
    reset: () => {
      for (const records of copy.values()) records.clear();
    },
    records: (name: string) => [...(copy.get(name)?.values() ?? [])],
    async run(service: ConnectorRun) {
      const failed: unknown[] = [];
      for (const name of collections) {
        const list = clientOf(service)[name].list({}, { signal: service.signal });
        await list.toArray({ limit: 1_000 }).then(
          (records) => {
            const known = copy.get(name);
            for (const each of records as Rec[]) known?.set(each.id, store(each, known.get(each.id)));
          },
          (error: unknown) => failed.push(error),
        );
      }
      if (failed.length > 0 && !ignoresErrors) throw failed[0];
    },
  };
}

const named = (change: (name: string) => string): Reader => ({
  store: (record) => ({ ...record, name: change(String(record.name)) }),
});

const READERS: readonly [fault: string, name: string, reader: Reader][] = [
  [
    'keeps a record whose updatedAt is not later',
    'several changes in one second',
    {
      store: (record, known) =>
        known && String(record.updatedAt) <= String(known.updatedAt) ? known : record,
    },
  ],
  [
    'keeps the second amount of a product as a number',
    'long amounts',
    { store: (record) => ({ ...record, saleRrpPrice: Number(record.saleRrpPrice) }) },
  ],
  [
    'keeps the amount of an account as a number',
    'long amounts',
    { store: (record) => ({ ...record, creditLimit: Number(record.creditLimit) }) },
  ],
  ['trims names', 'unusual names', named((name) => name.trim())],
  ['joins spaces', 'unusual names', named((name) => name.replaceAll(/(?<=\S) +/g, ' '))],
  ['normalizes letters', 'unusual names', named((name) => name.normalize('NFC'))],
  ['takes letters apart', 'unusual names', named((name) => name.normalize('NFD'))],
  ['drops quotes', 'unusual names', named((name) => name.replaceAll(/['"]/g, ''))],
  [
    'has three bytes for a character',
    'unusual names',
    named((name) => name.replaceAll(/\p{Emoji_Presentation}/gu, '?')),
  ],
  [
    'cuts names at 255 bytes',
    'unusual names',
    named((name) => Buffer.from(name).subarray(0, 255).toString()),
  ],
  [
    'knows only Latin letters',
    'unusual names',
    named((name) => Buffer.from(name, 'latin1').toString('latin1')),
  ],
  ['reports success although a collection is forbidden', 'one forbidden collection', { ignoresErrors: true }],
];

const casesOf = (faults: readonly (readonly [fault: string, name: string, ...unknown[]])[]) => [
  ...new Set(faults.map(([, name]) => name)),
];

test.each(casesOf(READERS))('a connector without a fault passes the case `%s`', async (name) => {
  expect(await messageOf(name, reader())).toBeUndefined();
});

test.each(READERS)('a connector that %s fails the case `%s`', async (_, name, faulty) => {
  expect(await messageOf(name, reader(faulty))).toContain(`${name}: `);
});

interface Writer {
  readonly draft?: (row: ProductRow) => object;
  /** What happens to a product that exists. */
  readonly update?: 'patch' | 'delete and create';
  readonly deletesOthers?: boolean;
  readonly ignoresErrors?: boolean;
}

/** Looks for each row in a list of all products, and writes it. */
function writer({ draft = (row) => row, update = 'patch', deletesOthers, ignoresErrors }: Writer = {}) {
  const run = async (service: WritingRun) => {
    const { products } = clientOf(service);
    const left = new Map(
      (await products.list().toArray({ limit: 1_000 })).map((each) => [each.productNumber, each]),
    );
    const failed: unknown[] = [];
    for (const row of service.products) {
      const known = left.get(row.productNumber);
      left.delete(row.productNumber);
      const write = async () => {
        if (known !== undefined && update === 'patch') return await products.update(known.id, draft(row));
        if (known !== undefined) await products.delete(known.id);
        return await products.create(draft(row));
      };
      await write().catch((error: unknown) => failed.push(error));
    }
    if (deletesOthers) for (const { id } of left.values()) await products.delete(id);
    if (failed.length > 0 && !ignoresErrors) throw failed[0];
  };
  return { writes: { run } };
}

const WRITERS: readonly [fault: string, name: string, writer: Writer, message: RegExp][] = [
  [
    'wipes the fields that it was not given',
    'products that exist already',
    { draft: (row) => ({ description: null, ...row }) },
    /description of product "desk-1" is null in the service\. It was "Oak, \\"as new\\"", and the row does not have the field\./,
  ],
  [
    'replaces products by new ones',
    'products that exist already',
    { update: 'delete and create' },
    /id of product "desk-1" is "\d+" in the service\. It was "\d+"/,
  ],
  [
    'deletes products without a row',
    'products that exist already',
    { deletesOthers: true },
    /There is no product "p-1/,
  ],
  [
    'sends names without accents',
    'changed rows',
    { draft: (row) => ({ ...row, name: row.name.normalize('NFD').replaceAll(/\p{M}/gu, '') }) },
    /name of product "desk-1" is "Desk 1 {2}\\"Koros\\" .*" in the service and "Desk 1 {2}\\"Kőrös\\" .*" in the row\./,
  ],
  [
    'reports success although products are locked',
    'locked products',
    { ignoresErrors: true },
    /The run reported success\. It has to reject\./,
  ],
];

test.each(casesOf(WRITERS))('a connector without a fault passes the case `%s`', async (name) => {
  expect(await messageOf(name, writer())).toBeUndefined();
});

test.each(WRITERS)('a connector that %s fails the case `%s`', async (_, name, faulty, message) => {
  expect(await messageOf(name, writer(faulty))).toMatch(message);
});

test.each([
  ['two runs at once', 2],
  ['killed in the first night', 1],
])(
  'a connector whose copy is incomplete after it reported success fails the case `%s`',
  async (name, nightly) => {
    const { run, records, ...others } = reader();
    let successes = 0;
    const counted = async (service: ConnectorRun) => {
      await run(service);
      successes += 1;
    };
    // The second night repairs it.
    const shown = (collection: string) => records(collection).slice(successes > nightly ? 0 : 1);
    expect(await messageOf(name, { ...others, run: counted, records: shown })).toContain(
      'is missing from the copy',
    );
  },
);
