import { createSandbox, type Sandbox } from 'accounting-data-sdk/testing';
import { SeededRandom } from '../../../support/seeded-random.ts';
import type { CopyContent } from './connector.ts';

const COLLECTIONS = ['accounts', 'accountAddresses'] as const;

/** A sandbox on a port whose records change at every other request; it compares copies with its records. */
export class ChangingRecords {
  readonly sandbox: Sandbox;
  readonly random: SeededRandom;
  /** When each record was last written to, by the clock of the sandbox. */
  readonly #writtenAt = new Map<string, number>();
  #resting = false;

  constructor(seed: number) {
    this.random = new SeededRandom(seed);
    this.sandbox = createSandbox({
      seed,
      pageSize: 10,
      order: this.random.pick(['id-asc', 'updated-asc', 'none']),
    });
    for (const name of COLLECTIONS) for (let count = 0; count < 60; count++) this.#insert(name);
    this.sandbox.onRequest(() => {
      if (!this.#resting && this.random.chance(0.5)) this.#change();
    });
  }

  rest(): void {
    this.#resting = true;
  }

  /** The differences between a copy and the sandbox; empty if the copy has every row once and no other. */
  differences({ rows }: CopyContent): string[] {
    const inBooks = COLLECTIONS.flatMap((name) =>
      this.sandbox.store[name].all().map(({ id, rev }) => `${name} ${id} rev ${rev}`),
    );
    const inCopy = rows.map(({ collection, id, rev }) => `${collection} ${id} rev ${rev}`);
    return [
      ...inBooks.filter((row) => !inCopy.includes(row)).map((row) => `missing: ${row}`),
      ...inCopy.filter((row) => !inBooks.includes(row)).map((row) => `left: ${row}`),
      ...doubles(rows),
    ];
  }

  /** What a copy that was left by a death must have by what its checkpoints say, and has not; and rows twice. */
  broken(copy: CopyContent): string[] {
    const rows = new Map(copy.rows.map(({ collection, id, rev }) => [`${collection} ${id}`, rev]));
    const found = doubles(copy.rows);
    for (const name of COLLECTIONS) {
      const covers = coverage(copy.checkpoints[`accounting-data-sdk:acme:${name}`]);
      for (const { id, rev } of this.sandbox.store[name].all()) {
        const record = `${name} ${id}`;
        if (covers(id, this.#writtenAt.get(record) ?? 0) && rows.get(record) !== rev)
          found.push(`ahead: ${record}`);
      }
    }
    return found;
  }

  #change(): void {
    const name = this.random.pick(COLLECTIONS);
    const { store } = this.sandbox;
    const ids = store[name].ids();
    const kind = ids.length < 30 ? 0 : this.random.next();
    if (kind < 0.3) {
      this.#insert(name);
      return;
    }
    const id = this.random.pick(ids);
    if (kind < 0.5) {
      store[name].delete(id);
      return;
    }
    store[name].update(id, { rev: Number(store[name].get(id)?.rev) + 1 });
    this.#writtenAt.set(`${name} ${id}`, this.sandbox.clock.now());
  }

  #insert(name: (typeof COLLECTIONS)[number]): void {
    const { id } = this.sandbox.store[name].insert({ rev: 1 });
    this.#writtenAt.set(`${name} ${id}`, this.sandbox.clock.now());
  }
}

/** Whether a checkpoint says that a record is in the copy in the version that it got at a moment. */
function coverage(checkpoint: string | undefined): (id: string, writtenAt: number) => boolean {
  if (checkpoint === undefined) return () => false;
  const { watermark, run } = JSON.parse(checkpoint) as {
    watermark?: string;
    run?: { watermark: string; since?: string; token?: string };
  };
  const promoted = watermark === undefined ? Number.NEGATIVE_INFINITY : Date.parse(watermark);
  const passed = passedBy(run?.token);
  const from = run?.since === undefined ? Number.NEGATIVE_INFINITY : Date.parse(run.since);
  const until = run === undefined ? Number.NEGATIVE_INFINITY : Date.parse(run.watermark);
  return (id, writtenAt) => writtenAt < promoted || (passed(id) && writtenAt >= from && writtenAt < until);
}

/** Whether a pagination that stands at a resume token has passed an id. */
function passedBy(token: string | undefined): (id: string) => boolean {
  if (token === undefined) return () => false;
  const { at } = JSON.parse(Buffer.from(token, 'base64url').toString()) as {
    at: { id?: string; order: 'asc' | 'desc' };
  };
  const { id: passed, order } = at;
  if (passed === undefined) return () => false;
  return (id) => (order === 'asc' ? BigInt(id) <= BigInt(passed) : BigInt(id) >= BigInt(passed));
}

function doubles(rows: CopyContent['rows']): string[] {
  const seen = new Set<string>();
  return rows.flatMap(({ collection, id }) => {
    const row = `${collection} ${id}`;
    if (seen.has(row)) return [`twice: ${row}`];
    seen.add(row);
    return [];
  });
}
