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
const program = ts.createProgram(
  entries.map((file) => join(dist, file)),
  { module: ts.ModuleKind.NodeNext, target: ts.ScriptTarget.ES2023, strict: true, noEmit: true, types: [] },
);
const checker = program.getTypeChecker();

/** What callers pass. Of a collection, a report or a record an editor shows the docs of the declaration itself. */
const PASSED = /(?:Options|Defaults|Bounds|Query|Listeners|StopAfter|RawRequest|AppInfo|KeyGrant|Writes)$/;

function membersWithoutText(): string[] {
  const found = entries.flatMap((entry) => {
    const file = program.getSourceFile(join(dist, entry));
    const module = file && checker.getSymbolAtLocation(file);
    if (module === undefined) throw new Error(`${entry} is no module.`);
    return checker.getExportsOfModule(module).flatMap((exported) => {
      const symbol = exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported;
      if (!PASSED.test(exported.name) || !(symbol.flags & ts.SymbolFlags.Type)) return [];
      return checker
        .getDeclaredTypeOfSymbol(symbol)
        .getProperties()
        .map((member) => ({
          name: `${exported.name}.${member.name}`,
          text: ts.displayPartsToString(member.getDocumentationComment(checker)),
          tags: member.getJsDocTags(checker).length,
        }));
    });
  });
  expect(found.length).toBeGreaterThan(200);
  return found.filter(({ text, tags }) => text === '' && tags === 0).map(({ name }) => name);
}

test('an editor shows the text of every option, whichever table or type has it', () => {
  expect([...new Set(membersWithoutText())]).toEqual([]);
});
