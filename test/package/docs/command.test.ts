import { writeFileSync } from 'node:fs';
import { expect, onTestFinished, test, vi } from 'vitest';
import { EXIT_HELP } from '../../../src/cli/errors.ts';
import { folder, main, openSandbox } from '../../explore/command/support/run.ts';
import { read, writeCodeBlocks } from './code-blocks.ts';

const guide = read('src/guides/command.md');
const [, csv = ''] = /^```csv\n(.*?)^```$/ms.exec(guide) ?? [];
const sessions = [...guide.matchAll(/^```text\n\$ npx accounting-data-sdk (.*?)\n(.*?)^```$/gms)];

/** Runs a command in a terminal on fixed data. A duration is always 0.2 s. */
async function terminal(command: string): Promise<string> {
  const { sandbox, env } = openSandbox({
    seed: 1,
    clock: '2026-01-31T12:00:00Z',
    records: { accounts: 95, products: 64 },
    pageParameter: 'page',
    pageSizeParameter: 'itemsPerPage',
  });
  sandbox.store.products.insert({ productNumber: 'DESK-140', name: 'Desk 140', salePrice: '119.0000' });
  const path = folder();
  writeFileSync(path('products.csv'), csv);
  const args = command.split(' ').map((arg) => (/\.\w+$/.test(arg) ? path(arg) : arg));
  const printed: string[] = [];
  const print = (text: string) => void printed.push(text);
  const { signal } = new AbortController();
  // A slow machine prints progress after three seconds.
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  await main(args, { out: print, log: print, env, colors: false, cwd: path(''), signal });
  const text = `${printed.join('\n')}\n`.replaceAll(path(''), '');
  return text.replace(/\d+\.\d s/, '0.2 s').replace(/\n+/g, '\n');
}

// A line of `…` stands for lines that are left out.
test.each(['probe', 'pull', 'push'])('the guide to the command shows what %s prints', async (name) => {
  const [, command = '', shown = ''] = sessions.find(([, line]) => line?.startsWith(name)) ?? [];
  const parts = shown.split('…\n').map((part) => part.replaceAll(/[^\w\s]/g, '\\$&'));
  expect(await terminal(command)).toMatch(new RegExp(`^${parts.join('(?:.*\\n)*')}$`));
});

test('the guide to the command has the exit codes of its help', () => {
  const [, ...codes] = EXIT_HELP.trim().split('\n');
  expect(guide).toContain(`\`\`\`text\n${codes.map((line) => line.slice(2)).join('\n')}\n\`\`\``);
});

test('the commands in the README take the flags that are shown', async () => {
  const commands = [...read('README.md').matchAll(/npx accounting-data-sdk (\w+)([^#`\n]*)/g)];
  for (const [, name = '', flags = ''] of commands) {
    const help: string[] = [];
    const { signal } = new AbortController();
    const out = (text: string) => void help.push(text);
    expect(await main([name, '--help'], { out, log: () => {}, env: {}, colors: false, signal })).toBe(0);
    for (const flag of flags.match(/--[a-z-]+/g) ?? [])
      expect(help.join('\n')).toMatch(new RegExp(`^  (?:-\\w, )?${flag} `, 'm'));
  }
  expect(commands.length).toBeGreaterThan(3);
});

test('the README shows a create that takes two attempts and creates one record, as its comment says', async () => {
  const lost = writeCodeBlocks('README.md').find(({ code }) => code.includes('lost-response'));
  const log = vi.spyOn(console, 'log').mockImplementation(() => {});
  await import(/* @vite-ignore */ `${lost?.file}?again`);
  expect(log.mock.calls).toEqual([[1, 2]]);
  expect(lost?.code).toContain('; // 1 2');
});
