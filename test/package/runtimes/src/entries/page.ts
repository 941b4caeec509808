// A page of a browser: the scenario step by step, called from outside.

import { type Outcome, runStep, type StepName } from '../scenario/outcome.ts';
import { steps } from '../scenario/steps.ts';

declare global {
  var runScenarioStep: (step: StepName, orders: string) => Promise<Outcome>;
}

globalThis.runScenarioStep = (step, orders) => runStep(step, () => steps[step](orders));
