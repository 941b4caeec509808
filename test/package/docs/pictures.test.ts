import { globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { expect, test } from 'vitest';
import { root } from './code-blocks.ts';

const pages = ['README.md', ...globSync('src/guides/*.md', { cwd: root })];
const shown = pages.flatMap((page) => {
  const text = readFileSync(`${root}${page}`, 'utf8');
  return [...text.matchAll(/!\[([^\]]*)\]\((?:src\/guides\/)?pictures\/(\w+)\.svg\)/g)].map(
    ([, alternative = '', name = '']) => ({ alternative, name }),
  );
});

test('every picture is shown once, with a text alternative', () => {
  const files = globSync('src/guides/pictures/*', { cwd: root }).map((file) => basename(file, '.svg'));
  expect(shown.map(({ name }) => name).toSorted()).toEqual(files.toSorted());
  for (const { alternative } of shown) expect(alternative).toMatch(/^[A-Z].{60,}\.$/);
});
