import { globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, inject, test } from 'vitest';
import manifest from '../../../package.json' with { type: 'json' };

const { project, files, unpackedSize } = inject('installed');
const root = fileURLToPath(new URL('../../../', import.meta.url));
const paths = files.map(({ path }) => path);
const folder = join(project, 'node_modules/accounting-data-sdk');
const texts = await Promise.all(
  paths.map(async (path) => ({ path, text: await readFile(join(folder, path), 'utf8') })),
);

/** Every file that package.json names: the command and the ways into the package. */
const named = Object.values(manifest.exports).flatMap((entry) =>
  typeof entry === 'string' ? [entry] : [...Object.values(entry.import), ...Object.values(entry.require)],
);
named.push(...Object.values(manifest.bin));

describe('the tarball', () => {
  test('contains the build, the documentation and the examples, and nothing else', () => {
    // Chunks that entries share have a hash in their names.
    const kinds = paths
      .filter((path) => !path.startsWith('examples/'))
      .map((path) => path.replace(/^dist\/[\w-]+-[\w-]{8}(?=\.(?:d\.)?c?[jt]s$)/, 'dist/<chunk>'));
    expect([...new Set(kinds)].sort()).toMatchInlineSnapshot(`
      [
        "CHANGELOG.md",
        "LICENSE",
        "README.md",
        "dist/<chunk>.cjs",
        "dist/<chunk>.d.cts",
        "dist/<chunk>.d.ts",
        "dist/<chunk>.js",
        "dist/cli-third-party-licenses.txt",
        "dist/cli.js",
        "dist/explore.cjs",
        "dist/explore.d.cts",
        "dist/explore.d.ts",
        "dist/explore.js",
        "dist/index.cjs",
        "dist/index.d.cts",
        "dist/index.d.ts",
        "dist/index.js",
        "dist/libraries/commander.js",
        "dist/libraries/csv-parse.js",
        "dist/libraries/ky.cjs",
        "dist/libraries/p-retry.cjs",
        "dist/money.cjs",
        "dist/money.js",
        "dist/node.cjs",
        "dist/node.d.cts",
        "dist/node.d.ts",
        "dist/node.js",
        "dist/opentelemetry.cjs",
        "dist/opentelemetry.d.cts",
        "dist/opentelemetry.d.ts",
        "dist/opentelemetry.js",
        "dist/schemas.cjs",
        "dist/schemas.d.cts",
        "dist/schemas.d.ts",
        "dist/schemas.js",
        "dist/targets.cjs",
        "dist/targets.d.cts",
        "dist/targets.d.ts",
        "dist/targets.js",
        "dist/testing.cjs",
        "dist/testing.d.cts",
        "dist/testing.d.ts",
        "dist/testing.js",
        "dist/testing/msw.cjs",
        "dist/testing/msw.d.cts",
        "dist/testing/msw.d.ts",
        "dist/testing/msw.js",
        "dist/third-party-licenses.txt",
        "package.json",
        "src/guides/command.md",
        "src/guides/copy-in-a-database.md",
        "src/guides/errors.md",
        "src/guides/faq.md",
        "src/guides/first-steps.md",
        "src/guides/keyset-pagination.md",
        "src/guides/money.md",
        "src/guides/options.md",
        "src/guides/performance.md",
        "src/guides/product-fields.md",
        "src/guides/proxies.md",
        "src/guides/pushing.md",
        "src/guides/reading.md",
        "src/guides/running-at-scale.md",
        "src/guides/sandbox-options.md",
        "src/guides/security.md",
        "src/guides/service.md",
        "src/guides/syncing.md",
        "src/guides/telemetry.md",
        "src/guides/testing.md",
        "src/guides/versioning.md",
        "src/guides/writing.md",
      ]
    `);
  });

  test('holds the examples, without what only a checkout needs', () => {
    const examples = globSync('examples/**/*', {
      cwd: root,
      withFileTypes: true,
      exclude: ['**/node_modules'],
    })
      .filter((entry) => entry.isFile())
      .map((entry) => relative(root, join(entry.parentPath, entry.name)));
    const notPacked = examples.filter(
      (path) => !paths.includes(path) && !/\/(\.npmrc|[^/]+\.csv)$/.test(path),
    );
    expect(notPacked.sort()).toEqual(['examples/recipes.test.ts', 'examples/run.ts']);
    expect(paths.filter((path) => path.startsWith('examples/') && !examples.includes(path))).toEqual([]);
  });

  test('holds every file that its Markdown links to', () => {
    const links = texts
      .filter(({ path }) => path.endsWith('.md'))
      .flatMap(({ path, text }) =>
        [...text.matchAll(/\]\((?!https?:)([^)#]+)/g)].map(([, target = '']) => join(dirname(path), target)),
      );
    expect(links.length).toBeGreaterThan(60);
    expect(links.filter((target) => !paths.includes(target))).toEqual([]);
  });

  test('holds every file that package.json names', () => {
    expect(paths).toEqual(expect.arrayContaining(named.map((path) => path.slice('./'.length))));
  });

  test('stays within its size', () => {
    expect(unpackedSize).toBeLessThanOrEqual(1_950_000);
  });

  test('names no place on the machine that built it', () => {
    const places = [root, homedir() === '/' ? root : `${homedir()}/`];
    const found = texts.filter(({ text }) => places.some((place) => text.includes(place)));
    expect(found.map(({ path }) => path)).toEqual([]);
  });

  test('contains the licenses of the code that it bundles', () => {
    const textOf = (path: string) => texts.find((file) => file.path === path)?.text ?? '';
    const [library, command] = ['third-party-licenses.txt', 'cli-third-party-licenses.txt'].map((name) =>
      textOf(`dist/${name}`),
    );
    const names = (licenses = '') =>
      [...licenses.matchAll(/^([@\w/.-]+)\n\n(?=.*(?:MIT|ISC|Copyright))/gm)].map(([, name]) => name);
    expect(names(library)).toEqual(['is-network-error', 'ky', 'p-retry']);
    expect(names(command)).toEqual(expect.arrayContaining(['commander']));
    // Every package that a bundle names was found.
    const inside = texts.flatMap(({ path, text }) =>
      [...text.matchAll(/"node_modules\/((?:@[^/]+\/)?[^/]+)\//g)].map(([, name]) => ({ path, name })),
    );
    for (const { path, name } of inside) {
      expect(path.endsWith('.js') ? command : library).toContain(`${name}\n\n`);
    }
  });
});

describe('the declarations in the tarball', () => {
  const declarations = texts.filter(({ path }) => /\.d\.c?ts$/.test(path));

  test('name no type of ky or p-retry: CommonJS could not load them', () => {
    // Examples in comments import the package itself.
    const imports = declarations.flatMap(({ text }) => [
      ...text.matchAll(/(?:from|import\()\s*['"]([^.'"][^'"]*)/g),
    ]);
    const packages = new Set(
      imports.map(([, name = '']) => name).filter((name) => !name.startsWith(manifest.name)),
    );
    expect([...packages].sort()).toEqual(['@opentelemetry/api', 'decimal.js', 'msw', 'zod']);
  });

  test('keep the comments on options', () => {
    expect(declarations.find(({ path }) => path === 'dist/index.d.cts')?.text).toContain('/**');
  });
});
