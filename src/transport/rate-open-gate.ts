import { rateLimitSeen } from './rate-limit-seen.ts';
import type { GateAnswer, GateCall, GatePass, RateGate, RateLimit } from './rate-types.ts';

/** A gate that holds nobody back and only remembers the budget. */
export function createOpenGate(): RateGate {
  let rateLimit: RateLimit | undefined;
  const pass: GatePass = {
    answered: (answer: GateAnswer) => {
      rateLimit = rateLimitSeen(answer) ?? rateLimit;
    },
    released: () => {},
  };
  return {
    enter: ({ signal }: GateCall) =>
      signal?.aborted ? Promise.reject(signal.reason) : Promise.resolve(pass),
    get rateLimit() {
      return rateLimit;
    },
  };
}
