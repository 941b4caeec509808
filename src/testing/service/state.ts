import type { CollectionName } from '../../collections/index.ts';
import type { SandboxClock } from '../clock.ts';
import type { Credential, Keyring } from '../keys.ts';
import type { ServiceRequest } from '../message.ts';
import type { ResolvedSandboxOptions } from '../options.ts';
import type { Recent } from '../recent.ts';
import type { Collection } from '../store/collection.ts';
import type { Company, CompanyName } from '../store/company.ts';
import type { Idempotency } from './idempotency.ts';
import type { RateLimits } from './rate-limit.ts';
import type { Format } from './represent.ts';

/** Everything that the service remembers. */
export interface ServiceState {
  readonly options: ResolvedSandboxOptions;
  readonly clock: SandboxClock;
  readonly keyring: Keyring;
  readonly companies: Readonly<Record<CompanyName, Company>>;
  readonly limits: RateLimits;
  readonly idempotency: Idempotency;
  readonly journal: Recent<Commit>;
}

/** A change that a request made. What a test writes through `sandbox.store` is not a commit. */
export interface Commit {
  readonly action: 'create' | 'update' | 'delete';
  readonly company: CompanyName;
  readonly collection: CollectionName;
  readonly id: string;
  readonly at: Date;
  /** The name of the key that made it, such as `full`. */
  readonly key: string;
  readonly idempotencyKey: string | undefined;
  /** The names of the fields that the body set. */
  readonly fields: readonly string[];
}

/** A request that is authenticated, authorized and routed. */
export interface RoutedRequest {
  readonly request: ServiceRequest;
  readonly credential: Credential;
  readonly collection: Collection;
  /** The record; empty for `list` and `create`. */
  readonly id: string;
  /** Of the response. */
  readonly format: Format;
}
