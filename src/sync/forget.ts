import { resolved } from '../input/checks.ts';
import { is, type Named, type OptionInputs, optional, required } from '../internal/options.ts';
import { readSettings } from '../reading/list-options.ts';
import { label } from '../reading/state.ts';
import type { SyncTarget } from './target.ts';
import { withTarget } from './target-run.ts';

const forgetOptions = {
  /** The label of the company, as for `sync`. */
  tenant: required(label),
  /** The copy: `sqliteTarget` or `postgresTarget` of the entry `./targets`, or one of your own with `forget`. */
  target: required(is.withMethods<SyncTarget>('open')),
  /** Ends the wait for a database that is away: rejects with the signal's own reason. */
  signal: optional(is.signal),
};

/** Options of {@link forget}. */
export interface ForgetOptions extends OptionInputs<typeof forgetOptions>, Named {}

/**
 * Removes one company from a copy, in one transaction: its records, marks, checkpoints and status. The next sync of the
 * tenant reads everything again. Resolves with whether the copy had anything of the tenant.
 *
 * ```ts
 * await forget({ tenant: 'acme', target });
 * ```
 * During a sync of the tenant, one of the two ends with a ConcurrentRunError: in a file of SQLite this call, in PostgreSQL
 * the sync, before it writes anything more.
 *
 * @throws ConcurrentRunError; InvalidInputError if there is no copy; CheckpointError if the database fails.
 */
export async function forget(options: ForgetOptions): Promise<boolean> {
  const { tenant, target, signal } = resolved(forgetOptions, options, { of: 'forget' });
  const run = { purpose: 'forget', target, tenant, names: [], sources: {}, sameCompany: false } as const;
  return await withTarget(
    { ...run, settings: readSettings({ signal }), needs: ['forget'] },
    async (opened) => (await opened.forget()) !== false,
  );
}
