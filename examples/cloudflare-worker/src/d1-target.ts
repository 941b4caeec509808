import { ConcurrentRunError, type SyncTarget } from 'accounting-data-sdk';
import type { D1 } from './env.ts';

const SCHEMA = [
  `create table if not exists record (
    tenant text, collection text, id text, data text not null, primary key (tenant, collection, id))`,
  'create table if not exists checkpoint (tenant text, key text, value text not null, primary key (tenant, key))',
  'create table if not exists lease (tenant text primary key, until integer not null)',
  'create table if not exists pause (tenant text primary key, until integer not null)',
];

/** Longer than Cloudflare lets a scheduled run live, so that no run is still working when its lease ends. */
const LEASE_MS = 20 * 60_000;

/** A copy in D1, for the option `target` of `sync`. */
export function d1Target(db: D1): SyncTarget {
  return {
    async open(tenant) {
      await createTables(db);
      const now = Date.now();
      const take = `insert into lease values (?1, ?2)
        on conflict (tenant) do update set until = excluded.until where until < ?3`;
      const { meta } = await db
        .prepare(take)
        .bind(tenant, now + LEASE_MS, now)
        .run();
      if (meta.changes === 0)
        throw new ConcurrentRunError(`Another run of ${tenant} is under way.`, 'running');

      // Read together, because each statement counts as a subrequest. The lease keeps other runs from writing them.
      let checkpoints: Map<string, string> | undefined;
      const readCheckpoints = async () => {
        const { results } = await db
          .prepare('select key, value from checkpoint where tenant = ?1')
          .bind(tenant)
          .all<{ key: string; value: string }>();
        return new Map(results.map(({ key, value }) => [key, value]));
      };

      return {
        store: {
          async get(key) {
            checkpoints ??= await readCheckpoints();
            return checkpoints.get(key);
          },
        },

        // Records and checkpoint in one transaction.
        async onBatch({ collection, records, key, checkpoint }) {
          const upsert = `insert into record select ?1, ?2, json_extract(value, '$.id'), value from json_each(?3) where true
            on conflict (tenant, collection, id) do update set data = excluded.data`;
          const advance = `insert into checkpoint values (?1, ?2, ?3)
            on conflict (tenant, key) do update set value = excluded.value`;
          await db.batch([
            db.prepare(upsert).bind(tenant, collection, JSON.stringify(records)),
            db.prepare(advance).bind(tenant, key, checkpoint),
          ]);
          checkpoints?.set(key, checkpoint);
        },

        async *localIds(collection) {
          const { results } = await db
            .prepare('select id from record where tenant = ?1 and collection = ?2')
            .bind(tenant, collection)
            .all<{ id: string }>();
          for (const { id } of results) yield id;
        },

        async onDelete(ids, collection) {
          await db
            .prepare(
              'delete from record where tenant = ?1 and collection = ?2 and id in (select value from json_each(?3))',
            )
            .bind(tenant, collection, JSON.stringify(ids))
            .run();
        },

        async close() {
          await db
            .prepare('delete from lease where tenant = ?1 and until = ?2')
            .bind(tenant, now + LEASE_MS)
            .run();
        },
      };
    },
  };
}

export async function createTables(db: D1): Promise<void> {
  await db.batch(SCHEMA.map((statement) => db.prepare(statement)));
}

/** Until when the service asked this tenant to wait: a timestamp in ms, 0 if it did not. */
export async function pausedUntil(db: D1, tenant: string): Promise<number> {
  const row = await db
    .prepare('select until from pause where tenant = ?1')
    .bind(tenant)
    .first<{ until: number }>();
  return row?.until ?? 0;
}

export async function setPause(db: D1, tenant: string, until: number): Promise<void> {
  await db
    .prepare('insert into pause values (?1, ?2) on conflict (tenant) do update set until = excluded.until')
    .bind(tenant, until)
    .run();
}
