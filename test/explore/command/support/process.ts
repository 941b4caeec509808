import { type ChildProcess, spawn } from 'node:child_process';
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

const root = fileURLToPath(new URL('../../../../', import.meta.url));

/**
 * The command in one file, as it is published: a process of it starts much faster than one of its sources. Each worker
 * of the test runner has its own.
 */
export const bundle = `${root}node_modules/.cache/command/${process.env.VITEST_POOL_ID ?? 'alone'}.mjs`;
await build({
  entryPoints: [`${root}src/cli/bin.ts`],
  outfile: bundle,
  bundle: true,
  platform: 'node',
  format: 'esm',
  logLevel: 'error',
});

/** Starts the command as a process of its own. `stdout`: a file descriptor for what it prints. */
export function start(
  env: Settings,
  args: readonly string[],
  stdout: number | 'pipe' = 'pipe',
): ChildProcess & { readonly ended: Promise<Ran & { signal: string | null }> } {
  const child = spawn(process.execPath, [bundle, ...args], {
    env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: `${root}node_modules/.cache/node/`, ...env },
    stdio: ['pipe', stdout, 'pipe'],
  });
  let out = '';
  let log = '';
  child.stdout?.on('data', (text: Buffer) => {
    out += text;
  });
  child.stderr?.on('data', (text: Buffer) => {
    log += text;
  });
  const ended = new Promise<Ran & { signal: string | null }>((resolve) => {
    child.once('close', (code, signal) => resolve({ code: code ?? -1, signal, out, log }));
  });
  return Object.assign(child, { ended });
}
