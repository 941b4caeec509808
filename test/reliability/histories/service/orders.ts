/** The orders in which the service may list, all unknown to a client. */
export type Order = 'id asc' | 'id desc' | 'nearly by date' | 'updatedAt asc' | 'none';

export const ORDERS: readonly Order[] = ['id asc', 'id desc', 'nearly by date', 'updatedAt asc', 'none'];

/** What a row is sorted by. */
export interface Sortable {
  readonly key: bigint;
  /** The day that the record is about: close to the order of ids, but not the same. */
  readonly day: number;
  readonly updatedAtMs: number;
  readonly version: number;
}

type Compare = (a: Sortable, b: Sortable) => number;

/** How rows are listed. `salt` changes the order `none`, which is then another one for each value. */
export function comparing(order: Order, salt: number): Compare {
  if (order === 'id asc') return byId;
  if (order === 'id desc') return (a, b) => byId(b, a);
  if (order === 'nearly by date') return (a, b) => a.day - b.day || byId(a, b);
  if (order === 'updatedAt asc') return (a, b) => a.updatedAtMs - b.updatedAtMs || byId(a, b);
  return (a, b) => scatter(a, salt) - scatter(b, salt) || byId(a, b);
}

const byId: Compare = (a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0);

/** As in a table without an order: where a row lies has nothing to do with its id, and it moves when it is written. */
function scatter(row: Sortable, salt: number): number {
  let hash = Math.imul(Number(row.key & 0xffffffffn) ^ salt, 0x9e3779b1) ^ Math.imul(row.version, 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return (hash ^ (hash >>> 13)) >>> 0;
}

export const isById = (order: Order): boolean => order === 'id asc' || order === 'id desc';
