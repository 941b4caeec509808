import type { PostgresConnection } from 'accounting-data-sdk/targets';
import { createTable, rows } from './tables.ts';

/** Companies that find a service down, with no success in between, before it counts as down for all. */
const COMPANIES = 3;
/** How long no job sends a request. Doubled each time, up to the second one. */
const FIRST_SECONDS = 60;
const MAX_SECONDS = 480;

const COLUMNS = `
  base_url text PRIMARY KEY,
  tenants jsonb NOT NULL,
  times_opened integer NOT NULL DEFAULT 0,
  open_until timestamptz,
  probing boolean NOT NULL DEFAULT false`;

const STATE = `
  SELECT extract(epoch FROM open_until - now()) * 1000 AS "leftMs" FROM circuit WHERE base_url = $1`;

/** One job of all machines gets a row. If its machine dies, another job does after a minute. */
const PROBE = `
  UPDATE circuit SET probing = true, open_until = now() + interval '${FIRST_SECONDS} seconds'
  WHERE base_url = $1 AND open_until <= now() RETURNING 1`;

const FAILED = `
  INSERT INTO circuit AS c (base_url, tenants) VALUES ($1, jsonb_build_object(CAST($2 AS text), true))
  ON CONFLICT (base_url) DO UPDATE SET tenants = c.tenants || excluded.tenants`;

const OPEN = `
  UPDATE circuit SET probing = false, times_opened = times_opened + 1,
    open_until = now() + least(${FIRST_SECONDS} * 2 ^ times_opened, ${MAX_SECONDS}) * interval '1 second'
  WHERE base_url = $1 AND (probing OR open_until IS NULL)
    AND (SELECT count(*) FROM jsonb_object_keys(tenants)) >= ${COMPANIES}`;

/**
 * One circuit breaker for all machines. It opens if several companies find a service down: then no job sends a request,
 * and after a minute one of them tries. Its success closes the circuit.
 */
export class Circuit {
  readonly #connection: PostgresConnection;

  private constructor(connection: PostgresConnection) {
    this.#connection = connection;
  }

  static async open(connection: PostgresConnection): Promise<Circuit> {
    await createTable(connection, 'circuit', COLUMNS);
    return new Circuit(connection);
  }

  /** How long to wait before a request, in ms. `failures`: whether a job has found the service down since the last success. */
  async enter(baseUrl: string): Promise<{ readonly waitMs: number; readonly failures: boolean }> {
    const leftMs = await this.#leftMs(baseUrl);
    if (leftMs === undefined) return { waitMs: 0, failures: false };
    if (leftMs === null) return { waitMs: 0, failures: true };
    const isProbe = leftMs <= 0 && (await rows(this.#connection, PROBE, [baseUrl])).length > 0;
    return { waitMs: isProbe ? 0 : Math.max(leftMs, 0) + spreadMs(), failures: true };
  }

  /** A company found the service down. Returns how long to wait; 0 if the circuit is closed. */
  async failed(baseUrl: string, tenant: string): Promise<number> {
    await this.#connection.query(FAILED, [baseUrl, tenant]);
    await this.#connection.query(OPEN, [baseUrl]);
    const leftMs = await this.#leftMs(baseUrl);
    return leftMs == null ? 0 : Math.max(leftMs, 0) + spreadMs();
  }

  async succeeded(baseUrl: string): Promise<void> {
    await this.#connection.query('DELETE FROM circuit WHERE base_url = $1', [baseUrl]);
  }

  /** Until the circuit may be tried; null if it is closed, undefined if no job has failed. */
  async #leftMs(baseUrl: string): Promise<number | null | undefined> {
    const [row] = await rows<{ leftMs: unknown }>(this.#connection, STATE, [baseUrl]);
    return row === undefined || row.leftMs === null ? (row?.leftMs as null | undefined) : Number(row.leftMs);
  }
}

/** The jobs that wait do not all start at the same moment. */
function spreadMs(): number {
  return Math.random() * FIRST_SECONDS * 1_000;
}
