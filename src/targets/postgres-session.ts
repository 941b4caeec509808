import { CheckpointError } from '../errors/checkpoint-error.ts';
import { InvalidInputError } from '../errors/invalid-input-error.ts';
import { monotonicMs } from '../internal/monotonic-clock.ts';
import { randomUuid } from '../internal/random-uuid.ts';
import { oneLine } from '../internal/text.ts';
import type { Patience } from './failures.ts';

/**
 * A connection to PostgreSQL, or a pool: of `pg`, or PGlite. For postgres.js:
 * `{ query: (text, values) => sql.unsafe(text, values) }`. Pass a pool: another connection of it ends a statement that
 * waits for a lock, and a client whose connection is lost opens no other one. Give a pool of `pg` a listener for `error`,
 * or a lost connection ends your process.
 */
export interface PostgresConnection {
  /** Sends one statement. Resolves to its rows, or to an object with them. */
  query(text: string, values?: string[]): PromiseLike<PostgresResult>;
}

/** What a query resolves to. */
export type PostgresResult = { readonly rows: readonly unknown[] } | readonly unknown[];

/** How long a statement may take before it is looked at, and how often then. */
const LOOK_MS = 2_000;

/** The earliest that a statement is looked at. */
const SOON_MS = 100;

/** What a statement may still take after an abort. */
const GRACE_MS = 500;

/** A session of the database, as messages name it: `session 4711 (DBeaver, idle in transaction)`. */
export interface Session {
  readonly pid: unknown;
  readonly name: string | null;
  readonly state: string | null;
}

export function sessionText({ pid, name, state }: Session): string {
  const more = [name, state].filter((text) => text !== null && text !== '').map((text) => oneLine(`${text}`));
  return `session ${pid}${more.length === 0 ? '' : ` (${more.join(', ')})`}`;
}

/** What ends a session that holds a lock. */
export function endOf({ pid }: Session): string {
  return `SELECT pg_terminate_backend(${pid})`;
}

/** Sends the statements of one run, and ends those that wait for a lock for too long, or after an abort. */
export class PostgresSession {
  readonly #connection: PostgresConnection;
  readonly #context: Patience;
  readonly #run = randomUuid();
  #statements = 0;
  readonly #unlisten: () => void;
  #isWarned = false;

  constructor(connection: PostgresConnection, context: Patience) {
    this.#connection = connection;
    this.#context = context;
    this.#unlisten = listenForErrors(connection);
  }

  close(): void {
    this.#unlisten();
  }

