import { createHash } from 'node:crypto';
import type { PostgresConnection } from 'accounting-data-sdk/targets';
import { createTable, rows } from './tables.ts';

/** The companies whose key the service rejected. Each stays parked until its key is another one. */
export class Parked {
  readonly #connection: PostgresConnection;

  private constructor(connection: PostgresConnection) {
    this.#connection = connection;
  }

  static async open(connection: PostgresConnection): Promise<Parked> {
    await createTable(connection, 'parked_company', 'tenant text PRIMARY KEY, key_hash text NOT NULL');
    return new Parked(connection);
  }

  async has(tenant: string, apiKey: string): Promise<boolean> {
    const query = 'SELECT 1 FROM parked_company WHERE tenant = $1 AND key_hash = $2';
    return (await rows(this.#connection, query, [tenant, hashOf(apiKey)])).length > 0;
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
