import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { expect, inject, test } from 'vitest';

const { project } = inject('installed');
const dist = join(project, 'node_modules/accounting-data-sdk/dist');

// A part that several entries share has a hash in its name.
const entries = readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter(
  (file) => file.endsWith('.d.ts') && !/-[\w-]{8}\.d\.ts$/.test(file),
);
const options = {
  module: ts.ModuleKind.NodeNext,
  target: ts.ScriptTarget.ES2023,
  strict: true,
  noEmit: true,
  types: [],
};
const program = ts.createProgram(
  entries.map((file) => join(dist, file)),
  options,
);
const checker = program.getTypeChecker();

/** What callers pass. Of a collection, a report or a record an editor shows the docs of the declaration itself. */
const PASSED = /(?:Options|Defaults|Bounds|Query|Listeners|StopAfter|RawRequest|AppInfo|KeyGrant|Writes)$/;

const passed = entries.flatMap((entry) => {
  const file = program.getSourceFile(join(dist, entry));
  const module = file && checker.getSymbolAtLocation(file);
  if (module === undefined) throw new Error(`${entry} is no module.`);
  return checker.getExportsOfModule(module).flatMap((exported) => {
    const symbol = exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported;
    if (!PASSED.test(exported.name) || !(symbol.flags & ts.SymbolFlags.Type)) return [];
    return [{ entry, name: exported.name, type: checker.getDeclaredTypeOfSymbol(symbol), symbol }];
  });
});

function membersWithoutText(): string[] {
  const found = passed.flatMap(({ name, type }) =>
    type.getProperties().map((member) => ({
      name: `${name}.${member.name}`,
      text: ts.displayPartsToString(member.getDocumentationComment(checker)),
      tags: member.getJsDocTags(checker).length,
    })),
  );
  expect(found.length).toBeGreaterThan(200);
  return found.filter(({ text, tags }) => text === '' && tags === 0).map(({ name }) => name);
}

test('an editor shows the text of every option, whichever table or type has it', () => {
  expect([...new Set(membersWithoutText())]).toEqual([]);
});

test('a message of the compiler about an option names the type of the options', () => {
  // Those with type parameters get their arguments from what else a call passes.
  const plain = passed.filter(({ symbol }) => symbol.flags & ts.SymbolFlags.Interface && !isGeneric(symbol));
  const lines = plain.map(
    ({ entry, name }) =>
      `export const misspelt_${name} = (): import('./${entry.replace('.d.ts', '.js')}').${name} => ({ noSuchOption: 1 });`,
  );
  const path = join(dist, 'messages.ts');
  const host = ts.createCompilerHost(options);
  const { getSourceFile } = host;
  host.getSourceFile = (file, ...rest) =>
    file === path
      ? ts.createSourceFile(file, lines.join('\n'), ts.ScriptTarget.ES2023)
      : getSourceFile(file, ...rest);
  const misspelt = ts.createProgram([path], options, host);
  const messages = misspelt
    .getSemanticDiagnostics(misspelt.getSourceFile(path))
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));

  expect(plain.length).toBeGreaterThan(20);
  expect(messages).toEqual(
    plain.map(({ name }) => expect.stringMatching(`'noSuchOption' does not exist in type '${name}'`)),
  );
});

const isGeneric = (symbol: ts.Symbol): boolean =>
  symbol.declarations?.some(
    (declaration) => ts.isInterfaceDeclaration(declaration) && declaration.typeParameters !== undefined,
  ) ?? false;
