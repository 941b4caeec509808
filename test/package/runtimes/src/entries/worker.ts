// A worker of Cloudflare: one step, or one of the calls that overlap, for each request.

import { call } from '../scenario/call.ts';
import type { Call } from '../scenario/gate.ts';
import { runStep, type StepName } from '../scenario/outcome.ts';
import { steps } from '../scenario/steps.ts';

/** What the worker is asked, as the body of a POST. */
export type Ask = { readonly step: StepName; readonly orders: string } | { readonly call: Call };

export default {
  async fetch(request: Request): Promise<Response> {
    const ask = (await request.json()) as Ask;
    if ('call' in ask) return Response.json(await call(ask.call));
    return Response.json(await runStep(ask.step, () => steps[ask.step](ask.orders)));
  },
};
