import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { defineConfig, type Options } from 'tsup';

/** Every way into the package; `exports` in package.json names the same, and a test holds both equal. */
const main = { index: 'src/index.ts' };
const others = {
  schemas: 'src/schemas/index.ts',
  testing: 'src/testing/index.ts',
  'testing/msw': 'src/testing/msw.ts',
  node: 'src/node/index.ts',
  tools: 'src/tools/index.ts',
  opentelemetry: 'src/opentelemetry/index.ts',
};

const shared: Options = {
  target: ['es2023', 'node22'],
  // Deno and workers know the modules of Node by their full names alone.
  removeNodeProtocol: false,
  // Cleaned by the script before: all builds share the folder.
  clean: false,
  // Not minified, so that a stack trace shows lines that a reader understands. Source maps would double the package.
  esbuildOptions(options, { format }) {
    // `import()` becomes a `require` that runs when reached: Jest runs CommonJS without a loader for modules.
    if (format === 'cjs') options.supported = { 'dynamic-import': false };
  },
};

const esm: Options = {
  ...shared,
  format: 'esm',
  entry: { ...main, money: 'src/money.ts' },
  splitting: true,
  // The face takes money from a file of its own: who does not import it does not bundle decimal.js.
  esbuildPlugins: [
    {
      name: 'money-apart',
      setup({ onResolve }) {
        onResolve({ filter: /^\.\/money\.ts$/ }, ({ importer }) =>
          importer.endsWith('index.ts') ? { path: './money.js', external: true, sideEffects: false } : null,
        );
      },
    },
  ],
};

/** Apart from the main entry, which would otherwise fall into a chunk for each thing that one of these shares with it. */
const otherEsm: Options = { ...shared, format: 'esm', entry: others, splitting: true };

/** ky and p-retry are modules only: `require` in Jest cannot load them, so that they are part of these files. */
const commonJs: Options = {
  ...shared,
  format: 'cjs',
  entry: { ...main, ...others },
  splitting: false,
  noExternal: ['ky', 'p-retry', 'is-network-error'],
  // Lines of a file that is only run, mostly by test runners: names stay, and lines stay short.
  minifyWhitespace: true,
  esbuildOptions(options, context) {
    shared.esbuildOptions?.(options, context);
    options.lineLimit = 160;
  },
};

/**
 * The libraries that only the command needs are part of its file, so that users do not install them. The client, the
 * sandbox and the tools are the files beside it.
 */
const command: Options = {
  ...shared,
  format: 'esm',
  entry: { cli: 'src/cli/bin.ts' },
  splitting: false,
  esbuildPlugins: [
    {
      name: 'entries-beside',
      setup({ onResolve }) {
        onResolve({ filter: /^accounting-data-sdk(\/|$)/ }, ({ path }) => ({
          path: `./${path.split('/')[1] ?? 'index'}.js`,
          external: true,
        }));
      },
    },
  ],
};

/** The declarations once: a module may import those of CommonJS, but not the other way round. */
const types: Options = {
  ...shared,
  format: 'cjs',
  entry: { ...main, ...others },
  dts: { only: true },
};

/** Declarations of modules, which have the same names as those of CommonJS. */
function writeModuleTypes(outDir: string): void {
  for (const entry of Object.keys({ ...main, ...others })) {
    writeFileSync(join(outDir, `${entry}.d.ts`), `export * from './${basename(entry)}.cjs';\n`);
  }
}

/** A build with the licenses of the packages that become part of its files: they ask to be passed on with them. */
function withLicenses(build: Options, outDir: string, file: string): Options {
  const folders = new Set<string>();
  return {
    ...build,
    esbuildPlugins: [
      ...(build.esbuildPlugins ?? []),
      {
        name: 'find-bundled',
        setup({ onEnd }) {
          onEnd(({ metafile }) => {
            for (const input of Object.keys(metafile?.inputs ?? {})) {
              const [folder] = /.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input) ?? [];
              if (folder !== undefined) folders.add(folder);
            }
          });
        },
      },
    ],
    onSuccess: async () => writeFileSync(join(outDir, file), licensesIn(folders)),
  };
}

function licensesIn(folders: ReadonlySet<string>): string {
  const texts = [...folders].map((folder) => {
    const { name } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { name: string };
    const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
    if (file === undefined) throw new Error(`${name} has no license to pass on.`);
    return `${name}\n\n${readFileSync(join(folder, file), 'utf8').trim()}\n`;
  });
  return [...new Set(texts)].sort().join(`\n${'-'.repeat(80)}\n\n`);
}

export default defineConfig(({ dts, outDir = 'dist' }) => {
  const bundling = [
    withLicenses(commonJs, outDir, 'third-party-licenses.txt'),
    withLicenses(command, outDir, 'cli-third-party-licenses.txt'),
  ];
  // `tsup --no-dts` is the quick build: what runs, without its types.
  const withTypes = dts !== false;
  const withModuleTypes = { ...esm, onSuccess: async () => writeModuleTypes(outDir) };
  const builds = [withTypes ? withModuleTypes : esm, otherEsm, ...bundling, ...(withTypes ? [types] : [])];
  return builds.map((build) => ({ outDir, ...build }));
});
