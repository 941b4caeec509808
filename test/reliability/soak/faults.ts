import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** How many times as often as in the suite each property is tried. */
const TIMES = process.env.SOAK_FAULTS ?? '50';
/** Calls of each kind that get random responses. */
const RESPONSES = process.env.SOAK_RESPONSES ?? '20000';

/**
 * Faults, secrets and hostile input in their long form: every error response cut at each of its bytes, and every property
 * with new seeds. Each file prints its seed; SEED=… plays it again.
 */
export async function soakFaults(): Promise<boolean> {
  const vitest = fileURLToPath(new URL('../../../node_modules/vitest/vitest.mjs', import.meta.url));
  const files = ['test/reliability/faults', 'test/reliability/hostile'];
  const options = ['--testTimeout=1800000', '--typecheck.enabled=false'];
  const child = spawn(process.execPath, [vitest, 'run', ...files, ...options], {
    cwd: fileURLToPath(new URL('../../../', import.meta.url)),
    env: { ...process.env, SOAK_FAULTS: TIMES, SOAK_RESPONSES: RESPONSES },
    stdio: 'inherit',
  });
  const [code] = await once(child, 'exit');
  return code === 0;
}
