import { globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, inject, test } from 'vitest';
import manifest from '../../../package.json' with { type: 'json' };
import lockfile from '../../../package-lock.json' with { type: 'json' };

const { project, files, unpackedSize } = inject('installed');
const root = fileURLToPath(new URL('../../../', import.meta.url));
const paths = files.map(({ path }) => path);
const folder = join(project, 'node_modules/accounting-data-sdk');
const texts = await Promise.all(
  paths.map(async (path) => ({ path, text: await readFile(join(folder, path), 'utf8') })),
);

describe('the tarball', () => {
  test('contains the build, the documentation and the quickstart, and nothing else', () => {
    const kinds = [
      /^(?:CHANGELOG\.md|LICENSE|README\.md|llms\.txt|package\.json)$/,
      /^dist\/[\w/-]+(?:\.d)?\.(?:js|cjs|ts|cts)$/,
      /^dist\/(?:cli-)?third-party-licenses\.txt$/,
      /^src\/guides\/[\w-]+\.md$/,
      /^src\/guides\/pictures\/\w+\.svg$/,
      /^examples\/(?:README\.md|quickstart\.ts)$/,
    ];
    expect(paths.filter((path) => !kinds.some((kind) => kind.test(path)))).toEqual([]);
    const guides = globSync('src/guides/*.md', { cwd: root }).filter((path) => !path.endsWith('/index.md'));
    expect(paths).toEqual(expect.arrayContaining(guides));
  });

  // The other examples need a checkout.
  test('holds every file that its Markdown links to, but for examples', () => {
    const links = texts
      .filter(({ path }) => path.endsWith('.md'))
      .flatMap(({ path, text }) =>
        [...text.matchAll(/\]\((?!https?:)([^)#]+)/g)].map(([, target = '']) => join(dirname(path), target)),
      );
    expect(links.length).toBeGreaterThan(60);
    const missing = links.filter((target) => !paths.includes(target) && !target.startsWith('examples/'));
    expect(missing).toEqual([]);
  });

  test('is at most 2.4 MB unpacked', () => {
    expect(unpackedSize).toBeLessThanOrEqual(2_400_000);
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

test('the package installs at most six packages beside itself, none with an install script', () => {
  interface Locked {
    readonly dev?: boolean;
    readonly peer?: boolean;
    readonly hasInstallScript?: boolean;
  }
  const locked = Object.entries(lockfile.packages as Readonly<Record<string, Locked>>);
  const installed = locked.filter(([path, { dev, peer }]) => path !== '' && !dev && !peer);
  expect(installed.length).toBeLessThanOrEqual(6);
  expect(installed.filter(([, { hasInstallScript }]) => hasInstallScript)).toEqual([]);
});
