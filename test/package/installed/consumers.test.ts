import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { copyFile, cp, readFile, symlink, writeFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import manifest from '../../../package.json' with { type: 'json' };
import { json, node, tool } from './support/run.ts';

const { project } = inject('installed');

describe('the installed package runs', () => {
  test('from a module, its msw handlers included', async () => {
    expect(await json('use.mjs')).toEqual({ accounts: 45, doubled: '258.00', colourCode: 4, viaMsw: 1 });
  });

  test('from CommonJS', async () => {
    expect(await json('use.cjs')).toEqual({ accounts: 45, doubled: '258.00', colourCode: 4 });
  });

  test('in Jest without flags', async () => {
    await writeFile(
      join(project, 'jest.config.json'),
      JSON.stringify({ testMatch: ['<rootDir>/use.jest.cjs'] }),
    );
    const { code, output } = await node(tool('jest/bin/jest.js'), '--config', 'jest.config.json', '--ci');
    expect({ code, output }).toMatchObject({ code: 0 });
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

describe('the installed package compiles, library checks on', () => {
  // msw has programs of its own, because it brings the types of Node.
  const entries = Object.keys(manifest.exports).filter((name) => !/msw|package\.json/.test(name));
  const programs = ['consumer.mts', 'consumer.cts', 'entries.mts', 'entries.cts', 'required.cts'];

  const newest = tool('typescript/lib/tsc.js');
  // The folder has its own lockfile: as a development dependency of ours, npm would link its tsc over our own.
  const oldestFolder = fileURLToPath(new URL('typescript-5.4/', import.meta.url));
  const oldest = join(oldestFolder, 'node_modules/typescript/lib/tsc.js');

  beforeAll(async () => {
    const write = (file: string, line: (name: string, index: number) => string) => {
      const lines = entries.map((entry, index) => line(entry.replace('.', 'accounting-data-sdk'), index));
      return writeFile(join(project, 'types', file), lines.join('\n'));
    };
    await write('entries.mts', (name, index) => `export * as entry${index} from '${name}';`);
    await write('entries.cts', (name, index) => `export import entry${index} = require('${name}');`);
    // The same program as a module and as CommonJS.
    await copyFile(join(project, 'types/consumer.mts'), join(project, 'types/consumer.cts'));
    if (!existsSync(oldest))
      await promisify(execFile)('npm', ['ci', '--no-audit', '--no-fund'], { cwd: oldestFolder });
    expect(await node(oldest, '--version')).toEqual({ code: 0, output: 'Version 5.4.5\n' });
  }, 600_000);

  const strict = {
    target: 'es2022',
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: false,
    // Their own declarations can name every type that they infer.
    declaration: true,
    emitDeclarationOnly: true,
    rootDir: 'types',
    outDir: 'declarations',
  };
  const onNode = { ...strict, lib: ['es2022'], types: ['node'] };
  const inBrowser = { ...strict, lib: ['es2022', 'dom', 'dom.iterable'], types: [] };

  // Few programs, because the compiler checks every library for each.
  const withNode = [{ ...onNode, module: 'node16' }, programs] as const;
  const without = [...programs, 'browser.mts', 'opentelemetry.mts'];
  test.for([
    ['with the types of Node', newest, ...withNode],
    [
      'for a bundler, without the types of Node',
      newest,
      { ...inBrowser, module: 'preserve', moduleResolution: 'bundler' },
      without,
    ],
    ['with TypeScript 5.4, the oldest that is supported', oldest, ...withNode],
    ['with TypeScript 5.4, without the types of Node', oldest, { ...inBrowser, module: 'node16' }, without],
  ] as const)('%s', async ([name, tsc, compilerOptions, files]) => {
    const config = `tsconfig.${name.replaceAll(/\W+/g, '-')}.json`;
    const content = { compilerOptions, files: files.map((file) => `types/${file}`) };
    await writeFile(join(project, config), JSON.stringify(content));
    expect(await node(tsc, '--project', config)).toEqual({ code: 0, output: '' });
  });

  // msw 3 is a module only, so CommonJS has msw 2 alone, whose own libraries fail the checks of the newest compiler.
  test.for([
    ['msw', 'the newest TypeScript', newest, ['types/msw.mts']],
    ['msw-2', 'the newest TypeScript', newest, ['types/msw.mts', 'types/msw-required.cts']],
    ['msw-2', 'TypeScript 5.4', oldest, ['types/msw.mts', 'types/msw-required.cts']],
  ] as const)('the handlers for %s, with %s', async ([version, compiler, tsc, files]) => {
    const folder = join(project, `${version} ${compiler}`);
    const modules = join(folder, 'node_modules');
    await cp(join(project, 'types'), join(folder, 'types'), { recursive: true });
    await cp(join(project, 'node_modules/accounting-data-sdk'), join(modules, 'accounting-data-sdk'), {
      recursive: true,
    });
    await symlink(
      fileURLToPath(new URL(`../../../node_modules/${version}`, import.meta.url)),
      join(modules, 'msw'),
    );
    const compilerOptions = {
      ...onNode,
      module: 'node16',
      lib: ['es2022', 'dom', 'dom.iterable'],
      skipLibCheck: version === 'msw-2',
    };
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
    expect(await node(tsc, '--project', folder)).toEqual({ code: 0, output: '' });
  });
});
