import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle } from '../../package/installed/support/bundle.ts';
import { pack } from '../../package/installed/support/pack.ts';
import type { Effort, Findings } from '../support/part.ts';

const folder = fileURLToPath(new URL('../', import.meta.url));

const PROGRAMS = {
  'accounting-data-sdk, all of it': "export * from './dist/index.js';",
  'accounting-data-sdk, a list': `
    import { createClient } from './dist/index.js';
    for await (const account of createClient({ apiKey: 'key' }).accounts.list()) console.log(account.id);`,
  ky: "export * from 'ky'; export { default } from 'ky';",
  notion: "export * from '@notionhq/client';",
  'octokit core': "export * from '@octokit/core';",
  stripe: "export * from 'stripe'; export { default } from 'stripe';",
  openai: "export * from 'openai'; export { default } from 'openai';",
  'zod (import * as z)': "import * as z from 'zod'; z.looseObject({ id: z.string() }).parse({});",
} as const;

const kB = (bytes: number) => bytes / 1000;

export async function size(_: Effort): Promise<Findings> {
  const names = Object.keys(PROGRAMS) as (keyof typeof PROGRAMS)[];
  const bundles = await Promise.all(names.map((name) => bundle(PROGRAMS[name], folder)));
  const sizes = bundles.map(({ atOnce, later }) => ({ atOnce: kB(atOnce.size), later: kB(later.size) }));
  const [all, list] = sizes;
  const unpacked = await unpackedSize();
  return {
    tables: [
      {
        title: 'Bundled for a browser, kB after gzip',
        columns: ['what', 'at once', 'later'],
        rows: sizes.map(({ atOnce, later }, index) => [
          names[index] ?? '',
          atOnce.toFixed(1),
          later === 0 ? '' : later.toFixed(1),
        ]),
      },
      {
        title: 'The tarball, kB unpacked',
        columns: ['without the command', 'the command'],
        rows: [[unpacked.library.toFixed(0), unpacked.command.toFixed(0)]],
      },
    ],
    figures: {
      atOnce: list?.atOnce ?? Number.NaN,
      all: (all?.atOnce ?? Number.NaN) + (all?.later ?? Number.NaN),
      tarball: unpacked.library + unpacked.command,
    },
  };
}

/** What npm would publish. */
async function unpackedSize(): Promise<{ library: number; command: number }> {
  const stage = await mkdtemp(join(tmpdir(), 'accounting-bench-'));
  try {
    const { files, unpackedSize: whole } = await pack(stage);
    const command = files
      .filter(({ path }) => path.startsWith('dist/cli'))
      .reduce((sum, { size: bytes }) => sum + bytes, 0);
    return { library: kB(whole - command), command: kB(command) };
  } finally {
    await rm(stage, { recursive: true, force: true });
  }
}
