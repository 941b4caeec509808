import { AccountingError } from '../errors/accounting-error.ts';
import { CheckpointError } from '../errors/checkpoint-error.ts';
import { InvalidInputError } from '../errors/invalid-input-error.ts';
import { monotonicMs } from '../internal/monotonic-clock.ts';
import { sleep } from '../internal/sleep.ts';
import { causeText, sentence } from '../internal/text.ts';
import { driverError, sqlStateOf } from './driver-error.ts';

/**
 * What the failure of a database means:
 * - `away`: it restarts, is locked or has no connection left, so the same statement is sent again.
 * - `later`: waiting for it is useless, but a later run may succeed: a full disk.
 * - `never`: rights, a table of another shape, a damaged file: it fails again until that is changed.
 */
export type FailureKind = 'away' | 'later' | 'never';

/** SQLSTATEs, or the first two characters of those that are not named. All others are `never`. */
const SQLSTATES: Readonly<Record<FailureKind, readonly string[]>> = {
  // Connection; shutdown, crash, start; resources, too many connections; serialization, deadlock; a lock.
  away: ['08', '57', '53', '40', '55P03'],
  // A full disk; a canceled statement; a standby; a failure of the operating system; an error inside PostgreSQL.
  later: ['53100', '57014', '25006', '58', 'XX'],
  // The database was dropped.
  never: ['57P04'],
};

/** Primary codes of SQLite. All others are `never`. */
const SQLITE_CODES: Readonly<Record<FailureKind, readonly number[]>> = {
  // Busy, locked, a lock that was not granted in time, and a schema that changes during the statement.
  away: [5, 6, 15, 17],
  // Out of memory, interrupted, an error of the file system, a full disk.
  later: [7, 9, 10, 13],
  never: [],
};

/** Of files. All others, such as a folder that does not exist, are `never`. */
const FILE_CODES = ['EMFILE', 'ENFILE', 'ENOSPC', 'EDQUOT', 'EIO', 'ENOMEM', 'EAGAIN', 'EINTR'];

/** Of drivers: a socket that failed, and the codes of postgres.js and Bun. */
const NO_CONNECTION = /^(?:ECONN|EPIPE|ETIMEDOUT|EHOST|ENET|ENOTFOUND|EAI_|CONNECT|ERR_POSTGRES_CONNECTION_)/;

/** Of TLS: a certificate, or a version, that the other end does not accept. */
const OF_TLS = /^(?:ERR_TLS_|ERR_SSL_|CERT_|SELF_SIGNED_|DEPTH_ZERO_|UNABLE_TO_|HOSTNAME_MISMATCH)/;

/**
 * What a pooler, and a driver without a code, say of a connection that will never be made: a database, user or parameter
 * that does not exist, TLS that one end does not have, a rejected password. PgBouncer gives them the SQLSTATE of a server
 * that it cannot reach.
 */
const NEVER_CONNECTS =
  /\bno such (?:database|user)\b|\bunsupported \w+ parameter|\bdoes not (?:allow connections|support SSL)|\b(?:SSL|TLS)\b.*\brequired\b|\bconfig error\b|\bnot allowed\b|\bauthentication (?:failed|method)|\bunsupported protocol\b/i;

/** What `pg` says of a client whose connection has ended: it never opens another one. */
const NOT_QUERYABLE = /\bnot queryable\b/;

/** What a failure of the database, or of its driver, means. */
export function failureKind(thrown: unknown): FailureKind {
  const { code, errcode, path, error } = driverError(thrown);
  // Extended codes of SQLite have the primary code in their lowest byte.
  if (errcode !== undefined) return kindIn(SQLITE_CODES, errcode & 0xff) ?? 'never';
  const text = causeText(error);
  const isOfConnection = code === undefined || code.startsWith('08');
  if (isOfConnection && NEVER_CONNECTS.test(text)) return 'never';
  if (NOT_QUERYABLE.test(text)) return 'never';
  // `pg` gives a lost connection, and a pool without a free one, no code.
  if (code === undefined) return /connect/i.test(text) ? 'away' : 'later';
  if (OF_TLS.test(code)) return 'never';
  // A local socket has a path, too.
  if (NO_CONNECTION.test(code)) return 'away';
  if (path !== undefined) return FILE_CODES.includes(code) ? 'later' : 'never';
  if (!/^[0-9A-Z]{5}$/.test(code)) return 'later';
  return kindIn(SQLSTATES, code) ?? kindIn(SQLSTATES, code.slice(0, 2)) ?? 'never';
}

