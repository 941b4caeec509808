import ts from 'typescript';
import manifest from '../../../package.json' with { type: 'json' };
import { root } from './code-blocks.ts';

/** The source of each entry of the package, by the name under which it is imported. */
export function entries(): Map<string, string> {
  const { options } = projectConfig();
  const imported = Object.keys(manifest.exports).filter((entry) => entry !== './package.json');
  const named = imported.map((entry) => {
    const name = `accounting-data-sdk${entry.slice(1)}`;
    const [source] = options.paths?.[name] ?? [];
    if (source === undefined) throw new Error(`tsconfig.json has no path for ${name}.`);
    return [name, `${root}${source.replace('./', '')}`] as const;
  });
  return new Map(named);
}

/** The exports of each entry. */
function modulesOf(files: ReadonlyMap<string, string>) {
  const program = ts.createProgram([...files.values()], projectConfig().options);
  const checker = program.getTypeChecker();
  const modules = [...files].map(([name, file]) => {
    const source = program.getSourceFile(file);
    const module = source === undefined ? undefined : checker.getSymbolAtLocation(source);
    return { name, exported: module === undefined ? [] : checker.getExportsOfModule(module) };
  });
  return { modules, checker };
}

/** The names of everything that the package exports. */
export function exportsOf(files: ReadonlyMap<string, string>): string[] {
  return modulesOf(files).modules.flatMap(({ exported }) => exported.map(({ name }) => name));
}

/** Everything that the package exports, with the first sentence of what is said of it, as Markdown. */
export function apiOverview(): string {
  const { modules, checker } = modulesOf(entries());
  const sections = modules.map(({ name, exported }) => `## ${name}\n\n${groups(exported, checker)}`);
  return `${HEAD}\n${sections.join('\n')}`;
}

const HEAD = `---
title: API overview
---

# API overview

Every export, by the entry that it is imported from. The declarations beside the code say the rest.
`;

function projectConfig() {
  const { config } = ts.readConfigFile(`${root}tsconfig.json`, ts.sys.readFile);
  return ts.parseJsonConfigFileContent({ ...config, include: [], files: [] }, ts.sys, root);
}

type Group = 'Functions' | 'Values' | 'Errors' | 'Types';

function groups(symbols: readonly ts.Symbol[], checker: ts.TypeChecker): string {
  const lines = new Map<Group, string[]>([
    ['Functions', []],
    ['Values', []],
    ['Errors', []],
    ['Types', []],
  ]);
  for (const exported of symbols.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const isAlias = (exported.flags & ts.SymbolFlags.Alias) !== 0;
    const symbol = isAlias ? checker.getAliasedSymbol(exported) : exported;
    lines.get(groupOf(symbol))?.push(line(exported.name, symbol, checker));
  }
  const filled = [...lines].filter(([, group]) => group.length > 0);
  return filled.map(([name, group]) => `### ${name}\n\n${group.join('\n')}\n`).join('\n');
}

function groupOf({ flags }: ts.Symbol): Group {
  if ((flags & ts.SymbolFlags.Function) !== 0) return 'Functions';
  if ((flags & ts.SymbolFlags.Class) !== 0) return 'Errors';
  return (flags & ts.SymbolFlags.Variable) !== 0 ? 'Values' : 'Types';
}

function line(name: string, symbol: ts.Symbol, checker: ts.TypeChecker): string {
  const text = ts.displayPartsToString(symbol.getDocumentationComment(checker));
  const shown = groupOf(symbol) === 'Functions' ? `${name}${parameters(symbol)}` : name;
  return `- \`${shown}\`: ${firstSentence(text)}`;
}

/** The parameters of a function by name; those that may be left out in brackets, as in a synopsis. */
function parameters(symbol: ts.Symbol): string {
  const declared = symbol.valueDeclaration;
  if (declared === undefined || !ts.isFunctionDeclaration(declared)) return '()';
  const names = declared.parameters.map((parameter) => {
    const name = ts.isIdentifier(parameter.name) ? parameter.name.text : 'options';
    if (parameter.dotDotDotToken !== undefined) return `...${name}`;
    return parameter.questionToken !== undefined || parameter.initializer !== undefined ? `[${name}]` : name;
  });
  return `(${names.join(', ')})`;
}

function firstSentence(text: string): string {
  const [paragraph = ''] = text.split('\n\n');
  const plain = paragraph.replaceAll('\n', ' ').replaceAll(/\{@link (\w+)\s*\}/g, '`$1`');
  // What ends in a colon leads to an example, which is left out here.
  return (/^.*?\.(?=\s|$)/.exec(plain)?.[0] ?? plain).replace(/:$/, '.');
}
