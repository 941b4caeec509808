import { join } from 'node:path';
import { describe, expect, inject, test } from 'vitest';
import { packagesOf } from './support/packages.ts';
import { json } from './support/run.ts';

const { project } = inject('installed');

interface Loaded {
  /** Files that were loaded, of the package and of its dependencies. */
  readonly loaded: readonly string[];
  /** Whether Node loaded its HTTP client, which a first `Request` does. */
  readonly undici: boolean;
}

describe('importing the package is cheap', () => {
  test('loads no package but decimal.js and p-retry, and few files, as a module', async () => {
    const { loaded, undici } = await json<Loaded>('loaded.mjs', 'accounting-data-sdk');
    expect(packagesOf(loaded)).toEqual(['accounting-data-sdk', 'decimal.js', 'is-network-error', 'p-retry']);
    expect(undici).toBe(false);
    expect(loaded.length).toBeLessThanOrEqual(9);
  });

  test('loads no package but decimal.js, as CommonJS, which holds p-retry itself', async () => {
    const { loaded, undici } = await json<Loaded>('loaded.cjs', 'accounting-data-sdk');
    expect(loaded).toContain(join(project, 'node_modules/accounting-data-sdk/dist/index.cjs'));
    expect(packagesOf(loaded)).toEqual(['accounting-data-sdk', 'decimal.js']);
    expect(undici).toBe(false);
    expect(loaded.length).toBeLessThanOrEqual(9);
  });

  test('loads what sends with the first request, and no Zod for records that are as they should be', async () => {
    const { loaded, id } = await json<Loaded & { id: string }>('first-page.mjs');
    expect(id).toBe('1');
    const libraries = ['decimal.js', 'is-network-error', 'ky', 'p-retry'];
    expect(packagesOf(loaded)).toEqual(['accounting-data-sdk', ...libraries]);
  });

  test.for(['loaded.mjs', 'loaded.cjs'])('the sandbox needs no package at all: %s', async (program) => {
    const { loaded } = await json<Loaded>(program, 'accounting-data-sdk/testing');
    const files = loaded.filter((file) => !file.startsWith('node:'));
    expect(packagesOf(files)).toEqual(['accounting-data-sdk']);
  });

  test.for(['loaded.mjs', 'loaded.cjs'])('the schemas need Zod alone: %s', async (program) => {
    const { loaded } = await json<Loaded>(program, 'accounting-data-sdk/schemas');
    expect(packagesOf(loaded)).toEqual(['accounting-data-sdk', 'zod']);
  });
});
