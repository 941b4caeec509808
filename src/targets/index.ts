/**
 * A copy of a company's records in SQLite or PostgreSQL, kept up to date by `sync`.
 *
 * @packageDocumentation
 */

export type { DatabaseTarget } from './database-target.ts';
export type { PostgresConnection, PostgresResult } from './postgres-session.ts';
export { type PostgresTargetOptions, postgresTarget } from './postgres-target.ts';
export type { SqliteDatabase, SqliteStatement } from './sqlite-database.ts';
export { type SqliteTargetOptions, sqliteTarget } from './sqlite-target.ts';
