// Connectors as people write them, each with the mistakes of its kind. They lose, double or spoil records.

import { DatabaseSync, type StatementSync } from 'node:sqlite';
import type { ConnectorRun } from 'accounting-data-sdk/testing';

export const COLLECTIONS = ['accounts', 'products'] as const;

/** A clock that only moves when it is read: on a slow machine, every connector would pause between two requests. */
export function steppingClock() {
  let now = Date.now();
  return {
    now() {
      now += 20;
      return now;
    },
  };
}

type Name = (typeof COLLECTIONS)[number];
type Rec = { readonly id: string; readonly name: string; readonly updatedAt: string } & Record<
  string,
  unknown
>;

/** A connector, its copy and its state. */
export interface NaiveConnector {
  readonly run: (run: ConnectorRun) => Promise<void>;
  readonly records: (collection: string) => Record<string, unknown>[];
  readonly reset: () => void;
}

/** Compressing and inflating takes a fifth of the time of a case. */
const headersOf = (apiKey: string) => ({ 'X-AUTH-TOKEN': apiKey, 'Accept-Encoding': 'identity' });

async function get(
  { baseUrl, apiKey }: ConnectorRun,
  name: Name,
  query: Record<string, string>,
): Promise<Rec[]> {
  const url = `${baseUrl}/api/public/v1/${name}?${new URLSearchParams(query)}`;
  const response = await fetch(url, { headers: headersOf(apiKey) });
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  return (await response.json()) as Rec[];
}

/** Pages to the first empty one, which is the last of them. */
async function* pagesOf(service: ConnectorRun, name: Name, query: Record<string, string> = {}) {
  for (let page = 1; ; page += 1) {
    const records = await get(service, name, { _page: String(page), ...query });
    yield records;
    if (records.length === 0) return;
  }
}

const newerThan = (since: string | undefined) => (since === undefined ? {} : { updatedSince: since });

/** A database with a state, and tables with these columns. */
class Copy {
  #database = new DatabaseSync(':memory:');
  readonly #columns: string;
  readonly #statements = new Map<string, StatementSync>();
  readonly state = new Map<string, string>();

  constructor(columns: string) {
    this.#columns = columns;
    this.reset();
  }

  readonly reset = () => {
    this.state.clear();
    this.#statements.clear();
    this.#database = new DatabaseSync(':memory:');
    for (const name of COLLECTIONS) this.run(`CREATE TABLE ${name} (${this.#columns})`);
  };

  run(sql: string, ...values: unknown[]): void {
    this.#prepare(sql).run(...(values as string[]));
  }

  all(sql: string): Record<string, unknown>[] {
    return this.#prepare(sql).all();
  }

  /** The records of a table with a column for their JSON. */
  readonly bodies = (name: string): Record<string, unknown>[] =>
    this.all(`SELECT body FROM ${name}`).map(({ body }) => JSON.parse(String(body)));

  #prepare(sql: string): StatementSync {
    const statement = this.#statements.get(sql) ?? this.#database.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }
}

/** Reads pages to the first empty one. The watermark is the largest `updatedAt`, saved with each page. */
export function loopByPage(): NaiveConnector {
  const copy = new Copy('id TEXT PRIMARY KEY, name TEXT NOT NULL, updatedAt TEXT, body TEXT');
  return {
    reset: copy.reset,
    records: copy.bodies,
    async run(service) {
      for (const name of COLLECTIONS) {
        for await (const records of pagesOf(service, name, newerThan(copy.state.get(name)))) {
          for (const record of records) {
            const title = record.name.trim();
            const body = JSON.stringify({ ...record, name: title });
            copy.run(
              `INSERT OR REPLACE INTO ${name} VALUES (?, ?, ?, ?)`,
              record.id,
              title,
              record.updatedAt,
              body,
            );
          }
          const times = copy
            .all(`SELECT updatedAt FROM ${name}`)
            .map((row) => Date.parse(String(row.updatedAt)));
          copy.state.set(name, new Date(Math.max(...times)).toISOString());
        }
      }
    },
  };
}

const MOST_PAGES = 100;

/**
 * Trusts that `id[gt]` moves forward and that a short page is the last one. The watermark is its own clock. It reads at
 * most so many pages, because it has looped forever once.
 */
export function keysetOnTrust(clock = steppingClock()): NaiveConnector {
  const copy = new Copy('id TEXT PRIMARY KEY, name TEXT, body TEXT');
  return {
    reset: copy.reset,
    records: copy.bodies,
    async run(service) {
      for (const name of COLLECTIONS) {
        const start = new Date(clock.now());
        const since = newerThan(copy.state.get(name));
        for (let last = 0, pages = 0; pages < MOST_PAGES; pages += 1) {
          const query = { 'id[gt]': String(last), ...since };
          const records = await get(service, name, query);
          for (const record of records) {
            const body = JSON.stringify(record);
            copy.run(`INSERT OR REPLACE INTO ${name} VALUES (?, ?, ?)`, record.id, record.name, body);
          }
          last = Number(records.at(-1)?.id);
          if (records.length < 5) break;
        }
        copy.state.set(name, start.toISOString());
      }
    },
  };
}

