import { createState } from './create-state.ts';
import type { Core, RequestObserver } from './exchange.ts';
import { FaultRules } from './faults/fault-rules.ts';
import type { LoggedRequest } from './log.ts';
import { type ResolvedSandboxOptions, resolveSandboxOptions, type SandboxOptions } from './options.ts';
import { Recent } from './recent.ts';
import { RateLimits } from './service/rate-limit.ts';
import type { ServiceState } from './service/state.ts';
import { loadFolder } from './store/load-folder.ts';
import { createStore } from './store/sandbox-store.ts';

/** The parts of a sandbox that every adapter shares. */
export function createCore(options: SandboxOptions): Core {
  const resolved = resolveSandboxOptions(options);
  const given = { ...options };
  let current = resolved;
  let state = startService(current, resolved.seed);
  const faults = new FaultRules(resolved.seed);
  const requests = new Recent<LoggedRequest>();
  const observers = new Set<RequestObserver>();
  const clearLogs = () => {
    requests.clear();
    state.journal.clear();
    for (const observer of observers) observer.cleared?.();
  };
  return {
    get state() {
      return state;
    },
    get options() {
      return current;
    },
    faults,
    requests,
    observers,
    clearLogs,
    reset(changes = {}) {
      const changed = resolveSandboxOptions({ ...given, ...changes });
      // A connector keeps the keys that it was given.
      state = startService(changed, resolved.seed);
      current = changed;
      faults.reset(changed.seed);
      clearLogs();
    },
    renewQuotas(rateLimit = current.rateLimit) {
      state = { ...state, options: { ...state.options, rateLimit }, limits: new RateLimits(rateLimit) };
    },
  };
}

function startService(options: ResolvedSandboxOptions, keySeed: number): ServiceState {
  const state = createState(options, keySeed);
  const { main } = state.companies;
  if (typeof options.fixtures === 'string') loadFolder(main, options.fixtures);
  else if (options.fixtures !== undefined) createStore(() => main).load(options.fixtures);
  return state;
}
