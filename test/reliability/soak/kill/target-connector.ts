// A program that syncs into a target, to be killed: base URL, key, target and mode are its arguments.

import { createRequire } from 'node:module';
import { createClient, sync } from 'accounting-data-sdk';
import { type PostgresConnection, postgresTarget, sqliteTarget } from 'accounting-data-sdk/targets';

const [, , baseUrl = '', apiKey = '', to = '', mode = 'incremental', modules = ''] = process.argv;

interface Pool extends PostgresConnection {
  end(): Promise<void>;
}

function poolOf(connectionString: string): Pool {
  const { Pool } = createRequire(modules)('pg') as { Pool: new (options: object) => Pool };
  return new Pool({ connectionString });
}

const pool = to.startsWith('postgres:') ? poolOf(to) : undefined;
await sync(createClient({ baseUrl, apiKey }), {
  tenant: 'acme',
  target: pool === undefined ? sqliteTarget(to) : postgresTarget(pool),
  mode: mode as 'incremental' | 'full',
  // The sandbox commits at once: a larger one would hide a checkpoint that is ahead of its rows.
  lookbackMs: 1_000,
  // Full runs that are killed find no deletions, so many can be waiting for the one that is not.
  maxCandidates: 1_000_000,
});
await pool?.end();
