import { existsSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import type { Sandbox } from '../../../../src/testing/index.ts';
import type { SeededRandom } from '../../../support/seeded-random.ts';
import { type Settings, start } from './process.ts';

/** A pull that is to be killed. */
export interface Killing {
  readonly sandbox: Sandbox;
  readonly env: Settings;
  readonly args: readonly string[];
  readonly random: SeededRandom;
}

/**
 * Starts the command and kills it with SIGKILL after a random number of requests, up to `most`. Requests, not time: a
 * busy machine must not be done before the kill, nor be killed before it begins. Gives whether it was killed.
 */
export async function killOnce({ sandbox, env, args, random }: Killing, most: number): Promise<boolean> {
  const at = sandbox.count() + random.int(1, most);
  const child = start(env, args);
  const stop = sandbox.onRequest(() => {
    // Anywhere between this request and the next: in its answer, in the file, in the checkpoint.
    if (sandbox.count() === at) setTimeout(() => child.kill('SIGKILL'), random.int(0, 12));
  });
  const { code, signal, log } = await child.ended;
  stop();
  if (signal === 'SIGKILL') return true;
  if (code !== 0) throw new Error(`ended with ${code}: ${log}`);
  return false;
}

/** The lines of a file, each read on its own: a kill may have torn the last. */
export function linesOf(file: string): string[] {
  if (!existsSync(file)) return [];
  const bytes = readFileSync(file);
  const text = file.endsWith('.gz') ? gunzipSync(bytes).toString() : bytes.toString();
  return text.split('\n').filter(Boolean);
}
