// The packed package on every runtime: one scenario, each time against a new `accounting-data-sdk sandbox`.

import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { pack } from '../installed/support/pack.ts';
import { chromiumHost } from './hosts/chromium.ts';
import type { Host } from './hosts/host.ts';
import { metroHost } from './hosts/metro.ts';
import { nextHost } from './hosts/next.ts';
import { oldSqliteHost } from './hosts/old-sqlite.ts';
import { processHosts } from './hosts/process.ts';
import { workerdHost } from './hosts/workerd.ts';
import { workerdQueueHost } from './hosts/workerd-queue.ts';
import { SANDBOX_ARGS, type Service } from './scenario.ts';

const HOSTS: readonly Host[] = [
  ...processHosts,
  workerdHost,
  workerdQueueHost,
  chromiumHost,
  metroHost,
  nextHost,
  oldSqliteHost,
];
const here = fileURLToPath(new URL('.', import.meta.url));
const root = fileURLToPath(new URL('../../../', import.meta.url));

/** Bundles the program of a host into the project. */
async function programOf({ name, source, platform }: Host, project: string): Promise<string> {
  const outfile = join(project, `${name}.mjs`);
  await build({
    stdin: {
      contents: `import { networkFailures, overlappingCall, scenario } from './scenario.ts';\n${source}`,
      resolveDir: here,
    },
    outfile,
    platform,
    bundle: true,
    format: 'esm',
    target: 'es2023',
    logLevel: 'error',
    ...(platform === 'node'
      ? { external: ['accounting-data-sdk'] }
      : {
          alias: { 'accounting-data-sdk': join(project, 'node_modules/accounting-data-sdk/dist/index.js') },
        }),
  });
  return outfile;
}

/** Starts the sandbox command of the installed package. */
async function startSandbox(project: string): Promise<{ service: Service; stop: () => void }> {
  const command = join(project, 'node_modules/.bin/accounting-data-sdk');
  const child = spawn(command, SANDBOX_ARGS, { stdio: ['ignore', 'pipe', 'ignore'] });
  let printed = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
  });
  while (!/ACCOUNTING_API_KEY=.*\n/.test(printed)) await once(child.stdout, 'data');
  const value = (name: string) => new RegExp(`${name}=(\\S+)`).exec(printed)?.[1] ?? '';
  const service = { baseUrl: value('ACCOUNTING_BASE_URL'), apiKey: value('ACCOUNTING_API_KEY') };
  return { service, stop: () => child.kill() };
}

async function tryOut(host: Host, project: string): Promise<boolean> {
  if (host.executable !== undefined && !existsSync(host.executable)) {
    console.log(`SKIPPED ${host.name}: ${relative(root, host.executable)} is not installed`);
    return true;
  }
  const { service, stop } = await startSandbox(project);
  try {
    console.log(`ok      ${host.name}: ${await host.run(await programOf(host, project), service)}`);
    return true;
  } catch (error) {
    console.log(`FAILED  ${host.name}: ${error instanceof Error ? (error.stack ?? error.message) : error}`);
    return false;
  } finally {
    stop();
  }
}

const names = process.argv.slice(2);
const unknown = names.filter((name) => !HOSTS.some((host) => host.name === name));
if (unknown.length > 0) {
  throw new Error(`No runtime ${unknown.join(', ')}. There are ${HOSTS.map(({ name }) => name).join(', ')}.`);
}
const project = await mkdtemp(join(tmpdir(), 'runtimes-'));
try {
  const { tarball } = await pack(project);
  await writeFile(join(project, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
  await promisify(execFile)('npm', ['install', '--no-audit', '--no-fund', tarball], { cwd: project });
  for (const host of HOSTS) {
    if (names.length > 0 && !names.includes(host.name)) continue;
    if (!(await tryOut(host, project))) process.exitCode = 1;
  }
} finally {
  await rm(project, { recursive: true, force: true });
}
// A runtime that failed may have left a server or a process open, which would keep this one alive.
process.exit();
