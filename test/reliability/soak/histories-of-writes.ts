/**
 * Ten thousand histories of concurrent creates, updates and deletes under faults: no second record, and no
 * error with a wrong outcome. `HISTORIES` sets another number; SEED repeats the history that a failure names.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

export async function soakWrites(): Promise<boolean> {
  const vitest = fileURLToPath(new URL('../../../node_modules/vitest/vitest.mjs', import.meta.url));
  const child = spawn(
    process.execPath,
    [vitest, 'run', 'test/reliability/histories/writes', '--reporter=verbose'],
    {
      cwd: fileURLToPath(new URL('../../../', import.meta.url)),
      env: { ...process.env, SOAK_HISTORIES: process.env.HISTORIES ?? '10000' },
      stdio: 'inherit',
    },
  );
  const [code] = await once(child, 'exit');
  return code === 0;
}

if (process.argv[1] === import.meta.filename && !(await soakWrites())) process.exitCode = 1;
