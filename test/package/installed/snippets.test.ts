import { existsSync, globSync, readFileSync } from 'node:fs';
import { cp, mkdir, symlink, writeFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { dirname, join } from 'node:path';
import { describe, expect, inject, test } from 'vitest';
import { isNightly } from '../../support/seeds.ts';
import { compilers, json, node, tool } from './support/run.ts';

const { project } = inject('installed');
const packed = join(project, 'node_modules/accounting-data-sdk');

/** The TypeScript blocks of the Markdown that is in the package. */
const snippets = globSync(['README.md', 'src/guides/*.md'], { cwd: packed })
  .sort()
  .flatMap((document) => {
    const text = readFileSync(join(packed, document), 'utf8');
    return [...text.matchAll(/^```ts\n(.*?)^```$/gms)].map(({ index, 1: code = '' }) => {
      const line = text.slice(0, index).split('\n').length;
      return { name: `${document.replaceAll(/\W/g, '-')}-line-${line}.mts`, code };
    });
  });

/** The packages that programs import, by name. */
function importedBy(programs: typeof snippets): string[] {
  const found = programs.flatMap(({ code }) => [...code.matchAll(/from '((?:@[^/']+\/)?[^/']+)[^']*'/g)]);
  return [...new Set(found.map(([, name = '']) => name))].filter((name) => !isBuiltin(name));
}

/** Writes programs into a folder that has what they import, compiles and runs them. */
async function compileAndRun(programs: typeof snippets, folder: string) {
  for (const name of importedBy(programs)) {
    const link = join(folder, 'node_modules', name);
    await mkdir(dirname(link), { recursive: true });
    if (!existsSync(link)) await symlink(tool(name), link);
  }
  const files = programs.map(({ name }) => join(folder, 'snippets', name));
  await mkdir(join(folder, 'snippets'), { recursive: true });
  // Every snippet is a module of its own, also one that imports nothing.
  for (const [index, { code }] of programs.entries()) {
    await writeFile(files[index] ?? '', `${code}\nexport {};\n`);
  }
  const compilerOptions = {
    target: 'es2022',
    lib: ['es2022', 'dom', 'dom.iterable', 'esnext.disposable'],
    module: 'nodenext',
    types: ['node'],
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: true,
    noEmit: true,
  };
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
  const [compiled, failures] = await Promise.all([
    node(compilers.newest, '--project', folder),
    json<Record<string, string[]>>('run-snippets.mjs', ...files),
  ]);
  return { compiled, failures };
}

describe('a project that has only the packed package and what its snippets import', () => {
  const success = { compiled: { code: 0, output: '' }, failures: {} };

  test('compiles and runs every snippet of the README and the guides, those for msw with msw 3', async () => {
    expect(snippets.length).toBeGreaterThan(50);
    expect(await compileAndRun(snippets, project)).toEqual(success);
  });

  // The oldest versions that the package accepts.
  test.runIf(isNightly).each([
    ['msw', 'msw-2', "'msw/"],
    ['zod', 'zod-4.3', "from 'zod'"],
  ])('compiles and runs those for %s with %s', async (library, oldest, text) => {
    const folder = join(project, `snippets-${oldest}`);
    await cp(packed, join(folder, 'node_modules/accounting-data-sdk'), { recursive: true });
    await symlink(tool(oldest), join(folder, 'node_modules', library));
    const programs = snippets.filter(({ code }) => code.includes(text));
    expect(programs.length).toBeGreaterThan(0);
    expect(await compileAndRun(programs, folder)).toEqual(success);
  });
});
