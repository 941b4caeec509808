import {
  type Client,
  type ClientOptions,
  createClient,
  refresh,
  type SyncReport,
  type SyncTarget,
  sync,
  verify,
} from 'accounting-data-sdk';
import { createSandbox, type Sandbox, type SandboxOptions } from 'accounting-data-sdk/testing';
import { expect } from 'vitest';
import { type Copy, comparable, openSqlite } from './engines.ts';

/** The collections of these copies. */
export const collections = ['accounts', 'products'] as const;

export function clientOf(sandbox: Sandbox, options: ClientOptions = {}): Client {
  return createClient({ ...sandbox.clientOptions, ...options });
}

/** A sync of these collections into a copy. */
export function run(
  sandbox: Sandbox,
  { target }: { readonly target: SyncTarget },
  options: object = {},
  clientOptions: ClientOptions = {},
): Promise<SyncReport> {
  return sync(clientOf(sandbox, clientOptions), { tenant: 'acme', target, collections, ...options });
}

/** A copy after a first sync, in SQLite unless `open` opens another one. */
export async function synced<C extends Copy = ReturnType<typeof openSqlite>>(
  options: SandboxOptions,
  open: () => C | Promise<C> = () => openSqlite() as Copy as C,
) {
  const [sandbox, copy] = [createSandbox(options), await open()];
  await run(sandbox, copy);
  return { sandbox, copy };
}

/** Brings a copy of a company up to date, and makes another company from the same template a day later. */
export async function fromTemplate(copy: Copy) {
  const sandbox = createSandbox({ records: { accounts: 20, products: 20 } });
  for (const name of collections)
    for (const record of sandbox.store[name].all()) sandbox.otherStore[name].insert({ ...record });
  for (const { id } of sandbox.otherStore.products.all())
    sandbox.otherStore.products.update(id, { createdAt: '2021-01-02T00:00:00Z' });
  await run(sandbox, copy);
  const options = { tenant: 'acme', target: copy.target, collections };
  return { sandbox, copy, options, clientWith: (apiKey: string) => clientOf(sandbox, { apiKey }) };
}

export function verified(
  sandbox: Sandbox,
  { target }: Copy,
  names: readonly (typeof collections)[number][] = collections,
) {
  return verify(clientOf(sandbox), { tenant: 'acme', target, collections: names });
}

export function refreshed(
  sandbox: Sandbox,
  { target }: Copy,
  ids: readonly string[],
  options: ClientOptions = {},
) {
  return refresh(clientOf(sandbox, options).products, { tenant: 'acme', target, ids });
}

/** Every record of the service, as `copied` returns those of a copy. */
export function upstream({ store }: Pick<Sandbox, 'store'>): readonly string[] {
  return collections.flatMap((name) => store[name].all().map((record) => comparable(name, record))).sort();
}

export function reportOf({ collections }: SyncReport, name: string) {
  return collections.find(({ collection }) => collection === name);
}

/** A record as it is in the copy: PostgreSQL returns JSON and flags as values, SQLite as text and numbers. */
export async function storedRow(copy: Copy, id: string) {
  const [row] = await copy.query(`SELECT body, invalid FROM ${copy.tables}record WHERE id = '${id}'`);
  return { body: parsed(row?.body), invalid: row?.invalid === true || row?.invalid === 1 };
}

/** The JSON of a column. */
export const parsed = (value: unknown) => (typeof value === 'string' ? JSON.parse(value) : value) as object;

export async function statusOf(copy: Copy, collection = 'accounts') {
  const rows = await copy.query(
    `SELECT * FROM ${copy.views}sync_status WHERE tenant = 'acme' AND collection = '${collection}'`,
  );
  expect(rows).toHaveLength(1);
  return rows[0] ?? {};
}

export const utc = (value: unknown) => (value === null ? null : new Date(value as string).toISOString());
