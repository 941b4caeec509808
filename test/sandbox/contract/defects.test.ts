import { AssertionError } from 'node:assert/strict';
import { describe, expect, test } from 'vitest';
import { checks } from './checks/all.ts';
import type { Defect } from './defects/defect.ts';
import { readingDefects } from './defects/reading.ts';
import { rulesDefects } from './defects/rules.ts';
import { writingDefects } from './defects/writing.ts';
import { type Check, runCheck } from './suite/check.ts';
import { sandboxTarget } from './suite/sandbox-target.ts';
import type { Target } from './suite/target.ts';

const defects: readonly Defect[] = [...readingDefects, ...writingDefects, ...rulesDefects];

/** A target with a defect between it and the suite, its scarce part too. */
function spoiled(target: Target, { spoil }: Defect): Target {
  const { scarce } = target;
  const worse = scarce && { ...scarce, send: spoil(scarce.send, { ...target, ...scarce }) };
  return { ...target, send: spoil(target.send, target), scarce: worse };
}

/** Why a check fails; undefined where it passes. */
async function failure(check: Check, target: Target): Promise<unknown> {
  try {
    await runCheck(check, target);
    return undefined;
  } catch (error) {
    return error;
  }
}

describe('the suite sees a service that breaks the contract', () => {
  test.each(defects)('$name', async (defect) => {
    const meant = checks.filter(({ name }) => name.includes(defect.caughtBy));
    expect(meant.length).toBeGreaterThan(0);

    // One of its kind is enough where a check is there once for each collection.
    const [check] = meant;
    await using served = await sandboxTarget('fetch');
    if (check === undefined) return;
    expect(await failure(check, served.target)).toBeUndefined();
    expect(await failure(check, spoiled(served.target, defect))).toBeInstanceOf(AssertionError);
  });

  test('in at least twenty ways, each of its own', () => {
    expect(new Set(defects.map(({ name }) => name)).size).toBe(defects.length);
    expect(defects.length).toBeGreaterThanOrEqual(20);
  });
});
