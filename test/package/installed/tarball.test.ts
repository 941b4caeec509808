import { globSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { expect, inject, test } from 'vitest';
import lockfile from '../../../package-lock.json' with { type: 'json' };

const { project, files, unpackedSize } = inject('installed');
const root = fileURLToPath(new URL('../../../', import.meta.url));
const paths = files.map(({ path }) => path);
const read = (path: string) => readFileSync(join(project, 'node_modules/accounting-data-sdk', path), 'utf8');

test('the tarball has the build, the documentation and the quickstart, nothing else, and at most 2.8 MB', () => {
  const kinds = [
    /^(?:CHANGELOG\.md|LICENSE|README\.md|llms\.txt|package\.json)$/,
    /^dist\/[\w/-]+(?:\.d)?\.(?:js|cjs|ts|cts)$/,
    /^dist\/(?:(?:cli|window)-)?third-party-licenses\.txt$/,
    /^src\/guides\/[\w-]+\.md$/,
    /^src\/guides\/pictures\/\w+\.svg$/,
    /^examples\/(?:README\.md|quickstart\.ts)$/,
  ];
  expect(paths.filter((path) => !kinds.some((kind) => kind.test(path)))).toEqual([]);
  const guides = globSync('src/guides/*.md', { cwd: root }).filter((path) => !path.endsWith('/index.md'));
  expect(paths.filter((path) => /guides\/[\w-]+\.md$/.test(path)).toSorted()).toEqual(guides.toSorted());
  expect(unpackedSize).toBeLessThanOrEqual(2_800_000);
});

test('the tarball names no place on the machine that built it', () => {
  const places = [root, homedir() === '/' ? root : `${homedir()}/`];
  expect(paths.filter((path) => places.some((place) => read(path).includes(place)))).toEqual([]);
});

test('the tarball has the licenses of the code that it bundles', () => {
  const licensed = (file: string) =>
    [...read(`dist/${file}`).matchAll(/^([@\w/.-]+)\n\n(?=.*(?:MIT|ISC|Copyright))/gm)].map(
      ([, name]) => name,
    );
  expect(licensed('third-party-licenses.txt')).toEqual(['is-network-error', 'ky', 'p-retry']);
  expect(licensed('cli-third-party-licenses.txt')).toEqual(['commander', 'csv-parse']);
  const ofWindow = ['@preact/signals', '@preact/signals-core', 'preact'];
  expect(licensed('window-third-party-licenses.txt')).toEqual(ofWindow);
});

test('the window has at most 60 kB after gzip, names no other host, and is in no bundle of the sandbox', async () => {
  const script = read('dist/window.js');
  expect(gzipSync(script, { level: 9 }).length).toBeLessThanOrEqual(60_000);
  const hosts = [...script.matchAll(/\bhttps?:\/\/([^/\s"'`]+)/g)].map(([, host]) => host);
  expect(hosts.filter((host = '') => host !== 'www.w3.org' && !host.endsWith('.invalid'))).toEqual([]);
  const { outputFiles } = await build({
    stdin: { contents: "export * from 'accounting-data-sdk/testing'", resolveDir: project },
    bundle: true,
    format: 'esm',
    platform: 'node',
    write: false,
    logLevel: 'silent',
  });
  const [bundled] = outputFiles;
  expect(bundled?.text).toContain('/_sandbox');
  expect(bundled?.text).not.toMatch(/adoptedStyleSheets|preact/);
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

/** The statements of a file of declarations, without comments. */
function statementsOf(path: string): string[] {
  const text = read(path).replaceAll(/^ *\/\*\*.*?\*\/\n/gms, '');
  return text.split(/^(?=(?:declare|interface|type|export|import|abstract) )/m).map((each) => each.trim());
}

// The names that an entry exports, and after them every declaration that they use, wherever the build has put it.
test('the public types are those of public-types.txt: update it with `npm run test:package -- -u`', async () => {
  const declarations = paths.filter((path) => path.endsWith('.d.ts'));
  // A part that several entries share has a hash in its name.
  const entries = declarations.filter((path) => !/-[\w-]{8}\.d\.ts$/.test(path));
  const exported = entries.map((path) => {
    const lists = statementsOf(path).filter((statement) => /^export (?:type )?\{/.test(statement));
    const names = [...lists.join(' ').matchAll(/(?:type )?(?:\w+ as )?(\w+)(?=,| \})/g)];
    return `// ${path.replace(/^dist\/|\.d\.ts$/g, '')}\n${names
      .map(([, name]) => name)
      .toSorted()
      .join('\n')}`;
  });
  const declared = declarations
    .flatMap(statementsOf)
    .filter((statement) => statement !== '' && !/^(?:import|export) /.test(statement));
  const types = `${[...exported, ...new Set(declared.toSorted())].join('\n\n')}\n`;
  expect(types).toContain('declare function createClient');
  await expect(types).toMatchFileSnapshot('public-types.txt');
  // An editor shows the comments of options.
  const commented = 'The longest that one attempt may take, body included.';
  expect(declarations.some((path) => read(path).includes(commented))).toBe(true);
});
