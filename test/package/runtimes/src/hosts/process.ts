import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Outcome } from '../scenario/outcome.ts';
import type { Host, Stage } from './host.ts';

const modules = (path: string) => fileURLToPath(new URL(`../../node_modules/${path}`, import.meta.url));

interface Runtime {
  readonly name: string;
  readonly binary: string;
  /** What comes before the name of a program. */
  readonly flags?: readonly string[];
  readonly informative?: boolean;
}

const RUNTIMES: readonly Runtime[] = [
  { name: 'node-20', binary: modules('node-20/bin/node'), informative: true },
  { name: 'node-22', binary: modules('node-22/bin/node') },
  { name: 'node-24', binary: modules('node-24/bin/node') },
  { name: 'node-26', binary: modules('node-26/bin/node') },
  { name: 'bun', binary: modules('bun/bin/bun.exe') },
  {
    name: 'deno',
    binary: modules('@deno/linux-x64-glibc/deno'),
    // Only what the package needs: this machine's ports, and the environment for the address and the key.
    flags: [
      'run',
      '--no-lock',
      '--node-modules-dir=manual',
      '--no-prompt',
      '--allow-net=127.0.0.1',
      '--allow-env',
    ],
  },
];

/** The runtimes that run a program as a process. */
export function processHosts({ folder, program }: { folder: string; program: string }): Host[] {
  return RUNTIMES.map(({ name, binary, flags = [], informative = false }) => ({
    name,
    informative,
    version: async () => {
      const { stdout } = await promisify(execFile)(binary, ['--version']);
      return /\d+\.\d+\.\d+/.exec(stdout)?.[0] ?? stdout.trim();
    },
    run: (stage) => runProgram([binary, ...flags, program], folder, stage),
  }));
}

async function runProgram(
  [binary = '', ...args]: readonly string[],
  cwd: string,
  { orders, onOutcome }: Stage,
): Promise<void> {
  const { NODE_OPTIONS: _options, ...env } = process.env;
  const child = spawn(binary, [...args, orders], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let complaints = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaints += text;
  });
  const ended = once(child, 'close') as Promise<[number | null]>;
  for await (const line of createInterface({ input: child.stdout })) onOutcome(JSON.parse(line) as Outcome);
  const [code] = await ended;
  if (code !== 0) throw new Error(`ended with ${code}: ${complaints.trim()}`);
}
