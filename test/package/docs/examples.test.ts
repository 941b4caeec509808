import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { root } from './code-blocks.ts';

const readmes = globSync('examples/*/README.md', { cwd: root }).toSorted();
const projects = readmes.filter((readme) => existsSync(join(root, dirname(readme), 'package.json')));

describe('the README of an example', () => {
  test.for(readmes)('links to files that exist: %s', (readme) => {
    const text = readFileSync(join(root, readme), 'utf8');
    for (const [, target = ''] of text.matchAll(/\]\((?!https:)([^)#]+)\)/g)) {
      expect(existsSync(join(root, dirname(readme), target)), target).toBe(true);
    }
  });

  test.for(projects)('begins with one command, and builds what it installs from: %s', (readme) => {
    const example = basename(dirname(readme));
    const blocks = [...readFileSync(join(root, readme), 'utf8').matchAll(/^```sh\n(.*?)^```$/gms)];
    const [first, second] = blocks.map(([, code = '']) => code);
    expect(first).toBe(`npm ci && npm run example ${example}\n`);
    expect(second).toMatch(new RegExp(`^npm ci && npm run build\\ncd examples/${example} && npm install\\n`));
  });

  test('is there for each of them', () => {
    expect(projects.length).toBeGreaterThanOrEqual(3);
  });
});
