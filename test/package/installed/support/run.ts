import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { inject } from 'vitest';

/** A file of a development dependency. */
export const tool = (path: string): string =>
  fileURLToPath(new URL(`../../../../node_modules/${path}`, import.meta.url));

const compiler = (name: string): string =>
  fileURLToPath(new URL(`../typescript/node_modules/${name}/bin/tsc`, import.meta.url));

/** The oldest TypeScript that is supported, and the newest. */
export const compilers = { oldest: compiler('oldest'), newest: compiler('newest') } as const;

/** What a program that ends without an error resolves to. */
export const success = { code: 0, output: '' };

/** Runs Node in the project that has the package installed, or in another folder. Resolves for every exit code. */
export function node(args: readonly string[], cwd = inject('installed').project): Promise<typeof success> {
  // Nothing of this test run may reach a user's program: no flags, no instrumentation.
  const { NODE_OPTIONS: _options, NODE_V8_COVERAGE: _coverage, ...env } = process.env;
  return new Promise((resolve) => {
    execFile(process.execPath, [...args], { cwd, env }, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : 1;
      resolve({ code, output: code === 0 ? stdout : `${stdout}${stderr}` });
    });
  });
}

/** Runs a program that prints one JSON document. */
export async function json<T>(args: readonly string[], cwd?: string): Promise<T> {
  const { code, output } = await node(args, cwd);
  if (code !== 0) throw new Error(output);
  return JSON.parse(output) as T;
}
