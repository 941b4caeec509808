import {
  type ColumnSyntax,
  columnsOf,
  type Fields,
  hasUnreadableDate,
  identifier,
  literal,
  OWN_COLUMNS,
  onOneLine,
} from './columns.ts';

/** The types of columns that the databases call by other names. */
export type ColumnType = 'text' | 'json' | 'flag' | 'time';

/** What is different in the two databases. */
export interface Dialect {
  readonly columns: ColumnSyntax;
  readonly types: Readonly<Record<ColumnType, string>>;
  /** A text as a value of a type. */
  cast(text: string, type: ColumnType): string;
  /** The name of a table. */
  table(name: string): string;
  /** The name of a view in statements. */
  view(name: string): string;
  /** A parameter of type text. Every parameter is one. */
  param(number: number): string;
  /** The items of a list in JSON as a table `item` with `value` and `position`. */
  items(text: string): string;
  /** A string among them. */
  readonly itemText: string;
  readonly now: string;
  /** What is executed before the tables are created. */
  readonly setUp: readonly string[];
  /** The end of a table that consists of its primary key. */
  readonly narrow: string;
  /** Ends a SELECT whose row must stay until the transaction ends. */
  readonly share: string;
  /** What the view of records reads. */
  rows(collection: string): string;
}

/** What the run of a collection ended with, as far as `sync_status` shows it. */
const STATUS_COLUMNS =
  'changes_through time?, finished_at time?, full_read_at time?, deletions_checked_at time?, complete text?, last_error text?';

/** The tables of a copy: their columns, of which those with `?` can be null, and their primary keys. */
export const TABLES = {
  record: {
    columns:
      'tenant text, collection text, id text, body json, invalid flag, unreadable_date flag, synced_at time',
    key: 'collection, tenant, id',
  },
  // Beside the records, because an update of a record would copy its whole body.
  seen: { columns: 'collection text, tenant text, id text, read integer', key: 'collection, tenant, id' },
  checkpoint: { columns: 'tenant text, key text, value text', key: 'tenant, key' },
  field: { columns: 'collection text, name text, position integer, kind text?', key: 'collection, name' },
  status: { columns: `tenant text, collection text, ${STATUS_COLUMNS}`, key: 'collection, tenant' },
} as const;

/** The name and the type of each column. */
const columnsIn = (columns: string) =>
  [...columns.matchAll(/(\w+) (\w+)/g)].map(([, name = '', type = '']) => ({ name, type }));

const namesIn = (columns: string) => columnsIn(columns).map(({ name }) => name);

/** Rows to be written: id, body and `invalid` of each as expressions of type text, and the end of their SELECT. */
export interface RowSource {
  readonly id: string;
  readonly body: string;
  readonly invalid: string;
  readonly from: string;
}

/** Parameters of a sync that writes. */
export interface Turn {
  /** Which run had written last, and its how many-th batch, when this run opened the copy; empty if none had. */
  readonly opened: string;
  /** The same of this run: its UUID, and a number. */
  readonly run: string;
}

export type Statements = ReturnType<typeof statementsIn>;

