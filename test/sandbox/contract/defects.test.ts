import { AssertionError } from 'node:assert/strict';
import { expect, test } from 'vitest';
import { checks } from './checks/all.ts';
import { type Defect, defects } from './defects.ts';
import { type Check, runCheck } from './suite/check.ts';
import { sandboxTarget } from './suite/sandbox-target.ts';
import type { Target } from './suite/target.ts';

/** The same target with a defect, its limited part included. */
function withDefect(target: Target, { inject }: Defect): Target {
  const { limited } = target;
  return {
    ...target,
    send: inject(target.send, target),
    limited: limited && { ...limited, send: inject(limited.send, { ...target, ...limited }) },
  };
}

/** Why a check fails; undefined if it passes. */
async function failureOf(check: Check, target: Target): Promise<unknown> {
  try {
    await runCheck(check, target);
    return undefined;
  } catch (error) {
    return error;
  }
}

test.each(defects)('the checks detect a service with the defect: $name', async (defect) => {
  const check = checks.find(({ name }) => name.includes(defect.detectedBy));
  if (check === undefined) throw new Error(`No check is named ${defect.detectedBy}.`);

  await using served = await sandboxTarget('fetch');
  expect(await failureOf(check, served.target)).toBeUndefined();
  expect(await failureOf(check, withDefect(served.target, defect))).toBeInstanceOf(AssertionError);
});
