import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';

const exec = promisify(execFile);
const VERSIONS = '/usr/lib/postgresql';

/** A server of this test alone. */
export interface Postgres extends AsyncDisposable {
  readonly url: string;
}

/** Starts Debian's PostgreSQL, installed if need be. Resolves to a sentence if it cannot be installed. */
export async function startPostgres(): Promise<Postgres | string> {
  const root = process.getuid?.() === 0;
  if (newest() === undefined && root && existsSync('/usr/bin/apt-get'))
    await install().catch(() => undefined);
  const bin = newest();
  if (bin === undefined)
    return `there is no PostgreSQL below ${VERSIONS}: install Debian's package postgresql`;

  // The server does not run as root.
  const as = (program: string, ...args: string[]): [string, string[]] =>
    root
      ? ['setpriv', ['--reuid=postgres', '--regid=postgres', '--clear-groups', join(bin, program), ...args]]
      : [join(bin, program), args];
  const folder = await mkdtemp(join(tmpdir(), 'postgres-test-'));
  if (root) await exec('chown', ['postgres:postgres', folder]);
  await chmod(folder, 0o700);
  const data = join(folder, 'data');
  await exec(...as('initdb', '--no-sync', '--auth=trust', '--username=sync', '--pgdata', data), { cwd: '/' });
  const port = await freePort();
  const [command, args] = as(
    'postgres',
    '-D',
    data,
    '-p',
    `${port}`,
    '-k',
    folder,
    '-c',
    'listen_addresses=127.0.0.1',
    '-F',
  );
  const server = spawn(command, args, { cwd: '/', stdio: 'ignore' });
  const exit = once(server, 'exit');
  while (!(await isReady(join(bin, 'pg_isready'), port))) {
    if (server.exitCode !== null) throw new Error(`PostgreSQL ended with ${server.exitCode}.`);
    await wait(50);
  }
  return {
    url: `postgres://sync@127.0.0.1:${port}/postgres`,
    async [Symbol.asyncDispose]() {
      server.kill('SIGINT');
      await exit;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function newest(): string | undefined {
  const versions = existsSync(VERSIONS) ? readdirSync(VERSIONS) : [];
  const bins = versions
    .sort((a, b) => Number(b) - Number(a))
    .map((version) => join(VERSIONS, version, 'bin'));
  return bins.find((bin) => existsSync(join(bin, 'initdb')));
}

async function install(): Promise<void> {
  await exec('apt-get', ['update', '-qq']);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  await exec('apt-get', ['install', '-qq', '-y', '--no-install-recommends', 'postgresql'], { env });
}

async function isReady(program: string, port: number): Promise<boolean> {
  return exec(program, ['-h', '127.0.0.1', '-p', `${port}`]).then(
    () => true,
    () => false,
  );
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  return port;
}
