import { checkId, given, readable } from '../input/checks.ts';
import type { BodyOf } from '../schemas/record.ts';
import type { RequestOptions } from '../transport/call-options.ts';
import { newIdempotencyKey } from '../transport/idempotency-key.ts';
import type { Expected } from '../transport/request.ts';
import type { CollectionContext } from './context.ts';
import { probeId } from './probe-id.ts';
import type { ReadOnlyCollection } from './reader.ts';
import {
  type CreateOptions,
  checkedOptions,
  createOptions,
  ELSEWHERE,
  expectedRecord,
  sendOne,
} from './send-one.ts';
import { warnOfUnknownFields } from './unknown-fields.ts';
import { writeBody } from './write-body.ts';

/** A collection that can be written too. */
export interface WritableCollection<T extends { id: string }, Draft, Patch> extends ReadOnlyCollection<T> {
  /**
   * Creates a record. Retried under one Idempotency-Key with the same bytes, so that a lost response creates no second
   * one.
   *
   * @throws ValidationFailedError with the violations that the service found; an error with `outcome: 'unknown'` or `'applied'` and
   * the `idempotencyKey` to repeat it with, if the outcome is unknown or the response could not be read.
   */
  create<Names extends PropertyKey = never>(draft: BodyOf<Draft, Names>, options?: CreateOptions): Promise<T>;
  /**
   * Changes a record: only the fields given; `null` clears a field, `undefined` leaves it out. Retried, because it
   * assigns absolute values; `retry: { updates: false }` turns that off.
   *
   * Before the first write by an id that is not an integer and does not begin with a letter, such as `6002-A`, the client
   * reads the record once: some services would change record 6002 instead. One match is enough for a collection and client.
   *
   * @throws NotFoundError, ValidationFailedError, and what {@link get} throws; InvalidInputError if the service returns
   * another record for the id.
   */
  update<Names extends PropertyKey = never>(
    id: string,
    patch: BodyOf<Patch, Names>,
    options?: RequestOptions,
  ): Promise<T>;
  /**
   * Deletes a record. A retry that gets a 404 after a lost response counts as done. An unusual id is checked as in
   * {@link update}.
   *
   * @throws NotFoundError if the record did not exist before the first attempt; what {@link get} throws.
   */
  delete(id: string, options?: RequestOptions): Promise<void>;
}

/** The methods that write to a collection, beside those of its reader. */
export function writer(
  context: CollectionContext,
  reader: ReadOnlyCollection<{ id: string }>,
): WritableCollection<{ id: string }, object, object> {
  return {
    ...reader,
    async create(draft, options = {}) {
      const { idempotencyKey = newIdempotencyKey(), ...own } = given(createOptions, options, {
        of: 'create',
        elsewhere: ELSEWHERE,
      });
      const expected = expectedRecord(context);
      const { warnedFields: warned } = context;
      return await sendCreate(context, draft, { ...own, idempotencyKey, expected, warned });
    },
    async update(id, patch, callOptions = {}) {
      const options = checkedOptions(callOptions, 'update');
      const expected = expectedRecord(context);
      const { warnedFields: warned } = context;
      return await sendUpdate(context, { id, patch }, { ...options, expected, warned });
    },
    async delete(id, callOptions = {}) {
      const options = checkedOptions(callOptions, 'delete');
      await probeId(context, checkId(id), options);
      const expected = { kind: 'nothing', value: undefined } as const;
      await sendOne(context, { method: 'DELETE', id, expected }, options);
    },
  };
}

interface Sending<R> extends RequestOptions {
  /** Reads the response. */
  readonly expected: Expected<R>;
  /** The unknown fields of which the logger has been warned; undefined if the caller warns. */
  readonly warned?: Set<string>;
}

export async function sendCreate<R>(
  context: CollectionContext,
  draft: object,
  { idempotencyKey, expected, warned, ...options }: Sending<R> & { readonly idempotencyKey: string },
): Promise<R> {
  const body = readable('draft', () => writeBody(context.rules, draft, 'draft'));
  if (warned !== undefined) warnOfUnknownFields(context, draft, warned);
  return await sendOne(context, { method: 'POST', body, idempotencyKey, expected }, options);
}

export async function sendUpdate<R>(
  context: CollectionContext,
  { id, patch }: { readonly id: string; readonly patch: object },
  { expected, warned, ...options }: Sending<R>,
): Promise<R> {
  const body = readable('patch', () => writeBody({ ...context.rules, clears: true }, patch, 'patch'));
  if (warned !== undefined) warnOfUnknownFields(context, patch, warned);
  await probeId(context, checkId(id), options);
  return await sendOne(context, { method: 'PATCH', id, body, expected }, options);
}
