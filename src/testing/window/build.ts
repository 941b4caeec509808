import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'esbuild';
import ts from 'typescript';

// How the script of the window is built: its style sheet is a text in it, and so are the doc comments of the tables from
// which its forms are made, because comments do not exist at run time.

const testing = fileURLToPath(new URL('../', import.meta.url));

export const windowPlugin: Plugin = {
  name: 'window',
  setup({ onLoad, onResolve, esbuild }) {
    onResolve({ filter: /^window-style$/ }, ({ path }) => ({ path, namespace: 'window-style' }));
    onLoad({ filter: /^window-style$/, namespace: 'window-style' }, async () => {
      const css = readFileSync(`${testing}window/style.css`, 'utf8');
      const { code } = await esbuild.transform(css, { loader: 'css', minify: true });
      return { contents: code, loader: 'text' };
    });
    onResolve({ filter: /^table-docs$/ }, ({ path }) => ({ path, namespace: 'table-docs' }));
    onLoad({ filter: /^table-docs$/, namespace: 'table-docs' }, () => ({
      contents: Object.entries(tableDocs())
        .map(([name, docs]) => `export const ${name} = ${JSON.stringify(docs)};`)
        .join('\n'),
    }));
  },
};

type Docs = Readonly<Record<string, string>>;

/** The doc comments of the tables of faults, conditions and options, by path, such as `delay.ms` or `rateLimit.limit`. */
export function tableDocs(): {
  readonly kinds: Docs;
  readonly fields: Docs;
  readonly conditions: Docs;
  readonly options: Docs;
} {
  const faults = ['connection', 'timing', 'content'].flatMap((family) =>
    entriesOf(parsed(`faults/${family}.ts`), `${family}Faults`),
  );
  const isKind = ([path]: Entry) => !path.includes('.');
  return {
    kinds: Object.fromEntries(faults.filter(isKind)),
    fields: Object.fromEntries(faults.filter((entry) => !isKind(entry))),
    conditions: Object.fromEntries(entriesOf(parsed('faults/conditions.ts'), 'faultConditions')),
    options: Object.fromEntries(entriesOf(parsed('options.ts'), 'sandboxOptions')),
  };
}

type Entry = readonly [path: string, text: string];

function parsed(file: string): ts.SourceFile {
  return ts.createSourceFile(file, readFileSync(testing + file, 'utf8'), ts.ScriptTarget.Latest, true);
}

/** The entries of a table with a comment, those of tables within it included. */
function entriesOf(source: ts.SourceFile, table: string, parent = ''): readonly Entry[] {
  const declarations = source.statements
    .filter(ts.isVariableStatement)
    .flatMap(({ declarationList }) => [...declarationList.declarations]);
  const { initializer } = declarations.find(({ name }) => name.getText() === table) ?? {};
  return initializer !== undefined && ts.isObjectLiteralExpression(initializer)
    ? membersOf(source, initializer, parent)
    : [];
}

function membersOf(
  source: ts.SourceFile,
  table: ts.ObjectLiteralExpression,
  parent: string,
): readonly Entry[] {
  return table.properties.filter(ts.isPropertyAssignment).flatMap((property) => {
    const path = `${parent}${property.name.getText().replaceAll("'", '')}`;
    const text = commentOf(property);
    return [
      ...(text === '' ? [] : [[path, text] as const]),
      ...within(source, property.initializer, `${path}.`),
    ];
  });
}

/** The tables in a value: the fields of a fault, or `group(idOptions)`. */
function within(source: ts.SourceFile, value: ts.Node, parent: string): readonly Entry[] {
  if (!ts.isCallExpression(value)) return [];
  return value.arguments.flatMap((argument) => {
    if (ts.isIdentifier(argument)) return entriesOf(source, argument.text, parent);
    if (!ts.isObjectLiteralExpression(argument)) return within(source, argument, parent);
    return argument.properties
      .filter(ts.isPropertyAssignment)
      .flatMap(({ initializer }) =>
        ts.isObjectLiteralExpression(initializer) ? membersOf(source, initializer, parent) : [],
      );
  });
}

/** The comment of a property, with its default as a sentence. */
function commentOf(property: ts.Node): string {
  const [comment] = ts.getJSDocCommentsAndTags(property);
  if (comment === undefined || !ts.isJSDoc(comment)) return '';
  const tag = comment.tags?.find(({ tagName }) => tagName.text === 'default');
  const usual = tag === undefined ? '' : ` Default: ${ts.getTextOfJSDocComment(tag.comment)}.`;
  return `${ts.getTextOfJSDocComment(comment.comment) ?? ''}${usual}`
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/(?<=\d)_(?=\d)/g, ',')
    .trim();
}
