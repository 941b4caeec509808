import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import tsconfig from '../../../tsconfig.json' with { type: 'json' };
import { root } from '../docs/code-blocks.ts';

/** What the sandbox returns, the types derived from tables of its own, and those with the names of SyncOptions. */
const OTHERS = [
  'ConnectorTestsOptions',
  'SandboxClientOptions',
  'sandboxOptions',
  'SandboxOptions',
  'SyncBaseOptions',
  'SyncToTargetOptions',
];

/** The types of all tables: a type is derived from its table, or `satisfies TableOf<PushOptions<…>>` holds the table against it. */
const tables = globSync('src/**/*.ts', { cwd: root }).flatMap((file) =>
  [
    ...readFileSync(root + file, 'utf8').matchAll(
      /satisfies TableOf<(\w+)|interface (\w+)[^{]*\bextends [^{]*OptionInputs</g,
    ),
  ].map(([, ...types]) => types.find((type) => type !== undefined) ?? ''),
);

/** The names that the entries of the package export; each names them one by one. */
function exportedNames(): string[] {
  const entries = Object.values(tsconfig.compilerOptions.paths).flat();
  return entries.flatMap((entry) =>
    [...readFileSync(root + entry, 'utf8').matchAll(/^export (?:type )?\{(.*?)\}/gms)].flatMap(
      ([, names = '']) => names.match(/\w+(?=,|\s*$)/g) ?? [],
    ),
  );
}

test('every exported options type has a table of names', () => {
  const exported = exportedNames().filter((name) => name.endsWith('Options'));
  expect(exported.length).toBeGreaterThan(15);
  const without = exported.filter((name) => !tables.includes(name) && !OTHERS.includes(name));
  expect(without).toEqual([]);
});
