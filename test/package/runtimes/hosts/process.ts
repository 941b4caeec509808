import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Host } from './host.ts';

const run = promisify(execFile);
const binary = (path: string) => fileURLToPath(new URL(`../node_modules/${path}`, import.meta.url));

/** A build of Node to test as well. */
const { NODE_NIGHTLY } = process.env;

/** A runtime that runs a program as a process. */
function processHost(name: string, command: string, flags: readonly string[] = []): Host {
  return {
    name,
    source: `
      const service = { baseUrl: process.argv[2], apiKey: process.argv[3] };
      await networkFailures(service);
      console.log(await scenario(service));`,
    platform: 'node',
    executable: command,
    async run(program, { baseUrl, apiKey }) {
      const { NODE_OPTIONS: _, ...env } = process.env;
      const { stdout } = await run(command, [...flags, program, baseUrl, apiKey], { env });
      return stdout.trim();
    },
  };
}

export const processHosts: readonly Host[] = [
  processHost('node-22', binary('node-22/bin/node')),
  processHost('node-24', binary('node-24/bin/node')),
  processHost('node-26', binary('node-26/bin/node')),
  ...(NODE_NIGHTLY === undefined ? [] : [processHost('node-nightly', NODE_NIGHTLY)]),
  processHost('bun', binary('bun/bin/bun.exe')),
  // Only what the package needs: the network, and the environment for the address and the key.
  processHost('deno', binary('@deno/linux-x64-glibc/deno'), [
    'run',
    '--no-lock',
    '--node-modules-dir=manual',
    '--no-prompt',
    '--allow-net=127.0.0.1',
    '--allow-env',
  ]),
];
