import { readFileSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import ts from 'typescript';
import { expect, test } from 'vitest';
import manifest from '../../../package.json' with { type: 'json' };
import { options, programOf } from '../../support/compiler.ts';
import { root } from '../docs/code-blocks.ts';

/** What the sandbox returns, the types derived from its own tables of options, and those with the names of SyncOptions. */
const OTHERS = [
  'SandboxClientOptions',
  'sandboxOptions',
  'SandboxOptions',
  'SyncBaseOptions',
  'SyncToTargetOptions',
];

/** The types of all tables: `OptionNames<ListOptions>` stands for ListOptions. */
async function tableTypes(): Promise<Set<string>> {
  const found = new Set<string>();
  for await (const path of glob('src/**/*.ts', { cwd: root })) {
    const file = ts.createSourceFile(path, readFileSync(root + path, 'utf8'), ts.ScriptTarget.Latest);
    ts.forEachChild(file, (node) => {
      if (!ts.isVariableStatement(node)) return;
      for (const { type } of node.declarationList.declarations) {
        if (type === undefined || !ts.isTypeReferenceNode(type)) continue;
        if (type.typeName.getText(file) !== 'OptionNames') continue;
        const [of] = type.typeArguments ?? [];
        if (of !== undefined && ts.isTypeReferenceNode(of)) found.add(of.typeName.getText(file));
      }
    });
  }
  return found;
}

/** The names of everything that the package exports, from all its entries. */
function exportedNames(): string[] {
  const sources = Object.keys(manifest.exports)
    .flatMap((entry) => options.paths?.[`accounting-data-sdk${entry.slice(1)}`] ?? [])
    .map((source) => root + source.replace('./', ''));
  const program = programOf(sources);
  const checker = program.getTypeChecker();
  return sources.flatMap((file) => {
    const source = program.getSourceFile(file);
    const module = source === undefined ? undefined : checker.getSymbolAtLocation(source);
    return module === undefined ? [] : checker.getExportsOfModule(module).map(({ name }) => name);
  });
}

test('every exported options type has a table of names', async () => {
  const tables = await tableTypes();
  const exported = exportedNames().filter((name) => name.endsWith('Options'));
  expect(exported.length).toBeGreaterThan(15);
  const without = exported.filter((name) => !tables.has(name) && !OTHERS.includes(name));
  expect(without).toEqual([]);
});
