// What a round does, as a pure function of what is known of each row and what was seen of it. Nothing of it is done yet.

import type { AnyAccountingError } from '../errors/guards.ts';
import { UnexpectedResponseError } from '../errors/unexpected-response-error.ts';
import type { PushChange } from '../reports/push-report.ts';
import { afterLook, type CreateState, type MadeProduct } from './create.ts';
import { type JsonFields, withoutNull } from './draft.ts';
import type { RowSight, ShownProduct } from './match.ts';
import type { Outcome } from './results.ts';
import { duplicateOf, type PushRow, type Rows } from './rows.ts';

/** A row at the beginning of a round. */
export interface RowView {
  readonly row: PushRow;
  readonly state: CreateState;
  readonly seen: RowSight;
  /** The last error of its calls. */
  readonly error: AnyAccountingError | undefined;
}

/** A product to update, as it was shown. */
export interface Update {
  readonly row: PushRow;
  readonly product: ShownProduct;
}

export interface Plan {
  /** What is known of the rows from now on. */
  readonly states: readonly (readonly [PushRow, CreateState])[];
  /** Results that need no write. */
  readonly results: readonly (readonly [PushRow, Outcome])[];
  readonly creates: readonly PushRow[];
  readonly updates: readonly Update[];
  /** Rows that wait for another look. */
  readonly open: readonly PushRow[];
}

/** Which rows of one folded key are pushed. */
export interface KeptRows {
  readonly rows: readonly PushRow[];
  /** Those of them that share a folded key: each has its own product, so no state of the key is that of one of them. */
  readonly sharing: readonly PushRow[];
  readonly duplicates: readonly (readonly [PushRow, Outcome])[];
}

/** Of rows with one folded key, each that has exactly the key of a product is pushed; if none has, the first is. */
export function keptRows(groups: Rows, hasExact: (row: PushRow) => boolean): KeptRows {
  const kept = { rows: [] as PushRow[], sharing: [] as PushRow[], duplicates: [] as [PushRow, Outcome][] };
  for (const group of groups.values()) {
    const [first] = group;
    if (group.length === 1) {
      kept.rows.push(first);
      continue;
    }
    const owners = group.filter(hasExact);
    const winners = owners.length === 0 ? [first] : owners;
    const why = owners.length === 0 ? 'the first row wins' : 'a product has exactly that one';
    for (const row of group) {
      if (winners.includes(row)) kept.rows.push(row);
      else {
        const winner = winners[0] as PushRow;
        kept.duplicates.push([row, duplicateOf(winner, `has the same key in another spelling, and ${why}`)]);
      }
    }
    if (winners.length > 1) kept.sharing.push(...winners);
  }
  return kept;
}

/** Plans a round. */
export function planOf(views: Iterable<RowView>): Plan {
  const states: [PushRow, CreateState][] = [];
  const results: [PushRow, Outcome][] = [];
  const creates: PushRow[] = [];
  const updates: Update[] = [];
  const open: PushRow[] = [];
  for (const { row, state: before, seen, error } of views) {
    const { sight, product, ids, reason } = seen;
    const { state, step } = afterLook(before, sight, row.folded);
    if (state !== before) states.push([row, state]);
    switch (step) {
      case 'send':
        creates.push(row);
        break;
      case 'open':
        open.push(row);
        break;
      case 'compare':
        if (product !== undefined && product.fields.length > 0) updates.push({ row, product });
        else results.push([row, doneOf(state as MadeProduct)]);
        break;
      case 'conflict':
        results.push([row, { action: 'conflict', id: ids[0], ids, reason }]);
        break;
      case 'unreachable':
        results.push([row, unreachable(state as MadeProduct, error)]);
        break;
      case 'failed':
        results.push([row, { action: 'failed', id: (state as MadeProduct).id, error }]);
        break;
      case 'lacking':
        results.push([row, { action: 'failed', error: lacking(state, reason) }]);
        break;
    }
  }
  return { states, results, creates, updates, open };
}

/** The result of each row if every write of the plan succeeds. The product of an open row seems to be deleted. */
export function* plannedResults(
  { results, creates, updates, open }: Plan,
  isDryRun: boolean,
): Generator<readonly [PushRow, Outcome], void> {
  yield* results;
  for (const row of [...creates, ...open])
    yield [row, { action: 'created', changes: isDryRun ? valuesOf(row) : [] }];
  for (const { row, product } of updates) {
    const { id, fields, changes } = product;
    yield [row, { action: 'updated', id, fields, changes }];
  }
}

/** What a create would send. */
function valuesOf({ draft }: PushRow): PushChange[] {
  const fields = withoutNull(JSON.parse(draft) as JsonFields);
  return Object.entries(fields).map(([field, to]) => ({ field, from: null, to }));
}

/** A row whose product has its values. It is `created` if this run sent the create. */
export function doneOf({ id, isOwn, fieldsSent: fields }: MadeProduct): Outcome {
  if (isOwn) return { action: 'created', id, fields };
  return fields.length > 0 ? { action: 'updated', id, fields } : { action: 'unchanged', id };
}

/** A row whose product a list showed under an id that cannot be requested. */
export function unreachable({ id }: MadeProduct, error: AnyAccountingError | undefined): Outcome {
  return {
    action: 'failed',
    id,
    error,
    reason: `the list shows product ${id}, whose id cannot be requested`,
  };
}

function lacking(state: CreateState, unreadable: string): UnexpectedResponseError {
  const isSent = state.is === 'sent';
  const created = isSent ? 'An earlier create of this row may have created it.' : 'Nothing was created.';
  const why =
    unreadable === ''
      ? `The list is incomplete, so the product of this row can be one that it does not show. ${created} Order the list by id, or pass incompleteList: "create".`
      : `The product of this row may be ${unreadable}, which cannot be read. ${created} Correct that product.`;
  return new UnexpectedResponseError(
    why,
    { method: 'GET', path: '/products', outcome: isSent ? 'unknown' : 'not_sent' },
    { status: 200, reason: unreadable === '' ? 'wrong_content' : 'wrong_shape' },
  );
}
