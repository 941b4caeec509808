import { execFileSync } from 'node:child_process';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import {
  Comment,
  CommentTag,
  Converter,
  LiteralType,
  ReflectionFlag,
  ReflectionKind,
  UnionType,
} from 'typedoc';
import settings from './typedoc.json' with { type: 'json' };
import { completePages } from './typedoc-pages.mjs';
import { isWritten, showUsualTypes } from './typedoc-types.mjs';

/** The groups of the main entry: the comments of index.ts, such as `// Sync.`, each with the names below it. */
function groupsOf(source) {
  const [, ...parts] = source.split(/^\/\/ (?:The )?(\w+)/m);
  return parts.flatMap((part, index) => {
    if (index % 2 === 0) return [];
    const group = parts[index - 1].replace(/^./, (letter) => letter.toUpperCase());
    const names = part.replace(/from '[^']*'/g, '').matchAll(/\b\w+\b/g);
    return [...names].map(([name]) => [name, group]);
  });
}

/** The group of everything else that an entry exports. */
const ENTRY_GROUPS = {
  schemas: 'Schemas',
  testing: 'Testing',
  'testing/msw': 'Testing',
  node: 'Files',
  explore: 'Explore',
  opentelemetry: 'Telemetry',
  targets: 'Targets',
};

const groups = new Map(groupsOf(readFileSync(new URL('../../index.ts', import.meta.url), 'utf8')));

function categorize(reflection, group) {
  if (group === undefined) throw new Error(`${reflection.name} stands below no comment of index.ts.`);
  reflection.comment ??= new Comment();
  reflection.comment.blockTags.push(new CommentTag('@category', [{ kind: 'text', text: group }]));
}

/** Exported for the command, whose help and tables they are. The guides list what they contain. */
const UNLISTED = new Set(['explanationOf', 'sandboxOptions', 'sandboxFaults', 'faultConditions']);

/** The type of a member of the client for a caller without schemas. */
function withoutSchema(type) {
  return type.type === 'conditional' ? withoutSchema(type.falseType) : type;
}

