import type { GateAnswer, GateCall, GatePass, RateGate } from '../../src/transport/rate-gate.ts';

/** A call that waits for as long as it takes, but for what a test says. */
export function gateCall(own: Partial<GateCall> = {}): GateCall {
  return {
    priority: 'interactive',
    refused: false,
    signal: undefined,
    deadlineAt: Number.POSITIVE_INFINITY,
    maxWaitMs: Number.POSITIVE_INFINITY,
    onWait: () => {},
    ...own,
  };
}

/** An answer that lets the call through and reports what remains of a hundred. */
export function okAnswer(remaining: number, limit = 100): GateAnswer {
  return { status: 200, limit, remaining, retryAfterMs: undefined };
}

/** A 429 of a service that reports its budget. */
export function refusal(retryAfterMs: number | undefined): GateAnswer {
  return { status: 429, limit: 100, remaining: 0, retryAfterMs };
}

export const BARE: GateAnswer = {
  status: 200,
  limit: undefined,
  remaining: undefined,
  retryAfterMs: undefined,
};

/** What became of a call at the gate, without waiting for it. */
export interface Entry {
  pass: GatePass | undefined;
  error: unknown;
}

/** Lets a call enter and notes its end. */
export function enter(gate: RateGate, own: Partial<GateCall> = {}): Entry {
  const entry: Entry = { pass: undefined, error: undefined };
  gate.enter(gateCall(own)).then(
    (pass) => {
      entry.pass = pass;
    },
    (error: unknown) => {
      entry.error = error;
    },
  );
  return entry;
}

/** A gate's first call, answered: what remains is known. */
export async function know(gate: RateGate, remaining: number, limit = 100): Promise<void> {
  const pass = await gate.enter(gateCall());
  pass.answered(okAnswer(remaining, limit));
}
