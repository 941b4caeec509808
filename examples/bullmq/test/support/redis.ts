import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import { type RedisServer, startRedis } from '../../src/redis-server.ts';

const exec = promisify(execFile);

/** A server for a test: Debian's, installed if need be. Resolves to a sentence where there is none to be had. */
export async function redisForTest(): Promise<RedisServer | string> {
  const missing = (error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  };
  const present = await startRedis().catch(missing);
  if (present !== undefined) return present;
  if (process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')) await install().catch(() => undefined);
  return (
    (await startRedis().catch(missing)) ?? "there is no redis-server: install Debian's package of that name"
  );
}

async function install(): Promise<void> {
  await exec('apt-get', ['update', '-qq']);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  await exec('apt-get', ['install', '-qq', '-y', '--no-install-recommends', 'redis-server'], { env });
}
