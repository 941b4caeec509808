import { createRequire } from 'node:module';
import type { PostgresConnection } from 'accounting-data-sdk/targets';

interface Pool extends PostgresConnection {
  on(event: 'error', listener: () => void): void;
  end(): Promise<void>;
}

export function openPool(connectionString: string, max: number): Pool {
  // `pg` is a dependency of the example alone.
  const require = createRequire(new URL('../../../../examples/pg-boss/package.json', import.meta.url));
  const { Pool } = require('pg') as { readonly Pool: new (options: object) => Pool };
  const pool = new Pool({ connectionString, max });
  pool.on('error', () => {});
  return pool;
}

/** A database of its own on a server. */
export async function createDatabase(server: string) {
  const name = `queue_${process.pid}_${Date.now()}`;
  const admin = openPool(server, 1);
  await admin.query(`CREATE DATABASE ${name}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  const pool = openPool(url.href, 6);
  return {
    url: url.href,
    connection: pool,
    async rows<Row>(text: string): Promise<readonly Row[]> {
      const result = await pool.query(text);
      return ('rows' in result ? result.rows : result) as readonly Row[];
    },
    async drop() {
      await pool.end();
      await admin.query(`DROP DATABASE ${name} WITH (FORCE)`);
      await admin.end();
    },
  };
}