/** A type that only the compiler can read: its page shows an example instead. */
const OPAQUE = /\binfer\b|\bExclude<|\}\[\w+\];|\$record/;
const DECLARATION = /(?<=^# .*\n\n)```ts\n(type [^`]*)```\n\n/m;

/** What a parameter is, by its name or by its function and name, if neither it nor its type has a comment. */
const parameters = {
  amount: 'A decimal to write as an amount.',
  client: 'A client of the company.',
  'isAccountingError.code': 'The code of the error to look for; without it, any error matches.',
  'isApiError.code': 'The code of the error to look for; without it, any error matches.',
  'changes.collection': 'A collection of a client, such as `client.products`.',
  'refresh.collection': 'A collection of a client, such as `client.products`.',
  collection: 'The name of a collection, as the property of the client.',
  'collection.name': 'The name of a collection, as the property of the client.',
  'onDelete.collection': 'The name of the collection.',
  'localIds.collection': 'The name of the collection.',
  condition: 'Which requests to count.',
  database: 'The name of a file, or an open database.',
  directory: 'The folder in which the files are kept.',
  draft: 'The fields of the product to create.',
  ends: 'How the run of each collection ended.',
  error: 'Anything that was caught.',
  fixtures: 'Records by collection, or the folder that contains them.',
  id: 'The id of the record.',
  ids: 'The ids of the records that no longer exist.',
  key: 'A key of the store.',
  'revokeKey.key': 'The API key to revoke.',
  listener: 'Is called for each request.',
  message: 'The line to log.',
  ms: 'By how many milliseconds.',
  after: 'The id behind which the ids begin.',
  read: 'The number of the full read.',
  report: 'What the run did in the collection.',
  row: 'The record, and its row as the service sent it.',
  rules: 'The faults, each with the conditions under which a request meets it.',
  waitMs: 'How long the wait is, in ms.',
  version: 'The version of the row in the copy, as it was when the record was requested.',
  options: 'What may differ from the defaults.',
  parts: 'What identifies the create, such as the name of a shop and a number.',
  patch: 'The fields to change; `null` clears a field.',
  'push.products': 'The products of a client: `client.products`.',
  segment: 'The segment of the path, such as `ledger-accounts`.',
  sql: 'A statement of SQL.',
  tenant: 'The name of the company.',
  text: 'A statement of SQL, with `$1`, `$2` and so on for the values.',
  value: 'The value to read; `null` and `undefined` are passed through.',
  values: 'The values of the statement, in order.',
};

const textOf = (comment) => comment?.summary.map(({ text }) => text).join('') ?? '';

/** The first paragraph about a type. */
function aboutType(type) {
  const [text = ''] = textOf(type?.reflection?.comment).split('\n\n');
  return text === '' ? undefined : text.replaceAll('\n', ' ');
}

function aboutParameter({ name, type, parent }) {
  const ofType = name === 'client' ? undefined : aboutType(type);
  return parameters[`${parent.name}.${name}`] ?? ofType ?? parameters[name];
}

/** Own members before inherited ones, each in the order of the source. */
function inReadingOrder(children) {
  return [
    ...children.filter((child) => !child.inheritedFrom),
    ...children.filter((child) => child.inheritedFrom),
  ];
}

const isCode = ({ kind }) => kind === ReflectionKind.Function || kind === ReflectionKind.Variable;

/** Functions and variables before types, each in alphabetical order. */
function byName(one, other) {
  return isCode(other) - isCode(one) || one.name.localeCompare(other.name);
}

/** Overloads that differ by one argument are one signature, in which it is optional. */
function mergeOverloads(project) {
  for (const { signatures = [] } of project.getReflectionsByKind(ReflectionKind.Function)) {
    const [first, ...others] = signatures;
    if (others.length === 0 || first.parameters.some(({ name }) => name === 'options')) continue;
    const longest = others.find(({ parameters }) => parameters.length > first.parameters.length) ?? first;
    for (const parameter of longest.parameters.slice(first.parameters.length)) {
      parameter.setFlag(ReflectionFlag.Optional);
    }
    longest.comment = first.comment;
    signatures.splice(0, signatures.length, longest);
  }
}

/** After the members have been sorted and grouped: what a page shows of each. */
function describeMembers(project, logger) {
  for (const module of project.getReflectionsByKind(ReflectionKind.Module)) {
    const groups = [...(module.groups ?? []), ...(module.categories ?? [])];
    for (const group of [module, ...groups, ...groups.flatMap(({ categories = [] }) => categories)]) {
      group.children?.sort(byName);
    }
  }
  for (const owner of project.getReflectionsByKind(ReflectionKind.ClassOrInterface)) {
    // The table of an interface has the inherited members too.
    if (owner.kind === ReflectionKind.Interface) {
      owner.extendedTypes = undefined;
      owner.extendedBy = undefined;
      owner.typeHierarchy = undefined;
    }
    for (const group of [owner, ...(owner.groups ?? [])])
      group.children = inReadingOrder(group.children ?? []);
    for (const member of owner.children ?? []) {
      const text = member.comment === undefined && !member.signatures ? aboutType(member.type) : undefined;
      if (text !== undefined) member.comment = new Comment([{ kind: 'text', text }]);
      for (const one of [member, ...(member.signatures ?? [])]) {
        one.inheritedFrom = undefined;
        one.overwrites = undefined;
      }
    }
  }
  for (const parameter of project.getReflectionsByKind(ReflectionKind.Parameter)) {
    const { parent: owner } = parameter.parent;
    const isShown = owner.kind !== ReflectionKind.TypeLiteral && owner.kind !== ReflectionKind.Constructor;
    if (!isShown || textOf(parameter.comment) !== '') continue;
    const text = aboutParameter(parameter);
    if (text === undefined) logger.warn(`No text about the parameter ${parameter.getFullName()}.`);
    parameter.comment = new Comment([{ kind: 'text', text: text ?? '' }]);
  }
  // Overloads have one comment, which the first of them shows.
  for (const { signatures: [first, ...others] = [] } of project.getReflectionsByKind(
    ReflectionKind.Function,
  )) {
    for (const other of others) {
      if (textOf(other.comment) === textOf(first.comment))
        other.comment = new Comment([{ kind: 'text', text: 'The same, with other options.' }]);
    }
  }
}

/** The first line of a generic interface: its members use the names of the type parameters. */
function declarationOf({ kind, name, typeParameters }) {
  const written = (typeParameters ?? []).filter(isWritten);
  if (kind !== ReflectionKind.Interface || written.length === 0) return '';
  return `\n\n\`\`\`ts\ninterface ${name}<${written.map((one) => one.name).join(', ')}>\n\`\`\``;
}

/** Code that is a program by itself, unlike the signature of a method. */
const BLOCK = /(?<=^```ts\n)(?:function|type|const|await|for|import) .*?(?=\n```$)/gms;
const MARK = '// ---\n';

/** Breaks signatures and examples that are longer than a line, as the formatter of the sources does. */
function formatBlocks(folder) {
  const pages = globSync(`${folder}/**/*.md`).map((file) => ({ file, text: readFileSync(file, 'utf8') }));
  const all = new Set(pages.flatMap(({ text }) => text.match(BLOCK) ?? []));
  const blocks = [...all].filter((block) => /.{81}|^\|/m.test(block));
  const biome = fileURLToPath(new URL('../../../node_modules/.bin/biome', import.meta.url));
  const flags = ['--line-width=80', '--indent-style=space', '--javascript-formatter-quote-style=single'];
  const input = blocks.map((block) => `${block}\n`).join(MARK);
  const formatted = execFileSync(biome, ['format', '--stdin-file-path=api.ts', ...flags], {
    input,
    encoding: 'utf8',
  });
  const lines = formatted.split(MARK).map((block) => block.trim());
  if (lines.length !== blocks.length) throw new Error('The formatter did not keep the blocks apart.');
  for (const { file, text } of pages) {
    const changed = text.replace(BLOCK, (block) => lines[blocks.indexOf(block)] ?? block);
    if (changed !== text) writeFileSync(file, changed);
  }
}

/**
 * Names each module as it is imported, groups the main entry by task, shows members in reading order and what each
 * parameter is, shows the collections of the client with the
 * records that they have without a schema of the caller's, and leaves out constructors and brands of errors, and
 * members with a symbol for a name.
 */
export function load({ converter, renderer, logger }) {
  converter.on(
    Converter.EVENT_RESOLVE_END,
    ({ project }) => {
      showUsualTypes(project);
      mergeOverloads(project);
      describeMembers(project, logger);
    },
    -1000,
  );
  // A union of strings that is derived from a table or a list is shown with its members.
  const unions = new Map();
  converter.on(Converter.EVENT_CREATE_DECLARATION, (context, reflection) => {
    if (reflection.kind !== ReflectionKind.TypeAlias) return;
    const symbol = context.getSymbolFromReflection(reflection);
    const members = symbol && context.checker.getDeclaredTypeOfSymbol(symbol).types;
    if (members?.every((member) => member.isStringLiteral())) unions.set(reflection, members);
  });
  converter.on(Converter.EVENT_RESOLVE_BEGIN, ({ project }) => {
    for (const [alias, members] of unions) {
      alias.type = new UnionType(members.map(({ value }) => new LiteralType(value)));
    }
    for (const module of project.getReflectionsByKind(ReflectionKind.Module)) {
      const isMain = module.name === 'index';
      const group = ENTRY_GROUPS[module.name];
      module.name = isMain ? 'accounting-data-sdk' : `accounting-data-sdk/${module.name}`;
      categorize(module, 'Entries');
      for (const exported of [...(module.children ?? [])]) {
        if (UNLISTED.has(exported.name)) {
          project.removeReflection(exported);
          continue;
        }
        categorize(exported.signatures?.[0] ?? exported, isMain ? groups.get(exported.name) : group);
      }
    }
    for (const member of project.getReflectionsByKind(ReflectionKind.ClassMember)) {
      const isOfError = member.parent?.name.endsWith('Error') ?? false;
      // Users catch errors; they do not construct them.
      const isInternal = member.kind === ReflectionKind.Constructor || member.name === 'brand';
      // The compiler's message about an awaited list.
      const isMessage = member.name === 'then';
      if (member.name.startsWith('[') || isMessage || (isOfError && isInternal)) {
        project.removeReflection(member);
      }
    }
    for (const client of project.getReflectionsByKind(ReflectionKind.Interface)) {
      // Its members are those of Client, and its example shows what differs.
      if (client.name === 'ClientWith') {
        for (const member of [...(client.children ?? [])]) project.removeReflection(member);
      }
      if (client.name !== 'Client') continue;
      for (const member of client.children ?? []) {
        if (member.type === undefined) continue;
        member.type = withoutSchema(member.type);
        const { type } = member;
        if (type.type === 'reference') type.typeArguments = type.typeArguments?.map(withoutSchema);
      }
    }
  });
  renderer.on('endPage', (page) => {
    // The signature of a function or a method shows its type parameters.
    const ofSignatures = page.model.kind === ReflectionKind.Function ? '##+' : '###+';
    const contents = page.contents
      .replaceAll(new RegExp(`^${ofSignatures} Type Parameters\\n\\n(?:\\|.*\\n)+\\n?`, 'gm'), '')
      // Overloads differ in the type of their options: it is a better heading than `Call Signature`.
      .replaceAll(
        /^(#+) Call Signature\n(?=\n```ts\n[^`]*?\boptions\??: (\w+))/gm,
        (_, level, type) => `${level} With ${type}\n`,
      )
      // A title is a name, without type parameters.
      .replace(/^(# [\w.]+)\\<.*$/m, (_, title) => `${title}${declarationOf(page.model)}`)
      .replaceAll(/^## Type Parameters\n\n(?:\|.*\n)+\n?/gm, '')
      .replace(DECLARATION, (block, type) => (OPAQUE.test(type) ? '' : block));
    page.contents = `---\npageClass: api\noutline: 2\n---\n\n${contents}`;
  });
  renderer.on('endRender', ({ outputDirectory }) => {
    completePages(outputDirectory, settings.categoryOrder);
    formatBlocks(outputDirectory);
  });
}
