import type { CollectionName } from '../../collections/index.ts';
import { Recent } from '../recent.ts';
import type { CompanyName } from '../store/company.ts';

/** A change that a request made to the books. */
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

/** The commits, oldest first. What an author writes through `sandbox.store` is not among them. */
export type Journal = Recent<Commit>;

export function createJournal(limit: number): Journal {
  return new Recent<Commit>(limit);
}
