import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const read = (path: string) => readFileSync(root + path, 'utf8');

interface Example {
  readonly name: string;
  /** What it shows, in the words of the README. */
  readonly shows: string;
  readonly path: string;
}

/** The examples in the order of the README, then those that only have tests. */
export function pages(): Example[] {
  const rows = read('README.md').matchAll(/^\| \[`(?:example )?([\w-]+)`\]\((examples\/\S+)\) \| (.+) \|$/gm);
  const started = [...rows].map(([, name = '', path = '', shows = '']) => ({ name, path, shows }));
  const path = 'examples/connector-tests/README.md';
  return [
    ...started,
    { name: 'connector-tests', path, shows: "tests of connectors with vitest, Jest and Node's own runner" },
  ];
}

function fenced(path: string): string {
  return `\`\`\`${path.endsWith('.ts') ? 'ts' : 'js'}\n${read(path)}\n\`\`\``;
}

/** The page of an example in one file. */
function filePage({ name, path, shows }: Example): string {
  const intro = `It shows ${shows}. \`npm run ${name === 'quickstart' ? '' : 'example '}${name}\` runs it in a checkout.`;
  return [`# ${name}`, intro, fenced(path)].join('\n\n');
}

/** The page of an example with a folder: its README, then its sources. Links into the repository become text. */
function folderPage({ path }: Example): string {
  const folder = path.replace('README.md', '');
  const sources = globSync(`${folder}**/*.{ts,mjs,cjs}`, { cwd: root, exclude: ['**/node_modules'] }).sort();
  const text = read(path).replace(/\[([^\]]+)\]\((?!https:)[^)]*\)/g, '$1');
  const files = sources.map((source) => `### ${source.slice(folder.length)}\n\n${fenced(source)}`);
  return [text, '## Sources', ...files].join('\n\n');
}

export default {
  watch: ['../../../examples/**/*', '../../../README.md'],
  paths: () =>
    pages().map((example) => ({
      params: { name: example.name },
      content: example.path.endsWith('.md') ? folderPage(example) : filePage(example),
    })),
};
