import { describe, expect, inject, test } from 'vitest';
import { tableRows } from '../docs/code-blocks.ts';
import { bundle } from './support/bundle.ts';

const { project } = inject('installed');

const everything = await bundle("export * from 'accounting-data-sdk';", project);
const listing = await bundle(
  `
  import { createClient } from 'accounting-data-sdk';
  for await (const account of createClient({ apiKey: 'key' }).accounts.list()) console.log(account.id);
`,
  project,
);

const schemas = await bundle(
  "import { productSchema } from 'accounting-data-sdk/schemas'; console.log(productSchema.safeParse({}));",
  project,
);

const sandbox = await bundle(
  "import { createSandbox } from 'accounting-data-sdk/testing'; console.log((await createSandbox().fetch('x')).status);",
  project,
);

test('the sandbox is bundled for a browser without a module of Node', () => {
  expect(sandbox.atOnce.packages).toContain('accounting-data-sdk');
  expect([...sandbox.atOnce.files, ...sandbox.later.files].filter((file) => file.includes('node:'))).toEqual(
    [],
  );
});

describe('bundled for a browser, after gzip', () => {
  // A program that does not use sync and push must not load them.
  test.each([
    ['creates a client and lists', listing],
    ['imports everything of `accounting-data-sdk`', everything],
    ['validates with `accounting-data-sdk/schemas`', schemas],
  ])('a program that %s is at most as large as the guide to runtimes says', (program, { atOnce, later }) => {
    const row = tableRows('src/guides/runtimes.md', 'program').find(([name]) => name === program);
    const [, first, all] = row?.map((cell) => Number.parseFloat(cell) * 1_000) ?? [];
    expect(all).toBeGreaterThan(0);
    expect(atOnce.size + later.size).toBeLessThanOrEqual(all ?? 0);
    if (!Number.isNaN(first)) expect(atOnce.size).toBeLessThanOrEqual(first ?? 0);
  });

  test('ky and Zod load when they are needed', () => {
    const late = ['ky', 'zod'];
    expect(everything.later.packages).toEqual(expect.arrayContaining(late));
    expect(everything.atOnce.packages.filter((name) => late.includes(name))).toEqual([]);
  });

  test('holds none of the languages of Zod', () => {
    const files = [...everything.atOnce.files, ...everything.later.files];
    expect(files.filter((file) => file.includes('/locales/'))).toEqual([]);
  });

  test('a program that validates with the schemas has the one language that Zod needs', () => {
    const { packages, files } = schemas.atOnce;
    expect(packages.filter((name) => name !== 'app.js')).toEqual(['accounting-data-sdk', 'zod']);
    expect(files.filter((file) => file.includes('/locales/'))).toEqual([expect.stringMatching(/\/en\.js$/)]);
  });

  test('contains decimal.js only if the program calculates with money', () => {
    expect(everything.atOnce.packages).toContain('decimal.js');
    expect([...listing.atOnce.packages, ...listing.later.packages]).not.toContain('decimal.js');
  });
});
