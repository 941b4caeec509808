import type { Batch } from 'accounting-data-sdk';
import type { D1 } from './env.ts';

const SCHEMA = [
  `create table if not exists record (
    collection text, id text, data text not null, primary key (collection, id))`,
  'create table if not exists checkpoint (key text primary key, value text not null)',
  'create table if not exists lease (name text primary key, until integer not null)',
];

const UPSERT = `insert into record (collection, id, data)
  select ?1, json_extract(value, '$.id'), value from json_each(?2) where true
  on conflict (collection, id) do update set data = excluded.data`;

const ADVANCE = `insert into checkpoint values (?1, ?2)
  on conflict (key) do update set value = excluded.value`;

const TAKE = `insert into lease values ('sync', ?1)
  on conflict (name) do update set until = excluded.until where until < ?2`;

/** Longer than Cloudflare lets a scheduled run live, so that no run is still working when its lease ends. */
const LEASE_MS = 20 * 60_000;

/** A copy of the accounting data in D1. */
export class Copy {
  readonly #db: D1;

  constructor(db: D1) {
    this.#db = db;
  }

  async prepare(): Promise<void> {
    await this.#db.batch(SCHEMA.map((statement) => this.#db.prepare(statement)));
  }

  /** Whether this run may start: no other one is running. */
  async take(now: number): Promise<boolean> {
    const { meta } = await this.#db
      .prepare(TAKE)
      .bind(now + LEASE_MS, now)
      .run();
    return meta.changes > 0;
  }

  async release(): Promise<void> {
    await this.#db.prepare("delete from lease where name = 'sync'").run();
  }

  /** The checkpoint under a key. A store for `sync` with only `get`: checkpoints are written below. */
  readonly get = async (key: string): Promise<string | undefined> => {
    const row = await this.#db
      .prepare('select value from checkpoint where key = ?1')
      .bind(key)
      .first<{ value: string }>();
    return row?.value;
  };

  /** Rows and checkpoint in one transaction. */
  async write({ collection, records, key, checkpoint }: Batch<{ id: string }>): Promise<void> {
    await this.#db.batch([
      this.#db.prepare(UPSERT).bind(collection, JSON.stringify(records)),
      this.#db.prepare(ADVANCE).bind(key, checkpoint),
    ]);
  }

  /** How many records of each collection there are. */
  async counts(): Promise<Record<string, number>> {
    const { results } = await this.#db
      .prepare('select collection, count(*) as count from record group by collection order by collection')
      .all<{ collection: string; count: number }>();
    return Object.fromEntries(results.map(({ collection, count }) => [collection, count]));
  }
}
