// Connectors with one mistake each: every other part of them is right.

import { type CollectionName, createClient, type Product } from 'accounting-data-sdk';
import type {
  ConnectorRun,
  ConnectorTestsOptions,
  ProductRow,
  WritingRun,
} from 'accounting-data-sdk/testing';

export type Rec = Readonly<Record<string, unknown>> & { readonly id: string; readonly name: string };

export const COLLECTIONS = ['accounts', 'products'] as const;
type Name = (typeof COLLECTIONS)[number];

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

const clientOf = ({ baseUrl, apiKey }: ConnectorRun) =>
  createClient({
    baseUrl,
    apiKey,
    validation: 'off',
    retry: { baseDelayMs: 50 },
    afterLastPage: 'not_found',
  });

/** The parts of a connector that reads everything each night. */
export interface Parts {
  /** Reads a collection; `known` are the records of the copy. */
  readonly list?: (service: ConnectorRun, name: Name, known: readonly Rec[]) => Promise<readonly Rec[]>;
  /** What the copy stores, given what it has. */
  readonly store?: (record: Rec, known: Rec | undefined) => Rec;
  /** Whether a record that was not listed is deleted. */
  readonly isGone?: (service: ConnectorRun, name: Name, id: string) => Promise<boolean>;
  /** Whether an error of a collection is one of the run. */
  readonly isFailure?: (error: { readonly code?: string }) => boolean;
  readonly endsAtFirstFailure?: boolean;
  readonly emptiesFirst?: boolean;
  readonly forgetsDeleted?: boolean;
}

export function reader({
  list = async (service, name) => {
    const options = { signal: service.signal };
    return (await clientOf(service)[name].list({}, options).toArray({ limit: 1_000 })) as unknown as Rec[];
  },
  store = (record) => record,
  isGone = (service, name, id) =>
    clientOf(service)
      [name].find(id, { signal: service.signal })
      .then(
        (found) => found === undefined,
        () => false,
      ),
  isFailure = () => true,
  endsAtFirstFailure = false,
  emptiesFirst = false,
  forgetsDeleted = true,
}: Parts = {}) {
  const copies = new Map<CollectionName, Map<string, Rec>>();
  const deleted = new Set<string>();
  const copyOf = (name: CollectionName) => {
    const copy = copies.get(name) ?? new Map<string, Rec>();
    copies.set(name, copy);
    return copy;
  };
  return {
    collections: COLLECTIONS,
    reset() {
      copies.clear();
      deleted.clear();
    },
    records: (name: CollectionName): readonly Rec[] => [...copyOf(name).values()],
    async run(service: ConnectorRun) {
      const failed: unknown[] = [];
      for (const name of COLLECTIONS) {
        const copy = copyOf(name);
        if (emptiesFirst) copy.clear();
        try {
          const records = await list(service, name, [...copy.values()]);
          for (const record of records)
            if (!deleted.has(record.id)) copy.set(record.id, store(record, copy.get(record.id)));
          const listed = new Set(records.map(({ id }) => id));
          for (const id of copy.keys()) {
            if (listed.has(id) || !(await isGone(service, name, id))) continue;
            copy.delete(id);
            if (!forgetsDeleted) deleted.add(id);
          }
        } catch (error) {
          if (endsAtFirstFailure) throw error;
          if (isFailure(error as object)) failed.push(error);
        }
      }
      if (failed.length > 0) throw failed[0];
    },
  } satisfies ConnectorTestsOptions;
}

/** Compressing and inflating takes a fifth of the time of a case. */
const headersOf = (apiKey: string) => ({ 'X-AUTH-TOKEN': apiKey, 'Accept-Encoding': 'identity' });

export const getUrl = ({ apiKey, signal }: ConnectorRun, url: string) =>
  fetch(url, { headers: headersOf(apiKey), signal });

const get = (service: ConnectorRun, name: Name, query: Record<string, string>) =>
  getUrl(service, `${service.baseUrl}/api/public/v1/${name}?${new URLSearchParams(query)}`);

/** The records of a response. */
export async function rowsOf(response: Response): Promise<readonly Rec[]> {
  if (!response.ok) throw Object.assign(new Error(`${response.status}`), { code: response.status });
  return (await response.json()) as Rec[];
}

export const getPage = async (service: ConnectorRun, name: Name, page: number) =>
  await rowsOf(await get(service, name, { _page: String(page) }));

