import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSandbox } from 'accounting-data-sdk/testing';
import { expect, test } from 'vitest';
import { NO_HURRY } from '../../../support/seeds.ts';
import { programOf } from './kill.ts';

/** `SOAK_KILLS=200` tries it more often. */
const TRIALS = Number(process.env.SOAK_KILLS ?? 2);

test(
  'of two processes that push at the same moment with one folder, one creates each product once',
  NO_HURRY,
  async () => {
    const program = await programOf('pusher');
    for (let trial = 0; trial < TRIALS; trial++) {
      await using sandbox = createSandbox();
      await sandbox.listen();
      // The first list lasts until the other process has begun too.
      sandbox.faults.add({ kind: 'delay', ms: 1_000 }, { method: 'GET' });
      const folder = mkdtempSync(join(tmpdir(), 'two-pushes-'));
      const task = {
        baseUrl: sandbox.baseUrl,
        apiKey: sandbox.keys.full,
        folder,
        rows: 40,
        visibleAfterMs: 0,
      };
      const start = () =>
        spawn(process.execPath, [program, JSON.stringify({ ...task, waitsForInput: true })], {
          stdio: ['pipe', 'pipe', 'inherit'],
        });
      const pushers = [start(), start()];
      try {
        await Promise.all(pushers.map(({ stdout }) => once(stdout, 'data')));
        const ends = pushers.map((pusher) => once(pusher, 'close'));
        for (const { stdin } of pushers) stdin.end('\n');
        const codes = (await Promise.all(ends)).map(([code]) => code);
        expect(codes.toSorted()).toEqual([0, 2]);
        expect(sandbox.count(({ method }) => method === 'POST')).toBe(40);
        expect(sandbox.store.products.count).toBe(40);
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    }
  },
);
