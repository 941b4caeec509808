import { globSync, readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import ts from 'typescript';
import { expect, test } from 'vitest';

/** From the top down: a folder or file imports only those in rows below its own. */
const LAYERS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  '': [
    ['cli'],
    ['explore', 'index.ts'],
    ['client.ts'],
    ['options.ts', 'testing', 'targets', 'opentelemetry'],
    ['collections', 'push', 'sync', 'node'],
    ['reading'],
    ['pagination'],
    ['transport'],
    ['rate-limiter', 'events.ts', 'money.ts'],
    ['input'],
    ['errors'],
    ['schemas', 'reports'],
    ['files'],
    ['internal'],
  ],
  testing: [
    // A page, which a listening sandbox serves: it shares no code with what it shows.
    ['window'],
    ['index.ts', 'msw.ts'],
    ['connector', 'faulty-fetch.ts'],
    ['sandbox.ts'],
    ['adapters'],
    ['control'],
    ['create-core.ts'],
    ['exchange.ts'],
    ['create-state.ts', 'log.ts'],
    ['faults'],
    ['service'],
    ['store'],
    ['keys.ts', 'options.ts'],
    ['by-collection.ts', 'data', 'error-body.ts'],
    ['clock.ts'],
    ['checks.ts', 'fixtures.ts', 'message.ts', 'node-modules.ts', 'recent.ts', 'time-zone.ts', 'wait.ts'],
  ],
};

/** What the command imports of this package beside its entries, `src/files`, `src/internal` and itself: rules of the client that no user needs. */
const PRIVATE_TO_COMMAND = ['errors/guards.ts', 'transport/redact.ts'];

const src = fileURLToPath(new URL('../../../src/', import.meta.url));
const folderOf = (path: string) => path.split('/')[0] ?? path;

/** Every import of a file of `src` by another, types included. */
const imports = globSync('**/*.ts', { cwd: src, exclude: ['guides/**'] }).flatMap((file) => {
  const from = file.replaceAll('\\', '/');
  const { importedFiles } = ts.preProcessFile(readFileSync(`${src}${file}`, 'utf8'));
  return importedFiles.map(({ fileName: name }) => ({
    from,
    to: name.startsWith('.') ? posix.join(posix.dirname(from), name) : name,
  }));
});
const within = imports.filter(({ to }) => to.endsWith('.ts'));

test.each(Object.entries(LAYERS))('every folder and file of src/%s has a layer', (room, layers) => {
  const names = readdirSync(`${src}${room}`).filter((name) => name !== 'guides' && name !== 'README.md');
  expect(layers.flat().toSorted()).toEqual(names.toSorted());
});

test.each(Object.entries(LAYERS))(
  'src/%s imports only layers below, type imports included, so that no two folders import each other',
  (room, layers) => {
    const prefix = room === '' ? '' : `${room}/`;
    const inRoom = within.flatMap(({ from, to }) => {
      if (!from.startsWith(prefix) || !to.startsWith(prefix)) return [];
      const [above, below] = [from, to].map((path) => folderOf(path.slice(prefix.length)));
      return above === below ? [] : [{ from, to, above, below }];
    });
    const rank = new Map(layers.flatMap((row, index) => row.map((name) => [name, index] as const)));
    const up = inRoom.filter(
      ({ above = '', below = '' }) => (rank.get(above) ?? 0) >= (rank.get(below) ?? 0),
    );
    expect(inRoom.length).toBeGreaterThan(100);
    expect(up).toEqual([]);
  },
);

test('the source imports the file that declares a name, never an entry, which would load everything', () => {
  const entries = imports.filter(({ from, to }) =>
    to.endsWith('.ts')
      ? /(^|\/)index\.ts$/.test(to) && to !== 'collections/index.ts'
      : /^accounting-data-sdk(\/|$)/.test(to) && folderOf(from) !== 'cli',
  );
  expect(entries).toEqual([]);
});

test('one file decides whether a record can be missing: no other writes `complete` or `equal`', () => {
  const written = globSync('**/*.ts', { cwd: src, exclude: ['guides/**'] }).filter((file) => {
    const text = readFileSync(`${src}${file}`, 'utf8');
    // Most files are not worth parsing.
    if (!/\b(?:complete|equal)\b/.test(text)) return false;
    const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
    const isVerdict = (name: ts.Node | undefined) => /^(complete|equal)$/.test(name?.getText() ?? '');
    const isWritten = (node: ts.Node): boolean => {
      if ((ts.isPropertyAssignment(node) || ts.isShorthandPropertyAssignment(node)) && isVerdict(node.name))
        return !isPattern(node.parent);
      const isAssignment =
        ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.EqualsToken;
      if (isAssignment && ts.isPropertyAccessExpression(node.left) && isVerdict(node.left.name)) return true;
      return ts.forEachChild(node, isWritten) ?? false;
    };
    return isWritten(source);
  });
  expect(written.map((file) => file.replaceAll('\\', '/'))).toEqual(['reports/evidence.ts']);
});

/** Whether an object literal is what a destructuring assignment writes to: `({ complete } = page)` reads it. */
function isPattern(literal: ts.Node): boolean {
  const { parent } = literal;
  return (
    ts.isBinaryExpression(parent) &&
    parent.left === literal &&
    parent.operatorToken.kind === ts.SyntaxKind.EqualsToken
  );
}

// The sandbox shares no code with the client that it tests, and a program can import a target without a client.
test.each([
  ['testing', ['collections', 'files', 'internal', 'schemas', 'testing']],
  ['targets', ['collections', 'errors', 'input', 'internal', 'schemas', 'targets']],
  ['collections', ['collections', 'schemas']],
])('src/%s/index.ts loads only %j', async (folder, loaded) => {
  const entryPoints = [`${src}${folder}/index.ts`];
  const how = { bundle: true, write: false, metafile: true, format: 'esm', packages: 'external' } as const;
  const { metafile } = await build({
    entryPoints,
    absWorkingDir: src,
    platform: 'node',
    outdir: 'out',
    ...how,
  });
  expect([...new Set(Object.keys(metafile.inputs).map(folderOf))].toSorted()).toEqual(loaded);
});

test('the command imports what the package exports, and a list of exceptions that must not grow', () => {
  const outside = within.filter(
    ({ from, to }) => folderOf(from) === 'cli' && !['cli', 'files', 'internal'].includes(folderOf(to)),
  );
  expect([...new Set(outside.map(({ to }) => to))].toSorted()).toEqual(PRIVATE_TO_COMMAND);
});
