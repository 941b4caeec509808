import { readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';

/** From the top down: a folder or file of `src` imports only those in rows below its own. */
const LAYERS = [
  ['cli'],
  ['explore', 'index.ts'],
  ['client.ts'],
  ['options.ts', 'testing', 'targets'],
  ['collections', 'push', 'sync', 'node', 'opentelemetry'],
  ['reading'],
  ['pagination'],
  ['transport'],
  ['rate-limiter', 'events.ts', 'money.ts'],
  ['input'],
  ['errors'],
  ['schemas', 'reports'],
  ['internal'],
] as const satisfies readonly (readonly string[])[];

/** An entry imports types of a folder beside it: telemetry the events of a sync. */
const TYPES_BESIDE = [['opentelemetry', 'sync']];

/** What the command imports of this package beside its entries, `src/internal` and itself, and why it is not public. */
const PRIVATE_TO_COMMAND = {
  'errors/guards.ts':
    'the command tells a rejected key from the page of a firewall by the rule of the client',
  'transport/redact.ts': 'the command hides the key by the rule of the client, and no user needs to',
};

interface Import {
  readonly from: string;
  /** A path under `src`, or the name of a module. */
  readonly to: string;
  readonly typeOnly: boolean;
}

const src = fileURLToPath(new URL('../../../src/', import.meta.url));
const imports = readdirSync(src, { recursive: true, encoding: 'utf8' })
  .map((file) => file.replaceAll('\\', '/'))
  .filter((file) => /\.[cm]?ts$/.test(file) && !file.startsWith('guides/'))
  .flatMap(importsOf);

function importsOf(from: string): Import[] {
  const found: Import[] = [];
  const add = (name: ts.Node | undefined, typeOnly: boolean) => {
    if (name === undefined || !ts.isStringLiteral(name)) return;
    const to = name.text.startsWith('.') ? posix.join(posix.dirname(from), name.text) : name.text;
    found.push({ from, to, typeOnly });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) add(node.moduleSpecifier, node.importClause?.isTypeOnly === true);
    else if (ts.isExportDeclaration(node)) add(node.moduleSpecifier, node.isTypeOnly);
    else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument))
      add(node.argument.literal, true);
    else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword)
      add(node.arguments[0], false);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(from, readFileSync(`${src}${from}`, 'utf8'), ts.ScriptTarget.Latest));
  return found;
}

const folderOf = (path: string) => path.split('/')[0] ?? path;
const isNode = ({ to }: Import) => to.startsWith('node:');
const isOwnName = ({ to }: Import) => /^accounting-data-sdk(\/|$)/.test(to);
const inSource = imports.filter(({ to }) => to.endsWith('.ts'));
const text = ({ from, to }: Import) => `${from} imports ${to}`;

/** Every file that these folders or files load, directly or through others. */
function reachedFrom(start: string, edges: readonly Import[]): readonly string[] {
  const reached = new Set(edges.map(({ from }) => from).filter((file) => `${file}/`.startsWith(`${start}/`)));
  // A set also iterates over what is added meanwhile.
  for (const file of reached) for (const { from, to } of edges) if (from === file) reached.add(to);
  return [...reached];
}

describe('the source', () => {
  const rank = new Map(LAYERS.flatMap((row, index) => row.map((name) => [name as string, index] as const)));

  test('has a layer for every folder and file', () => {
    const folders = readdirSync(src).filter((name) => name !== 'guides' && name !== 'README.md');
    expect(folders.filter((name) => !rank.has(name))).toEqual([]);
    expect([...rank.keys()].filter((name) => !folders.includes(name))).toEqual([]);
  });

  test('imports only layers below, type imports included, so that no two folders import each other', () => {
    const isBeside = ({ from, to, typeOnly }: Import) =>
      typeOnly && TYPES_BESIDE.some(([a, b]) => a === folderOf(from) && b === folderOf(to));
    const isUp = ({ from, to }: Import) =>
      folderOf(from) !== folderOf(to) &&
      !((rank.get(folderOf(from)) ?? Infinity) < (rank.get(folderOf(to)) ?? -1));
    expect(inSource.filter((edge) => isUp(edge) && !isBeside(edge)).map(text)).toEqual([]);
  });

  test('imports the file that declares a name, never an entry, which would load everything', () => {
    const entries = inSource.filter(({ to }) => /(^|\/)index\.ts$/.test(to) && to !== 'collections/index.ts');
    const byName = imports.filter((edge) => isOwnName(edge) && folderOf(edge.from) !== 'cli');
    expect([...entries, ...byName].map(text)).toEqual([]);
  });

  test('loads modules of Node only in the entry for Node and in the command', () => {
    const isForNode = (path: string) =>
      ['cli', 'node'].includes(folderOf(path)) || path.startsWith('internal/node/');
    // The sandbox loads them when it listens, and has their types in its declarations.
    const allowed = ({ from, typeOnly }: Import) =>
      isForNode(from) || (typeOnly && folderOf(from) === 'testing');
    expect(imports.filter((edge) => isNode(edge) && !allowed(edge)).map(text)).toEqual([]);
    const shared = inSource.filter(({ from, to }) => to.startsWith('internal/node/') && !isForNode(from));
    expect(shared.map(text)).toEqual([]);
  });
});

test('the sandbox shares no code with the client that it tests', () => {
  const client = LAYERS.slice(2)
    .flat()
    .filter((name) => !['testing', 'collections', 'errors', 'schemas', 'internal'].includes(name));
  const reached = reachedFrom('testing', inSource);
  expect(reached).toContain('collections/budgets.ts');
  expect(reached.filter((file) => client.some((name) => name === folderOf(file)))).toEqual([]);
});

test('a target loads no client, so that a program can import it alone', () => {
  const atRunTime = inSource.filter(({ typeOnly }) => !typeOnly);
  const folders = new Set(reachedFrom('targets', atRunTime).map(folderOf));
  expect([...folders].sort()).toEqual(['collections', 'errors', 'input', 'internal', 'schemas', 'targets']);
});

test('the table of collections imports only schemas', () => {
  const reached = reachedFrom('collections/index.ts', inSource);
  expect(reached.length).toBeGreaterThan(14);
  expect([...new Set(reached.map(folderOf))].sort()).toEqual(['collections', 'schemas']);
});

test('the command imports what the package exports, and a list of exceptions that must not grow', () => {
  const outside = inSource
    .filter(({ from, to }) => folderOf(from) === 'cli' && !['cli', 'internal'].includes(folderOf(to)))
    .map(({ to }) => to);
  expect([...new Set(outside)].sort()).toEqual(Object.keys(PRIVATE_TO_COMMAND));
});
