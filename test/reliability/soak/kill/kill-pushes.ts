import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSandbox } from 'accounting-data-sdk/testing';
import { judgeProducts, type WrittenEvidence } from '../../../../src/testing/connector/judge-products.ts';
import { killAtRandom } from '../../../support/kill-at-random.ts';
import { SeededRandom } from '../../../support/seeded-random.ts';
import { type KillVerdict, programOf } from './kill.ts';
import { rowsOf } from './pusher.ts';

/** New products are shown so late, by requests for lists and for single products. */
const LATE = { listedAfterMs: 400, foundAfterMs: 300 };

/**
 * Kills pushes with SIGKILL at random requests and starts them again at once, while lists and gets show new products late.
 * Rows are added whenever a push gets to its end.
 */
export async function killPushes({
  kills: wanted,
  seed,
}: {
  kills: number;
  seed: number;
}): Promise<KillVerdict> {
  const program = await programOf('pusher');
  const random = new SeededRandom(seed);
  await using sandbox = createSandbox({ seed, newRecords: LATE });
  await sandbox.listen();
  const folder = mkdtempSync(join(tmpdir(), 'kill-pushes-'));
  let rows = 40;
  const start = (mostRequests: number) => {
    const task = { baseUrl: sandbox.baseUrl, apiKey: sandbox.keys.full, folder, rows, visibleAfterMs: 1_000 };
    const pusher = spawn(process.execPath, [program, JSON.stringify(task)], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    return killAtRandom(pusher, { sandbox, random, mostRequests });
  };
  try {
    let kills = 0;
    let begun = 0;
    while (kills < wanted) {
      const before = sandbox.store.products.count;
      if (await start(40)) {
        kills += 1;
        if (sandbox.store.products.count > before) begun += 1;
      } else rows += 40;
    }
    // To the end.
    await start(Number.POSITIVE_INFINITY);
    const products = sandbox.store.products.all() as unknown as WrittenEvidence['products'];
    const findings = judgeProducts({ rows: rowsOf({ rows }), products, isComplete: true });
    return { kills, begun, findings };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
