import type { SandboxClock } from '../clock.ts';
import type { Keyring } from '../keys.ts';
import type { ResolvedSandboxOptions } from '../resolve-options.ts';
import type { Company, CompanyName } from '../store/company.ts';
import type { Idempotency } from './idempotency.ts';
import type { Journal } from './journal.ts';
import type { PageCache } from './page-cache.ts';
import type { RateLimits } from './rate-limit.ts';

/** Everything the service remembers. */
export interface ServiceState {
  readonly options: ResolvedSandboxOptions;
  readonly clock: SandboxClock;
  readonly keyring: Keyring;
  readonly companies: Readonly<Record<CompanyName, Company>>;
  readonly limits: RateLimits;
  readonly idempotency: Idempotency;
  readonly journal: Journal;
  readonly pages: PageCache;
  /** An instant in the form of the `Date` header. */
  readonly httpDate: (ms: number) => string;
}
