import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { copyFile, mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { expect, inject, test } from 'vitest';
import { node, nodeIn } from './support/run.ts';

const read = (path: string) =>
  readFileSync(fileURLToPath(new URL(`../../../${path}`, import.meta.url)), 'utf8');

test.each(['README.md', 'src/guides/first-steps.md'])(
  'the first program of %s prints what is shown, and its commands run in an empty folder, without a checkout',
  async (document) => {
    const { project } = inject('installed');
    const [, program = ''] = /^```js\n(.*?)^```$/ms.exec(read(document)) ?? [];
    const [, printed = ''] = /^```text\n(.*?)^```$/ms.exec(read(document)) ?? [];
    await writeFile(join(project, 'first.mjs'), program);

    // npx runs this file of the installed package. Port 0 instead of 4010, which may be in use.
    const bin = join(project, 'node_modules/accounting-data-sdk/dist/cli.js');
    const [, flags = ''] = /^npx accounting-data-sdk sandbox (.*)$/m.exec(read(document)) ?? [];
    const sandbox = spawn(process.execPath, [bin, 'sandbox', '--port', '0', ...flags.split(' ')], {
      cwd: project,
      stdio: ['ignore', 'ignore', 'pipe'],
    }) as ChildProcess & { readonly stderr: Readable };
    try {
      await once(sandbox.stderr, 'data');
      const { code, output } = await node('--env-file=.env', 'first.mjs');
      expect({ code, output }).toEqual({ code: 0, output: printed });

      const folder = await mkdtemp(join(project, 'empty-'));
      await copyFile(join(project, '.env'), join(folder, '.env'));
      const commands = [...read(document).matchAll(/^npx accounting-data-sdk (?!sandbox)([^#\n]*)/gm)];
      expect(commands.length).toBeGreaterThan(1);
      for (const [, args = ''] of commands) {
        const ran = await nodeIn(folder, bin, ...args.trim().split(/\s+/));
        expect(ran, args).toMatchObject({ code: 0 });
      }
    } finally {
      sandbox.kill();
      await once(sandbox, 'exit');
    }
  },
);
