import { existsSync, globSync, readFileSync } from 'node:fs';
import { describe, expect, test, vi } from 'vitest';
import { main } from '../../../src/cli/main.ts';
import { namesIn, root, tableRows, writeCodeBlocks } from './code-blocks.ts';

const blocks = writeCodeBlocks('README.md');

describe('the code in the README', () => {
  test('begins with a complete program of at most 12 lines', () => {
    expect(blocks[0]?.code).toContain("from 'accounting-data-sdk'");
    expect(blocks[0]?.code.trimEnd().split('\n').length).toBeLessThanOrEqual(12);
  });

  test('begins with a program that prints records of the sandbox, without any set-up', async () => {
    vi.stubEnv('ACCOUNTING_BASE_URL', '');
    vi.stubEnv('ACCOUNTING_API_KEY', '');
    const log = vi.spyOn(console, 'log').mockImplementation(() => {});
    await import(/* @vite-ignore */ `${blocks[0]?.file}?alone`);
    expect(log.mock.calls).toContainEqual(['account', '1', expect.any(String)]);
    expect(log.mock.calls.at(-1)).toEqual(['created', expect.any(String), '129.0000']);
  });

  test('creates one record in two attempts, as its comment says', async () => {
    const lost = blocks.find(({ code }) => code.includes('lost-response'));
    const log = vi.spyOn(console, 'log').mockImplementation(() => {});
    await import(/* @vite-ignore */ `${lost?.file}?again`);
    expect(log.mock.calls).toEqual([[1, 2]]);
    expect(lost?.code).toContain('; // 1 2');
  });
});

describe('the commands in the README', () => {
  const lines = readFileSync(`${root}README.md`, 'utf8').split('\n');
  const commands = lines.flatMap((line) => {
    const [, name = '', flags = ''] = /npx accounting-data-sdk (\w+)([^#`]*)/.exec(line) ?? [];
    return name === '' ? [] : [{ name, flags: flags.match(/--[a-z-]+/g) ?? [] }];
  });

  test('include the script of each example', () => {
    const rows = tableRows('examples/README.md', '`npm ci && npm run …`');
    const scripts = rows.flatMap(([cell = '']) => namesIn(cell));
    const files = globSync(['examples/*.ts', 'examples/*/package.json'], { cwd: root });
    const names = files.map((path) => path.replace(/^examples\/(.+?)(?:\.ts|\/package\.json)$/, '$1'));
    const runnable = names.filter((name) => name !== 'run' && !name.endsWith('.test'));
    const expected = runnable.map((name) => (name === 'quickstart' ? name : `example ${name}`));
    expect(scripts.toSorted()).toEqual(expected.toSorted());
    for (const [cell = ''] of rows)
      expect(existsSync(`${root}examples/${/\((.+)\)/.exec(cell)?.[1]}`)).toBe(true);
  });

  test.for(commands)('take the flags that are shown: $name $flags', async ({ name, flags }) => {
    const help: string[] = [];
    const signal = new AbortController().signal;
    const io = { out: (text: string) => help.push(text), log: () => {}, env: {}, colors: false, signal };
    expect(await main([name, '--help'], io)).toBe(0);
    for (const flag of flags) expect(help.join('\n')).toMatch(new RegExp(`^  (?:-\\w, )?${flag} `, 'm'));
  });
});