/** Reads pages by their numbers to the first empty one. */
export function byPage({
  since = () => undefined,
  read = rowsOf,
}: {
  readonly since?: (known: readonly Rec[]) => string | undefined;
  readonly read?: (response: Response) => Promise<readonly Rec[]>;
} = {}): Required<Parts>['list'] {
  return async (service, name, known) => {
    const updatedSince = since(known);
    const filter = updatedSince === undefined ? {} : { updatedSince };
    const all: Rec[] = [];
    for (let page = 1; ; page += 1) {
      const rows = await read(await get(service, name, { _page: String(page), ...filter }));
      if (rows.length === 0) return all;
      all.push(...rows);
    }
  };
}

/** The last change in the copy, so many ms later, or earlier. */
export const lastChange = (laterMs: number) => (known: readonly Rec[]) => {
  const times = known.map(({ updatedAt }) => Date.parse(String(updatedAt)));
  return times.length === 0 ? undefined : new Date(Math.max(...times) + laterMs).toISOString();
};

/** Reads by id: the next page begins after the last id of the page before. */
export function byId({
  isLast = (rows: readonly Rec[]) => rows.length === 0,
  next = (rows: readonly Rec[]) => String(rows.at(-1)?.id),
} = {}): Required<Parts>['list'] {
  return async (service, name) => {
    const all: Rec[] = [];
    // It has looped for ever once.
    for (let last = '0', pages = 0; pages < 30; pages += 1) {
      const rows = await rowsOf(await get(service, name, { 'id[gt]': last }));
      all.push(...rows);
      if (isLast(rows)) break;
      last = next(rows);
    }
    return all;
  };
}

/** Reads what changed, and deletes nothing. */
export const changed = (list: Required<Parts>['list']): Parts => ({ list, isGone: async () => false });

/** The parts of a connector that lists the products and then writes each row. */
interface WriterParts {
  readonly draft?: (row: ProductRow) => object;
  readonly update?: 'patch' | 'delete and create' | 'never';
  readonly deletesOthers?: boolean;
  readonly isFailure?: (error: unknown) => boolean;
  readonly endsAtFirstFailure?: boolean;
  /** The key of a create. */
  readonly keyOf?: (row: ProductRow) => string;
  /** How often a create is sent. */
  readonly attempts?: number;
  /** Rows that were sent once are not looked at again. */
  readonly remembers?: boolean;
  /** Keeps one row for each key. */
  readonly isUnique?: boolean;
}

export function writer({
  draft = (row) => row,
  update = 'patch',
  deletesOthers = false,
  isFailure = () => true,
  endsAtFirstFailure = false,
  keyOf = () => crypto.randomUUID(),
  attempts = 1,
  remembers = false,
  isUnique = true,
}: WriterParts = {}): ConnectorTestsOptions {
  const done = new Set<string>();
  const write = async (service: WritingRun, row: ProductRow, known: Product | undefined) => {
    const client = clientOf(service).withOptions({ retry: false });
    if (known !== undefined && update === 'never') return;
    if (known !== undefined && update === 'patch') return await client.products.update(known.id, draft(row));
    if (known !== undefined) await client.products.delete(known.id);
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await client.products.create(draft(row), { idempotencyKey: keyOf(row) });
      } catch (error) {
        if (attempt >= attempts) throw error;
      }
    }
  };
  return {
    reset: () => done.clear(),
    writes: {
      async run(service) {
        const { products } = clientOf(service);
        const existing = await products.list().toArray({ limit: 1_000 });
        const left = new Map(existing.map((each) => [each.productNumber, each]));
        const failed: unknown[] = [];
        const rows = new Map(service.products.map((row) => [row.productNumber, row]));
        for (const row of isUnique ? rows.values() : service.products) {
          const known = left.get(row.productNumber);
          left.delete(row.productNumber);
          if (remembers && known === undefined && done.has(row.productNumber)) continue;
          done.add(row.productNumber);
          await write(service, row, known).catch((error: unknown) => {
            if (endsAtFirstFailure) throw error;
            if (isFailure(error)) failed.push(error);
          });
        }
        if (deletesOthers) for (const { id } of left.values()) await products.delete(id);
        if (failed.length > 0) throw failed[0];
      },
    },
  };
}

/** Creates the rows that it has not created in a run that ended, and remembers their ids. */
export function rememberingAtEnd(): ConnectorTestsOptions {
  let ids = new Map<string, string>();
  return {
    reset() {
      ids = new Map();
    },
    writes: {
      async run(service) {
        const { products } = clientOf(service);
        const made = new Map(ids);
        for (const row of service.products) {
          const id = made.get(row.productNumber);
          if (id !== undefined) await products.update(id, { ...row });
          else made.set(row.productNumber, (await products.create({ ...row })).id);
        }
        ids = made;
      },
    },
  };
}
