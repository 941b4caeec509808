import { readFileSync } from 'node:fs';
import { expect, test, vi } from 'vitest';
import { main } from '../../../src/cli/main.ts';
import { root, writeCodeBlocks } from './code-blocks.ts';

const blocks = writeCodeBlocks('README.md');

test('the README shows a create that takes two attempts and creates one record, as its comment says', async () => {
  const lost = blocks.find(({ code }) => code.includes('lost-response'));
  const log = vi.spyOn(console, 'log').mockImplementation(() => {});
  await import(/* @vite-ignore */ `${lost?.file}?again`);
  expect(log.mock.calls).toEqual([[1, 2]]);
  expect(lost?.code).toContain('; // 1 2');
});

const lines = readFileSync(`${root}README.md`, 'utf8').split('\n');
const commands = lines.flatMap((line) => {
  const [, name = '', flags = ''] = /npx accounting-data-sdk (\w+)([^#`]*)/.exec(line) ?? [];
  return name === '' ? [] : [{ name, flags: flags.match(/--[a-z-]+/g) ?? [] }];
});

test.for(commands)(
  'a command in the README takes the flags that are shown: $name $flags',
  async ({ name, flags }) => {
    const help: string[] = [];
    const signal = new AbortController().signal;
    const io = { out: (text: string) => help.push(text), log: () => {}, env: {}, colors: false, signal };
    expect(await main([name, '--help'], io)).toBe(0);
    for (const flag of flags) expect(help.join('\n')).toMatch(new RegExp(`^  (?:-\\w, )?${flag} `, 'm'));
  },
);
