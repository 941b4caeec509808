import { readFileSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import { posix } from 'node:path';
import ts from 'typescript';

/** One import, export-from, `import()` or `import('…')` type. */
export interface Import {
  readonly line: number;
  /** `dynamic`: `import()`, which loads when it is reached. `type`: gone when it runs. */
  readonly kind: 'value' | 'type' | 'dynamic';
  /** A file, relative to src, where `local`; a package or a module of Node otherwise. */
  readonly to: string;
  readonly local: boolean;
}

/** What the rules look at in a file. */
export interface Source {
  /** Relative to src. */
  readonly path: string;
  readonly imports: readonly Import[];
  /** The lines on which `any` is a type. */
  readonly anyTypes: readonly number[];
}

/** Reads every file below a folder. */
export async function readSources(folder: URL): Promise<Source[]> {
  const paths: string[] = [];
  for await (const path of glob('**/*.ts', { cwd: folder })) paths.push(path);
  return paths.sort().map((path) => parse(path, readFileSync(new URL(path, folder), 'utf8')));
}

/** Looks at the text of a file. */
export function parse(path: string, text: string): Source {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const imports: Import[] = [];
  const anyTypes: number[] = [];

  const lineOf = (position: number) => file.getLineAndCharacterOfPosition(position).line + 1;
  const visit = (node: ts.Node): void => {
    const found = importOf(node);
    if (found !== undefined) {
      const local = found.specifier.startsWith('.');
      const to = local ? posix.join(posix.dirname(path), found.specifier) : found.specifier;
      imports.push({ line: lineOf(node.getStart()), kind: found.kind, to, local });
    }
    if (node.kind === ts.SyntaxKind.AnyKeyword) anyTypes.push(lineOf(node.getStart()));
    ts.forEachChild(node, visit);
  };
  visit(file);
  return { path, imports, anyTypes };
}

function importOf(node: ts.Node): { specifier: string; kind: Import['kind'] } | undefined {
  if (ts.isImportDeclaration(node)) {
    return { specifier: literal(node.moduleSpecifier), kind: isErased(node.importClause) ? 'type' : 'value' };
  }
  if (ts.isExportDeclaration(node) && node.moduleSpecifier !== undefined) {
    const names = node.exportClause;
    const erased =
      node.isTypeOnly ||
      (names !== undefined &&
        ts.isNamedExports(names) &&
        names.elements.every(({ isTypeOnly }) => isTypeOnly));
    return { specifier: literal(node.moduleSpecifier), kind: erased ? 'type' : 'value' };
  }
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
    return { specifier: literal(node.argument.literal), kind: 'type' };
  }
  if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
    return { specifier: literal(node.arguments[0]), kind: 'dynamic' };
  }
  return undefined;
}

/** Whether nothing of an import is left when it runs. */
function isErased(clause: ts.ImportClause | undefined): boolean {
  if (clause === undefined) return false;
  if (clause.phaseModifier === ts.SyntaxKind.TypeKeyword) return true;

  const names = clause.namedBindings;
  return (
    clause.name === undefined &&
    names !== undefined &&
    ts.isNamedImports(names) &&
    names.elements.length > 0 &&
    names.elements.every(({ isTypeOnly }) => isTypeOnly)
  );
}

/** The text of a specifier. One that is put together as it runs cannot be followed, and no rule would see it. */
function literal(node: ts.Node | undefined): string {
  if (node !== undefined && ts.isStringLiteralLike(node)) return node.text;
  throw new Error(`A module specifier that is no literal: ${node?.getText()}`);
}
