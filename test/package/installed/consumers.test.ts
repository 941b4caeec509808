import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, cp, mkdtemp, readFile, symlink, writeFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import manifest from '../../../package.json' with { type: 'json' };
import { isNightly } from '../../support/seeds.ts';
import { compilers, json, node, tool } from './support/run.ts';

const { project } = inject('installed');

/** A folder with the package, the programs of `types`, and another version of a library. */
async function projectWith(library: string, version: string): Promise<string> {
  const folder = await mkdtemp(join(project, `with-${version}-`));
  for (const path of ['types', 'node_modules/accounting-data-sdk'])
    await cp(join(project, path), join(folder, path), { recursive: true });
  await symlink(tool(version), join(folder, 'node_modules', library));
  return folder;
}

describe('the installed package runs', () => {
  test('from a module, its msw handlers included', async () => {
    expect(await json('use.mjs')).toEqual({ accounts: 45, doubled: '258.00', colourCode: 4, viaMsw: 1 });
  });

  test('from CommonJS', async () => {
    expect(await json('use.cjs')).toEqual({ accounts: 45, doubled: '258.00', colourCode: 4 });
  });

  test('the quickstart, copied out of it', async () => {
    const quickstart = join(project, 'node_modules/accounting-data-sdk/examples/quickstart.ts');
    await copyFile(quickstart, join(project, 'quickstart.mts'));
    const { code, output } = await node('quickstart.mts');
    expect({ code, output }).toMatchObject({
      code: 0,
      output: expect.stringContaining('a product without a name'),
    });
  });

  test('with Zod 4.3, which would make a member called __proto__ the prototype', async () => {
    const folder = await projectWith('zod', 'zod-4.3');
    await writeFile(
      join(folder, 'read.mjs'),
      `import { createClient } from 'accounting-data-sdk';
const headers = { 'content-type': 'application/json' };
const fetch = async () => new Response('{"id":"7","name":"Desk","__proto__":{"polluted":true}}', { headers });
const record = await createClient({ baseUrl: 'https://books.example', apiKey: 'key', fetch }).products.get('7');
console.log(JSON.stringify([record, 'polluted' in record]));`,
    );
    expect(await json(join(folder, 'read.mjs'))).toEqual([{ id: '7', name: 'Desk' }, false]);
  });

  test('as a module and as CommonJS at once: either knows the errors of the other', async () => {
    expect(await json('two-copies.mjs')).toEqual({ otherCopy: true, instance: true, guard: true });
  });
});

