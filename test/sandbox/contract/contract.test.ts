import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checks } from './checks/all.ts';
import { runCheck } from './suite/check.ts';
import { type SandboxTarget, sandboxTarget, type Way } from './suite/sandbox-target.ts';
import { lacks } from './suite/target.ts';

describe.each<Way>(['listening', 'fetch'])('the sandbox follows the specification, %s', (way) => {
  let served: SandboxTarget;

  beforeAll(async () => {
    served = await sandboxTarget(way);
  });
  afterAll(() => served[Symbol.asyncDispose]());

  test.each(checks)('$name', async (check) => {
    // The sandbox meets every need, so no check is skipped.
    expect(lacks(served.target, check.needs)).toEqual([]);
    await runCheck(check, served.target);
  });
});
