import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from './code-blocks.ts';

const documents = globSync(
  ['README.md', 'src/README.md', '.github/CONTRIBUTING.md', 'src/guides/*.md', 'examples/*/README.md'],
  { cwd: root },
).toSorted();

/** The anchors of the headings, as GitHub and VitePress form them. */
function anchorsOf(text: string): string[] {
  const headings = text.replace(/^```.*?^```$/gms, '').matchAll(/^#+ (.+)$/gm);
  return [...headings].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\w\s-]/g, '')
      .replaceAll(' ', '-'),
  );
}

test.for(documents)('links lead to files and headings that exist: %s', (document) => {
  const text = readFileSync(root + document, 'utf8');
  const dead = [...text.matchAll(/\]\((?!https:)([^)#]*)(?:#([^)]+))?\)/g)].filter(
    ([, path = '', anchor]) => {
      const target = root + (path === '' ? document : join(dirname(document), path));
      return !existsSync(target) || (anchor && !anchorsOf(readFileSync(target, 'utf8')).includes(anchor));
    },
  );
  expect(dead.map(([link]) => link)).toEqual([]);
});
