import { globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';

const examples = fileURLToPath(new URL('../../../examples/', import.meta.url));
const read = (path: string) => readFileSync(examples + path, 'utf8');

function fenced(path: string): string {
  return `\`\`\`${path.endsWith('.ts') ? 'ts' : 'js'}\n${read(path)}\n\`\`\``;
}

/** The page of an example in one file. */
function filePage(path: string) {
  const name = basename(path, '.ts');
  return { params: { name }, content: `# ${name}\n\n${fenced(path)}` };
}

/** The page of an example with a folder: its README, then its sources. Links into the repository become text. */
function folderPage(readme: string) {
  const name = readme.replace('/README.md', '');
  const sources = globSync(`${name}/**/*.{ts,mjs,cjs}`, {
    cwd: examples,
    exclude: ['**/node_modules'],
  }).sort();
  const text = read(readme).replace(/\[([^\]]+)\]\((?!https:)[^)]*\)/g, '$1');
  const files = sources.map((path) => `### ${path.slice(name.length + 1)}\n\n${fenced(path)}`);
  return { params: { name }, content: [text, '## Sources', ...files].join('\n\n') };
}

export default {
  watch: ['../../../examples/**/*'],
  paths: () => [
    ...globSync('*.ts', { cwd: examples }).sort().map(filePage),
    ...globSync('*/README.md', { cwd: examples }).sort().map(folderPage),
  ],
};
