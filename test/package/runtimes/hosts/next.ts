import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { basename, dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Host } from './host.ts';

const modules = fileURLToPath(new URL('../node_modules/', import.meta.url));
const next = `${modules}next/dist/bin/next`;

/** A route of Next.js 14, whose `fetch` caches every request that does not say otherwise, at build time too. */
export const nextHost: Host = {
  name: 'next',
  source: `
    import { createClient } from 'accounting-data-sdk';
    export async function route(service) {
      const result = await scenario(service);
      await networkFailures(service);
      const client = createClient(service);
      const names = [];
      for (const name of ['Desk', 'Chair', 'Desk']) {
        await client.products.update('1', { name });
        names.push((await client.products.get('1')).name);
      }
      if (names.join() !== 'Desk,Chair,Desk') throw new Error('Expected Desk,Chair,Desk, not ' + names);
      return result;
    }`,
  platform: 'node',
  executable: next,
  async run(program, service) {
    const app = join(dirname(program), 'next-app');
    await mkdir(join(app, 'app/run'), { recursive: true });
    for (const name of ['next', 'react', 'react-dom']) {
      await symlink(`${modules}${name}`, join(dirname(program), 'node_modules', name)).catch(() => undefined);
    }
    await writeFile(
      join(app, 'app/layout.js'),
      'export default function Layout({ children }) { return children; }',
    );
    await writeFile(
      join(app, 'app/run/route.js'),
      `import { route } from '../../../${basename(program)}';
      export async function GET() {
        return new Response(await route(${JSON.stringify(service)}));
      }`,
    );
    const env = { ...process.env, NEXT_TELEMETRY_DISABLED: '1', NODE_ENV: 'production' } as const;
    await promisify(execFile)(process.execPath, [next, 'build'], { cwd: app, env });
    const port = await freePort();
    const server = spawn(process.execPath, [next, 'start', '-p', `${port}`], {
      cwd: app,
      env,
      stdio: 'ignore',
    });
    try {
      return await textOf(`http://127.0.0.1:${port}/run`, server);
    } finally {
      server.kill();
    }
  },
};

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** Waits until the server listens. */
async function textOf(url: string, server: ChildProcess): Promise<string> {
  for (;;) {
    const response = await fetch(url).catch(() => undefined);
    if (response?.ok) return response.text();
    if (response !== undefined) throw new Error(`${response.status}: ${await response.text()}`);
    if (server.exitCode !== null) throw new Error(`next start ended with ${server.exitCode}`);
    await wait(100);
  }
}
