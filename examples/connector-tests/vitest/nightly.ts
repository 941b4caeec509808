import type { DatabaseSync } from 'node:sqlite';
import { type ClientOptions, createClient, type SyncReport, sync } from 'accounting-data-sdk';
import { sqliteTarget } from 'accounting-data-sdk/targets';

export const collections = ['accounts', 'products'] as const;

/** Brings a copy of accounts and products up to date, deletions included. */
export async function nightly(
  options: ClientOptions,
  { database, signal }: { database: DatabaseSync; signal?: AbortSignal },
): Promise<SyncReport> {
  return await sync(createClient(options), {
    tenant: 'acme',
    collections,
    mode: 'full',
    target: sqliteTarget(database),
    signal,
  });
}
