import { copyFile, cp, mkdtemp, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import manifest from '../../../package.json' with { type: 'json' };
import { isNightly } from '../../support/seeds.ts';
import { compilers, json, node, success, tool } from './support/run.ts';

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
  const seen = { accounts: 45, doubled: '258.00', colourCode: 4 };

  test('from a module, with its msw handlers, and knows the errors of its CommonJS copy', async () => {
    expect(await json(['use.mjs'])).toEqual({ ...seen, viaMsw: 1, ofOther: true });
  });

  test('from CommonJS', async () => {
    expect(await json(['scenario.cjs'])).toEqual(seen);
  });

  test('the quickstart, copied out of it', async () => {
    const quickstart = join(project, 'node_modules/accounting-data-sdk/examples/quickstart.ts');
    await copyFile(quickstart, join(project, 'quickstart.mts'));
    const output = expect.stringContaining('a product without a name');
    expect(await node(['quickstart.mts'])).toEqual({ code: 0, output });
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
    expect(await json([join(folder, 'read.mjs')])).toEqual([{ id: '7', name: 'Desk' }, false]);
  });
});

describe('the installed package compiles', () => {
  // msw has its own programs, because it brings the types of Node.
  const entries = Object.keys(manifest.exports).filter((name) => !/msw|package\.json/.test(name));
  const programs = ['consumer.mts', 'consumer.cts', 'entries.cts', 'functions.mts'];

  beforeAll(async () => {
    const write = (file: string, lines: readonly string[]) =>
      writeFile(join(project, 'types', file), lines.join('\n'));
    const names = entries.map((entry) => entry.replace('.', manifest.name));
    await write(
      'entries.cts',
      names.map((name, index) => `export import entry${index} = require('${name}');`),
    );
    // The declaration of a member writes out the whole signature. Only classes begin with a capital letter.
    const functions = names.map(async (name, index) => {
      const exported = Object.entries((await import(name)) as object);
      const called = exported.filter(([key, value]) => typeof value === 'function' && /^[a-z]/.test(key));
      const members = called.map(([key]) => `  ${key}: entry${index}.${key},`);
      return `import * as entry${index} from '${name}';\nexport const functions${index} = {\n${members.join('\n')}\n};`;
    });
    await write('functions.mts', await Promise.all(functions));
    // The same program as a module and as CommonJS.
    for (const name of ['consumer', 'msw'])
      await copyFile(join(project, `types/${name}.mts`), join(project, `types/${name}.cts`));
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
  const lib = ['es2022', 'dom', 'dom.iterable'];
  const bundler = { ...strict, lib, types: [], module: 'preserve', moduleResolution: 'bundler' };

  type Setting = readonly [string, keyof typeof compilers, object, readonly string[], string?, string?];
  const settings: readonly Setting[] = [
    ['the newest TypeScript, without the types of Node', 'newest', bundler, [...programs, 'browser.mts']],
    ['the oldest TypeScript and the types of Node', 'oldest', onNode, programs],
  ];
  // Each night, each setting occurs with each other at least once. Few programs, because the compiler checks every
  // library for each. msw 3 is a module only, so CommonJS has msw 2 alone, whose own libraries fail the checks.
  const nightly: readonly Setting[] = [
    ['the types of Node and msw 3', 'newest', { ...onNode, lib }, [...programs, 'msw.mts']],
    ['Zod 4.3', 'newest', onNode, programs, 'zod', 'zod-4.3'],
    ['msw 2', 'oldest', { ...onNode, lib, skipLibCheck: true }, ['msw.mts', 'msw.cts'], 'msw', 'msw-2'],
  ];
  const all = [...settings, ...(isNightly ? nightly : [])];
  test.for(all)('with %s', async ([title, version, compilerOptions, files, library, other]) => {
    const folder = library && other ? await projectWith(library, other) : project;
    const config = join(folder, `tsconfig.${title.replaceAll(/\W+/g, '-')}.json`);
    const included = files.map((file) => `types/${file}`);
    await writeFile(config, JSON.stringify({ compilerOptions, files: included }));
    expect(await node([compilers[version], '--project', config], folder)).toEqual(success);
  });
});
