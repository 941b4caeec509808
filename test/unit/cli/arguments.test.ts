import { expect, test } from 'vitest';
import {
  candidates,
  collectionName,
  customField,
  delimiter,
  duration,
  jsonObject,
  wholeNumber,
} from '../../../src/cli/arguments.ts';

test.each<
  [what: string, read: (text: string) => unknown, valid: Readonly<Record<string, unknown>>, invalid: string]
>([
  [
    'a time',
    duration,
    { 0: 0, '7ms': 7, '90s': 90_000, '5m': 300_000, '2h': 7_200_000 },
    '90|s|5 m|1d|-1s|1.5h||0s0',
  ],
  ['an integer of at least 1', wholeNumber(1), { 1: 1, '1_000': 1_000 }, '0|-1|1.5|1e3|x||9007199254740993'],
  ['a port', wholeNumber(0, 65_535), { 0: 0, 65535: 65_535 }, '65536|-1'],
  ['a number of candidates', candidates, { all: Infinity, 0: 0, 50: 50 }, 'none|-1|ALL|'],
  ['a delimiter', delimiter, { tab: '\t', '\\t': '\t', ';': ';', '😀': '😀' }, '||::|TAB'],
  [
    'a collection',
    collectionName,
    { Accounts: 'accounts', 'bank-payer-memories': 'bankPayerMemories' },
    'acounts|',
  ],
  ['JSON', jsonObject, { '{"a":[1]}': { a: [1] } }, '5|[]|null|"x"|{'],
  [
    'a field',
    customField,
    { grade: { grade: 'string' }, ' a:b : integer ': { 'a:b': 'integer' }, 'x:json': { x: 'json' } },
    'name|id|updatedAt|:integer|a:text|a:|__proto__:x',
  ],
])('%s is read from an argument', (_, read, valid, invalid) => {
  for (const [text, value] of Object.entries(valid)) expect(read(text), text).toEqual(value);
  for (const text of invalid.split('|')) expect(() => read(text), text).toThrow();
});
