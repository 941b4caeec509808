import { createHash } from 'node:crypto';
import type { PostgresConnection } from 'accounting-data-sdk/targets';

/** The companies whose key the service rejected. Each stays parked until its key is another one. */
export class Parked {
  readonly #connection: PostgresConnection;

  private constructor(connection: PostgresConnection) {
    this.#connection = connection;
  }

  static async open(connection: PostgresConnection): Promise<Parked> {
    const exists = rowsOf(await connection.query("SELECT to_regclass('parked_company') AS name"));
    // Two machines that start together cannot both create it, even with IF NOT EXISTS.
    if ((exists[0] as { name: unknown }).name === null) {
      await connection
        .query('CREATE TABLE IF NOT EXISTS parked_company (tenant text PRIMARY KEY, key_hash text NOT NULL)')
        .then(undefined, (error: { code?: string }) => {
          if (error.code !== '23505' && error.code !== '42P07') throw error;
        });
    }
    return new Parked(connection);
  }

  async has(tenant: string, apiKey: string): Promise<boolean> {
    const query = 'SELECT 1 FROM parked_company WHERE tenant = $1 AND key_hash = $2';
    return rowsOf(await this.#connection.query(query, [tenant, hashOf(apiKey)])).length > 0;
  }

  async add(tenant: string, apiKey: string): Promise<void> {
    const query = `INSERT INTO parked_company VALUES ($1, $2)
      ON CONFLICT (tenant) DO UPDATE SET key_hash = excluded.key_hash`;
    await this.#connection.query(query, [tenant, hashOf(apiKey)]);
  }
}

/** The key itself is not stored. */
function hashOf(apiKey: string): string {
  return createHash('sha256').update(apiKey).digest('hex');
}

function rowsOf(result: Awaited<ReturnType<PostgresConnection['query']>>): readonly unknown[] {
  return 'rows' in result ? result.rows : result;
}
