import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';

/** A server of this process alone, in a folder of its own. */
export interface RedisServer extends AsyncDisposable {
  readonly url: string;
}

/** Starts the machine's redis-server on a free port. Rejects with ENOENT where there is none. */
export async function startRedis(): Promise<RedisServer> {
  const port = await freePort();
  const folder = await mkdtemp(join(tmpdir(), 'bullmq-redis-'));
  const settings = ['--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', folder];
  const server = spawn('redis-server', ['--port', `${port}`, ...settings], { stdio: 'ignore' });
  try {
    await once(server, 'spawn');
  } catch (error) {
    await rm(folder, { recursive: true });
    throw error;
  }
  const exit = once(server, 'exit');
  const url = `redis://127.0.0.1:${port}`;
  const redis = new Redis(url, { retryStrategy: () => 50, maxRetriesPerRequest: null });
  // Until it listens.
  redis.on('error', () => undefined);
  await redis.ping();
  redis.disconnect();
  return {
    url,
    async [Symbol.asyncDispose]() {
      server.kill('SIGTERM');
      await exit;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  return port;
}
