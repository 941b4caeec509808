import { globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';

// What is made of the pages that TypeDoc has written: the options and the types of a function on its own page, and the
// overview.

/** The table of parameters, and the table of members of an interface, each with its heading. */
const PARAMETERS = /^#+ Parameters\n\n(?:\|.*\n)+/gm;
const PROPERTIES = /^## Properties\n\n((?:\|.*\n)+)/m;

/** A link to another page of the reference: its folder, if it is another one, and its file. */
const LINK = /\]\((?:\.\.\/(\w+)\/)?(accounting-data-sdk[\w.-]+\.md)/g;

/** Adds to the page of each function its options and the types that it leads to, and writes the overview. */
export function completePages(folder, groups) {
  const written = new Map(
    groups.flatMap((group) =>
      globSync(`${folder}/${group}/*.md`).map((file) => [
        `${group}/${basename(file)}`,
        sentenceFirst(tidy(readFileSync(file, 'utf8'))),
      ]),
    ),
  );
  const complete = [...written].map(([name, text]) => [
    name,
    isFunction(text) ? withOptions(name, text, written) : text,
  ]);
  const all = new Map([...complete, ['index.md', overview(groups, written)]]);
  for (const name of written.keys()) rmSync(`${folder}/${name}`);
  for (const [name, text] of withTypes(all)) writeFileSync(`${folder}/${name}`, text);
}

const isFunction = (text) => /^# \w+\(\)$/m.test(text);

/** A function begins with what it does, and its signature follows. */
function sentenceFirst(text) {
  const start = /(^# \w+\(\)\n\n)((?:## .*\n\n)?```ts\n[^`]*```\n\n)([A-Z][^\n]*(?:\n[^\n#`]+)*\n\n)/m;
  return text.replace(start, '$1$3$2');
}

/** The page of each type: that of the first function, class or import of its group that leads to it, or that of the group. */
function hostsOf(pages) {
  const names = [...pages.keys()];
  const isHost = (name) =>
    /^(?:Entries\/|index)/.test(name) ||
    isFunction(pages.get(name)) ||
    /^# (?:\w+Error|Client|Product)$/m.test(pages.get(name));
  const hosts = new Map(names.filter(isHost).map((name) => [name, name]));
  // Nearest first: what a page links to is on it, unless a page before it has it.
  for (const [name, host] of hosts) {
    const [group] = name.split('/');
    for (const [, folder = group, file] of pages.get(name).matchAll(LINK)) {
      const linked = `${folder}/${file}`;
      if (folder === group && pages.has(linked) && !hosts.has(linked)) hosts.set(linked, host);
    }
  }
  for (const name of names) if (!hosts.has(name)) hosts.set(name, `${name.split('/')[0]}/types.md`);
  return hosts;
}

/** Moves each type to the page of its host, below a heading of its own. */
function withTypes(pages) {
  const hosts = hostsOf(pages);
  const titleOf = (name) => /^# ([\w./-]+)/m.exec(pages.get(name))[1];
  const onPage = (name) => (text) =>
    text.replaceAll(
      /\]\((?:\.{1,2}\/(\w+)\/)?(accounting-data-sdk[\w.-]*\.md)(#[\w-]+)?/g,
      (_, folder, file, anchor = '') => {
        const target = `${folder ?? name.split('/')[0]}/${file}`;
        const host = hosts.get(target) ?? target;
        const isMoved = host !== target;
        const at = isMoved ? `#${titleOf(target).toLowerCase()}${anchor.replace('#', '-')}` : anchor;
        if (host === hosts.get(name) && at !== '') return `](${at}`;
        return `](${name === 'index.md' ? './' : '../'}${host}${at}`;
      },
    );
  const moved = Map.groupBy(
    [...hosts].filter(([name, host]) => name !== host),
    ([, host]) => host,
  );
  const result = new Map();
  for (const host of new Set(hosts.values())) {
    const types = (moved.get(host) ?? []).map(([name]) =>
      onPage(name)(section(titleOf(name), pages.get(name))),
    );
    const own =
      pages.get(host) ??
      `---\npageClass: api\noutline: 2\n---\n\n# ${host.split('/')[0]}\n\nThe types of this group that are not on the page of a function.\n`;
    result.set(host, [onPage(host)(own).trimEnd(), ...types].join('\n\n'));
  }
  return result;
}

/** A page as a section of another one. Several types of a page have a method of one name. */
function section(title, text) {
  const name = title.toLowerCase();
  return text
    .replace(/^---.*?^---\n+/ms, '')
    .replaceAll(/^## Properties\n\n/gm, '')
    .replaceAll(/^(#+) /gm, '#$1 ')
    .replaceAll(
      /^(#+ )(\w+)\(\)$/gm,
      (_, level, method) => `${level}${method}() {#${name}-${method.toLowerCase()}}`,
    )
    .replaceAll('](#', `](#${name}-`)
    .replaceAll('<a id="', `<a id="${name}-`);
}

/** Leaves out dashes for what has no description, and options that a type only rules out. */
function tidy(text) {
  return (
    text
      .replaceAll(/^\|.*\?` \| `undefined` \| - \|\n/gm, '')
      .replace(/^\| {2}\| Description \|\n.*\n/m, '')
      .replaceAll(/ \| - \|$/gm, ' | |')
      // The first bar of a union, and what an iterator returns besides its values.
      .replaceAll(/(?<=^\|[^|]*\| )\\\| /gm, '')
      .replaceAll(', `any`, `any`', '')
      // A list in a cell.
      .replaceAll(/(?<=^\|.*) - (?=`[^`]+`: )/gm, '<br>')
      .replaceAll('|<br>', '| ')
      .replaceAll(/ \*\*Default\*\* `undefined`(?= \|$)/gm, '')
      .replaceAll(/\*\*Default\*\* (.*?)(?= \|$)/gm, 'Default: $1.')
  );
}

function withOptions(name, text, pages) {
  const [group] = name.split('/');
  return text.replaceAll(PARAMETERS, (section) => {
    const [, folder = group, file] =
      /^\|[^|]*options\??` \| \[[^\]]*\]\((?:\.\.\/(\w+)\/)?([\w.-]+Options(?:-1)?\.md)\)/m.exec(section) ??
      [];
    const [, table] = PROPERTIES.exec(pages.get(`${folder}/${file}`) ?? '') ?? [];
    if (table === undefined) return section;
    const [head, rule, ...rows] = table.trimEnd().split('\n');
    const isOptional = (row) => Number(/^\|[^|]*\?`/.test(row));
    const sorted = rows.toSorted((one, other) => isOptional(one) - isOptional(other));
    const options = `${[head, rule, ...sorted].join('\n')}\n`
      .replace('| Property |', '| Option |')
      .replaceAll(/<a id="[^"]*"><\/a> /g, '')
      .replaceAll(LINK, (_link, other = folder, page) => `](../${other}/${page}`);
    const [level] = /^#+/.exec(section);
    return `${section}\n${level} Options\n\n${options}`;
  });
}

/** The first sentence of a page, up to a colon. */
function summaryOf(text, end = /^(.*?[.:])(?:\s|$)/s) {
  const [, summary = ''] =
    /^(?:#.*|```[^`]*```|\s)*\n\n(?=\S)((?:[^\n]+\n?)+)/m.exec(text.replace(/^---.*?^---\n/ms, '')) ?? [];
  const [, sentence] = end.exec(summary.trim()) ?? [];
  return (sentence ?? summary.trim()).replaceAll(/\s+/g, ' ').replace(/:$/, '.');
}

/** All exports by task: what can be called with a sentence each, and the names of the types. */
function overview(groups, pages) {
  const sections = groups.map((group) => {
    const own = [...pages].filter(([name]) => name.startsWith(`${group}/`));
    const entries = own.map(([path, text]) => {
      const [, title] = /^# (.*)$/m.exec(text);
      const from = (target) =>
        target.replaceAll(LINK, (_link, other = group, page) => `](./${other}/${page}`);
      return {
        title,
        link: `[${title}](./${path})`,
        summary: from(summaryOf(text, group === 'Entries' ? /^(.*?\.)(?:\s|$)/s : undefined)),
      };
    });
    const isListed = ({ title }) => group === 'Entries' || /^[a-z]/.test(title);
    const rows = entries.filter(isListed).map(({ link, summary }) => `| ${link} | ${summary} |\n`);
    const types = entries.filter((entry) => !isListed(entry)).map(({ link }) => link);
    const heading = group === 'Entries' ? ['Import', 'For'] : ['Name', 'Description'];
    return [
      `## ${group}`,
      ...(rows.length === 0 ? [] : [`| ${heading.join(' | ')} |\n|---|---|\n${rows.join('')}`]),
      ...(types.length === 0 ? [] : [`Types: ${types.join(' · ')}`]),
    ].join('\n\n');
  });
  const lead =
    'Everything that the package exports, by task. [Options](../options.md) has all options on one page.';
  return `---\npageClass: api overview\n---\n\n# API reference\n\n${lead}\n\n${sections.join('\n\n')}\n`;
}