/** Reads everything each night with a function of the guide, and then replaces the copy of the collection. */
export function copyOfEachNight(
  recordsOf: (url: string, key: string) => AsyncIterable<{ readonly id: string }>,
): NaiveConnector {
  const copy = new Map<string, Record<string, unknown>[]>();
  return {
    reset: () => copy.clear(),
    records: (name) => copy.get(name) ?? [],
    async run({ baseUrl, apiKey }) {
      for (const name of COLLECTIONS) {
        const read = new Map<string, Record<string, unknown>>();
        for await (const record of recordsOf(`${baseUrl}/api/public/v1/${name}`, apiKey)) {
          read.set(record.id, { ...record });
        }
        copy.set(name, [...read.values()]);
      }
    },
  };
}

/** Reads everything each night, and inserts what it does not have: nothing is changed or deleted. */
export function insertOnly(): NaiveConnector {
  const copy = new Copy('id TEXT, name TEXT, creditLimit TEXT, salePrice TEXT, updatedAt TEXT');
  return {
    reset: copy.reset,
    records: (name) => copy.all(`SELECT * FROM ${name}`),
    async run(service) {
      for (const name of COLLECTIONS) {
        const known = new Set(copy.all(`SELECT id FROM ${name}`).map(({ id }) => id));
        for await (const records of pagesOf(service, name)) {
          for (const { id, name: title, creditLimit = null, salePrice = null, updatedAt } of records) {
            const values = [id, title, creditLimit, salePrice, updatedAt];
            if (!known.has(id)) copy.run(`INSERT INTO ${name} VALUES (?, ?, ?, ?, ?)`, ...values);
          }
        }
      }
    },
  };
}

/**
 * Reads everything each night, and deletes what was not listed. It logs an error and continues with what it has, sends a
 * request again at once after a 429, and gives each request two seconds. Amounts are numbers.
 */
export function deletionByAbsence(): NaiveConnector {
  const copy = new Copy(
    'id TEXT PRIMARY KEY, name TEXT, salePrice REAL, creditLimit REAL, isDeleted INTEGER DEFAULT 0',
  );
  const list = async ({ baseUrl, apiKey }: ConnectorRun, name: Name): Promise<Rec[]> => {
    const all: Rec[] = [];
    for (let page = 1; ; page += 1) {
      const url = `${baseUrl}/api/public/v1/${name}?_page=${page}`;
      try {
        const init = { headers: headersOf(apiKey), signal: AbortSignal.timeout(2_000) };
        const response = await fetch(url, init);
        if (response.status === 429) page -= 1;
        if (response.status === 429) continue;
        const records = (await response.json()) as Rec[];
        if (!response.ok || records.length === 0) break;
        all.push(...records);
      } catch {
        break;
      }
    }
    return all;
  };
  return {
    reset: copy.reset,
    records: (name) => copy.all(`SELECT id, name, salePrice, creditLimit FROM ${name} WHERE isDeleted = 0`),
    async run(service) {
      for (const name of COLLECTIONS) {
        const records = await list(service, name);
        for (const { id, name: title, salePrice = null, creditLimit = null } of records) {
          const amounts = [salePrice, creditLimit].map((amount) => (amount === null ? null : Number(amount)));
          copy.run(
            `INSERT INTO ${name} (id, name, salePrice, creditLimit) VALUES (?, ?, ?, ?) ON CONFLICT (id) DO UPDATE
              SET name = excluded.name, salePrice = excluded.salePrice, creditLimit = excluded.creditLimit`,
            ...[id, title, ...amounts],
          );
        }
        const listed = new Set(records.map(({ id }) => id));
        for (const { id } of copy.all(`SELECT id FROM ${name}`)) {
          if (!listed.has(String(id))) copy.run(`UPDATE ${name} SET isDeleted = 1 WHERE id = ?`, id);
        }
      }
    },
  };
}

/** Creates the columns of a table from the first record. It asks for what is newer than the last change. */
export function tableOfFirstRecord(): NaiveConnector {
  const copy = new Copy('id TEXT PRIMARY KEY');
  const columns = new Map<string, string[]>();
  const known = (name: string) => columns.get(name) ?? [];
  return {
    reset() {
      copy.reset();
      columns.clear();
    },
    records: (name) => (known(name).length === 0 ? [] : copy.all(`SELECT * FROM ${name}`)),
    async run(service) {
      for (const name of COLLECTIONS) {
        const records: Rec[] = [];
        const since = newerThan(copy.state.get(name));
        for await (const page of pagesOf(service, name, since)) records.push(...page);
        for (const record of records) {
          const fields = Object.keys(record);
          for (const field of known(name).length === 0 ? fields : []) {
            if (field !== 'id') copy.run(`ALTER TABLE ${name} ADD COLUMN ${field}`);
          }
          if (known(name).length === 0) columns.set(name, fields);
          const values = Object.values(record).map((value) => {
            if (typeof value === 'boolean') return Number(value);
            return Array.isArray(value) ? JSON.stringify(value) : value;
          });
          const marks = fields.map(() => '?').join(', ');
          copy.run(`INSERT OR REPLACE INTO ${name} (${fields.join(', ')}) VALUES (${marks})`, ...values);
        }
        const times = records.map(({ updatedAt }) => Date.parse(updatedAt));
        // A second more, because the last one would come again each night.
        if (times.length > 0) copy.state.set(name, new Date(Math.max(...times) + 1_000).toISOString());
      }
    },
  };
}
