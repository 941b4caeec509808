import type { ListOrder } from 'accounting-data-sdk/testing';

/** The ids of the model are small numbers. */
const compareIds = (a: string, b: string) => Number(a) - Number(b);

/** A record, as far as lists are concerned. Times in ms since the epoch. */
export interface Entry {
  readonly id: string;
  readonly modifiedAt: number;
}

/** The filters of a list. */
export interface Query {
  readonly gt: string | undefined;
  readonly gte: string | undefined;
  readonly lt: string | undefined;
  readonly lte: string | undefined;
  /** A whole second. */
  readonly since: number | undefined;
}

/** A model of the store: a list of writes that every read filters and sorts again. */
export class PlainStore {
  readonly #writes: { readonly id: string; readonly entry: Entry | undefined; readonly visibleAt: number }[] =
    [];

  write(id: string, entry: Entry | undefined, visibleAt: number): void {
    const before = this.#writes.filter((write) => write.id === id).map((write) => write.visibleAt);
    this.#writes.push({ id, entry, visibleAt: Math.max(visibleAt, ...before) });
  }

  /** Whether a writer finds the record. */
  has(id: string): boolean {
    return this.#writes.findLast((write) => write.id === id)?.entry !== undefined;
  }

  /** What readers see. */
  visible(now: number): Entry[] {
    const seen = new Map<string, Entry>();
    for (const { id, entry, visibleAt } of this.#writes) {
      if (visibleAt > now) continue;
      if (entry === undefined) seen.delete(id);
      else seen.set(id, entry);
    }
    return [...seen.values()];
  }

  list(query: Query, order: ListOrder, now: number): string[] {
    const { gt, gte, lt, lte, since } = query;
    const sign = order.endsWith('desc') ? -1 : 1;
    return this.visible(now)
      .filter(({ id }) => gt === undefined || compareIds(id, gt) > 0)
      .filter(({ id }) => gte === undefined || compareIds(id, gte) >= 0)
      .filter(({ id }) => lt === undefined || compareIds(id, lt) < 0)
      .filter(({ id }) => lte === undefined || compareIds(id, lte) <= 0)
      .filter(({ modifiedAt }) => since === undefined || modifiedAt >= since)
      .sort((a, b) => {
        const byId = compareIds(a.id, b.id);
        return order.startsWith('id') ? sign * byId : sign * (a.modifiedAt - b.modifiedAt) || byId;
      })
      .map(({ id }) => id);
  }
}
