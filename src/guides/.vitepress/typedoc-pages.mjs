import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';

// What is made of the pages that TypeDoc has written: the options of a function on its own page, and the overview.

/** The table of parameters, and the table of members of an interface, each with its heading. */
const PARAMETERS = /^#+ Parameters\n\n(?:\|.*\n)+/gm;
const PROPERTIES = /^## Properties\n\n((?:\|.*\n)+)/m;

/** A link to another page of the reference: its folder, if it is another one, and its file. */
const LINK = /\]\((?:\.\.\/(\w+)\/)?(accounting-data-sdk[\w.-]+\.md)/g;

/** Adds the options to the page of each function that takes some, and writes the overview. */
export function completePages(folder, groups) {
  const pages = new Map(
    groups.flatMap((group) =>
      globSync(`${folder}/${group}/*.md`).map((file) => [
        `${group}/${basename(file)}`,
        tidy(readFileSync(file, 'utf8')),
      ]),
    ),
  );
  for (const [name, text] of pages) {
    const isFunction = /^# \w+\(\)$/m.test(text);
    writeFileSync(`${folder}/${name}`, isFunction ? withOptions(name, text, pages) : text);
  }
  writeFileSync(`${folder}/index.md`, overview(groups, pages));
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
