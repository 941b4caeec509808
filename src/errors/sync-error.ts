import { isError } from '../internal/realm.ts';
import type { CollectionReport, SyncReport } from '../reports/sync-report.ts';
import { AccountingError, type CallFacts, printedCause, reasonOf } from './accounting-error.ts';

/** A failure, and the collection that it belongs to. */
export interface CollectionFailure {
  readonly collection: string;
  readonly error: unknown;
}

/** Why a sync fails. */
export interface SyncFailure {
  readonly errors: readonly CollectionFailure[];
  /** What stopped every collection, if something did. */
  readonly stop?: { readonly reason: 'key_rejected' | 'outage'; readonly error: unknown } | undefined;
  /** The forbidden collections that this tenant could read before. */
  readonly revoked?: readonly string[] | undefined;
}

/**
 * At least one collection of a sync failed. Thrown after the others have ended; committed batches are kept, and
 * the next run resumes there. The message begins with the code of the first failure.
 */
export class SyncError extends AccountingError {
  static override readonly brand: string = 'SyncError';
  override readonly code = 'sync_failed';
  /** The result of every collection, including those that succeeded. */
  readonly report: SyncReport;
  /** Every failure, by collection; `cause` is the first. */
  readonly errors: readonly CollectionFailure[];
  /**
   * What stopped every collection: the service rejected the API key, or was down, for longer than `maxOutageMs` or when the
   * limit of `stopAfter` was reached. Undefined if collections failed one by one.
   */
  readonly stopped: 'key_rejected' | 'outage' | undefined;
  /** The code that all failures have, such as `unauthenticated`; undefined if they differ, or if one has none. */
  readonly causeCode: string | undefined;

  /** `sent`: what the run has sent, over all its calls. */
  constructor(report: SyncReport, failure: SyncFailure, sent: Pick<CallFacts, 'attempts' | 'outcome'>) {
    const { errors, stop } = failure;
    const reason = stop === undefined ? errors[0]?.error : stop.error;
    const hint = reason instanceof AccountingError ? reason.hint : undefined;
    const retryable = errors.some(isRetryable);
    super(messageOf(report, failure), { ...sent, retryable, hint }, { cause: errors[0]?.error });
    this.report = report;
    this.errors = errors;
    this.stopped = stop?.reason;
    const codes = new Set(
      errors.map(({ error }) => (error instanceof AccountingError ? error.code : undefined)),
    );
    this.causeCode = codes.size === 1 ? [...codes][0] : undefined;
  }

  /** One screen: each reason once with its collections and its cause, and the collections by their status. */
  override toJSON(): Record<string, unknown> {
    const { name, message, code, causeCode, retryable, outcome, attempts, report } = this;
    const errors = folded(this.errors).map(({ collections, error }) => {
      const printed = printedCause(error);
      return {
        collections: collections.join(', '),
        ...(typeof printed === 'string' ? { message: printed } : printed),
      };
    });
    const collections = byStatus(report.collections);
    const sent = { outcome, attempts };
    return { name, message, code, causeCode, retryable, ...sent, errors, report: { ...report, collections } };
  }
}

function isRetryable({ error }: CollectionFailure): boolean {
  return error instanceof AccountingError && error.retryable;
}

/** Failures with one reason. */
interface Folded {
  readonly collections: string[];
  readonly error: unknown;
}

function folded(errors: readonly CollectionFailure[]): Folded[] {
  const reasons = new Map<string, Folded>();
  for (const { collection, error } of errors) {
    const key = reasonKey(error, collection);
    const same = reasons.get(key);
    if (same === undefined) reasons.set(key, { collections: [collection], error });
    else same.collections.push(collection);
  }
  return [...reasons.values()];
}

/** Of one failure in two places: a query, a time, and what the service or a log numbers, such as an incident. */
const VARYING = /\?[^\s"]+|\b\d+(?= m?s\b)|\b(?=[\w-]*\d)[\w:.+-]{8,}/g;

/** The same for errors that differ in nothing but the name of their collection, and in what varies with each request. */
function reasonKey(error: unknown, collection: string): string {
  const text = JSON.stringify(printedCause(error)).replaceAll(VARYING, '');
  // What the caller's own functions throw is shown in whole.
  if (!(error instanceof AccountingError)) return text;
  // The path of a collection can have another name than the collection.
  const segment = error.path?.split('/')[1] ?? '';
  return text.replaceAll(nameIn(collection), '').replaceAll(segment, '');
}

/** A collection as paths, messages and state keys name it: `account-addresses`, `accountAddresses`, `Account address`. */
function nameIn(collection: string): RegExp {
  const words = collection.replaceAll(/[^a-z0-9]*(?=[A-Z])/g, ' ').split(/[^a-z0-9]+/i);
  const name = words.join('[-_ ]?').replace(/(?:(ie)|e)?s$/, (_, ie) => (ie ? '(?:y|ies)' : '(?:e?s)?'));
  return new RegExp(`(?<![a-z0-9])${name}(?![a-z0-9])`, 'gi');
}

function byStatus(reports: readonly CollectionReport[]): Record<string, string> {
  const names: Record<string, string> = {};
  for (const { status, collection } of reports) {
    const others = names[status];
    names[status] = others === undefined ? collection : `${others}, ${collection}`;
  }
  return names;
}

function messageOf(report: SyncReport, { errors, stop, revoked = [] }: SyncFailure): string {
  const more = folded(errors).length - 1;
  const first = stop === undefined ? errors[0]?.error : stop.error;
  return [
    `${codeOf(first)}: The sync of ${report.tenant} failed${stop === undefined ? countOf(report, errors) : stopOf(report, stop.reason)}:`,
    reasonOf(first),
    more > 0 ? `${more} other ${more === 1 ? 'reason' : 'reasons'}: see errors.` : '',
    revoked.length > 0
      ? `This tenant could read ${someOf(revoked)} before: the API key has lost a right.`
      : '',
    'Committed batches are kept.',
  ]
    .filter(Boolean)
    .join(' ');
}

function countOf({ collections }: SyncReport, errors: readonly CollectionFailure[]): string {
  const names = errors.map(({ collection }) => collection);
  const isAll = names.length > SHOWN_NAMES && names.length === collections.length;
  return ` for ${names.length} of ${collections.length} collections${isAll ? '' : ` (${someOf(names)})`}`;
}

const STOPS = {
  key_rejected: 'the service rejected the API key',
  outage: 'the service was down for longer than maxOutageMs',
  paused: 'the service was down when the limit of stopAfter was reached',
} as const;

function stopOf({ collections, paused }: SyncReport, reason: 'key_rejected' | 'outage'): string {
  const all = collections.length;
  const done = collections.filter(({ status }) => status === 'done').length;
  const stopped =
    done === 0
      ? `${all === 1 ? 'its collection' : all === 2 ? 'both collections' : `all ${all} collections`} stopped`
      : `all other collections stopped (${done} of ${all} ${done === 1 ? 'was' : 'were'} done)`;
  return `: ${STOPS[paused && reason === 'outage' ? 'paused' : reason]}, so ${stopped}`;
}

const SHOWN_NAMES = 3;

function someOf(names: readonly string[]): string {
  const more = names.length - SHOWN_NAMES;
  return names.slice(0, SHOWN_NAMES).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

/** What logs are searched for: the code of an error, or the name of one that has no code. */
function codeOf(error: unknown): string {
  if (!isError(error)) return 'error';
  const { code, name } = error as Error & { code?: unknown };
  return typeof code === 'string' && /^\w{1,50}$/.test(code) ? code : name;
}
