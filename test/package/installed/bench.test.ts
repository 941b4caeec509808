import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import lockfile from '../../../package-lock.json' with { type: 'json' };
import { type Goal, type GoalName, goals, partNames } from '../../bench/goals.ts';
import benchLockfile from '../../bench/package-lock.json' with { type: 'json' };
import { parts } from '../../bench/parts.ts';
import type { Verdict } from '../../bench/support/print.ts';

type Locked = Readonly<Record<string, { readonly version?: string; readonly resolved?: string }>>;
const bench = benchLockfile.packages as Locked;
const own = lockfile.packages as Locked;

const all: readonly Goal[] = Object.values(goals);

/** Runs the bench as a program of its own; it needs nothing that is installed for it alone. */
async function quickly(part: string): Promise<{ goals: Verdict[] }> {
  const { NODE_OPTIONS: _options, NODE_V8_COVERAGE: _coverage, ...env } = process.env;
  const program = fileURLToPath(new URL('../../bench/run.ts', import.meta.url));
  const fromSource = fileURLToPath(new URL('../../support/from-source.mjs', import.meta.url));
  const run = promisify(execFile);
  const { stdout } = await run(
    process.execPath,
    ['--import', fromSource, program, part, '--quick', '--json'],
    { env },
  );
  return JSON.parse(stdout) as { goals: Verdict[] };
}

describe('the bench', () => {
  test('has a part for each goal and a goal for each part', () => {
    expect(Object.keys(parts).toSorted()).toEqual(partNames.toSorted());
    expect([...new Set(all.map(({ part }) => part))].toSorted()).toEqual(partNames.toSorted());
    expect(all.filter(({ most, least }) => (most === undefined) === (least === undefined))).toEqual([]);
  });

  test('runs one part alone, without what it compares with, and judges its goals and no others', async () => {
    const { goals: judged } = await quickly('requests');
    const ofPart = Object.keys(goals).filter((name) => goals[name as GoalName].part === 'requests');
    expect(judged.map(({ goal }) => goal).toSorted()).toEqual(ofPart.toSorted());
    // Requests are counted, not timed: these two hold on every machine.
    expect(judged.filter(({ met }) => !met)).toEqual([]);
  });

  test('lists the parts if an unknown one is requested', async () => {
    await expect(quickly('loops')).rejects.toThrow('no part loops: there are lists, request');
  });

  test('measures this package with the versions that it is released with', () => {
    for (const name of ['ky', 'zod']) {
      const path = `node_modules/${name}`;
      expect(bench[path]?.version, name).toBe(own[path]?.version);
    }
  });

  test('locks what it compares with, and names no registry', () => {
    expect(Object.keys(bench).length).toBeGreaterThan(15);
    expect(Object.values(bench).filter(({ resolved }) => resolved?.startsWith('http'))).toEqual([]);
  });
});
