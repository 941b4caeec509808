import { type AnyAccountingError, isAccountingError, type Product } from 'accounting-data-sdk';
import { known, type ProductClient } from './catalogue.ts';
import { changesBetween, patchOf } from './changes.ts';
import { explain } from './explain.ts';
import { begin, draftOf, place, type Task } from './plan.ts';
import type { Row } from './read-rows.ts';
import type { Change, RowResult } from './results.ts';
import type { State } from './state.ts';

/** What a task needs. */
export interface Tools {
  readonly client: ProductClient;
  readonly state: State;
  /** The clock, in ms since the epoch. */
  readonly now: () => number;
  readonly signal: AbortSignal | undefined;
  /** Told of every error of the service. */
  readonly onError: (error: AnyAccountingError) => void;
}

type CreateTask = Extract<Task, { kind: 'create' }>;
type UpdateTask = Extract<Task, { kind: 'update' }>;

/** Does a task. Rejects only when the run is ended. */
export async function execute(task: Task, tools: Tools): Promise<RowResult> {
  if (task.kind === 'none') return task.result;
  try {
    return task.kind === 'update' ? await update(task, tools) : await create(task, tools);
  } catch (error) {
    if (!isAccountingError(error)) throw error;
    tools.onError(error);
    return { ...place(task.row), action: 'failed', messages: explain(error, task.row.fields) };
  }
}

async function update({ row, id, changes }: UpdateTask, { client, signal }: Tools): Promise<RowResult> {
  const product = await client.products.update(id, patchOf(changes), { signal });
  return { ...place(row), action: 'updated', id, changes, messages: keptOtherwise(product, row) };
}

async function create(task: CreateTask, tools: Tools): Promise<RowResult> {
  const { row, intent, sentBefore } = task;
  const { client, state, signal } = tools;
  const product = await send(task, tools);
  if (product === 'refused') return create(await beginAnew(row, state), tools);

  state.put({ ...intent, created: { id: product.id, at: tools.now(), number: product.productNumber } });
  // What answers a key that was sent before may be the first answer, and its product deleted since.
  if (sentBefore && (await client.products.find(product.id, { signal })) === undefined) {
    const message = `the service answered with product ${product.id}, but does not show it yet`;
    return { ...place(row), action: 'pending', id: product.id, messages: [message] };
  }
  const created = { ...place(row), action: 'created', id: product.id } as const;
  if (isOf(row, intent.draft)) return { ...created, messages: keptOtherwise(product, row) };

  const changes = changesBetween(known(product), row.fields);
  if (changes.length === 0) return created;
  return { ...(await update({ kind: 'update', row, id: product.id, changes }, tools)), action: 'created' };
}

/**
 * Sends a create. One that the service has looked at and refused is over: its key is not used again. `refused` is one
 * whose draft was that of an earlier file, so that the present one is still to be tried.
 */
async function send({ row, intent }: CreateTask, { client, state, now, signal }: Tools) {
  const { draft, idempotencyKey, productNumber } = intent;
  try {
    return await client.products.create(draft, { idempotencyKey, signal });
  } catch (error) {
    if (isAccountingError(error, 'validation_failed') || isAccountingError(error, 'malformed_request')) {
      state.forget(productNumber);
      if (!isOf(row, draft)) return 'refused' as const;
    }
    if (isAccountingError(error, 'unexpected_response') && error.recordId !== undefined) {
      state.put({ ...intent, created: { id: error.recordId, at: now() } });
    }
    throw error;
  }
}

async function beginAnew(row: Row, state: State): Promise<CreateTask> {
  const task = begin(row, state);
  await state.save();
  return task;
}

/** Whether a draft says what the row says now. */
function isOf(row: Row, draft: object): boolean {
  return JSON.stringify(draftOf(row)) === JSON.stringify(draft);
}

/** What the service made of the values. Said aloud, for the next run would want to change it again. */
function keptOtherwise(product: Product, row: Row): string[] | undefined {
  const changes = changesBetween(known(product), row.fields);
  const say = ({ column, from, to }: Change) => `column ${column}: the service made ${from} of ${to}`;
  return changes.length === 0 ? undefined : changes.map(say);
}
