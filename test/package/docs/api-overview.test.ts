import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { apiOverview, entries } from './api-overview.ts';
import { root } from './code-blocks.ts';

test('is as the source has it; vitest -u writes it', {
  timeout: 60_000,
}, async () => {
  await expect(apiOverview()).toMatchFileSnapshot('../../../src/guides/api-overview.md');
});

test('has a sentence for every export of every entry', async () => {
  const text = readFileSync(`${root}src/guides/api-overview.md`, 'utf8');
  for (const [name, file] of entries()) {
    const section = text.split(/^## /m).find((part) => part.startsWith(`${name}\n`)) ?? '';
    const face: object = await import(/* @vite-ignore */ file);
    for (const exported of Object.keys(face)) {
      expect(section, name).toMatch(new RegExp(`^- \`${exported}\\b.*: \\S`, 'm'));
    }
    expect(section).not.toMatch(/: $/m);
  }
});
