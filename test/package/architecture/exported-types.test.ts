import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { expect, test } from 'vitest';
import manifest from '../../../package.json' with { type: 'json' };
import tsconfig from '../../../tsconfig.json' with { type: 'json' };
import { programOf } from '../../support/compiler.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const entries = Object.values(tsconfig.compilerOptions.paths).map(([path = '']) => path.replace('./', root));
const program = programOf(entries);
const checker = program.getTypeChecker();

const declared = (symbol: ts.Symbol) =>
  symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;

/** Every export of every entry, with the entry. */
const exported = new Map(
  entries.flatMap((entry) => {
    const file = program.getSourceFile(entry);
    const module = file === undefined ? undefined : checker.getSymbolAtLocation(file);
    if (module === undefined) throw new Error(`${entry} is no module.`);
    return checker
      .getExportsOfModule(module)
      .map((symbol) => [declared(symbol), entry.slice(root.length)] as const);
  }),
);

/** Interfaces and classes that are not exported, with the export that has one as a part of its type. */
const missing = new Map<string, string>();
const visited = new Set<ts.Symbol>();

function visitDeclarations(symbol: ts.Symbol, of: string): void {
  if (visited.has(symbol)) return;
  visited.add(symbol);
  for (const declaration of symbol.declarations ?? []) {
    if (declaration.getSourceFile().fileName.startsWith(`${root}src/`)) visit(declaration, of);
  }
}

function refer(symbol: ts.Symbol, of: string): void {
  const declaration = symbol.declarations?.find(
    (one) => ts.isInterfaceDeclaration(one) || ts.isClassDeclaration(one),
  );
  const path = declaration?.getSourceFile().fileName ?? '';
  if (path.startsWith(`${root}src/`) && !exported.has(symbol)) {
    missing.set(`${symbol.name} (${path.slice(root.length)})`, of);
  }
  visitDeclarations(symbol, of);
}

const isPrivate = (node: ts.Node) =>
  ts.isClassElement(node) && node.name !== undefined && ts.isPrivateIdentifier(node.name);

/** Whether no value has the type of this node: it is compared with, looked into, or inherited from. */
const isComputedWith = (node: ts.Node) =>
  ts.isHeritageClause(node) ||
  ts.isTypeOperatorNode(node.parent) ||
  (ts.isConditionalTypeNode(node.parent) &&
    [node.parent.extendsType, node.parent.checkType].includes(node as never)) ||
  (ts.isIndexedAccessTypeNode(node.parent) && node.parent.objectType === node) ||
  (ts.isMappedTypeNode(node.parent) && node.parent.typeParameter === node) ||
  ts.isTypeParameterDeclaration(node);

function visit(node: ts.Node, of: string): void {
  if (ts.isBlock(node) || isPrivate(node) || isComputedWith(node)) return;

  if ((ts.isVariableDeclaration(node) || ts.isPropertyDeclaration(node)) && node.type === undefined) {
    const type = checker.getTypeAtLocation(node);
    const symbol = type.aliasSymbol ?? type.getSymbol();
    if (symbol !== undefined) refer(symbol, of);
    return;
  }
  if (ts.isTypeReferenceNode(node)) {
    const symbol = checker.getSymbolAtLocation(node.typeName);
    if (symbol !== undefined) refer(declared(symbol), of);
  }
  ts.forEachChild(node, (child) => {
    if (child !== (node as { initializer?: ts.Node }).initializer) visit(child, of);
  });
}

test('the type of the records of every collection is exported', () => {
  const file = program.getSourceFile(`${root}src/collections/index.ts`);
  const table = file && checker.getSymbolAtLocation(file)?.exports?.get('collections' as ts.__String);
  const definitions = table === undefined ? [] : checker.getTypeOfSymbol(table).getProperties();
  const records = definitions.map((definition) => {
    const record = checker.getTypeOfSymbol(definition).getProperty('$record');
    const type = record && checker.getNonNullableType(checker.getTypeOfSymbol(record)).getSymbol();
    return [definition.name, type !== undefined && exported.has(type)];
  });
  expect(records.length).toBeGreaterThan(10);
  expect(records.filter(([, isExported]) => !isExported)).toEqual([]);
});

test('every entry of the package is looked at', () => {
  const names = Object.keys(manifest.exports).filter((name) => name !== './package.json');
  expect(entries).toHaveLength(names.length);
});

test('every interface and class that a value of an exported type can have is exported', () => {
  for (const [symbol, entry] of exported) visitDeclarations(symbol, `${symbol.name} of ${entry}`);
  expect(visited.size).toBeGreaterThan(300);
  expect(Object.fromEntries(missing)).toEqual({});
});
