// A connector as its own process: it brings a copy in PGlite up to date, over and over, until it is killed.

import { PGlite } from '@electric-sql/pglite';
import { createClient, isAccountingError, reconcile, sync } from 'accounting-data-sdk';

/** The settings of the process: the first and only message to it. */
export interface ConnectorSettings {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly dataDir: string;
  /** Brings the copy up to date and ends, instead of going on until it is killed. */
  readonly once: boolean;
}

/** What the copy holds. */
export interface CopyContent {
  readonly rows: readonly { readonly collection: string; readonly id: string; readonly rev: number }[];
  /** By key. */
  readonly checkpoints: Readonly<Record<string, string>>;
}

const COLLECTIONS = ['accounts', 'accountAddresses'] as const;

async function openCopy(dataDir: string): Promise<PGlite> {
  const db = await PGlite.create(dataDir);
  // No unique index: a row that is there twice must be seen, not prevented.
  await db.exec(`
    create table if not exists rows (collection text not null, id text not null, rev int not null);
    create table if not exists checkpoints (key text primary key, value text not null);`);
  return db;
}

async function content(db: PGlite): Promise<CopyContent> {
  const { rows } = await db.query<CopyContent['rows'][number]>('select collection, id, rev from rows');
  const states = await db.query<{ key: string; value: string }>('select key, value from checkpoints');
  return { rows, checkpoints: Object.fromEntries(states.rows.map(({ key, value }) => [key, value])) };
}

async function syncCopy(db: PGlite, client: ReturnType<typeof createClient>): Promise<void> {
  const get = async (key: string) => {
    const { rows } = await db.query<{ value: string }>('select value from checkpoints where key = $1', [key]);
    return rows[0]?.value;
  };
  await sync(client, {
    store: { get },
    tenant: 'acme',
    collections: COLLECTIONS,
    onBatch: ({ collection, records, key, checkpoint }) =>
      db.transaction(async (transaction) => {
        const ids = records.map(({ id }) => id);
        await transaction.query('delete from rows where collection = $1 and id = any($2)', [collection, ids]);
        await transaction.query('insert into rows select $1, * from unnest($2::text[], $3::int[])', [
          collection,
          ids,
          records.map(({ rev }) => rev),
        ]);
        await transaction.query(
          'insert into checkpoints values ($1, $2) on conflict (key) do update set value = excluded.value',
          [key, checkpoint],
        );
      }),
  });
}

async function reconcileCopy(db: PGlite, client: ReturnType<typeof createClient>): Promise<void> {
  for (const name of COLLECTIONS) {
    const { rows } = await db.query<{ id: string }>('select id from rows where collection = $1', [name]);
    await reconcile(client[name], {
      localIds: () => rows.map(({ id }) => id),
      onDelete: (ids) => db.query('delete from rows where collection = $1 and id = any($2)', [name, ids]),
      maxCandidates: Number.POSITIVE_INFINITY,
    }).catch((error: unknown) => {
      // The first listed record was deleted meanwhile. The next reconcile will do.
      if (!isAccountingError(error, 'reconcile_aborted')) throw error;
    });
  }
}

async function work({ baseUrl, apiKey, dataDir, once }: ConnectorSettings): Promise<void> {
  const db = await openCopy(dataDir);
  process.send?.(await content(db));
  const client = createClient({ baseUrl, apiKey });
  // The first run may end one that was interrupted: what changed since then is in the next.
  for (let run = 0; !once || run < 2; run++) {
    await syncCopy(db, client);
    await reconcileCopy(db, client);
  }
  process.send?.(await content(db));
  await db.close();
}

process.once('message', (settings) => {
  work(settings as ConnectorSettings).then(
    () => process.disconnect(),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
});
