// A connector that reads and one that writes. Each of their parts can be a mistake: every other part is right.

import { type CollectionName, createClient, type Product } from 'accounting-data-sdk';
import type {
  ConnectorRun,
  ConnectorTestsOptions,
  ProductRow,
  WritingRun,
} from 'accounting-data-sdk/testing';

export type Rec = Readonly<Record<string, unknown>> & { readonly id: string };

export const get = ({ baseUrl, apiKey, signal }: ConnectorRun, path: string) =>
  fetch(`${baseUrl}/api/public/v1/${path}`, { headers: { 'X-AUTH-TOKEN': apiKey }, signal });

const getList = (service: ConnectorRun, name: CollectionName, query: Record<string, string>) =>
  get(service, `${name}?${new URLSearchParams(query)}`);

/** The records of a response. */
export async function rowsOf(response: Response): Promise<readonly Rec[]> {
  if (!response.ok) throw Object.assign(new Error(`${response.status}`), { status: response.status });
  return (await response.json()) as Rec[];
}

/** The parts of a connector that reads everything each night. */
export interface Parts {
  readonly collections?: readonly CollectionName[];
  /** Reads a collection; `known` are the records of the copy. */
  readonly list?: (
    service: ConnectorRun,
    name: CollectionName,
    known: readonly Rec[],
  ) => Promise<readonly Rec[]>;
  /** What the copy stores, given what it has. */
  readonly store?: (record: Rec, known: Rec | undefined) => Rec;
  /** Whether a record that was not listed is deleted. */
  readonly isGone?: (service: ConnectorRun, path: string) => Promise<boolean>;
  /** Whether an error of a collection is one of the run. */
  readonly isFailure?: (error: { readonly status?: number }) => boolean;
  readonly endsAtFirstFailure?: boolean;
  readonly emptiesFirst?: boolean;
  readonly forgetsDeleted?: boolean;
}

export function reader({
  collections = ['accounts'],
  list = byPage(),
  store = (record) => record,
  isGone = async (service, path) => (await get(service, path)).status === 404,
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
  const pull = async (service: ConnectorRun, name: CollectionName) => {
    const copy = copyOf(name);
    if (emptiesFirst) copy.clear();
    const records = await list(service, name, [...copy.values()]);
    for (const record of records)
      if (!deleted.has(record.id)) copy.set(record.id, store(record, copy.get(record.id)));
    const listed = new Set(records.map(({ id }) => id));
    for (const id of copy.keys()) {
      if (listed.has(id) || !(await isGone(service, `${name}/${id}`))) continue;
      copy.delete(id);
      if (!forgetsDeleted) deleted.add(id);
    }
  };
  return {
    collections,
    reset() {
      copies.clear();
      deleted.clear();
    },
    records: (name: CollectionName): readonly Rec[] => [...copyOf(name).values()],
    async run(service: ConnectorRun) {
      const failed: unknown[] = [];
      for (const name of collections) {
        await pull(service, name).catch((error) => {
          if (endsAtFirstFailure) throw error;
          if (isFailure(error)) failed.push(error);
        });
      }
      if (failed.length > 0) throw failed[0];
    },
  } satisfies ConnectorTestsOptions;
}

/** Reads pages by their numbers to the first empty one. */
export function byPage({
  since = () => undefined,
  read = rowsOf,
}: {
  readonly since?: (known: readonly Rec[]) => string | undefined;
  readonly read?: (response: Response, service: ConnectorRun) => Promise<readonly Rec[]>;
} = {}): Required<Parts>['list'] {
  return async (service, name, known) => {
    const updatedSince = since(known);
    const filter = updatedSince === undefined ? {} : { updatedSince };
    const all: Rec[] = [];
    for (let page = 1; ; page += 1) {
      const rows = await read(await getList(service, name, { _page: String(page), ...filter }), service);
      // A page that comes again would come for ever.
      if (rows.length === 0 || rows.at(-1)?.id === all.at(-1)?.id) return all;
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
      const rows = await rowsOf(await getList(service, name, { 'id[gt]': last }));
      all.push(...rows);
      if (isLast(rows)) break;
      last = next(rows);
    }
    return all;
  };
}

/** Reads what changed, and deletes nothing. */
export const changed = (list: Required<Parts>['list']): Parts => ({ list, isGone: async () => false });

/** Saves the watermark of a run when it begins. */
export function savingTooEarly() {
  let watermark: string | undefined;
  const list: Required<Parts>['list'] = async (...args) => {
    const since = watermark;
    watermark = new Date().toISOString();
    return await byPage({ since: () => since })(...args);
  };
  const { reset, ...connector } = reader(changed(list));
  const forget = () => {
    watermark = undefined;
    reset();
  };
  return { ...connector, reset: forget };
}

/** Inserts what it did not find when it began. */
export function insertingTwice() {
  let rows: Rec[] = [];
  return {
    collections: ['accounts'] as const,
    reset() {
      rows = [];
    },
    records: () => rows,
    async run(service: ConnectorRun) {
      const known = new Set(rows.map(({ id }) => id));
      rows.push(...(await byPage()(service, 'accounts', [])).filter(({ id }) => !known.has(id)));
    },
  };
}

const productsOf = ({ baseUrl, apiKey }: ConnectorRun) =>
  createClient({ baseUrl, apiKey, validation: 'off', retry: false, afterLastPage: 'not_found' }).products;

/** The parts of a connector that lists the products and then writes each row. */
export interface WriterParts {
  readonly draft?: (row: ProductRow) => object;
  readonly updates?: boolean;
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
  updates = true,
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
    const products = productsOf(service);
    if (known !== undefined) return updates ? await products.update(known.id, draft(row)) : undefined;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await products.create(draft(row), { idempotencyKey: keyOf(row) });
      } catch (error) {
        if (attempt >= attempts) throw error;
      }
    }
  };
  const run = async (service: WritingRun) => {
    const products = productsOf(service);
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
  };
  return { reset: () => done.clear(), writes: { run } };
}

/** Creates the rows that it has not created in a run that ended, and remembers their ids. */
export function rememberingAtEnd(): ConnectorTestsOptions {
  let ids = new Map<string, string>();
  const run = async (service: WritingRun) => {
    const products = productsOf(service);
    const made = new Map(ids);
    for (const row of service.products) {
      const id = made.get(row.productNumber);
      if (id !== undefined) await products.update(id, { ...row });
      else made.set(row.productNumber, (await products.create({ ...row })).id);
    }
    ids = made;
  };
  return {
    reset() {
      ids = new Map();
    },
    writes: { run },
  };
}
