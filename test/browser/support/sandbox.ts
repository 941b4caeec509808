import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

const command = fileURLToPath(new URL('../../../dist/cli.js', import.meta.url));

/** The sandbox of the command, as it is published. */
export interface Started {
  /** As the command prints it. */
  readonly window: string;
  readonly baseUrl: string;
  readonly apiKey: string;
  stop(): Promise<void>;
}

/** Starts `accounting-data-sdk sandbox` until the test ends. */
export async function startSandbox(...args: string[]): Promise<Started> {
  const child = spawn(process.execPath, [command, 'sandbox', '--port', '0', '--seed', '1', ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH },
  });
  const exited = once(child, 'exit');
  const stop = async () => {
    child.kill('SIGTERM');
    await exited;
  };
  onTestFinished(stop);
  let printed = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
    });
  while (!printed.includes('Watch it at')) await once(child.stderr, 'data');
  const after = (text: RegExp) => text.exec(printed)?.[1] ?? '';
  return {
    window: after(/Watch it at (\S+)/),
    baseUrl: after(/ACCOUNTING_BASE_URL=(\S+)/),
    apiKey: after(/ACCOUNTING_API_KEY=(\S+)/),
    stop,
  };
}
