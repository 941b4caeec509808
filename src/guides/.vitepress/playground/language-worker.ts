import types from 'playground-types';
import ts from 'typescript';
import type {
  Completion,
  Diagnostic,
  Documentation,
  LanguageRequest,
  LanguageResponses,
} from './messages.ts';

// The language service of TypeScript over the program, the declarations of the package and those of the browser.

const PROGRAM = '/program.ts';

const options: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  moduleDetection: ts.ModuleDetectionKind.Force,
  lib: [
    'lib.es2023.d.ts',
    'lib.esnext.disposable.d.ts',
    'lib.dom.d.ts',
    'lib.dom.iterable.d.ts',
    'lib.dom.asynciterable.d.ts',
  ],
  types: [],
  strict: true,
  exactOptionalPropertyTypes: true,
  skipLibCheck: true,
  allowImportingTsExtensions: true,
  noEmit: true,
};

let program = '';
let version = 0;

const host: ts.LanguageServiceHost = {
  getCompilationSettings: () => options,
  getScriptFileNames: () => [PROGRAM, '/ambient.d.ts'],
  getScriptVersion: (name) => (name === PROGRAM ? String(version) : '1'),
  getScriptSnapshot(name) {
    const text = textOf(name);
    return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
  },
  getCurrentDirectory: () => '/',
  getDefaultLibFileName: () => '/lib/lib.es2023.d.ts',
  fileExists: (name) => textOf(name) !== undefined,
  readFile: textOf,
  directoryExists: (name) => Object.keys(types).some((path) => path.startsWith(`${name}/`)),
  getDirectories: () => [],
};

function textOf(name: string): string | undefined {
  return name === PROGRAM ? program : types[name];
}

const service = ts.createLanguageService(host);

function use(code: string): void {
  if (code === program) return;
  program = code;
  version += 1;
}

const KINDS: Readonly<Record<string, string>> = {
  class: 'class',
  const: 'constant',
  enum: 'enum',
  function: 'function',
  interface: 'interface',
  keyword: 'keyword',
  let: 'variable',
  method: 'method',
  module: 'namespace',
  property: 'property',
  getter: 'property',
  type: 'type',
  var: 'variable',
};

const handlers: {
  readonly [Kind in LanguageRequest['kind']]: (
    request: Extract<LanguageRequest, { kind: Kind }>,
  ) => LanguageResponses[Kind];
} = {
  diagnostics() {
    const found = [...service.getSyntacticDiagnostics(PROGRAM), ...service.getSemanticDiagnostics(PROGRAM)];
    return found.map(
      ({ start = 0, length = 1, category, messageText }): Diagnostic => ({
        from: start,
        to: start + length,
        severity: category === ts.DiagnosticCategory.Error ? 'error' : 'warning',
        message: ts.flattenDiagnosticMessageText(messageText, '\n'),
      }),
    );
  },
  completions({ at }) {
    const found = service.getCompletionsAtPosition(PROGRAM, at, { includeCompletionsWithInsertText: false });
    if (found === undefined) return undefined;
    const before = /[\w$]*$/.exec(program.slice(0, at))?.[0] ?? '';
    const entries = found.entries
      .filter(({ name }) => name.toLowerCase().startsWith(before.toLowerCase()))
      .slice(0, 300)
      .map(({ name, kind, sortText }): Completion => ({ name, type: KINDS[kind] ?? 'text', rank: sortText }));
    return { from: at - before.length, entries };
  },
  details({ at, name }) {
    const found = service.getCompletionEntryDetails(
      PROGRAM,
      at,
      name,
      undefined,
      undefined,
      undefined,
      undefined,
    );
    return found && documentation(found.displayParts, found.documentation, found.tags);
  },
  hover({ at }) {
    const found = service.getQuickInfoAtPosition(PROGRAM, at);
    if (found === undefined) return undefined;
    const { start, length } = found.textSpan;
    return {
      ...documentation(found.displayParts, found.documentation, found.tags),
      from: start,
      to: start + length,
    };
  },
  compile: ({ code }) => compiled(code),
};

function documentation(
  signature: ts.SymbolDisplayPart[] | undefined,
  text: ts.SymbolDisplayPart[] | undefined,
  tags: ts.JSDocTagInfo[] = [],
): Documentation {
  const usual = tags.find(({ name }) => name === 'default');
  const more = usual === undefined ? '' : `\n\nDefault: ${ts.displayPartsToString(usual.text)}`;
  return {
    signature: ts.displayPartsToString(signature),
    text: ts.displayPartsToString(text) + more,
  };
}

/**
 * The program as JavaScript. Its imports become calls of `load`: a worker has no import maps, and the modules of the page
 * have other names.
 */
function compiled(code: string): string {
  return ts.transpileModule(code, {
    compilerOptions: { ...options, noEmit: false, allowImportingTsExtensions: false },
    transformers: { after: [withLoads] },
  }).outputText;
}

const withLoads: ts.TransformerFactory<ts.SourceFile> = (context) => {
  const { factory } = context;
  const loaded = (name: ts.Expression) =>
    factory.createCallExpression(factory.createIdentifier('load'), undefined, [name]);

  const declared = (name: ts.BindingName, value: ts.Expression) =>
    factory.createVariableStatement(
      undefined,
      factory.createVariableDeclarationList(
        [factory.createVariableDeclaration(name, undefined, undefined, value)],
        ts.NodeFlags.Const,
      ),
    );

  const replaced = ({ importClause, moduleSpecifier }: ts.ImportDeclaration): ts.Statement[] => {
    const module = factory.createAwaitExpression(loaded(moduleSpecifier));
    if (importClause === undefined) return [factory.createExpressionStatement(module)];
    const { name, namedBindings } = importClause;
    const elements = [
      ...(name === undefined ? [] : [factory.createBindingElement(undefined, 'default', name)]),
      ...(namedBindings !== undefined && ts.isNamedImports(namedBindings)
        ? namedBindings.elements.map((element) =>
            factory.createBindingElement(undefined, element.propertyName?.text, element.name),
          )
        : []),
    ];
    const bindings =
      elements.length === 0 ? [] : [declared(factory.createObjectBindingPattern(elements), module)];
    const isSpace = namedBindings !== undefined && ts.isNamespaceImport(namedBindings);
    return isSpace ? [...bindings, declared(namedBindings.name, module)] : bindings;
  };

  const visit = (node: ts.Node): ts.Node => {
    if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      const [name] = node.arguments;
      if (name !== undefined) return loaded(name);
    }
    return ts.visitEachChild(node, visit, context);
  };
  return (file) => {
    const statements = file.statements.flatMap((statement) =>
      ts.isImportDeclaration(statement)
        ? replaced(statement)
        : [ts.visitNode(statement, visit) as ts.Statement],
    );
    return factory.updateSourceFile(file, statements);
  };
};

const scope = globalThis as unknown as {
  onmessage: ((event: MessageEvent<LanguageRequest & { readonly id: number }>) => void) | null;
  postMessage(message: unknown): void;
};

scope.onmessage = ({ data }) => {
  use(data.code);
  const handle = handlers[data.kind] as (request: LanguageRequest) => unknown;
  try {
    scope.postMessage({ id: data.id, result: handle(data) });
  } catch (error) {
    scope.postMessage({ id: data.id, error: String(error) });
  }
};
