// What the errors of writes say about further writes of their kind: one value for each kind, and pure functions of it.

import { type AnyAccountingError, isApiError, isKeyRejected } from '../errors/guards.ts';
import { isOtherCompany } from '../reading/company.ts';

export type Kind = 'create' | 'update';

/** So many 403s in a row without a success of their kind, and no more are sent. */
export const SAMPLE = 20;

/**
 * How far an error reaches:
 * - `row`: one row.
 * - `denied`: one record, or every write of its kind.
 * - `kind`: every write of its kind, if none has succeeded; otherwise one row, whose text a firewall rejects for example.
 * - `push`: every call.
 */
type Reach = 'row' | 'denied' | 'kind' | 'push';

/** The service accepts neither the method nor the content type, or a firewall does not. */
const STATUSES_OF_KIND: ReadonlySet<number> = new Set([405, 406, 415]);

export function reachOf(error: AnyAccountingError): Reach {
  const { code } = error;
  if (code === 'checkpoint' || code === 'concurrent_run' || isOtherCompany(error)) return 'push';
  if (code === 'scope_required') return 'kind';
  if (!isApiError(error)) return 'row';
  if (code === 'unauthenticated') return isKeyRejected(error) ? 'push' : 'kind';
  if (STATUSES_OF_KIND.has(error.status)) return 'kind';
  return error.status === 403 ? 'denied' : 'row';
}

/** What the writes of one kind have shown so far. */
export interface Shown {
  readonly hasSucceeded: boolean;
  /** Denied in a row. */
  readonly denied: number;
  /** The last error that may be about every write of the kind. */
  readonly error: AnyAccountingError | undefined;
  /** Whether that one alone is enough to send no more. */
  readonly isStopped: boolean;
}

export const NOTHING_SHOWN: Shown = { hasSucceeded: false, denied: 0, error: undefined, isStopped: false };

/** A write has ended, with this error if it failed. */
export function afterWrite(shown: Shown, error?: AnyAccountingError): Shown {
  if (error === undefined) return { ...NOTHING_SHOWN, hasSucceeded: true };
  if (shown.hasSucceeded) return shown;
  switch (reachOf(error)) {
    case 'kind':
      return { ...shown, error, isStopped: true };
    case 'denied':
      return { ...shown, error, denied: shown.denied + 1 };
    default:
      return { ...shown, denied: 0 };
  }
}

/** Why no further write of a kind is sent. */
export interface Rejection {
  readonly error: AnyAccountingError;
  /** Whether the push rejects with it. */
  readonly isStop: boolean;
}

/** What every write of a kind has met; undefined if one may succeed. */
export function rejectionOf({ error, isStopped, denied }: Shown): Rejection | undefined {
  if (error === undefined || (!isStopped && denied < SAMPLE)) return undefined;
  return { error, isStop: isStopped };
}

/** A sample of the rows first, a random one of each part: those that a service denies often stand together. */
export function sampleFirst<V>(rows: readonly V[], size: number): readonly V[] {
  const step = rows.length / size;
  if (step <= 1) return rows;
  const sample = new Set(Array.from({ length: size }, (_, n) => Math.floor((n + Math.random()) * step)));
  return [...[...sample].map((index) => rows[index] as V), ...rows.filter((_, index) => !sample.has(index))];
}
