import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const read = (path: string) => readFileSync(root + path, 'utf8');

interface Example {
  readonly name: string;
  /** What it shows, in the words of `examples/README.md`. */
  readonly shows: string;
  readonly path: string;
}

/** The examples in the order of `examples/README.md`, then those that only have tests. */
export function pages(): Example[] {
  const rows = read('examples/README.md').matchAll(/^\| \[`(?:example )?([\w-]+)`\]\((\S+)\) \| (.+) \|$/gm);
  const started = [...rows].map(([, name = '', path = '', shows = '']) => ({
    name,
    path: `examples/${path}`,
    shows,
  }));
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

/** The page of an example with a folder: its README, then the names of its files. Links into the repository become text. */
function folderPage({ path }: Example): string {
  const folder = path.replace('README.md', '');
  const sources = globSync(`${folder}**/*.{ts,mjs,cjs}`, { cwd: root, exclude: ['**/node_modules'] }).sort();
  const text = read(path).replace(/\[([^\]]+)\]\((?!https:)[^)]*\)/g, '$1');
  const files = sources.map((source) => `- \`${source}\``);
  return `${text}\n\n## Sources\n\n${files.join('\n')}\n`;
}

export default {
  watch: ['../../../examples/**/*', '../../../examples/README.md'],
  paths: () =>
    pages().map((example) => ({
      params: { name: example.name },
      content: example.path.endsWith('.md') ? folderPage(example) : filePage(example),
    })),
};
