import type { Fault } from 'accounting-data-sdk/testing';

/** Every amount of a response is a JSON number. */
export const MONEY_AS_NUMBERS: Fault = {
  kind: 'rewrite',
  body: (text) => text.replaceAll(/"(-?\d+\.\d+)"/g, '$1'),
};