  /** The rows of a statement. */
  async send(sql: string, values: string[] = []): Promise<readonly unknown[]> {
    const ends: (() => void)[] = [];
    // Another connection finds the statement by it, whatever is between here and the server. A later one must not be ended.
    const tag = `/* accounting-data-sdk ${this.#run} ${this.#statements++} */`;
    try {
      const sent = rowsOf(this.#connection, `${tag} ${sql}`, values);
      const rows = await Promise.race([sent, this.#untilGivenUp(tag, ends)]);
      if (!Array.isArray(rows[0])) return rows;
    } finally {
      for (const end of ends) end();
    }
    throw new InvalidInputError(
      'connection',
      "must return each row as an object, not as an array: leave out rowMode: 'array' and values()",
    );
  }

  /** Rejects if a statement that was just sent is not worth waiting for; `ends` gets what to do when it ends. */
  #untilGivenUp(tag: string, ends: (() => void)[]): Promise<never> {
    const { signal, maxOutageMs } = this.#context;
    const firstMs = Math.min(LOOK_MS, Math.max(maxOutageMs, SOON_MS));
    return new Promise((_, reject) => {
      const giveUp = (reason: unknown) => {
        void this.#aside(CANCEL, tag);
        reject(reason);
      };
      const onAbort = () => {
        const grace = setTimeout(() => giveUp(signal?.reason), GRACE_MS);
        ends.push(() => clearTimeout(grace));
      };
      if (signal?.aborted) onAbort();
      else signal?.addEventListener('abort', onAbort, { once: true });

      const startedAt = monotonicMs();
      let isOver = false;
      let lockedSince: number | undefined;
      const look = async () => {
        const [holder] = (await this.#aside(HOLDER, tag)) as Session[];
        if (isOver) return;
        let nextMs = LOOK_MS;
        if (holder === undefined) lockedSince = undefined;
        else {
          lockedSince ??= Math.max(startedAt, monotonicMs() - firstMs);
          const leftMs = maxOutageMs - (monotonicMs() - lockedSince);
          if (leftMs <= 0) return giveUp(lockedFor(monotonicMs() - lockedSince, holder));
          nextMs = Math.min(LOOK_MS, leftMs);
          this.#report(holder, nextMs);
        }
        looking = setTimeout(look, nextMs);
      };
      let looking = setTimeout(look, firstMs);
      ends.push(() => {
        isOver = true;
        clearTimeout(looking);
        signal?.removeEventListener('abort', onAbort);
      });
    });
  }

  #report(holder: Session, waitMs: number): void {
    const { warn, waits } = this.#context;
    waits(waitMs);
    if (this.#isWarned) return;
    this.#isWarned = true;
    warn(
      `The database waits for a lock that ${sessionText(holder)} holds. End its transaction, or run ${endOf(holder)}.`,
    );
  }

  /** The rows of a query about a statement, by a connection of its own if there can be one. Never rejects. */
  async #aside(sql: string, tag: string): Promise<readonly unknown[]> {
    try {
      const client = clientBeside(this.#connection);
      if (client === undefined) return await rowsOf(this.#connection, sql, [tag]);
      client.on('error', () => {});
      try {
        await client.connect();
        return await rowsOf(client, sql, [tag]);
      } finally {
        await client.end();
      }
    } catch {
      return [];
    }
  }
}

const CANCEL = `SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE starts_with(query, CAST($1 AS text)) AND state = 'active'`;

/** What holds the lock that a statement waits for; no row if it waits for none. */
const HOLDER = `SELECT holder.pid, holder.application_name AS name, holder.state
  FROM pg_stat_activity AS own CROSS JOIN unnest(pg_blocking_pids(own.pid)) AS blocking (pid)
  JOIN pg_stat_activity AS holder ON holder.pid = blocking.pid
  WHERE starts_with(own.query, CAST($1 AS text)) AND own.wait_event_type = 'Lock'`;

function lockedFor(lockedMs: number, holder: Session): CheckpointError {
  const seconds = Math.round(lockedMs / 1000);
  return new CheckpointError(
    `The copy could not be read or written for ${seconds} s, because ${sessionText(holder)} holds a lock.`,
    { retryable: true, hint: `End its transaction, or run ${endOf(holder)}. Then run this again.` },
  );
}

async function rowsOf(
  connection: PostgresConnection,
  sql: string,
  values: string[],
): Promise<readonly unknown[]> {
  const result = await connection.query(sql, values);
  const rows = 'rows' in result ? result.rows : result;
  // After a statement that failed among its rows, postgres.js leaves as many places empty in the next result, which is whole.
  return rows.filter(() => true);
}

/** A client of `pg`. */
interface PgClient extends PostgresConnection {
  on(event: 'error', listener: () => void): unknown;
  connect(): Promise<unknown>;
  end(): Promise<unknown>;
}

type PgClientClass = new (config: unknown) => PgClient;

/**
 * Another client of `pg`, with the settings of a pool or a client: a pool may have no free connection, and a client sends
 * one statement after the other. Of any other driver there is none.
 */
function clientBeside(connection: PostgresConnection): PgClient | undefined {
  const { Client, options, connectionParameters } = connection as {
    readonly Client?: PgClientClass;
    readonly options?: unknown;
    readonly connectionParameters?: unknown;
  };
  if (typeof Client === 'function' && options !== undefined) return new Client(options);
  if (connectionParameters === undefined) return undefined;
  return new (connection.constructor as PgClientClass)(connectionParameters);
}

/** What emits `error` when a connection is lost. Without a listener, that ends the process. */
interface Emitter {
  on(event: 'error', listener: () => void): unknown;
  removeListener(event: 'error', listener: () => void): unknown;
  listenerCount(event: 'error'): number;
}

/** How many runs need the listener of a pool. */
const listening = new WeakMap<object, { runs: number; remove(): void }>();

/** Listens for errors of a pool or a client that has no listener, until every run with it has ended. */
function listenForErrors(connection: PostgresConnection): () => void {
  const emitter = connection as PostgresConnection & Partial<Emitter>;
  if (!isEmitter(emitter)) return () => {};
  let listener = listening.get(emitter);
  if (listener === undefined) {
    if (emitter.listenerCount('error') > 0) return () => {};
    // The statement that is being sent fails too, and is repeated.
    const ignore = () => {};
    emitter.on('error', ignore);
    listener = { runs: 0, remove: () => emitter.removeListener('error', ignore) };
    listening.set(emitter, listener);
  }
  listener.runs += 1;
  const { remove } = listener;
  return () => {
    const now = listening.get(emitter);
    if (now === undefined || --now.runs > 0) return;
    listening.delete(emitter);
    remove();
  };
}

function isEmitter(value: Partial<Emitter>): value is Emitter {
  return [value.on, value.removeListener, value.listenerCount].every(
    (method) => typeof method === 'function',
  );
}
