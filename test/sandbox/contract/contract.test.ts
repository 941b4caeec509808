import { afterAll, beforeAll, describe, test } from 'vitest';
import { checks, sample } from './checks/all.ts';
import { runCheck } from './suite/check.ts';
import { type SandboxTarget, sandboxTarget, type Way } from './suite/sandbox-target.ts';

describe.each<Way>(['listening', 'fetch'])('the sandbox follows the specification, %s', (way) => {
  let served: SandboxTarget;

  beforeAll(async () => {
    served = await sandboxTarget(way);
  });
  afterAll(() => served[Symbol.asyncDispose]());

  test.each(way === 'fetch' ? checks : sample)('$name', (check) => runCheck(check, served.target));
});
