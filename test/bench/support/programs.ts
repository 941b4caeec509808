import { execFile, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { ServerOptions } from './server.ts';

const folder = new URL('../programs/', import.meta.url);

/** Runs a program of the bench in a fresh process; resolves with the JSON that it prints. */
export function runProgram<T>(name: string, options: unknown, flags: readonly string[] = []): Promise<T> {
  const program = fileURLToPath(new URL(name, folder));
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [...flags, program, JSON.stringify(options)], (error, stdout, stderr) => {
      if (error === null) resolve(JSON.parse(stdout) as T);
      else reject(new Error(`${name} ${JSON.stringify(options)} failed\n${stdout}${stderr}`));
    });
  });
}

/** Starts the service in a process of its own, hands its origin over, and ends it. */
export async function withServer<T>(options: ServerOptions, use: (origin: string) => Promise<T>): Promise<T> {
  const server = fork(new URL('server.ts', import.meta.url), [JSON.stringify(options)]);
  const [{ port }] = (await once(server, 'message')) as [{ port: number }];
  try {
    return await use(`http://127.0.0.1:${port}`);
  } finally {
    server.kill();
  }
}
