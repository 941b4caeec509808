import { createClock } from './clock.ts';
import { Keyring } from './keys.ts';
import type { ResolvedSandboxOptions } from './options.ts';
import { Recent } from './recent.ts';
import { Idempotency } from './service/idempotency.ts';
import { RateLimits } from './service/rate-limit.ts';
import type { Commit, ServiceState } from './service/state.ts';
import { createCompany } from './store/company.ts';

/** A service that has served no request yet. `keySeed` is the seed of its keys. */
export function createState(options: ResolvedSandboxOptions, keySeed = options.seed): ServiceState {
  const clock = createClock(options.clock, options.clockOffsetMs);
  return {
    options,
    clock,
    keyring: new Keyring(keySeed),
    companies: {
      main: createCompany('main', { clock, options }),
      other: createCompany('other', { clock, options }),
    },
    limits: new RateLimits(options.rateLimit),
    idempotency: new Idempotency(options.idempotency),
    journal: new Recent<Commit>(),
  };
}
