import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { cp, mkdir, mkdtemp, symlink, writeFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { dirname, join } from 'node:path';
import { describe, expect, inject, test } from 'vitest';
import { isNightly } from '../../support/seeds.ts';
import { compilers, json, node, success, tool } from './support/run.ts';

const { project } = inject('installed');
const packed = join(project, 'node_modules/accounting-data-sdk');
const read = (document: string) => readFileSync(join(packed, document), 'utf8');

test.each(['README.md', 'src/guides/first-steps.md'])(
  'the first program of %s prints what is shown, and its commands run in an empty folder, without a checkout',
  async (document) => {
    const text = read(document);
    const [, program = ''] = /^```js\n(.*?)^```$/ms.exec(text) ?? [];
    const [, printed = ''] = /^```text\n(.*?)^```$/ms.exec(text) ?? [];
    const [, flags = ''] = /^npx accounting-data-sdk sandbox (.*)$/m.exec(text) ?? [];
    const folder = await mkdtemp(join(project, 'empty-'));
    await writeFile(join(folder, 'first.mjs'), program);

    // npx runs this file. Port 0 instead of 4010, which may be in use.
    const bin = join(project, 'node_modules/.bin/accounting-data-sdk');
    const sandbox = spawn(bin, ['sandbox', '--port', '0', ...flags.split(' ')], { cwd: folder });
    sandbox.stdout.resume();
    try {
      await once(sandbox.stderr, 'data');
      expect(await node(['--env-file=.env', 'first.mjs'], folder)).toEqual({ code: 0, output: printed });
      const commands = [...text.matchAll(/^npx accounting-data-sdk (?!sandbox)([^#\n]*)/gm)];
      expect(commands.length).toBeGreaterThan(1);
      for (const [, args = ''] of commands)
        expect(await node([bin, ...args.trim().split(/\s+/)], folder), args).toMatchObject({ code: 0 });
    } finally {
      sandbox.kill('SIGTERM');
    }
    expect(await once(sandbox, 'exit')).toEqual([0, null]);
  },
);

/** The TypeScript blocks of the Markdown that is in the package. */
const snippets = globSync(['README.md', 'src/guides/*.md'], { cwd: packed }).flatMap((document) => {
  const text = read(document);
  return [...text.matchAll(/^```ts\n(.*?)^```$/gms)].map(({ index, 1: code = '' }) => {
    const line = text.slice(0, index).split('\n').length;
    return { name: `${document.replaceAll(/\W/g, '-')}-line-${line}.mts`, code };
  });
});

/** Writes programs into a folder that has what they import, compiles and runs them. */
async function compileAndRun(programs: typeof snippets, folder: string) {
  const imports = programs.flatMap(({ code }) => [...code.matchAll(/from '((?:@[^/']+\/)?[^/']+)[^']*'/g)]);
  for (const [, name = ''] of imports) {
    const link = join(folder, 'node_modules', name);
    if (isBuiltin(name) || existsSync(link)) continue;
    await mkdir(dirname(link), { recursive: true });
    await symlink(tool(name), link);
  }
  const files = programs.map(({ name }) => join(folder, 'snippets', name));
  await mkdir(join(folder, 'snippets'), { recursive: true });
  // Every snippet is a module of its own, also one that imports nothing.
  for (const [index, { code }] of programs.entries())
    await writeFile(files[index] ?? '', `${code}\nexport {};\n`);
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
  return Promise.all([
    node([compilers.newest, '--project', folder]),
    json<Record<string, string[]>>(['run-snippets.mjs', ...files]),
  ]);
}

describe('a project that has only the packed package and what its snippets import', () => {
  test('compiles and runs every snippet of the README and the guides, those for msw with msw 3', async () => {
    expect(snippets.length).toBeGreaterThan(50);
    expect(await compileAndRun(snippets, project)).toEqual([success, {}]);
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
    expect(await compileAndRun(programs, folder)).toEqual([success, {}]);
  });
});
