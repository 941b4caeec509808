import { accessSync, constants } from 'node:fs';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig, type Plugin } from 'vitest/config';
import tsconfig from './tsconfig.json' with { type: 'json' };

const INSTALLED = 'test/package/installed/**/*.test.ts';
const RUNTIMES = 'test/package/runtimes/*.test.ts';
const BROWSER = 'test/browser/*.test.ts';
/** Two versions of msw cannot share a process. */
const MSW = 'test/sandbox/msw-*.test.ts';

/** A folder in memory, if there is one: no test cuts the power, and an fsync of a disk takes milliseconds. */
const inMemory = isWritable('/dev/shm') ? { TMPDIR: '/dev/shm' } : {};

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Databases, processes and simulations. `--exclude` of the command line does not reach the projects. */
const SLOW = [
  'test/client/targets/{any-database,postgres,postgres-server,recorded,sqlite}.test.ts',
  'test/client/proxies.test.ts',
];
/** Each in a process of its own: what another file has left in a process would use the virtual clock too. */
const HISTORIES = ['test/reliability/histories/**/*.test.ts', 'test/client/rate-limiter/goals.test.ts'];
const FAST = ['test/{unit,client}/**/*.test.ts', 'test/explore/probe-{options,advice}.test.ts'];

/** The files of a project share its processes, which halves the time: their clients have origins of their own. */
const sharing = { env: inMemory, isolate: false };

/** What the build of the window puts in place of two modules. */
const windowModules: Plugin = {
  name: 'window-modules',
  resolveId: (id) => (['window-style', 'table-docs'].includes(id) ? `\0${id}` : undefined),
  async load(id) {
    if (id === '\0window-style') return "export default '';";
    if (id !== '\0table-docs') return undefined;
    // Only now, because it loads the compiler.
    const { tableDocs } = await import('./src/testing/window/build.ts');
    return Object.entries(tableDocs())
      .map(([name, docs]) => `export const ${name} = ${JSON.stringify(docs)};`)
      .join('\n');
  },
};

export default defineConfig({
  plugins: [windowModules],
  resolve: {
    alias: Object.entries(tsconfig.compilerOptions.paths).map(([name, [path = '']]) => ({
      find: new RegExp(`^${name}$`),
      replacement: fileURLToPath(new URL(path, import.meta.url)),
    })),
  },
  test: {
    // More than there are cores, because some files wait for processes and servers.
    maxWorkers: Math.ceil(availableParallelism() * 1.5),
    // Titles are whole: two that differ only at their end are two.
    taskTitleValueFormatTruncate: 0,
    // Time is not what these tests measure: a busy machine must not fail them.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
    setupFiles: ['test/support/real-timers.ts'],
    restoreMocks: true,
    unstubEnvs: true,
    unstubGlobals: true,
    projects: [
      // In threads, which start faster than processes and load the sources in less time.
      {
        extends: true,
        test: { name: 'fast', ...sharing, pool: 'threads', include: FAST, exclude: [...SLOW, ...HISTORIES] },
      },
      {
        extends: true,
        test: {
          name: 'slow',
          ...sharing,
          include: ['test/{sandbox,explore,reliability}/**/*.test.ts', ...SLOW],
          exclude: [MSW, ...FAST.slice(1), ...HISTORIES],
        },
      },
      { extends: true, test: { name: 'histories', env: inMemory, include: HISTORIES } },
      { extends: true, test: { name: 'msw', include: [MSW] } },
      {
        extends: true,
        // A project of its own, because the compiler takes longer than the tests of the client.
        test: {
          name: 'types',
          include: [],
          typecheck: {
            enabled: true,
            only: true,
            include: ['test/client/types/*.test-d.ts'],
            tsconfig: 'test/client/types/tsconfig.json',
          },
        },
      },
      {
        extends: true,
        test: {
          name: 'package',
          isolate: false,
          // The example that runs as a process from source starts twice as fast from a cache.
          env: { NODE_COMPILE_CACHE: fileURLToPath(new URL('./node_modules/.cache/node/', import.meta.url)) },
          include: ['test/package/**/*.test.ts', 'examples/*.test.ts'],
          exclude: ['**/node_modules/**', INSTALLED, RUNTIMES],
        },
      },
      {
        extends: true,
        // Of what npm would publish: built, packed and installed once, before the first of these tests. `npm test`
        // leaves this project out.
        test: {
          name: 'installed',
          include: [INSTALLED],
          globalSetup: 'test/package/installed/support/install.ts',
          testTimeout: 300_000,
        },
      },
      // Their libraries are installed by `npm run test:runtimes` and `npm run test:browser`.
      { extends: true, test: { name: 'runtimes', include: [RUNTIMES] } },
      { extends: true, test: { name: 'browser', include: [BROWSER] } },
    ],
    coverage: {
      provider: 'v8',
      reportOnFailure: true,
      include: ['src/**/*.ts'],
      reporter: ['text-summary', 'json-summary'],
      thresholds: { lines: 95, branches: 90 },
    },
  },
});
