import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checks } from './checks/all.ts';
import { runCheck } from './suite/check.ts';
import { type SandboxTarget, sandboxTarget, type Way } from './suite/sandbox-target.ts';
import { lacks } from './suite/target.ts';

describe.each<Way>(['listening', 'fetch'])('the contract holds, %s', (way) => {
  let served: SandboxTarget;

  beforeAll(async () => {
    served = await sandboxTarget(way);
  });
  afterAll(() => served[Symbol.asyncDispose]());

  test.each(checks)('$name', async (check) => {
    // The sandbox has to offer whatever a check needs: none is passed over here.
    expect(lacks(served.target, check.needs)).toEqual([]);
    await runCheck(check, served.target);
  });
});