describe('the installed command', () => {
  test('runs under the name of the package, serves and stops', async () => {
    const child = spawn(join(project, 'node_modules/.bin/accounting-data-sdk'), ['sandbox', '--port', '0']);
    const stopped = once(child, 'exit');
    let settings = '';
    // Not destroyed by `break`: a command whose output is closed stops by itself.
    for await (const text of child.stdout.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
      settings += text;
      if (/ACCOUNTING_API_KEY=.+\n/.test(settings)) break;
    }
    child.stdout.resume();
    const [, baseUrl = ''] = /ACCOUNTING_BASE_URL=(\S+)/.exec(settings) ?? [];
    const [, apiKey = ''] = /ACCOUNTING_API_KEY=(\S+)/.exec(settings) ?? [];

    const response = await fetch(`${baseUrl}/api/public/v1/accounts`, {
      headers: { 'X-AUTH-TOKEN': apiKey },
    });
    child.kill('SIGTERM');
    expect(response.status).toBe(200);
    expect(await stopped).toEqual([0, null]);
  });

  test('brings its own libraries', async () => {
    const { code, output } = await node('node_modules/.bin/accounting-data-sdk', '--version');
    expect({ code, output: output.trim() }).toEqual({ code: 0, output: manifest.version });

    const text = await readFile(join(project, 'node_modules/accounting-data-sdk/dist/cli.js'), 'utf8');
    const imports = [...text.matchAll(/\b(?:from|import)\s*\(?"([\w@][^"]*)"/g)].map(([, name = '']) => name);
    const packages = imports.filter((name) => !isBuiltin(name)).map((name) => name.split('/')[0]);
    expect(Object.keys(manifest.dependencies)).toEqual(expect.arrayContaining(packages));
  });
});

describe('the installed package compiles', () => {
  // msw has its own programs, because it brings the types of Node.
  const entries = Object.keys(manifest.exports).filter((name) => !/msw|package\.json/.test(name));
  const programs = [
    ...['consumer.mts', 'consumer.cts', 'entries.mts', 'entries.cts', 'required.cts'],
    ...['library.mts', 'functions.mts'],
  ];

  beforeAll(async () => {
    const write = (file: string, line: (name: string, index: number) => string) => {
      const lines = entries.map((entry, index) => line(entry.replace('.', 'accounting-data-sdk'), index));
      return writeFile(join(project, 'types', file), lines.join('\n'));
    };
    await write('entries.mts', (name, index) => `export * as entry${index} from '${name}';`);
    await write('entries.cts', (name, index) => `export import entry${index} = require('${name}');`);
    const functions = entries.map(async (entry, index) => {
      const exported: object = await import(entry.replace('.', manifest.name));
      // Only classes begin with a capital letter.
      const names = Object.entries(exported).filter(
        ([name, value]) => typeof value === 'function' && /^[a-z]/.test(name),
      );
      // The declaration of a member writes out the whole signature.
      const members = names.map(([name]) => `  ${name}: entry${index}.${name},`);
      return [
        `import * as entry${index} from '${entry.replace('.', manifest.name)}';`,
        `export const functions${index} = {`,
        ...members,
        '};',
      ].join('\n');
    });
    const texts = await Promise.all(functions);
    expect(texts.join('\n').match(/^ {2}\w+:/gm)?.length).toBeGreaterThan(20);
    await writeFile(join(project, 'types/functions.mts'), texts.join('\n'));
    // The same program as a module and as CommonJS.
    await copyFile(join(project, 'types/consumer.mts'), join(project, 'types/consumer.cts'));
    expect(await node(compilers.oldest, '--version')).toEqual({ code: 0, output: 'Version 5.4.5\n' });
  });

  const strict = {
    target: 'es2022',
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    // The compiler checks every library too.
    skipLibCheck: false,
    // Their own declarations can name every type that they infer.
    declaration: true,
    emitDeclarationOnly: true,
    rootDir: 'types',
    outDir: 'declarations',
  };
  const onNode = { ...strict, lib: ['es2022'], types: ['node'], module: 'node16' };
  const withDom = ['es2022', 'dom', 'dom.iterable'];

  // Each night, each setting occurs with each other at least once. Few programs, because the compiler checks every library for each.
  test.for([
    [
      'newest',
      'for a bundler, without the types of Node',
      { ...strict, lib: withDom, types: [], module: 'preserve', moduleResolution: 'bundler' },
      [...programs, 'browser.mts', 'opentelemetry.mts'],
    ],
    ['oldest', 'with the types of Node', onNode, programs],
    ...(isNightly
      ? ([
          [
            'newest',
            'with the types of Node and msw 3',
            { ...onNode, lib: withDom },
            [...programs, 'msw.mts'],
          ],
        ] as const)
      : []),
  ] as const)('with the %s TypeScript, %s', async ([version, name, compilerOptions, files]) => {
    const config = `tsconfig.${version}-${name.replaceAll(/\W+/g, '-')}.json`;
    const content = { compilerOptions, files: files.map((file) => `types/${file}`) };
    await writeFile(join(project, config), JSON.stringify(content));
    expect(await node(compilers[version], '--project', config)).toEqual({ code: 0, output: '' });
  });

  test.runIf(isNightly)('with the newest TypeScript and Zod 4.3', async () => {
    const folder = await projectWith('zod', 'zod-4.3');
    const files = programs.map((file) => `types/${file}`);
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: onNode, files }));
    expect(await node(compilers.newest, '--project', folder)).toEqual({ code: 0, output: '' });
  });

  // msw 3 is a module only, so CommonJS has msw 2 alone, whose own libraries fail the checks of the newest compiler.
  test.runIf(isNightly)('with the oldest TypeScript and msw 2, as a module and as CommonJS', async () => {
    const folder = await projectWith('msw', 'msw-2');
    const compilerOptions = { ...onNode, lib: withDom, skipLibCheck: true };
    const files = ['types/msw.mts', 'types/msw-required.cts'];
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
    expect(await node(compilers.oldest, '--project', folder)).toEqual({ code: 0, output: '' });
  });
});
