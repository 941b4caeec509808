// Node, Bun and Deno: the whole scenario, one line of JSON for each step.

import process from 'node:process';
import { runStep, stepNames } from '../scenario/outcome.ts';
import { steps } from '../scenario/steps.ts';

const [, , orders = ''] = process.argv;
for (const step of stepNames) {
  console.log(JSON.stringify(await runStep(step, () => steps[step](orders))));
}
