// The long forms of tests in the suite. Each prints its seeds and figures; the exit code is 1 if one fails.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { soakKills } from './kill.ts';
import { soakMemory } from './sync-memory.ts';

/** For each test of the simulation; two of them are of whole syncs. */
const HISTORIES = process.env.SOAK_HISTORIES ?? '25000';

async function soakHistories(): Promise<boolean> {
  const vitest = fileURLToPath(new URL('../../../node_modules/vitest/vitest.mjs', import.meta.url));
  const child = spawn(
    process.execPath,
    [
      vitest,
      'run',
      'test/reliability/histories/keyset',
      'test/reliability/histories/sync',
      '--reporter=verbose',
    ],
    {
      cwd: fileURLToPath(new URL('../../../', import.meta.url)),
      env: { ...process.env, SOAK_HISTORIES: HISTORIES },
      stdio: 'inherit',
    },
  );
  const [code] = await once(child, 'exit');
  return code === 0;
}

const parts: Readonly<Record<string, () => Promise<boolean>>> = {
  memory: () => soakMemory(Number(process.env.RECORDS ?? 1_000_000)),
  kills: soakKills,
  // Loaded when they are wanted: they build and open things.
  pull: async () => (await import('./pull.ts')).soakPull(),
  targets: async () => (await import('./targets.ts')).soakTargets(),
  writes: async () => (await import('./histories-of-writes.ts')).soakWrites(),
  load: async () => (await import('./load.ts')).soakLoad(),
  faults: async () => (await import('./faults.ts')).soakFaults(),
  histories: soakHistories,
};

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !Object.hasOwn(parts, name));
if (unknown.length > 0) {
  console.log(`soak: no part ${unknown.join(', ')}; there are ${Object.keys(parts).join(', ')}`);
  process.exit(1);
}
for (const [name, run] of Object.entries(parts)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  console.log(`soak: ${name}`);
  if (await run()) continue;
  console.log(`soak: ${name} FAILED`);
  process.exitCode = 1;
}
