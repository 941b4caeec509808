// What the rows of a round look at: the list of products, or the products that the store knows, one by one.

import { forEach } from '../internal/for-each.ts';
import { evidenceOf, joinedEvidence } from '../reports/evidence.ts';
import type { Calls } from './calls.ts';
import { type MadeProduct, NONE } from './create.ts';
import { type ListFlaws, Match } from './match.ts';
import type { PushMemory } from './memory.ts';
import type { ResolvedPushOptions } from './options.ts';
import type { RowView } from './plan.ts';
import type { Results } from './results.ts';
import type { PushRow, Rows } from './rows.ts';

interface LookParts {
  readonly options: ResolvedPushOptions;
  readonly results: Results;
  readonly rows: Rows;
  readonly memory: PushMemory;
  readonly calls: Calls;
}

export class Looks {
  readonly #parts: LookParts;
  #flaws: ListFlaws = { isIncomplete: false, unreadable: undefined, withoutId: new Map() };

  constructor(parts: LookParts) {
    this.#parts = parts;
  }

  /** The first look of a push, at all rows. The list is not read if the store knows all products and has fewer of them. */
  async first(): Promise<Match> {
    const { memory, results, rows } = this.#parts;
    results.begin('read');
    const all = [...rows.values()].flat();
    const areKnown = all.every((row) => memory.stateOf(row).is === 'made');
    if (areKnown && all.length === rows.size && all.length < (memory.pages ?? 0)) {
      const match = this.#match(all);
      await this.#lookUp(match, all, true);
      // Otherwise the list has to say where the product is.
      if (all.every((row) => match.hasKey(row))) return match;
    }
    return await this.#list(all, true);
  }

  /** A later look at some rows: the list shows the product of a create, a request that of any other row. */
  async again(rows: readonly PushRow[]): Promise<Match> {
    const { memory } = this.#parts;
    if (rows.some((row) => memory.stateOf(row).is === 'sent')) return await this.#list(rows, false);
    return await this.alone(rows);
  }

  /** A look at the known products of these rows. */
  async alone(rows: readonly PushRow[]): Promise<Match> {
    const match = this.#match(rows);
    await this.#lookUp(match, rows, false);
    return match;
  }

  /** Each row with what was seen of it. */
  *views(match: Match, rows: Iterable<PushRow>): Generator<RowView, void> {
    const { memory, results } = this.#parts;
    for (const row of rows)
      yield { row, state: memory.stateOf(row), seen: match.sightOf(row), error: results.errors.get(row) };
  }

  #match(expected: readonly PushRow[]): Match {
    const { memory, options, rows } = this.#parts;
    const match = new Match(options, rows, this.#flaws);
    for (const row of expected) match.expect(row, memory.stateOf(row));
    return match;
  }

  async #list(rows: readonly PushRow[], isFirst: boolean): Promise<Match> {
    const { calls, memory, results } = this.#parts;
    this.#flaws = { ...this.#flaws, unreadable: undefined, withoutId: new Map() };
    const match = this.#match(rows);
    let pages = 0;
    for await (const page of calls.pages()) {
      pages += 1;
      page.records.forEach((record, index) => {
        const row = page.sent[index];
        match.add({ record, row }, true);
        if (isFirst) memory.see(record.id, row);
      });
      for (const { id, record } of page.invalid) match.addInvalid(id, record);
      if (page.isIncomplete) this.#flaws.isIncomplete = true;
      if (isFirst) results.advance(page.records.length);
    }
    if (isFirst) memory.listed(pages);
    const unseen = rows.filter((row) => memory.stateOf(row).is === 'made' && match.isUnseen(row));
    await this.#lookUp(match, unseen, false);
    // A product that exists and that the list lacks shows that it may lack others.
    if (isFirst && unseen.some((row) => !match.isUnseen(row))) {
      this.#flaws.isIncomplete = true;
      results.evidence = joinedEvidence(results.evidence, evidenceOf({ unlisted_record: true }));
    }
    await this.#releaseRenumbered(match, rows);
    return match;
  }

  /** Requests the known products of these rows. `isFirst`: they show which company this is. */
  async #lookUp(match: Match, rows: readonly PushRow[], isFirst: boolean): Promise<void> {
    const { calls, memory, options, results } = this.#parts;
    await forEach(rows, options.concurrency, async (row) => {
      const { id } = memory.stateOf(row) as MadeProduct;
      const found = await calls.lookUp(id);
      if (found instanceof Error) {
        results.errors.set(row, found);
        match.noteLookUp(row, 'failed');
      } else if (found.record === undefined) {
        if (found.notFound !== undefined) results.errors.set(row, found.notFound);
        match.noteLookUp(row, 'missing');
      } else {
        match.add(found, false);
        if (isFirst) memory.see(found.record.id, found.row);
      }
      if (isFirst) results.advance(1);
    });
  }

  /** A product that has been pushed under the key that it has now is no longer that of the key which it had before. */
  async #releaseRenumbered(match: Match, rows: readonly PushRow[]): Promise<void> {
    const { memory } = this.#parts;
    const renumbered = rows.flatMap((row) => {
      const product = match.renumbered(row);
      return product === undefined ? [] : [{ row, product }];
    });
    const keysOf = await memory.keysOf(renumbered.map(({ product }) => product.id));
    for (const { row, product } of renumbered) {
      if (!keysOf.get(product.id)?.includes(product.key)) continue;
      memory.set(row, NONE);
      match.release(row);
    }
  }
}
