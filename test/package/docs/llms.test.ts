import { existsSync, globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { root } from './code-blocks.ts';

const lines = readFileSync(`${root}llms.txt`, 'utf8').matchAll(/^- \[([^\]]+)\]\(([^)]+)\)(?:: (.+))?$/gm);
const entries = [...lines].map(([, title = '', path = '', about = '']) => ({ title, path, about }));

test('llms.txt names every guide of the package once', () => {
  const guides = globSync('src/guides/*.md', { cwd: root }).filter((path) => !path.endsWith('/index.md'));
  const named = entries.map(({ path }) => path).filter((path) => path.startsWith('src/guides/'));
  expect(named.toSorted()).toEqual(guides.toSorted());
});

test.each(entries)('llms.txt says what is in $path, under its title', ({ title, path, about }) => {
  expect(existsSync(`${root}${path}`)).toBe(true);
  expect(about.length).toBeGreaterThan(20);
  if (path.startsWith('src/guides/')) {
    expect(readFileSync(`${root}${path}`, 'utf8')).toMatch(new RegExp(`^# ${title}$`, 'm'));
  }
});
