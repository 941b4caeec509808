import { memoryStore, type SyncTarget } from 'accounting-data-sdk';

// Files and databases do not exist in a page: these keep everything in memory, and say so.

const said = new Set<string>();

function say(name: string, path: unknown): void {
  if (said.has(name)) return;
  said.add(name);
  console.info(
    `${name}(${JSON.stringify(String(path))}) keeps everything in memory here, until the program ends.`,
  );
}

const stores = new Map<string, ReturnType<typeof memoryStore>>();

/** As `accounting-data-sdk/node` has it. */
export function fileStore(directory: string | URL) {
  say('fileStore', directory);
  const name = String(directory);
  const store = stores.get(name) ?? memoryStore();
  stores.set(name, store);
  return store;
}

interface Row {
  readonly body: unknown;
  readonly version: string;
}

interface Copy {
  readonly store: ReturnType<typeof memoryStore>;
  readonly rows: Map<string, Map<string, Row>>;
}

const copies = new Map<string, Copy>();
let versions = 0;

/** As `accounting-data-sdk/targets` has it, without a database. */
export function sqliteTarget(path: unknown): SyncTarget {
  say('sqliteTarget', path);
  return {
    open(tenant) {
      const name = `${String(path)}/${tenant}`;
      const copy = copies.get(name) ?? { store: memoryStore(), rows: new Map<string, Map<string, Row>>() };
      copies.set(name, copy);
      const rowsOf = (collection: string) => {
        const rows = copy.rows.get(collection) ?? new Map<string, Row>();
        copy.rows.set(collection, rows);
        return rows;
      };
      const rowOf = (body: unknown): Row => {
        versions += 1;
        return { body, version: String(versions) };
      };
      return {
        store: copy.store,
        onBatch({ collection, records }) {
          for (const record of records) rowsOf(collection).set(record.id, rowOf(record));
        },
        localIds: (collection) => rowsOf(collection).keys(),
        onDelete(ids, collection) {
          for (const id of ids) rowsOf(collection).delete(id);
        },
        rows: async (collection, ids) =>
          ids.flatMap((id) => {
            const row = rowsOf(collection).get(id);
            return row === undefined ? [] : [{ id, ...row }];
          }),
        async replace(collection, id, row, version) {
          const rows = rowsOf(collection);
          if (rows.get(id)?.version !== version) return false;
          if (row === undefined) rows.delete(id);
          else rows.set(id, rowOf(row.body));
          return true;
        },
        forget: async () => copies.delete(name),
      };
    },
  };
}
