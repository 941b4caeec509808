import { execFile, spawnSync } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { createSandbox } from 'accounting-data-sdk/testing';
import { expect, onTestFinished, test } from 'vitest';
import { bundle } from '../../explore/command/support/process.ts';
import { folder } from '../../explore/command/support/run.ts';
import { read, tableRows } from './code-blocks.ts';

const run = promisify(execFile);
const guide = read('src/guides/any-language.md');

/** The fenced blocks: language and content. */
const blocks = [...guide.matchAll(/^```(\w+)\n(.*?)^```/gms)].map(
  ([, name = '', code = '']) => [name, code] as const,
);

const isInstalled = (command: string) => spawnSync(command, ['--version']).status === 0;

test.each([
  ['python', 'python3', 'py'],
  ['sh', 'bash', 'sh'],
  ['php', 'php', 'php'],
])('the program of the guide in %s prints what is shown', async (language, command, extension) => {
  const at = blocks.findIndex(([name, code]) => name === language && code.includes('ACCOUNTING_BASE_URL'));
  const [[, program = ''] = [], [output, shown = ''] = []] = blocks.slice(at, at + 2);
  expect([output, shown]).toEqual(['text', expect.stringMatching(/\w/)]);
  if (!isInstalled(command)) return console.log(`${command} is not installed: its program was not run.`);

  const sandbox = createSandbox({ seed: 1 });
  await sandbox.listen({ control: true });
  onTestFinished(() => sandbox.close());
  const path = folder();
  writeFileSync(path(`program.${extension}`), program);
  // The command of this package, as npx would start it.
  writeFileSync(path('npx'), `#!/bin/sh\nshift\nexec '${process.execPath}' '${bundle}' "$@"\n`);
  chmodSync(path('npx'), 0o755);
  const { stdout } = await run(command, [path(`program.${extension}`)], {
    cwd: path(''),
    env: {
      PATH: `${path('')}:${process.env.PATH}`,
      ACCOUNTING_BASE_URL: sandbox.baseUrl,
      ACCOUNTING_API_KEY: sandbox.keys.full,
    },
  });
  expect(stdout).toBe(shown);
});

test('every request in the table of the guide exists', async () => {
  const sandbox = createSandbox({ records: { products: 8 } });
  const { url } = await sandbox.listen({ control: true });
  onTestFinished(() => sandbox.close());
  const rows = tableRows('src/guides/any-language.md', 'request');
  const paths = rows.flatMap(([requests = '']) =>
    [...requests.matchAll(/(?:\/[\w?=.<>]+)+/g)].map(([path]) => path.replace(/<\w+>/, '1')),
  );
  expect(paths.length).toBeGreaterThan(15);
  for (const path of paths) {
    const response = await fetch(`${url}/_sandbox${path}`, { method: 'PUT' }).then(async (rejected) => ({
      status: rejected.status,
      text: await rejected.text(),
    }));
    expect([path, response.status]).toEqual([path, 415]);
    const known = await fetch(`${url}/_sandbox${path}`, {
      method: 'PUT',
      headers: { 'Content-Type': 'application/json' },
    });
    expect([path, known.status]).toEqual([path, 405]);
  }
});
