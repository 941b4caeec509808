import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { root } from './code-blocks.ts';

test('llms.txt names every guide of the package once', () => {
  const guides = globSync('src/guides/*.md', { cwd: root }).filter((path) => !path.endsWith('/index.md'));
  const named = [...readFileSync(`${root}llms.txt`, 'utf8').matchAll(/\]\((src\/guides\/[^)]+)\): .{20}/g)];
  expect(named.map(([, path]) => path).toSorted()).toEqual(guides.toSorted());
});
