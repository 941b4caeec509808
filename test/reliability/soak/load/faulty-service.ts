import { createSandbox, type Fault, type FaultMatch, type Sandbox } from 'accounting-data-sdk/testing';

const faults: readonly (readonly [Fault, FaultMatch?])[] = [
  [{ kind: 'lost-response', committed: true }],
  [{ kind: 'disconnect', reset: true, committed: false }],
  [{ kind: 'disconnect', in: 'body' }],
  [{ kind: 'disconnect', in: 'headers', atByte: 20 }],
  [{ kind: 'stall' }, { probability: 0.001 }],
  [{ kind: 'stall', in: 'body' }, { probability: 0.001 }],
  [{ kind: 'delay', ms: 20 }],
  [{ kind: 'status', status: 503 }],
  [{ kind: 'status', status: 500, committed: true }],
  [{ kind: 'rate-limited', retryAfter: 0 }],
  [{ kind: 'status', status: 422 }, { probability: 0.002 }],
  [{ kind: 'status', status: 200, body: '<h1>Oops</h1>' }, { probability: 0.002 }],
  [{ kind: 'redirect', location: 'http://127.0.0.1:9/' }, { probability: 0.002 }],
];
/** A service of which every twentieth request goes wrong. */
export function faultyService(seed: number): Sandbox {
  const sandbox = createSandbox({
    seed,
    records: { accounts: 2_000, products: 200 },
    rateLimit: false,
    logLimit: 100,
    idempotency: { lifetimeMs: 60_000 },
  });
  // The response to these requests never comes in time.
  sandbox.faults.add(
    { kind: 'delay', ms: 600_000 },
    { when: ({ headers }) => headers['x-abort'] !== undefined, times: Number.POSITIVE_INFINITY },
  );
  for (const [fault, match = {}] of faults) sandbox.faults.add(fault, { probability: 0.0045, ...match });
  return sandbox;
}
