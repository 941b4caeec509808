import { expect, test } from 'vitest';
import { admitKey, type KnownRecord } from '../../../src/reading/company.ts';
import { caught } from '../../support/caught.ts';

const NOON = '2026-01-31T12:00:00Z';

/** What the service returns for a known record: its `createdAt`, `gone` for a 404, `denied` for an error. */
type Found = { readonly createdAt: unknown } | 'gone' | 'denied';

async function* known(before: unknown, found: readonly Found[]): AsyncGenerator<KnownRecord> {
  for (const [index, one] of found.entries()) {
    const lookUp: KnownRecord['lookUp'] = async () => {
      if (one === 'denied') return new Error('denied');
      if (one === 'gone') return { record: undefined };
      const row = { id: `${index}`, ...one };
      return { record: row, row };
    };
    yield { collection: 'products', id: `${index}`, createdAt: before, lookUp };
  }
}

const admit = (before: unknown, found: readonly Found[]) =>
  admitKey('{"salt":"s","keys":["old"]}', {
    tenant: 'acme',
    sameCompany: false,
    digestOf: async () => 'new',
    known: () => known(before, found),
  });

const same = { createdAt: NOON };
const other = { createdAt: '2026-01-31T12:00:01Z' };

test.each<[string, unknown, readonly Found[]]>([
  ['there is no known record', NOON, []],
  ['the only one was created at the same moment', NOON, [same]],
  ['the moment is written with another offset', NOON, [{ createdAt: '2026-01-31T13:00:00.000+01:00' }]],
  ['the moment is a number', 1_769_860_800, [{ createdAt: 1_769_860_800 }]],
  ['four of five do not exist any more', NOON, ['gone', 'gone', 'gone', 'gone', same]],
  ['some may not be read', NOON, ['denied', 'denied', same]],
  ['a sixth was created at another moment', NOON, [same, same, same, same, same, other]],
])('a new key belongs to the company if %s', async (_, before, found) => {
  expect(await admit(before, found)).toBe('{"salt":"s","keys":["old","new"]}');
});

test.each<[string, unknown, readonly Found[]]>([
  ['the only known record was created at another moment', NOON, [other]],
  ['one of two was created at another moment', NOON, [same, other]],
  ['the fifth was created at another moment', NOON, [same, same, same, same, other]],
  ['one that exists has no createdAt any more', NOON, [same, { createdAt: undefined }]],
  ['none of five exists', NOON, ['gone', 'gone', 'gone', 'gone', 'gone', same]],
  ['none may be read', NOON, ['denied']],
  ['no known record has createdAt', undefined, [{ createdAt: undefined }]],
])('nothing shows that a new key belongs to the company if %s', async (_, before, found) => {
  expect(await caught(admit(before, found))).toMatchObject({ code: 'invalid_input', argument: 'tenant' });
});
