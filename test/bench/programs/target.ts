/**
 * Copies products to SQLite, by a sync into a target or by a fetch loop, or reads them again into a copy that has them,
 * and prints time and memory of this process.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { SyncTarget } from '../../../src/sync/target.ts';
import { readAll } from '../clients/fetch.ts';
import { createClient, sqliteTarget, sync } from '../support/built.ts';
import { API_KEY } from '../support/client.ts';

export interface TargetRun {
  readonly origin: string;
  readonly records: number;
  readonly pageSize: number;
  /** `marked` and `unmarked` read everything again; only `marked` looks for deletions. */
  readonly run: 'sync' | 'fetch' | 'marked' | 'unmarked';
}

export interface TargetCost {
  readonly microsPerRecord: number;
  readonly peakRssMb: number;
}

const { origin, records, pageSize, run } = JSON.parse(process.argv[2] ?? '') as TargetRun;

async function fetchLoop(file: string): Promise<void> {
  const database = new DatabaseSync(file);
  database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
    CREATE TABLE accounting_record (tenant TEXT NOT NULL, collection TEXT NOT NULL, id TEXT NOT NULL,
      body TEXT NOT NULL, PRIMARY KEY (collection, tenant, id))`);
  const insert = database.prepare('INSERT OR REPLACE INTO accounting_record VALUES (?, ?, ?, ?)');
  let page: { id: string }[] = [];
  const write = () => {
    database.exec('BEGIN');
    for (const record of page) insert.run('bench', 'products', record.id, JSON.stringify(record));
    database.exec('COMMIT');
    page = [];
  };
  await readAll({ origin, pageSize }, (record) => {
    page.push(record as { id: string });
    if (page.length === pageSize) write();
    return true;
  });
  write();
  database.close();
}

/** The same target, which neither marks records nor looks for deletions. */
function withoutMarks(target: SyncTarget): SyncTarget {
  return {
    async open(tenant, context) {
      const opened = await target.open(tenant, context);
      return {
        store: opened.store,
        onBatch: (batch) => opened.onBatch({ ...batch, read: undefined }),
        localIds: () => [],
        onDelete: () => {},
        close: () => opened.close?.(),
      };
    },
  };
}

const folder = mkdtempSync(join(tmpdir(), 'bench-target-'));
const file = join(folder, 'books.sqlite');
const client = createClient({ baseUrl: origin, apiKey: API_KEY });
const options = { tenant: 'bench', collections: ['products'], target: sqliteTarget(file) } as const;
if (run === 'marked' || run === 'unmarked') await sync(client, options);
const startedAt = performance.now();
if (run === 'fetch') await fetchLoop(file);
else if (run === 'sync') await sync(client, options);
else {
  const target = run === 'marked' ? options.target : withoutMarks(options.target);
  await sync(client, { ...options, target, mode: 'full' });
}
const micros = (performance.now() - startedAt) * 1000;
const { count } = new DatabaseSync(file).prepare('SELECT count(*) AS count FROM accounting_record').get() as {
  count: number;
};
rmSync(folder, { recursive: true });
if (count !== records) throw new Error(`${count} records are in the copy`);
const cost: TargetCost = {
  microsPerRecord: micros / records,
  peakRssMb: process.resourceUsage().maxRSS / 1024,
};
console.log(JSON.stringify(cost));
