import ts from 'typescript';
import { root } from './code-blocks.ts';

/** The doc comment of a property, as an editor shows it. */
export interface PropertyDoc {
  readonly text: string;
  /** The text of `@default`. */
  readonly defaultText: string | undefined;
}

/** An entry of a table of options. */
export interface Entry {
  readonly expected?: string;
  readonly values?: readonly unknown[];
  readonly default?: unknown;
  readonly required?: boolean;
  readonly options?: Readonly<Record<string, Entry>>;
  readonly other?: readonly unknown[];
}

const { config } = ts.readConfigFile(`${root}tsconfig.json`, ts.sys.readFile);
const { options } = ts.parseJsonConfigFileContent({ ...config, files: [], include: [] }, ts.sys, root);
/** Once for all tables. The types of Node, which none of them names, would take a third of the time. */
const entries = ['index.ts', 'testing/index.ts'] as const;
const program = ts.createProgram(
  entries.map((entry) => `${root}src/${entry}`),
  { ...options, types: [] },
);

/** The doc comments of what an entry of the package exports, by name. */
export function docsOfEntry(entry: (typeof entries)[number]) {
  const file = `${root}src/${entry}`;
  const checker = program.getTypeChecker();
  const module = checker.getSymbolAtLocation(program.getSourceFile(file) as ts.SourceFile);
  const exported = new Map(
    checker
      .getExportsOfModule(module as ts.Symbol)
      .map((symbol) => [
        symbol.name,
        (symbol.flags & ts.SymbolFlags.Alias) === 0 ? symbol : checker.getAliasedSymbol(symbol),
      ]),
  );

  return {
    /** An exported type, or that of an exported value. */
    typeOf(name: string): ts.Type {
      const symbol = exported.get(name);
      if (symbol === undefined) throw new Error(`src/${entry} does not export ${name}.`);
      return (symbol.flags & ts.SymbolFlags.Variable) === 0
        ? checker.getDeclaredTypeOfSymbol(symbol)
        : checker.getTypeOfSymbol(symbol);
    },
    docsOf(type: ts.Type): ReadonlyMap<string, PropertyDoc> {
      return new Map(
        checker.getPropertiesOfType(type).map((property) => {
          const tag = property.getJsDocTags(checker).find(({ name }) => name === 'default');
          const text = markdown(ts.displayPartsToString(property.getDocumentationComment(checker)));
          return [property.name, { text, defaultText: tag && ts.displayPartsToString(tag.text) }];
        }),
      );
    },
    /** The object in the type of a property, such as the options inside `ids`. */
    inside(type: ts.Type, name: string): ts.Type {
      const property = checker.getPropertyOfType(type, name);
      if (property === undefined) throw new Error(`There is no property ${name}.`);
      const types = checker.getTypeOfSymbol(property);
      const parts = types.isUnion() ? types.types : [types];
      const composed = ts.TypeFlags.Object | ts.TypeFlags.Intersection;
      return parts.find((part) => (part.flags & composed) !== 0) ?? types;
    },
  };
}

/** The lines of a comment as paragraphs and lists. */
function markdown(comment: string): string {
  return comment
    .replaceAll(/\{@link (\w+) ?\}/g, '`$1`')
    .replaceAll(/\n(?=- )/g, '\n\n')
    .split(/\n{2,}/)
    .map((part) => part.replaceAll(/\n */g, ' '))
    .join('\n\n')
    .replaceAll(/(?<=(?:^|\n\n)- [^\n]*)\n\n(?=- )/g, '\n');
}

export function valuesOf({ values, expected = 'a plain object', other = [] }: Entry): string {
  if (values !== undefined) return values.map((value) => `\`${value}\``).join(', ');
  return [expected, ...other.filter((value) => value !== undefined).map((value) => `or \`${value}\``)].join(
    ' ',
  );
}

/** A heading, a line of facts such as the default, what it means, and the fields of a fault or a group. */
export function section(
  name: string,
  facts: readonly string[],
  text: string,
  fields: readonly string[] = [],
): string {
  const line = facts.filter((fact) => fact !== '').join('; ');
  const parts = [`### \`${name}\``, line && `<small>${line}</small>`, text];
  if (fields.length > 0) parts.push(fields.map((field) => `- ${field}`).join('\n'));
  return parts
    .filter((part) => part !== '')
    .map((part) => `${part}\n`)
    .join('\n');
}
