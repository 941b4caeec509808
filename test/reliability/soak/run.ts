// The long forms of tests in the suite. Each prints its seeds and figures; the exit code is 1 if one fails.

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { soakMemory } from './sync-memory.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const { env } = process;

/** Runs tests of the suite in their long form. */
async function vitest(folders: readonly string[], long: Readonly<Record<string, string>>): Promise<boolean> {
  const args = ['run', ...folders.map((folder) => `test/${folder}`), '--reporter=verbose'];
  const options = ['--testTimeout=1800000', '--typecheck.enabled=false'];
  const child = spawn(process.execPath, [`${root}node_modules/vitest/vitest.mjs`, ...args, ...options], {
    cwd: root,
    env: { ...env, ...long },
    stdio: 'inherit',
  });
  const [code] = await once(child, 'exit');
  return code === 0;
}

/** Runs commands that need the built package, to the first that fails. */
const commands = (...lines: readonly string[]): boolean =>
  ['npm run build', ...lines].every(
    (line) => spawnSync(line, { cwd: root, shell: true, stdio: 'inherit' }).status === 0,
  );

/** The tests of the examples with Jest, or with a process or a worker for each run: `.ci/run` plays some of their cases. */
const examples = () =>
  commands(
    'node --test examples/connector-tests/node-test/*.test.mjs',
    'npm install --prefix examples/connector-tests/jest',
    'npm test --prefix examples/connector-tests/jest',
    'npm install --prefix examples/cloudflare-worker',
    'npm test --prefix examples/cloudflare-worker',
  );

const parts: Readonly<Record<string, () => Promise<boolean>>> = {
  memory: () => soakMemory(Number(env.RECORDS ?? 1_000_000)),
  // Kills at random moments: a sync to SQLite, and a push; and two pushes at once. The queue kills syncs to PostgreSQL.
  kills: () =>
    vitest(['reliability/soak/kill'], {
      SOAK_KILLS: env.SOAK_KILLS ?? '200',
      SOAK_TRIALS: env.SOAK_TRIALS ?? '100',
    }),
  // Histories of pushes, lists and syncs: SOAK_HISTORIES of each, and SOAK_ZONES days in each time zone. SEED repeats
  // the history that a failure names.
  pushes: () => vitest(['reliability/histories/push'], { SOAK_HISTORIES: env.SOAK_HISTORIES ?? '2000' }),
  histories: () =>
    vitest(['reliability/histories/keyset', 'reliability/histories/sync'], {
      SOAK_HISTORIES: env.SOAK_HISTORIES ?? '25000',
      SOAK_ZONES: env.SOAK_ZONES ?? '365',
    }),
  // Runs beside a forget, in both databases.
  forget: () => vitest(['reliability/histories/forget'], { SOAK_HISTORIES: env.SOAK_HISTORIES ?? '1000' }),
  // Every case of connectorTests with every connector of this package and of the examples.
  connectors: async () => (await vitest(['sandbox/connector-tests'], { SOAK_CONNECTORS: '1' })) && examples(),
  // Processes of the example pg-boss are killed while they sync COMPANIES. It needs the PostgreSQL of DATABASE_URL.
  queue: async () =>
    commands('npm install --prefix examples/pg-boss', 'node test/reliability/soak/queue/run.ts'),
  // Each property of hostile input so many times as often, that many random responses, and a cut at each byte.
  faults: () =>
    vitest(['reliability/faults', 'reliability/hostile'], {
      SOAK_FAULTS: env.SOAK_FAULTS ?? '50',
      SOAK_RESPONSES: env.SOAK_RESPONSES ?? '20000',
    }),
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