function kindIn<V>(kinds: Readonly<Record<FailureKind, readonly V[]>>, code: V): FailureKind | undefined {
  return (Object.keys(kinds) as FailureKind[]).find((kind) => kinds[kind].includes(code));
}

/** What the driver says, without the values that a query builder may add. */
export function reasonOf(thrown: unknown): string {
  const { error } = driverError(thrown);
  const { message } = (error ?? {}) as { readonly message?: unknown };
  return causeText(error) || causeText(message);
}

/** Whether a table does not exist. */
export function isNoTable(error: unknown): boolean {
  return sqlStateOf(error) === '42P01' || reasonOf(error).includes('no such table');
}

/** A database that failed. Nothing of the transaction was committed, as far as this process knows. */
export function failed(error: unknown): AccountingError {
  if (error instanceof AccountingError) return error;
  const reason = reasonOf(error) || 'something other than an error';
  return new CheckpointError(
    sentence(`The copy could not be read or written: ${reason}`),
    {
      retryable: failureKind(error) !== 'never',
      hint: NOT_QUERYABLE.test(reason)
        ? 'Pass a pool, such as new pg.Pool(): a client opens no other connection.'
        : 'When the cause is gone, run it again: each batch is written with its checkpoint or not at all.',
    },
    { cause: error },
  );
}

/** A copy that cannot be opened. `what`: until the caller changes something. */
export function notOpened(error: unknown, what: string): AccountingError {
  if (error instanceof AccountingError || failureKind(error) !== 'never') return failed(error);
  if (NOT_QUERYABLE.test(reasonOf(error))) return failed(error);
  const text = `${what}: ${reasonOf(error)}`;
  return new InvalidInputError('target', text, { hint: setUpHint(error) }, { cause: error });
}

/** What to do about tables that cannot be created or used. */
function setUpHint(error: unknown): string | undefined {
  const code = sqlStateOf(error);
  if (code === '42501') return 'Grant what is missing, or run the first sync as a role that has it.';
  return code === '0A000' ? "Create a database with ENCODING 'UTF8'." : undefined;
}

const FIRST_DELAY_MS = 20;
const MAX_DELAY_MS = 2_000;

/** How long a database may be away, and what ends the wait. */
export interface Patience {
  readonly maxOutageMs: number;
  readonly signal: AbortSignal | undefined;
  warn(text: string): void;
  /** Called before each wait, once the database has been away for a second. */
  waits(waitMs: number): void;
}

/** A database that is away for less is not worth a word: another connection may only have held a lock. */
const WARN_AFTER_MS = 1_000;

/** The outage clock of the database: one for each run, which has one context. */
interface Clock {
  /** Since when no statement has succeeded, in ms. */
  since?: number | undefined;
  isWarned?: boolean;
}

const clocks = new WeakMap<Patience, Clock>();

/**
 * Repeats work that can be repeated while the database is away: for `maxOutageMs` in all, whatever is repeated. Warns of it
 * once, and reports each wait.
 */
export async function outlasting<V>(work: () => V | PromiseLike<V>, patience: Patience): Promise<V> {
  const { maxOutageMs, signal, warn, waits } = patience;
  const clock = clocks.get(patience) ?? {};
  clocks.set(patience, clock);
  for (let delayMs = FIRST_DELAY_MS; ; delayMs = Math.min(delayMs * 2, MAX_DELAY_MS)) {
    try {
      const value = await work();
      clock.since = undefined;
      clock.isWarned = false;
      return value;
    } catch (error) {
      if (failureKind(error) !== 'away' || error instanceof AccountingError) throw error;
      const now = monotonicMs();
      clock.since ??= now;
      const awayMs = now - clock.since;
      if (awayMs + delayMs > maxOutageMs) throw error;
      if (awayMs >= WARN_AFTER_MS) {
        const most = maxOutageMs === Number.POSITIVE_INFINITY ? '' : `, for up to ${maxOutageMs / 1000} s`;
        if (!clock.isWarned)
          warn(`The database is away (${reasonOf(error)}). Waiting until it is back${most}.`);
        clock.isWarned = true;
        waits(delayMs);
      }
    }
    await sleep(delayMs, signal);
  }
}
