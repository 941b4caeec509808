import type { Fault } from '../faults/fault.ts';
import { type Case, type Night, type ProductRow, QUIET } from './case.ts';
import type { Stage } from './stage.ts';

type Rows = readonly ProductRow[];

/** The first rows, of which the second create meets a fault. */
const faultyCreate = (count: number, fault: Fault, times: number): Night => ({
  before: ({ sandbox }) => sandbox.faults.add(fault, { method: 'POST', skip: 1, times }),
  rows: (rows) => rows.slice(0, count),
  ends: 'either',
});

/** The products of some rows, as they were last year: with fields of which no row knows. */
const insertAll = (stage: Stage, rows: Rows) => {
  const known = { description: 'Oak, "as new"', brand: 'Kőrös', stockLocation: 'Hall  2', isWebShop: true };
  for (const row of rows) stage.insert('products', { ...known, ...row, name: `${row.name} of last year` });
};

/** A run in which every response has natural keys in capitals. */
const IN_CAPITALS: Night = {
  before: ({ sandbox }) =>
    sandbox.faults.add({
      kind: 'rewrite',
      body: (text) =>
        text.replaceAll(/("productNumber":)("[^"]*")/g, (_, name, key) => `${name}${key.toUpperCase()}`),
    }),
  ends: 'either',
};

/** Everything is written but what the service rejects, and the run rejects because of that. */
const LOUDLY: Night = { ends: 'loudly', completeAnyway: () => ['products'] };

const nameless = (rows: Rows) => rows.map((row, n) => (n === 4 ? { ...row, name: '' } : row));

/** What happens to connectors that write products by a natural key, in the order in which one would fix them. */
export const writingCases: readonly Case[] = [
  {
    name: 'products that exist already',
    why: 'Users have entered some of the products by hand, or the connector was installed again.',
    advice: 'Look for the natural key before each create, and send only the fields that your rows have.',
    nights: [{ before: (stage, rows) => insertAll(stage, rows.slice(0, 5)) }],
  },
  {
    name: 'changed rows',
    why: 'A file contains rows twice, and prices and names change, some prices to more digits than a floating-point number keeps.',
    advice:
      'Keep one row for each key, update what differs, keep amounts as strings, and send text as it is, in UTF-8.',
    nights: [
      { rows: (rows) => [...rows, ...rows] },
      {
        rows: (rows) =>
          rows.map((row, n) =>
            n % 3 === 0
              ? { ...row, name: `${row.name}  "Kőrös" 👩🏽‍🔧`, salePrice: `${n + 1}2345678901234567.8901` }
              : row,
          ),
      },
    ],
  },
  {
    name: 'lost responses',
    why: 'A connection breaks before or after the service has stored the product, and a crash leaves its Idempotency-Key in progress, so that each retry gets a 409 for a day.',
    advice:
      'Send the create again under the same Idempotency-Key; if that stays in progress, look for the product, and create it under another key if it is not there.',
    nights: [
      faultyCreate(4, { kind: 'lost-response', committed: true }, 2),
      faultyCreate(8, { kind: 'lost-response', committed: false, marker: true }, 1),
      { rows: (rows) => rows.slice(0, 8), ends: 'either' },
      faultyCreate(12, { kind: 'disconnect', in: 'body' }, 2),
      QUIET,
    ],
  },
  {
    name: 'keys that are ignored',
    why: 'Many services do not implement Idempotency-Key, and ignore the header.',
    advice: 'After a lost response look for the product, and create it only if it is not there.',
    service: { idempotency: { replay: 'ignored' } },
    nights: [faultyCreate(12, { kind: 'lost-response', committed: true }, 2), QUIET],
  },
  {
    name: 'products deleted by others',
    why: 'A user deletes a product that a row still has, and the service returns the response of its key for a day.',
    advice: 'An Idempotency-Key belongs to one create: give the next create of a row a new key.',
    nights: [QUIET, { before: (stage) => stage.remove('products', stage.ids('products', 9, 13)) }],
  },
  {
    name: 'keys in another spelling',
    why: 'A service stores codes in upper case.',
    advice: 'Compare natural keys without case and white space, or remember the id of each product.',
    nights: [IN_CAPITALS, IN_CAPITALS],
  },
  {
    name: 'a service that lags',
    why: 'GET requests read a replica, which shows a new product some seconds later.',
    advice: 'Remember what was created, and wait before you look for it.',
    service: { commitDelayMs: 1_500 },
    nights: [{ runs: 'twice in a row', ends: 'either' }, QUIET],
  },
  {
    name: 'rejected rows',
    why: 'A product that is used in a closed year rejects changes with 403, and a row without a name gets a 422, while others can be written.',
    advice:
      'A 403 or a 422 can be about one product: write the others, reject, and try again in the next run.',
    service: {
      requiredFields: ['name'],
      lockedRecords: ({ productNumber }) => productNumber === 'desk-2' || productNumber === 'desk-9',
    },
    nights: [
      {
        ...LOUDLY,
        before: (stage, rows) => insertAll(stage, [...rows.slice(0, 4), ...rows.slice(5)]),
        rows: nameless,
      },
      LOUDLY,
    ],
  },
  {
    name: 'writes killed and started again',
    why: 'Deployments, restarts and time limits end a connector between a create and its response.',
    advice: 'Store what is about to be created before the request, and look for it first after a restart.',
    nights: [{ runs: 'killed', ends: 'either' }, QUIET],
  },
];
