import { createSandbox, type Sandbox } from 'accounting-data-sdk/testing';
import { idsByKind } from '../../../../src/testing/connector/judge-copy.ts';
import { copyOf } from '../../../../src/testing/connector/same-value.ts';
import { type Fields, Timeline } from '../../../../src/testing/connector/timeline.ts';
import { SeededRandom } from '../../../support/seeded-random.ts';

export const COLLECTIONS = ['accounts', 'products', 'budgetLines'] as const;

/** What a copy holds. */
export interface Copy {
  readonly rows: readonly { readonly collection: string; readonly id: string; readonly body: object }[];
  /** By key. */
  readonly checkpoints: Readonly<Record<string, string>>;
}

/** A sandbox whose records change at each request; it compares copies with its records. */
export class ChangingRecords {
  readonly sandbox: Sandbox;
  readonly random: SeededRandom;
  /** When each record was last written to, by the clock of the sandbox. */
  readonly #writtenAt = new Map<string, number>();
  readonly rest: () => void;

  constructor(seed: number, records: number) {
    this.random = new SeededRandom(seed);
    this.sandbox = createSandbox({
      seed,
      records: Object.fromEntries(COLLECTIONS.map((name) => [name, records])),
      pageSize: 10,
      order: this.random.pick(['id-asc', 'id-asc', 'updated-asc', 'none']),
      ids: { gap: 2 },
    });
    this.rest = this.sandbox.onRequest(() => this.#change());
  }

  /** What a copy lacks or has in another form, and what it has twice or should have no more. */
  differences({ rows }: Copy): { lost: readonly string[]; left: readonly string[] } {
    const found = COLLECTIONS.flatMap((name) => {
      const timeline = new Timeline();
      timeline.observe(this.sandbox.store[name].all() as (Fields & { id: string })[]);
      timeline.beginRun();
      const copy = copyOf(
        rows.filter(({ collection }) => collection === name).map(({ body }) => body as Fields),
      );
      return [...idsByKind({ timeline, copy })].flatMap(([kind, ids]) =>
        ids.map((id) => ({ kind, what: `${kind}: ${name} ${id}` })),
      );
    });
    // Everything that existed has a version: what has none was deleted.
    const of = (isLeft: boolean) =>
      found.filter(({ kind }) => (kind === 'unknown') === isLeft).map(({ what }) => what);
    return { lost: of(false), left: of(true) };
  }

  /** What a copy that was left by a death must have by what its checkpoints say, and has not; and rows twice. */
  broken({ rows, checkpoints }: Copy): string[] {
    const copy = new Map(rows.map(({ collection, id, body }) => [`${collection} ${id}`, textOf(body)]));
    const found = rows.length === copy.size ? [] : [`${rows.length - copy.size} rows twice`];
    for (const [key, record] of this.#all()) {
      const [name = ''] = key.split(' ');
      const covers = coverage(checkpoints[`accounting-data-sdk:acme:${name}`]);
      if (covers(record.id, this.#writtenAt.get(key) ?? 0) && copy.get(key) !== textOf(record))
        found.push(`the checkpoint is ahead of ${key}`);
    }
    return found;
  }

  #all() {
    return COLLECTIONS.flatMap((name) =>
      this.sandbox.store[name].all().map((record) => [`${name} ${record.id}`, record] as const),
    );
  }

  #change(): void {
    const { random, sandbox } = this;
    const name = random.pick(COLLECTIONS);
    const store = sandbox.store[name];
    const ids = store.ids();
    const what = random.int(0, 5);
    if (what === 1 && ids.length > 20) store.delete(random.pick(ids));
    if (what > 3 || what === 1) return;
    const change = { name: `Changed ${random.int(0, 1e6)}` };
    const { id } = what === 0 ? store.insert(change) : store.update(random.pick(ids), change);
    this.#writtenAt.set(`${name} ${id}`, sandbox.clock.now());
  }
}

/** jsonb sorts the names of an object. */
function textOf(record: object): string {
  return JSON.stringify(Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1))));
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
