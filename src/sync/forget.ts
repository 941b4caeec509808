import { checkObject, checkOptionNames } from '../errors/check-input.ts';
import type { OptionNames } from '../internal/option-names.ts';
import { checkStateName } from '../reading/state.ts';
import type { SyncTarget } from './target.ts';
import { checkTarget, checkTargetMethods, targetContext, withTarget } from './target-run.ts';

/** Options of {@link forget}. */
export interface ForgetOptions {
  /** The label of the company, as for `sync`. */
  tenant: string;
  /** The copy: `sqliteTarget` or `postgresTarget` of the entry `./targets`, or one of your own with `forget`. */
  target: SyncTarget;
  /** Ends the wait for a database that is away: rejects with the signal's own reason. */
  signal?: AbortSignal | undefined;
}

const FORGET_OPTIONS: OptionNames<ForgetOptions> = { tenant: true, target: true, signal: true };

/**
 * Removes one company from a copy, in one transaction: its records, marks, checkpoints and status. The next sync of the
 * tenant reads everything again.
 *
 * ```ts
 * await forget({ tenant: 'acme', target });
 * ```
 * During a sync of the tenant, one of the two ends with a ConcurrentRunError: in a file of SQLite this call, in PostgreSQL
 * the sync, before it writes anything more.
 *
 * @throws ConcurrentRunError; InvalidInputError if there is no copy; CheckpointError if the database fails.
 */
export async function forget(options: ForgetOptions): Promise<void> {
  checkObject(options, 'options');
  checkOptionNames(options, FORGET_OPTIONS, { of: 'forget' });
  const { tenant, signal } = options;
  checkStateName({ prefix: 'accounting-data-sdk', tenant });
  const target = checkTarget(options);
  const context = targetContext('forget', {}, [], { tenant, signal, read: {} });
  await withTarget(target, context, async (opened) => {
    checkTargetMethods(opened, 'forget', ['forget']);
    await opened.forget?.();
  });
}
