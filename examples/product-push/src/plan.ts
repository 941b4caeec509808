import { newIdempotencyKey, type Product, type ProductDraft } from 'accounting-data-sdk';
import { type Catalogue, known, type ProductClient } from './catalogue.ts';
import { changesBetween, type Known } from './changes.ts';
import { columns } from './columns.ts';
import type { Row } from './read-rows.ts';
import type { Change, RowResult } from './results.ts';
import type { Created, Intent, State } from './state.ts';

/** What is to be done about a row. */
export type Task =
  /** Nothing is to be sent. */
  | { readonly kind: 'none'; readonly result: RowResult }
  | {
      readonly kind: 'update';
      readonly row: Row;
      readonly id: string;
      readonly changes: readonly Change[];
    }
  | {
      readonly kind: 'create';
      readonly row: Row;
      readonly intent: Intent;
      /** An earlier run may have sent it already, perhaps with what the file said then. */
      readonly sentBefore: boolean;
    };

/** What a plan is made of. */
export interface Planning {
  readonly client: ProductClient;
  readonly state: State;
  readonly catalogue: Catalogue;
  /** The clock, in ms since the epoch. */
  readonly now: () => number;
  readonly signal: AbortSignal | undefined;
}

/** A product that was made, but is not shown for so long, has been deleted. Until then it may only be slow to appear. */
const APPEARS_WITHIN_MS = 10 * 60_000;

/** Decides on a row: by what is there, and by what earlier runs have begun. Sends nothing but reads. */
export async function plan(row: Row, planning: Planning): Promise<Task> {
  const { catalogue, state } = planning;
  const found = catalogue.get(row.productNumber) ?? [];
  if (found.length > 1) return none(row, 'invalid', ambiguous(found));

  const [product] = found;
  if (product !== undefined) {
    // Seen: whatever becomes of it later, this create is over.
    state.forget(row.productNumber);
    return compare(row, product);
  }
  const intent = state.get(row.productNumber);
  if (intent === undefined) return begin(row, state);
  if (intent.created === undefined) return { kind: 'create', row, intent, sentBefore: true };

  return lookFor(row, intent.created, planning);
}

/** The create of a row, under a key of its own that is kept before anything is sent. */
export function begin(row: Row, state: State): Task & { kind: 'create' } {
  const { productNumber } = row;
  const intent = { productNumber, idempotencyKey: newIdempotencyKey(), draft: draftOf(row) };
  state.put(intent);
  return { kind: 'create', row, intent, sentBefore: false };
}

/** What is sent to make a product: every field that has a value, in an order that does not hang on the file's. */
export function draftOf({ fields }: Row): ProductDraft {
  const values = columns.map(({ field }) => [field, fields[field]] as const);
  return Object.fromEntries(values.filter(([, value]) => value !== undefined && value !== null));
}

function compare(row: Row, product: Known): Task {
  const changes = changesBetween(product, row.fields);
  if (changes.length > 0) return { kind: 'update', row, id: product.id, changes };

  return { kind: 'none', result: { ...place(row), action: 'unchanged', id: product.id } };
}

/** A product that was made before and is not in the list: slow to appear, or deleted since. */
async function lookFor(row: Row, created: Created, planning: Planning): Promise<Task> {
  const { client, state, now, signal } = planning;
  const product = await client.products.find(created.id, { signal });
  if (product !== undefined && isStill(product, created, row)) return compare(row, known(product));

  if (product === undefined && now() - created.at < APPEARS_WITHIN_MS) {
    return none(row, 'pending', `was created as ${created.id}, which the service does not show yet`);
  }
  // Deleted, or given another number by hand: what is missing now is another product, and its create another create.
  return begin(row, state);
}

/** Whether a product has the number of the row, or the one that the service made of it: nobody has given it another. */
function isStill({ productNumber }: Product, { number }: Created, row: Row): boolean {
  if (productNumber?.trim() === row.productNumber) return true;
  return number !== undefined && productNumber === number;
}

function ambiguous(found: readonly Known[]): string {
  const ids = found.map(({ id }) => id).join(', ');
  return `${found.length} products of the books have this number (ids ${ids}); delete or renumber all but one`;
}

function none(row: Row, action: 'invalid' | 'pending', message: string): Task {
  return { kind: 'none', result: { ...place(row), action, messages: [message] } };
}

/** Where a row is. */
export function place({ line, productNumber }: Row): Pick<RowResult, 'line' | 'productNumber'> {
  return { line, productNumber };
}
