import { gzipSync } from 'node:zlib';
import { build, type Metafile } from 'esbuild';
import { describe, expect, inject, test } from 'vitest';
import manifest from '../../../package.json' with { type: 'json' };
import { tableRows } from '../docs/code-blocks.ts';
import { json } from './support/run.ts';

const { project } = inject('installed');

/** The chunks that a chunk imports statically, itself included. */
function loadedWith(outputs: Metafile['outputs'], chunk: string): string[] {
  const chunks = new Set([chunk]);
  // A set also iterates over what is added meanwhile.
  for (const each of chunks)
    for (const { path, kind } of outputs[each]?.imports ?? [])
      if (kind === 'import-statement') chunks.add(path);
  return [...chunks];
}

/** Bundles a program for browsers. Rejects if it needs a module of Node. The sizes in kB, after gzip. */
async function bundle(program: string): Promise<{ atOnce: number; all: number }> {
  const { outputFiles, metafile } = await build({
    stdin: { contents: program, resolveDir: project, sourcefile: 'app.js' },
    outdir: 'out',
    absWorkingDir: project,
    bundle: true,
    minify: true,
    splitting: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2023',
    write: false,
    metafile: true,
    // Warnings are about chunks outside node_modules, where they are never installed.
    logLevel: 'silent',
  });
  // Both lists are in the same order.
  const chunks = Object.keys(metafile.outputs);
  const sizeOf = (names: readonly string[]) =>
    names.reduce((sum, name) => {
      const { contents = '' } = outputFiles[chunks.indexOf(name)] ?? {};
      return sum + gzipSync(contents, { level: 9 }).length / 1_000;
    }, 0);
  const entry = chunks.find((name) => metafile.outputs[name]?.entryPoint !== undefined) ?? '';
  return { atOnce: sizeOf(loadedWith(metafile.outputs, entry)), all: sizeOf(chunks) };
}

// ky, Zod, its languages, decimal.js, `sync` and `push` are larger than what is left to these limits.
test.each([
  [
    'creates a client and lists',
    `import { createClient } from 'accounting-data-sdk';
     for await (const account of createClient({ apiKey: 'key' }).accounts.list()) console.log(account.id);`,
  ],
  ['imports everything of `accounting-data-sdk`', "export * from 'accounting-data-sdk';"],
  [
    'validates with `accounting-data-sdk/schemas`',
    "import { productSchema } from 'accounting-data-sdk/schemas'; console.log(productSchema.safeParse({}));",
  ],
])(
  'a program for browsers that %s is at most as large as the guide to runtimes says',
  async (name, program) => {
    const row = tableRows('src/guides/runtimes.md', 'program').find(([what]) => what === name) ?? [];
    const [most = 0, mostAtOnce] = [row[2], row[1]].map((cell = '') => Number.parseFloat(cell));
    const { atOnce, all } = await bundle(program);
    expect(all).toBeGreaterThan(most / 2);
    expect(all).toBeLessThanOrEqual(most);
    if (mostAtOnce) expect(atOnce).toBeLessThanOrEqual(mostAtOnce);
  },
);

test('every entry but that for Node and msw is bundled for a browser, without a module of Node', async () => {
  const entries = Object.keys(manifest.exports).filter((name) => !/node$|msw|package\.json/.test(name));
  expect(entries).toContain('./testing');
  for (const entry of entries) await bundle(`export * from '${entry.replace('.', manifest.name)}';`);
});

/** The packages of which Node loads files for a program. */
async function loadedBy(program: string): Promise<string[]> {
  const files = await json<string[]>(['--import', './loaded.mjs', '--input-type=module', '-e', program]);
  const names = files.map((file) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1]);
  return [...new Set(names.filter((name) => name !== undefined))].toSorted();
}

const required = (entry: string) =>
  `import { createRequire } from 'node:module'; createRequire(process.cwd() + '/')('${entry}');`;

describe('a program in Node loads as few packages as it needs', () => {
  test.each([
    ['imports the client', "import 'accounting-data-sdk'", ['decimal.js', 'is-network-error', 'p-retry']],
    ['requires the client', required('accounting-data-sdk'), ['decimal.js']],
    // No Zod for records that are as they should be.
    [
      'reads a page',
      `import { createClient } from 'accounting-data-sdk';
       const fetch = async () => Response.json([{ id: '1' }]);
       await createClient({ baseUrl: 'https://books.example', apiKey: 'key', fetch }).accounts.list().first();`,
      ['decimal.js', 'is-network-error', 'ky', 'p-retry'],
    ],
    ['imports the sandbox', "import 'accounting-data-sdk/testing'", []],
    ['requires the sandbox', required('accounting-data-sdk/testing'), []],
    ['imports the schemas', "import 'accounting-data-sdk/schemas'", ['zod']],
    ['requires the schemas', required('accounting-data-sdk/schemas'), ['zod']],
  ])('one that %s', async (_what, program, packages) => {
    expect(await loadedBy(program)).toEqual(['accounting-data-sdk', ...packages]);
  });
});
