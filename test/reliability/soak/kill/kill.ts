import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PGlite } from '@electric-sql/pglite';
import { build } from 'esbuild';
import { killAtRandom } from '../../../support/kill-at-random.ts';
import { ChangingRecords } from './changing-records.ts';
import type { ConnectorSettings, CopyContent } from './connector.ts';

const root = new URL('../../../../', import.meta.url);

/** Created once for many kills: a connector in one file, and an empty database. */
export interface Fixtures {
  readonly connector: string;
  readonly database: string;
  clear(): Promise<void>;
}

export async function prepare(): Promise<Fixtures> {
  // Below node_modules, so that PGlite is found from there.
  const connector = fileURLToPath(new URL(`node_modules/.cache/kill/${process.pid}.mjs`, root));
  await build({
    entryPoints: [fileURLToPath(new URL('./connector.ts', import.meta.url))],
    outfile: connector,
    bundle: true,
    platform: 'node',
    format: 'esm',
    external: ['@electric-sql/pglite'],
    logLevel: 'error',
  });
  const database = await mkdtemp(join(tmpdir(), 'kill-'));
  await (await PGlite.create(database)).close();
  const clear = async () => {
    await rm(connector, { force: true });
    await rm(database, { recursive: true, force: true });
  };
  return { connector, database, clear };
}

/** What a series of deaths has shown. */
export interface KillVerdict {
  readonly kills: number;
  /** How many of them came after the copy had been begun. */
  readonly afterFirstCheckpoint: number;
  /** What a death left that its checkpoint did not say. Empty where all is well. */
  readonly broken: readonly string[];
  /** How the copy differed from the sandbox at the end. Empty if the copy is right. */
  readonly differences: readonly string[];
}

/**
 * Kills a connector several times, each at a random moment of its work, while the records change; checks what each
 * death left behind; lets the last run end, and compares the copy with the sandbox.
 */
export async function killOften(
  { connector: program, database }: Fixtures,
  options: { kills: number; seed: number },
): Promise<KillVerdict> {
  const dataDir = await mkdtemp(join(tmpdir(), 'killed-'));
  await cp(database, dataDir, { recursive: true });
  const changing = new ChangingRecords(options.seed);
  const { url: baseUrl } = await changing.sandbox.listen();
  const settings = { baseUrl, apiKey: changing.sandbox.keys.full, dataDir };
  const broken: string[] = [];
  let afterFirstCheckpoint = 0;
  try {
    // Each successor loads while the one before is at work, and waits for its settings.
    let next = fork(program);
    for (let kill = 1; kill <= options.kills; kill++) {
      const connector = next;
      next = fork(program);
      const left = await begin(connector, { ...settings, once: false });
      broken.push(...changing.broken(left).map((what) => `before kill ${kill}: ${what}`));
      if (Object.keys(left.checkpoints).length > 0) afterFirstCheckpoint++;
      const { sandbox, random } = changing;
      if (!(await killAtRandom(connector, { sandbox, random, mostRequests: 30 })))
        throw new Error('The connector ended before it was killed.');
    }
    changing.rest();
    broken.push(...changing.broken(await begin(next, { ...settings, once: true })));
    const [copy] = (await once(next, 'message')) as [CopyContent];
    await once(next, 'exit');
    return { kills: options.kills, afterFirstCheckpoint, broken, differences: changing.differences(copy) };
  } finally {
    await changing.sandbox.close();
    await rm(dataDir, { recursive: true, force: true });
  }
}

/** Lets a connector begin. Resolves to what it found in the copy. */
async function begin(connector: ChildProcess, settings: ConnectorSettings): Promise<CopyContent> {
  connector.send(settings);
  const died = once(connector, 'exit').then(([code]) => {
    throw new Error(`The connector ended with ${code} before it began.`);
  });
  died.catch(() => undefined);
  const [content] = (await Promise.race([once(connector, 'message'), died])) as [CopyContent];
  return content;
}
