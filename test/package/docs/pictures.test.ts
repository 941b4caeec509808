import { globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { expect, test } from 'vitest';
import { pictures } from '../../../src/guides/.vitepress/pictures.ts';
import { root } from './code-blocks.ts';

const drawn = await pictures();
const pages = ['README.md', ...globSync('src/guides/*.md', { cwd: root })];
const shown = pages.flatMap((page) => {
  const text = readFileSync(`${root}${page}`, 'utf8');
  return [...text.matchAll(/!\[([^\]]*)\]\((?:src\/guides\/)?pictures\/(\w+)\.svg\)/g)].map(
    ([, alternative = '', name = '']) => ({ alternative, name }),
  );
});

test('every picture is shown once, with a text alternative', () => {
  expect(shown.map(({ name }) => name).toSorted()).toEqual(Object.keys(drawn).toSorted());
  for (const { alternative } of shown) expect(alternative).toMatch(/^[A-Z].{60,}\.$/);
});

test('no picture is left over', () => {
  const files = globSync('src/guides/pictures/*', { cwd: root }).map((file) => basename(file, '.svg'));
  expect(files.toSorted()).toEqual(Object.keys(drawn).toSorted());
});

test.each(Object.entries(drawn))('the picture %s is what `npm run docs:pictures` draws', (name, svg) => {
  expect(readFileSync(`${root}src/guides/pictures/${name}.svg`, 'utf8')).toBe(svg);
});

test('the picture of keyset pagination shows a record that only the list by page misses', () => {
  const [byPage = '', byKeyset = ''] = (drawn.keyset ?? '').split('By keyset');
  expect(byPage).toMatch(/missed: \d+/);
  expect(byKeyset).toContain('every record was read');
});
