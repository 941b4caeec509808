import type { PostgresConnection } from 'accounting-data-sdk/targets';
import { rows } from './tables.ts';

/** Collections that were never read, such as those that a key may not read, do not count. */
const STALE = `
  SELECT t.tenant, min(s.finished_at) AS "lastSuccess", max(s.last_error) AS "lastError"
    FROM json_array_elements_text(CAST($1 AS json)) AS t (tenant)
    LEFT JOIN accounting.sync_status AS s ON s.tenant = t.tenant
    GROUP BY t.tenant
    HAVING coalesce(min(s.finished_at), '-infinity') < now() - CAST($2 AS interval)
    ORDER BY "lastSuccess" NULLS FIRST, t.tenant`;

export interface Stale {
  readonly tenant: string;
  /** When the collection that is furthest behind was last read to its end; null if none ever was. */
  readonly lastSuccess: Date | null;
  readonly lastError: string | null;
}

/** The companies whose last success is older than `age`, such as `3 hours`. */
export async function staleCompanies(
  connection: PostgresConnection,
  tenants: Iterable<string>,
  age: string,
): Promise<readonly Stale[]> {
  return await rows<Stale>(connection, STALE, [JSON.stringify([...tenants]), age]);
}
