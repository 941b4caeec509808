import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { EXIT_HELP } from '../../../src/cli/errors.ts';
import { folder, main, openSandbox } from '../../explore/command/support/run.ts';
import { root } from './code-blocks.ts';

const guide = readFileSync(`${root}src/guides/command.md`, 'utf8');
const [, csv = ''] = /^```csv\n(.*?)^```$/ms.exec(guide) ?? [];
const sessions = [...guide.matchAll(/^```text\n\$ npx accounting-data-sdk (.*?)\n(.*?)^```$/gms)].map(
  ([, command = '', printed = '']) => ({ command, printed }),
);

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
  let printed = '';
  const print = (text: string) => {
    printed += `${text}\n`;
  };
  const signal = new AbortController().signal;
  await main(args, { out: print, log: print, env, colors: false, cwd: path(''), signal });
  return printed
    .replaceAll(path(''), '')
    .replace(/\d+\.\d s/, '0.2 s')
    .replace(/\n+/g, '\n');
}

describe('the output in the guide to the command', () => {
  test('is shown for pull, push and probe', () => {
    expect(sessions.map(({ command }) => command.split(' ')[0])).toEqual(['probe', 'pull', 'push']);
  });

  // A line of `…` stands for lines that are left out.
  test.for(sessions)('is what the command prints: $command', async ({ command, printed }) => {
    const parts = printed.split('…\n').map((part) => part.replaceAll(/[^\w\s]/g, '\\$&'));
    expect(await terminal(command)).toMatch(new RegExp(`^${parts.join('(?:.*\\n)*')}$`));
  });
});

test('the guide to the command has the exit codes of its help', () => {
  const [, ...codes] = EXIT_HELP.trim().split('\n');
  expect(guide).toContain(`\`\`\`text\n${codes.map((line) => line.slice(2)).join('\n')}\n\`\`\``);
});
