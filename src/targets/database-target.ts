import type { SyncTarget } from '../sync/target.ts';
import type { Engine } from './engine.ts';
import { failureKind, isNoTable, notOpened, type Patience } from './failures.ts';

/** A copy in a database of this package. */
export interface DatabaseTarget extends SyncTarget {
  /** The tenants that have a copy in the database, sorted; none if it has no tables yet. Writes nothing. */
  tenants(): Promise<readonly string[]>;
}

/** Of what is no part of a run: a database that is away fails it soon, a lock is waited for. */
export const QUIET: Patience = { maxOutageMs: 10_000, signal: undefined, warn: () => {}, waits: () => {} };

/** Reads the tenants, and closes the engine. */
export async function tenantsIn(engine: Engine): Promise<readonly string[]> {
  try {
    const rows = await engine.query(engine.sql.tenants);
    return (rows as readonly { tenant: string }[]).map(({ tenant }) => tenant);
  } catch (error) {
    // The first run creates the table.
    if (isNoTable(error)) return [];
    throw failureKind(error) === 'away'
      ? error
      : notOpened(error, `the tables of ${engine.owner} cannot be used`);
  } finally {
    engine.close();
  }
}
