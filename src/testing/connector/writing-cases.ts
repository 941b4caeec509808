import type { Fault } from '../faults/fault.ts';
import type { Case, Night, ProductRow } from './case.ts';
import type { Stage } from './stage.ts';

const QUIET: Night = {};

/** Runs in which the third and fourth create meet a fault, and one without faults. */
const faultyCreates = (fault: Fault): readonly Night[] => [
  {
    before: ({ sandbox }) => sandbox.faults.add(fault, { method: 'POST', skip: 2, times: 2 }),
    ends: 'either',
  },
  QUIET,
];

/** The products of some rows, as they were last year: with fields of which no row knows. */
const insertAll = (stage: Stage, rows: readonly ProductRow[]) => {
  const known = { description: 'Oak, "as new"', brand: 'Kőrös', stockLocation: 'Hall  2', isWebShop: true };
  for (const row of rows) stage.insert('products', { ...known, ...row, name: `${row.name} of last year` });
};

/** A run in which every response has natural keys in capitals. */
const inCapitals: Night = {
  before: ({ sandbox }) => {
    const body = (text: string) =>
      text.replaceAll(
        /"productNumber":"[^"]*"/g,
        (field) => `"productNumber":${field.slice(16).toUpperCase()}`,
      );
    sandbox.faults.add({ kind: 'rewrite', body });
  },
  ends: 'either',
};

/** What happens to connectors that write products by a natural key, in the order in which one would fix them. */
export const writingCases: readonly Case[] = [
  {
    name: 'products that exist already',
    why: 'Users have entered some of the products by hand, or the connector was installed again.',
    advice: 'Look for the natural key before each create, and send only the fields that your rows have.',
    nights: [{ before: (stage, rows) => insertAll(stage, rows.slice(0, 5)) }],
  },
  {
    name: 'the same rows twice',
    why: 'A file contains a row twice, and the next night the same file is pushed again.',
    advice: 'Keep one row for each key, and remember or look for its product.',
    nights: [{ rows: (rows) => [...rows, ...rows] }, QUIET],
  },
  {
    name: 'changed rows',
    why: 'Prices and names change. Some prices have more digits than a floating-point number keeps.',
    advice: 'Update what differs, keep amounts as strings, and send text as it is, in UTF-8.',
    nights: [
      QUIET,
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
    name: 'responses lost after the create',
    why: 'A connection breaks after the service has stored the product.',
    advice: 'Send the create again under the same Idempotency-Key.',
    nights: faultyCreates({ kind: 'lost-response', committed: true }),
  },
  {
    name: 'responses lost before the create',
    why: 'A connection breaks before the service has stored anything, which looks the same.',
    advice: 'Send the create again under the same Idempotency-Key, or reject.',
    nights: faultyCreates({ kind: 'lost-response', committed: false }),
  },
  {
    name: 'half a 201',
    why: 'A restart of PHP-FPM behind nginx cuts the response to a create in the middle.',
    advice: 'The product exists: send the create again under the same Idempotency-Key, or look for it.',
    nights: faultyCreates({ kind: 'disconnect', in: 'body' }),
  },
  {
    name: 'keys that are ignored',
    why: 'Many services do not implement Idempotency-Key, and ignore the header.',
    advice: 'After a lost response look for the product, and create it only if it is not there.',
    service: { idempotency: { replay: 'ignored' } },
    nights: faultyCreates({ kind: 'lost-response', committed: true }),
  },
  {
    name: '409 in progress',
    why: 'A crash leaves an Idempotency-Key marked as in progress, so each retry gets a 409 for a day.',
    advice: 'Look for the product, and create it under another key if it is not there.',
    nights: [
      {
        before: ({ sandbox }) =>
          sandbox.faults.add(
            { kind: 'lost-response', committed: false, marker: true },
            { method: 'POST', skip: 2, times: 1 },
          ),
        ends: 'either',
      },
      { ends: 'either' },
      QUIET,
    ],
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
    nights: [inCapitals, inCapitals],
  },
  {
    name: 'a service that lags',
    why: 'GET requests read a replica, which shows a new product some seconds later.',
    advice: 'Remember what was created, and wait before you look for it.',
    service: { commitDelayMs: 1_500 },
    nights: [{ runs: 'twice in a row', ends: 'either' }, QUIET],
  },
  {
    name: 'locked products',
    why: 'A product that is used in a closed year rejects changes with 403, while others can be changed.',
    advice: 'A 403 can be about one product: write the others, and reject because of it.',
    nights: [
      {
        before: (stage, rows) => {
          insertAll(stage, rows);
          stage.lock(stage.ids('products', -10, -5));
        },
        ends: 'loudly',
        completeAnyway: () => ['products'],
      },
    ],
  },
  {
    name: 'writes killed and started again',
    why: 'Deployments, restarts and time limits end a connector between a create and its response.',
    advice: 'Store what is about to be created before the request, and look for it first after a restart.',
    nights: [{ runs: 'killed', ends: 'either' }, QUIET],
  },
];
