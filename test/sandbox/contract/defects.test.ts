import { AssertionError } from 'node:assert/strict';
import { expect, test } from 'vitest';
import { checks } from './checks/all.ts';
import { defects } from './defects.ts';
import { runCheck } from './suite/check.ts';
import { sandboxTarget } from './suite/sandbox-target.ts';

test.each(defects)('the checks detect a service with the defect: $name', async ({ detectedBy, inject }) => {
  const check = checks.find(({ name }) => name.includes(detectedBy));
  if (check === undefined) throw new Error(`No check is named ${detectedBy}.`);

  await using served = await sandboxTarget('fetch');
  const { target } = served;
  const defective = {
    ...target,
    send: inject(target.send, target),
    limited: { ...target.limited, send: inject(target.limited.send, { ...target, ...target.limited }) },
  };
  await expect(runCheck(check, defective)).rejects.toBeInstanceOf(AssertionError);
});
