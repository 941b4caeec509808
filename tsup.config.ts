import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { defineConfig, type Options } from 'tsup';
import ts from 'typescript';
import { windowPlugin } from './src/testing/window/build.ts';

/** Every way into the package; `exports` in package.json names the same, and a test holds both equal. */
const main = { index: 'src/index.ts' };
const others = {
  schemas: 'src/schemas/index.ts',
  testing: 'src/testing/index.ts',
  'testing/msw': 'src/testing/msw.ts',
  node: 'src/node/index.ts',
  explore: 'src/explore/index.ts',
  targets: 'src/targets/index.ts',
  opentelemetry: 'src/opentelemetry/index.ts',
};

const shared: Options = {
  target: ['es2023', 'node22'],
  // Deno and workers know the modules of Node by their full names alone.
  removeNodeProtocol: false,
  // Cleaned by the script before: all builds share the folder.
  clean: false,
};

/** The longest line of a minified file: an uncaught error prints the whole line that threw. */
const LINE_LENGTH = 160;

/**
 * Writes each file a second time for CommonJS, with the names of the source and without its spaces. ky and p-retry are
 * modules only, which Jest cannot load with `require`: there, they are part of the package.
 */
const commonJsBeside: NonNullable<Options['esbuildPlugins']>[number] = {
  name: 'commonjs-beside',
  setup({ onEnd, esbuild }) {
    onEnd(async ({ outputFiles = [] }) => {
      for (const { path, text } of outputFiles) {
        if (basename(path) === 'cli.js') continue;
        const { code } = await esbuild.transform(text, {
          format: 'cjs',
          platform: 'node',
          // `import()` becomes a `require` that runs when reached: Jest runs CommonJS without a loader for modules.
          supported: { 'dynamic-import': false },
          define: { 'import.meta.url': '__filename' },
          minifyWhitespace: true,
          minifySyntax: true,
          lineLimit: LINE_LENGTH,
        });
        const required = code
          .replaceAll(/require\("(\.[^"]+)\.js"\)/g, 'require("$1.cjs")')
          .replaceAll(/require\("(ky|p-retry)"\)/g, 'require("./libraries/$1.cjs")');
        mkdirSync(dirname(path), { recursive: true });
        writeFileSync(path.replace(/\.js$/, '.cjs'), required);
      }
    });
  },
};

/** esbuild keeps the comments inside classes and drops all others. The declarations have those that a user needs. */
const withoutComments: NonNullable<Options['esbuildPlugins']>[number] = {
  name: 'without-comments',
  setup({ onLoad }) {
    const compilerOptions: ts.CompilerOptions = {
      removeComments: true,
      target: ts.ScriptTarget.ESNext,
      module: ts.ModuleKind.ESNext,
      verbatimModuleSyntax: true,
    };
    onLoad({ filter: /[\\/]src[\\/].*\.ts$/ }, ({ path }) => ({
      contents: ts.transpileModule(readFileSync(path, 'utf8'), { compilerOptions }).outputText,
      loader: 'js',
    }));
  },
};

/**
 * Not minified, so that a stack trace shows lines that a reader understands. Source maps would double the package.
 * The command is built with the main entry, and shares its code.
 */
const esm: Options = {
  ...shared,
  format: 'esm',
  entry: { ...main, money: 'src/money.ts', cli: 'src/cli/bin.ts' },
  splitting: true,
  esbuildPlugins: [
    {
      name: 'files-beside',
      setup({ onResolve }) {
        // The main entry takes money from a file of its own: a program that does not import it does not bundle decimal.js.
        onResolve({ filter: /^\.\/money\.ts$/ }, ({ importer }) =>
          importer.endsWith('index.ts') ? { path: './money.js', external: true, sideEffects: false } : null,
        );
        onResolve({ filter: /^accounting-data-sdk$/ }, () => ({ path: resolve(main.index) }));
        onResolve({ filter: /^accounting-data-sdk\// }, ({ path }) => ({
          path: path.replace(/^[^/]+(.*)/, '.$1.js'),
          external: true,
        }));
        onResolve({ filter: /^(?:commander|csv-parse)$/ }, ({ path }) => ({
          path: `./libraries/${path}.js`,
          external: true,
        }));
      },
    },
    withoutComments,
    commonJsBeside,
  ],
};

/** Apart from the main entry, which would otherwise fall into a chunk for each thing that one of these shares with it. */
const otherEsm: Options = {
  ...shared,
  format: 'esm',
  entry: others,
  splitting: true,
  esbuildPlugins: [withoutComments, commonJsBeside],
};

/**
 * Libraries that are part of the package: users do not install what only the command needs, and Jest cannot load
 * libraries that are modules only with `require`. They are minified, because a user does not debug them.
 */
const libraries: Options = {
  ...shared,
  minify: true,
  keepNames: true,
  splitting: false,
  esbuildOptions(options) {
    options.lineLimit = LINE_LENGTH;
  },
};

const commandLibraries: Options = {
  ...libraries,
  format: 'esm',
  entry: {
    'libraries/commander': 'node_modules/commander/index.js',
    'libraries/csv-parse': 'node_modules/csv-parse/lib/index.js',
  },
};

const commonJsLibraries: Options = {
  ...libraries,
  format: 'cjs',
  entry: {
    'libraries/ky': 'node_modules/ky/distribution/index.js',
    'libraries/p-retry': 'node_modules/p-retry/index.js',
  },
};

/** The page of a sandbox that listens with `control`: no code of the package imports it. */
const windowScript: Options = {
  ...libraries,
  format: 'esm',
  platform: 'browser',
  target: 'es2022',
  entry: { window: 'src/testing/window/main.tsx' },
  noExternal: [/./],
  keepNames: false,
  esbuildPlugins: [windowPlugin],
};

/**
 * The declarations, for modules and for CommonJS. A module that took its types from those of CommonJS would see the types
 * of its libraries as CommonJS too, which differ from those that the module itself imports.
 */
const types: Options = {
  ...shared,
  format: ['esm', 'cjs'],
  entry: { ...main, ...others },
  // Otherwise the members of a union are in the order in which the compiler met them, which is another one in each build.
  dts: { only: true, compilerOptions: { stableTypeOrdering: true } },
};

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
    withLicenses(commonJsLibraries, outDir, 'third-party-licenses.txt'),
    withLicenses(commandLibraries, outDir, 'cli-third-party-licenses.txt'),
    withLicenses(windowScript, outDir, 'window-third-party-licenses.txt'),
  ];
  // `tsup --no-dts` is the quick build: what runs, without its types.
  const builds = [esm, otherEsm, ...bundling, ...(dts === false ? [] : [types])];
  return builds.map((build) => ({ outDir, ...build }));
});
