import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/** What a run of the command came to. */
export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly log: string;
}

/** Where the service is, and the key: as the environment says it. */
export type Settings = Readonly<Record<string, string | undefined>>;

/** The command in one file, as it is published: a process of it starts much faster than one of its sources. */
const bundle = join(mkdtempSync(join(tmpdir(), 'accounting-command-')), 'cli.mjs');
await build({
  entryPoints: [fileURLToPath(new URL('../../../../src/cli/bin.ts', import.meta.url))],
  outfile: bundle,
  bundle: true,
  platform: 'node',
  format: 'esm',
  logLevel: 'error',
});

/** To be called when no more processes are started. */
export function removeBundle(): void {
  rmSync(dirname(bundle), { recursive: true, force: true });
}

/** Starts the command as a process of its own. */
export function start(
  env: Settings,
  args: readonly string[],
  /** Where standard output goes. Default: into `out`. */
  stdout: 'pipe' | number = 'pipe',
): ChildProcess & { readonly ended: Promise<Ran & { signal: string | null }> } {
  const child = spawn(process.execPath, [bundle, ...args], {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['pipe', stdout, 'pipe'],
  }) as ChildProcess & { readonly stderr: Readable };
  let out = '';
  let log = '';
  child.stdout?.on('data', (text: Buffer) => {
    out += text;
  });
  child.stderr.on('data', (text: Buffer) => {
    log += text;
  });
  const ended = new Promise<Ran & { signal: string | null }>((resolve) => {
    child.once('close', (code, signal) => resolve({ code: code ?? -1, signal, out, log }));
  });
  return Object.assign(child, { ended });
}
