import { readFileSync, writeFileSync } from 'node:fs';
import type { ServiceProfile } from 'accounting-data-sdk/explore';
import type { SandboxOptions } from 'accounting-data-sdk/testing';
import { describe, expect, test } from 'vitest';
import { API_PLATFORM, fillProducts } from '../support/products.ts';
import { FORMATTER_DEFAULTS, formatted } from '../support/schema-file.ts';
import { folder, listening, run } from './support/run.ts';

/** A service, an option that changes later, and the line that names the change. */
const services: readonly [name: string, service: SandboxOptions, change: SandboxOptions, line: string][] = [
  [
    'API Platform',
    { ...API_PLATFORM, listBody: 'hydra:member' },
    { relations: 'id' },
    'sandbox.relations: "id"',
  ],
  ['a service that hides rows', { hiddenRecords: 0.2 }, { hiddenRecords: 0 }, 'sandbox.hiddenRecords: 0'],
  [
    'a service whose records tie',
    { order: 'updated-asc', ties: 'each-page', timestampsEverywhere: true },
    { ties: 'id-asc' },
    'sandbox.ties: "id-asc"',
  ],
];

/** On a port. Many records were changed in the same second, so that the order among them shows. */
async function serving(options: SandboxOptions) {
  const { sandbox, env } = await listening({ records: { accounts: 40, accountAddresses: 40 }, ...options });
  fillProducts(sandbox, 70);
  if (options.ties === undefined || !options.timestampsEverywhere) return env;
  for (const id of sandbox.store.products.ids()) {
    sandbox.store.products.update(id, { updatedAt: '2026-01-31T12:00:00Z' });
  }
  return env;
}

const COLLECTIONS = ['accountAddresses', 'products', '--write', '--yes', '--quiet'];

describe('probe --out and --check', () => {
  test.each(services)(
    'find no difference on a sandbox with the options of the file of %s, until an option changes',
    async (_, service, change, line) => {
      const file = folder()('service.json');
      const { code } = await run(await serving(service), ['probe', ...COLLECTIONS, '--out', file]);
      expect(code).toBe(0);
      const profile = JSON.parse(readFileSync(file, 'utf8')) as ServiceProfile;
      const twin = { ...profile.sandbox, records: { accounts: 40, accountAddresses: 40 } };
      const same = await run(await serving(twin), ['probe', ...COLLECTIONS, '--check', file]);
      expect([same.code, same.log]).toEqual([0, '']);

      const other = await serving({ ...twin, ...change });
      const changed = await run(other, ['probe', ...COLLECTIONS, '--check', file]);
      expect(changed.code).toBe(8);
      const seen = changed.log.split('\n').filter((one) => one.startsWith('+ sandbox.'));
      expect(seen).toEqual([`+ ${line}`]);
    },
  );

  test('do not compare what is unknown on one side', async () => {
    const env = await serving({});
    const file = folder()('service.ts');
    await run(env, ['probe', ...COLLECTIONS, '--out', file]);
    expect((await run(env, ['probe', 'accounts', '--quiet', '--check', file])).code).toBe(0);
  });

  test('recognise their file after a formatter', async () => {
    const env = await serving(API_PLATFORM);
    const file = folder()('service.ts');
    await run(env, ['probe', ...COLLECTIONS, '--out', file]);
    const text = await formatted(readFileSync(file, 'utf8'), ...FORMATTER_DEFAULTS);
    expect(text).not.toBe(readFileSync(file, 'utf8'));
    writeFileSync(file, text);
    expect((await run(env, ['probe', ...COLLECTIONS, '--check', file])).code).toBe(0);
    expect((await run(env, ['probe', ...COLLECTIONS, '--out', file])).code).toBe(0);
    expect(readFileSync(file, 'utf8')).not.toBe(text);
  });

  test('overwrite only files that probe wrote', async () => {
    const env = await serving({});
    const file = folder()('service.ts');
    writeFileSync(file, 'export const service = 5;');
    const args = ['probe', 'accounts', '--quiet', '--out', file];
    const refused = await run(env, args);
    expect([refused.code, refused.log]).toEqual([7, expect.stringContaining('--force')]);
    expect((await run(env, [...args, '--force'])).code).toBe(0);
    expect((await run(env, args)).code).toBe(0);
    writeFileSync(file, '{}');
    expect((await run(env, ['probe', '--check', file])).code).toBe(7);
    expect((await run(env, ['probe', '--check', folder()('none.ts')])).code).toBe(7);
  });
});
