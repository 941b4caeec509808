import { monotonicMs } from '../internal/monotonic-clock.ts';
import { createRateGate, type KeptGate } from './rate-gate.ts';
import { createOpenGate } from './rate-open-gate.ts';
import type { RateGate } from './rate-types.ts';

/** Whose gate is asked for. */
export interface GateScope {
  /** Scheme, host and port of the service. */
  readonly origin: string;
  readonly apiKey: string;
  /**
   * `shared`: one gate for the origin and key in the whole process.
   * `client`: a new gate at each call, which the client keeps.
   * `false`: an open gate, new at each call, that only remembers the budget.
   */
  readonly mode: 'shared' | 'client' | false;
}

/** The gate for a scope. */
export function gateFor(scope: GateScope): RateGate {
  if (scope.mode === false) return createOpenGate();
  if (scope.mode === 'client') return createRateGate();
  return sharedGates()(scope.origin, scope.apiKey);
}

type SharedGates = (origin: string, apiKey: string) => RateGate;

/** Where every copy of the package in the process looks. Each protocol has a property of its own. */
const SLOT = Symbol.for('accounting-data-sdk.rate-gates');
/** Raised when a gate of one version can no longer stand in for a gate of another. */
const PROTOCOL = 'v1';
const IDLE_MS = 10 * 60_000;

function sharedGates(): SharedGates {
  const holder = globalThis as { [SLOT]?: { [PROTOCOL]?: SharedGates } };
  if (holder[SLOT] === undefined) {
    Object.defineProperty(globalThis, SLOT, { value: {}, configurable: true });
  }
  const slot = holder[SLOT] ?? {};
  slot[PROTOCOL] ??= createRegistry();
  return slot[PROTOCOL];
}

interface Entry {
  readonly gate: KeptGate;
  usedAt: number;
}

/** Keys and gates live in closures: whoever inspects what this returns sees neither. */
function createRegistry(): SharedGates {
  const entries = new Map<string, Entry>();

  const dropIdle = (now: number) => {
    for (const [id, { usedAt, gate }] of entries) {
      if (now - usedAt > IDLE_MS && gate.isIdle()) entries.delete(id);
    }
  };

  const entryOf = (id: string): Entry => {
    const now = monotonicMs();
    let entry = entries.get(id);
    if (entry === undefined) {
      // Now, and not by a timer: a timer would outlive the work of the process.
      dropIdle(now);
      entry = { gate: createRateGate(), usedAt: now };
      entries.set(id, entry);
    }
    entry.usedAt = now;
    return entry;
  };

  return (origin, apiKey) => {
    const id = `${origin} ${apiKey}`;
    // Looked up at each use: a gate that was dropped meanwhile must not live on beside its successor.
    return {
      enter: (call) => entryOf(id).gate.enter(call),
      get rateLimit() {
        return entries.get(id)?.gate.rateLimit;
      },
    };
  };
}