/** Every statement on the tables. Parameters are named in the comments, in their order. */
export function statementsIn(dialect: Dialect) {
  const { param: p, cast, now } = dialect;
  const { record, seen, checkpoint, field, status } = Object.fromEntries(
    Object.keys(TABLES).map((name) => [name, dialect.table(name)]),
  ) as Record<keyof typeof TABLES, string>;
  const ofCollection = `tenant = ${p(1)} AND collection = ${p(2)}`;
  const amongIds = `${ofCollection} AND id IN (SELECT ${dialect.itemText} FROM ${dialect.items(p(3))})`;
  const ids = (after: string, condition: string) =>
    `SELECT id FROM ${record} AS r WHERE ${ofCollection} AND id > ${after} ${condition} ORDER BY id LIMIT ${PAGE}`;
  const putRecords = ({ id, body, invalid, from }: RowSource, condition: string) =>
    `INSERT INTO ${record} AS r (tenant, collection, id, body, invalid, unreadable_date, synced_at)
      SELECT ${p(1)}, ${p(2)}, id, body, invalid, ${hasUnreadableDate(dialect.columns)}, ${now}
      FROM (SELECT ${id} AS id, ${cast(body, 'json')} AS body, ${cast(invalid, 'flag')} AS invalid ${from}) AS x WHERE true
      ON CONFLICT (collection, tenant, id) DO UPDATE
      SET body = excluded.body, invalid = excluded.invalid, unreadable_date = excluded.unreadable_date,
        synced_at = excluded.synced_at WHERE ${condition}`;
  /** Whether no other run has written since this one has opened the copy. */
  const isOwnTurn = (last: string, { opened, run }: Turn) =>
    `(${last} = ${opened} OR substr(${last}, 1, 36) = substr(${run}, 1, 36))`;
  const lastRun = `coalesce((SELECT value FROM ${checkpoint} WHERE tenant = ${p(1)} AND key = ${RUN_KEY}), '')`;
  /** Whether the copy is the one that the run has opened: `forget` removes its row first. */
  const isCopy = (tenant: string, copy: string) =>
    `EXISTS (SELECT 1 FROM ${checkpoint} WHERE tenant = ${tenant} AND key = ${COPY_KEY} AND value = ${copy} ${dialect.share})`;
  const gone = `'gone ' || ${p(2)} || ' '`;
  // Not by NOT EXISTS: without statistics PostgreSQL compares every record with every mark.
  const unmarked = `(SELECT s.read FROM ${seen} AS s WHERE s.collection = r.collection AND s.tenant = r.tenant
    AND s.id = r.id) IS DISTINCT FROM CAST(${p(3)} AS integer)`;
  const statusColumns = namesIn(STATUS_COLUMNS);

  return {
    create: [
      ...dialect.setUp,
      ...Object.entries(TABLES).map(([name, { columns, key }]) => {
        const defined = columns.replaceAll(
          /(\w+ )(\w+)(\??)/g,
          (_, name: string, type: string, optional: string) => {
            return `${name}${dialect.types[type as ColumnType] ?? type}${optional === '' ? ' NOT NULL' : ''}`;
          },
        );
        const end = name === 'seen' ? dialect.narrow : '';
        return `CREATE TABLE IF NOT EXISTS ${dialect.table(name)} (${defined}, PRIMARY KEY (${key}))${end}`;
      }),
    ],
    /** Fails if a table does not exist or has another shape. */
    shape: `SELECT 1 FROM ${Object.entries(TABLES)
      .map(([name, { columns }]) => {
        return `(SELECT ${namesIn(columns).join(', ')} FROM ${dialect.table(name)} LIMIT 0) AS t_${name}`;
      })
      .join(', ')}`,
    view: dialect.view,
    statusView: onOneLine`SELECT s.tenant, s.collection, coalesce(c.records, 0) AS records,
      ${statusColumns.slice(0, -2).join(', ')}, coalesce(c.invalid, 0) AS invalid, coalesce(c.unreadable_dates, 0) AS unreadable_dates, complete, nullif(last_error, '') AS last_error
      FROM ${status} AS s LEFT JOIN (
        SELECT tenant, collection, count(id) AS records, sum(CASE WHEN invalid THEN 1 ELSE 0 END) AS invalid,
          sum(CASE WHEN unreadable_date THEN 1 ELSE 0 END) AS unreadable_dates
        FROM ${record} GROUP BY collection, tenant
      ) AS c ON c.tenant = s.tenant AND c.collection = s.collection`,
    recordView: (collection: string, fields: Fields, indexed: ReadonlySet<string>) => {
      const columns = columnsOf(fields, dialect.columns, indexed).map(
        ({ name, expression }) => `${expression} AS ${identifier(name)}`,
      );
      return `SELECT ${[...OWN_COLUMNS, ...columns].join(', ')} FROM ${dialect.rows(literal(collection))}`;
    },

    /** collection, [name, kind] of each field. A field without a kind gets that of the first schema that names it, or is long. */
    addFields: `INSERT INTO ${field} AS f (collection, name, position, kind)
      SELECT ${p(1)}, item.value ->> 0, min(item.position) + (SELECT coalesce(max(position), 0) FROM ${field} WHERE collection = ${p(1)}),
        max(item.value ->> 1)
      FROM ${dialect.items(p(2))} WHERE true GROUP BY item.value ->> 0
      ON CONFLICT (collection, name) DO UPDATE SET kind = excluded.kind
      WHERE f.kind IS NULL AND excluded.kind IS NOT NULL OR excluded.kind = 'long'`,
    /** collections */
    fields: `SELECT collection, name, kind FROM ${field}
      WHERE collection IN (SELECT ${dialect.itemText} FROM ${dialect.items(p(1))}) ORDER BY collection, position, name`,
    tenants: `SELECT DISTINCT tenant FROM ${checkpoint} ORDER BY tenant`,
    /** tenant */
    checkpoints: `SELECT key, value FROM ${checkpoint} WHERE tenant = ${p(1)}`,
    /** tenant, the copy. Before the first request of a sync; kept if there is one. */
    beginCopy: `INSERT INTO ${checkpoint} (tenant, key, value) VALUES (${p(1)}, ${COPY_KEY}, ${p(2)})
      ON CONFLICT (tenant, key) DO NOTHING`,
    /** tenant, the copy. Of a sync that wrote nothing. */
    endCopy: `DELETE FROM ${checkpoint} WHERE tenant = ${p(1)} AND key = ${COPY_KEY} AND value = ${p(2)}
      AND NOT EXISTS (SELECT 1 FROM ${checkpoint} WHERE tenant = ${p(1)} AND key <> ${COPY_KEY})`,
    /**
     * The beginning of each transaction of a sync: of two at once, the first that writes after the other has opened the
     * copy goes on, and the other writes nothing. Nor does a run whose copy was forgotten.
     */
    takeTurn: (tenant: string, copy: string, turn: Turn) =>
      `INSERT INTO ${checkpoint} AS c (tenant, key, value) SELECT ${tenant}, ${RUN_KEY}, ${turn.run} WHERE ${isCopy(tenant, copy)}
      ON CONFLICT (tenant, key) DO UPDATE SET value = excluded.value WHERE ${isOwnTurn('c.value', turn)} RETURNING key`,
    /** tenant, the copy, key of the company, value. Of a run that is no sync: a sync writes it with a batch. */
    setCompany: `INSERT INTO ${checkpoint} (tenant, key, value) SELECT ${p(1)}, ${p(3)}, ${p(4)} WHERE ${isCopy(p(1), p(2))}
      ON CONFLICT (tenant, key) DO UPDATE SET value = excluded.value RETURNING key`,
    /** `entries`: [key, value] of each in JSON */
    setCheckpoints: (tenant: string, entries: string, condition: string) =>
      `INSERT INTO ${checkpoint} (tenant, key, value) SELECT ${tenant}, item.value ->> 0, item.value ->> 1
      FROM ${dialect.items(entries)} WHERE ${condition} ON CONFLICT (tenant, key) DO UPDATE SET value = excluded.value`,
    /** tenant, collection, and what `rows` names. A row that is equal to the copy's is not written. */
    writeRecords: (rows: RowSource) =>
      putRecords(rows, 'r.body <> excluded.body OR r.invalid <> excluded.invalid'),
    /** tenant, collection, and what `rows` and `read` name */
    mark: ({ id, from }: Pick<RowSource, 'id' | 'from'>, read: string) =>
      `INSERT INTO ${seen} (tenant, collection, id, read) SELECT ${p(1)}, ${p(2)}, ${id}, CAST(${read} AS integer) ${from}
      ON CONFLICT (collection, tenant, id) DO UPDATE SET read = excluded.read`,
    /** tenant, collection, id, body, invalid, time of the last write (empty: none), the copy */
    replaceRecord: `${putRecords(
      {
        id: p(3),
        body: p(4),
        invalid: p(5),
        from: `WHERE ${isCopy(p(1), p(7))}
        AND (${p(6)} = '' OR EXISTS (SELECT 1 FROM ${record} WHERE ${ofCollection} AND id = ${p(3)}))`,
      },
      `r.synced_at = ${cast(`nullif(${p(6)}, '')`, 'time')}`,
    )} RETURNING id`,
    /** tenant, collection, id, the copy */
    noteGone: `INSERT INTO ${checkpoint} (tenant, key, value) SELECT ${p(1)}, ${gone} || ${p(3)}, '' WHERE ${isCopy(p(1), p(4))}
      ON CONFLICT (tenant, key) DO NOTHING`,
    /** tenant, collection. A page that was requested earlier may still list them. */
    goneIds: `SELECT substr(key, length(${gone}) + 1) AS id FROM ${checkpoint}
      WHERE tenant = ${p(1)} AND substr(key, 1, length(${gone})) = ${gone}`,
    /** tenant */
    clearGone: `DELETE FROM ${checkpoint} WHERE tenant = ${p(1)} AND substr(key, 1, 5) = 'gone '`,
    /** tenant, collection, id, the copy, time of the last write */
    removeRecord: `DELETE FROM ${record} WHERE ${ofCollection} AND id = ${p(3)} AND synced_at = ${cast(p(5), 'time')}
      AND ${isCopy(p(1), p(4))} RETURNING id`,
    /** tenant, collection, ids, the copy, turn */
    removeRecords: `DELETE FROM ${record} WHERE ${amongIds} AND ${isCopy(p(1), p(4))}
      AND ${isOwnTurn(lastRun, { opened: p(5), run: p(6) })} RETURNING id`,
    countRecords: `SELECT count(*) AS count FROM ${record} WHERE ${amongIds}`,
    rows: `SELECT id, CAST(body AS text) AS body, CASE WHEN invalid THEN 1 ELSE 0 END AS invalid, CAST(synced_at AS text) AS version FROM ${record} WHERE ${amongIds}`,
    /** tenant, collection, the last id of the page before */
    ids: ids(p(3), ''),
    /** tenant, collection, read, the last id of the page before */
    unmarkedIds: ids(p(4), `AND ${unmarked}`),
    /** tenant, collection, read */
    countMarks: `SELECT (SELECT count(*) FROM ${record} WHERE ${ofCollection}) AS records,
      (SELECT count(*) FROM ${seen} WHERE ${ofCollection} AND read = CAST(${p(3)} AS integer)) AS marked`,
    /**
     * tenant, [collection, the values of a status] of each collection, the copy, turn. Null keeps what is there.
     */
    setStatus: `INSERT INTO ${status} AS s (tenant, collection, ${statusColumns.join(', ')})
      SELECT ${p(1)}, item.value ->> 0, ${columnsIn(STATUS_COLUMNS)
        .map(({ type }, index) => {
          const value = `item.value ->> ${index + 1}`;
          return type === 'text' ? value : cast(value, type as ColumnType);
        })
        .join(', ')}
      FROM ${dialect.items(p(2))} WHERE ${isCopy(p(1), p(3))} AND ${isOwnTurn(lastRun, { opened: p(4), run: p(5) })}
      ON CONFLICT (collection, tenant) DO UPDATE
      SET ${statusColumns.map((name) => `${name} = coalesce(excluded.${name}, s.${name})`).join(', ')}`,
    /** The row of the copy first: without it no run that has opened the copy can write any more. */
    forget: (tenant: string) => [
      `DELETE FROM ${checkpoint} WHERE tenant = ${literal(tenant)} AND key = ${COPY_KEY}`,
      ...[checkpoint, record, seen, status].map(
        (table) => `DELETE FROM ${table} WHERE tenant = ${literal(tenant)}`,
      ),
    ],
  };
}

/** The key of the row that every write requires, with the value that the run has read: which copy of the tenant it is. */
export const COPY = 'copy';
const COPY_KEY = literal(COPY);

/** The key of the row that says which run has written last: see {@link Turn}. */
export const LAST_RUN = 'run';
const RUN_KEY = literal(LAST_RUN);

/** Ids read at a time. */
const PAGE = 10_000;
